//! The program was killed, and when the run is resumed, the CLIs have lost their conversations: each continues in
//! a new one, which starts with a summary of what happened so far.

use std::fs;

use serde_json::Value;

use super::whole_run::assert_run_is_done;
use crate::bounded::end_all;
use crate::brain;
use crate::cut_off::{End, Lives, Moment, prompts_before};
use crate::leftovers::assert_none_left;
use crate::model_server::script::Vendor;
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World, of_kind};

/// Where the CLIs store their conversations, below the home.
const STORES: [&str; 2] = ["home/.codex/sessions", "home/.claude/projects"];

/// Their files are gone; codex plans.
pub fn deleted(notes: &mut Notes) {
    play("lost-session-deleted", USUAL, delete_stores, notes);
}

/// The program knows other ids; claude plans.
pub fn unknown(notes: &mut Notes) {
    play("lost-session-unknown", SWAPPED, change_ids, notes);
}

fn delete_stores(world: &World) {
    for store in STORES {
        fs::remove_dir_all(world.outside(store)).expect("a CLI's conversations");
    }
}

fn change_ids(world: &World) {
    let path = world.repository.root().join(".agent-collab/state.json");
    let mut text = fs::read_to_string(&path).expect("the snapshot");
    let state: Value = serde_json::from_str(&text).expect("the snapshot");
    for role in ["planner", "reviewer"] {
        let id = state[role]["external_id"].as_str().expect("a conversation");
        let other = uuid::Uuid::now_v7().to_string();
        text = text.replace(id, &other);
    }
    fs::write(&path, text).expect("the snapshot");
}

fn play(name: &str, cast: Cast, lose: fn(&World), notes: &mut Notes) {
    let world = World::create(name, cast, brain::honest);
    let mut lives = Lives::begin(&world);
    let responds = |log: &[Value]| of_kind(log, "turn.started").count() == 3;
    assert_eq!(lives.kill_at(Moment::Logged(responds)), End::Killed);
    // A CLI that outlives the program for a moment writes the rest of its conversation into a new file, with which it continues.
    let root = world.home.root();
    end_all(root);
    assert_none_left(root);
    lose(&world);
    lives.take_up();
    lives.finish();
    let (log, state) = (world.log(), world.state());
    assert_run_is_done(&world, &log);
    for (role, vendor, phase) in [
        ("planner", cast.planner, "RESPOND 1"),
        ("reviewer", cast.reviewer, "REVIEW 2"),
    ] {
        assert_eq!(
            state[role]["degraded"], true,
            "the {role}'s conversation was lost"
        );
        assert_told_anew(&world, vendor, phase);
    }
    assert_eq!(of_kind(&log, "adapter.degraded").count(), 2);
    world.note_log(notes, &log);
    for vendor in Vendor::ALL {
        notes.prove(
            "its conversation is lost between two lives of the program: a new one begins with the goal, the plan and the comments",
            vendor,
            "yes",
        );
    }
}

/// Checks that the new conversation starts with the recovery prompt and contains nothing of the old conversation.
fn assert_told_anew(world: &World, vendor: Vendor, phase: &str) {
    let prompts = prompts_before(world, vendor, phase);
    assert_eq!(
        prompts.first().map(String::as_str),
        Some(phase),
        "{prompts:?}"
    );
    let bodies = world.server.bodies(vendor);
    let asked = format!("[agent-collab {phase}]");
    let told = bodies
        .iter()
        .find(|body| body.contains(&asked) && body.contains("[agent-collab RECOVER]"))
        .expect("a recovery prompt");
    let name = phase.split(' ').next().unwrap_or_default();
    for known in [
        "Make the tests pass and describe the functions",
        &format!("the phase is {name}"),
        brain::STEP_1,
        brain::REMARK,
    ] {
        assert!(
            told.contains(known),
            "the model is not told `{known}`:\n{told}"
        );
    }
}
