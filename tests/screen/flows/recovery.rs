//! An interrupted run: resumed, recovered, or moved to the history.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::World;
use crate::keys::ENTER;
use crate::played::{
    PLAN, WANTS_MORE, begin, cast, events_of, leave, left_at_the_approval, names_in, open_again,
    read, state, talking, told,
};
use crate::script::{Agent, say, write};

const ANSWERS: &str = "1. rejected: it says enough. Evidence: the plan says \"# Task: A test\"\n";

/// A run that was killed while its planner answered the review; returns the configuration.
fn killed_in_a_response(world: &World) -> PathBuf {
    let stalls = vec![say("Let me see."), json!({ "do": "stall" })];
    let planner = talking().plan(PLAN).on("[agent-collab RESPOND", stalls);
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let config = cast(world, &planner.respond(ANSWERS), &reviewer, "");
    let mut terminal = begin(world, &config);
    terminal.wait_for("Let me see.");
    terminal.signal(Signal::SIGKILL);
    terminal.wait_for_end();
    config
}

#[test]
fn a_run_that_was_killed_in_a_turn_goes_on_in_the_same_conversation() {
    let world = World::new();
    let config = killed_in_a_response(&world);
    let before = state(&world);
    assert_eq!(before["phase"], "RESPOND");
    assert_eq!(before["iteration"], 1);
    let conversation = before["planner"]["external_id"].clone();
    assert!(conversation.is_string(), "{before}");
    let mut terminal = open_again(&world, &config);
    terminal.wait_for("Resume the unfinished run?");
    terminal.wait_for("A test");
    terminal.wait_for("in phase Review");
    // The default is yes.
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the review to the planner?");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    let after = state(&world);
    assert_eq!(after["planner"]["external_id"], conversation);
    assert!(events_of(&world, "adapter.degraded").is_empty());
    assert_eq!(events_of(&world, "response.committed").len(), 1);
    leave(terminal);
}

#[test]
fn a_conversation_that_is_lost_is_begun_anew_with_what_happened() {
    let world = World::new();
    killed_in_a_response(&world);
    let conversation = state(&world)["planner"]["external_id"].clone();
    // What the agent remembered of it is gone.
    for entry in fs::read_dir(world.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("codex") && name.ends_with(".state.json") {
            fs::remove_file(path).unwrap();
        }
    }
    // The agent repeats what it receives.
    let echoes = |path: Option<&str>| {
        let answers = path.map(|path| write(path, ANSWERS));
        std::iter::once(say("${prompt}")).chain(answers).collect()
    };
    let planner = talking()
        .on("[agent-collab RESPOND", echoes(Some("${comments_path}")))
        .always("[agent-collab RECOVER]", echoes(None));
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let config = cast(&world, &planner, &reviewer, "");
    let mut terminal = open_again(&world, &config);
    terminal.wait_for("Resume the unfinished run?");
    terminal.type_keys("y");
    terminal.wait_for("Send the review to the planner?");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.type_keys("4");
    terminal.wait_for("planner: session lost");
    let after = state(&world);
    assert_ne!(after["planner"]["external_id"], conversation);
    assert_eq!(events_of(&world, "adapter.degraded").len(), 1);
    let told = told(&world, "planner");
    for words in [
        "[agent-collab RECOVER]",
        "the phase is RESPOND",
        "## Your plan",
        "One word.",
        "## The review",
        "Say more.",
        "[agent-collab RESPOND 1]",
    ] {
        assert!(told.contains(words), "{words} in\n{told}");
    }
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    leave(terminal);
}

#[test]
fn n_puts_the_unfinished_run_into_the_history_when_another_begins() {
    let world = World::new();
    let config = left_at_the_approval(&world);
    let (plan, run) = (read(&world, "plan.md"), state(&world)["run"].clone());
    let mut terminal = open_again(&world, &config);
    terminal.wait_for("Resume the unfinished run?");
    terminal.type_keys("n");
    terminal.wait_for("The unfinished run moves to the history when a new one starts");
    // Not before: who changes their mind has lost nothing.
    assert_eq!(names_in(&world, "history"), [""; 0]);
    assert_eq!(read(&world, "plan.md"), plan);
    terminal.type_keys("Something else\r");
    terminal.wait_for("Is this the goal");
    let now = state(&world);
    assert_ne!(now["run"], run);
    assert_eq!(now["goal"]["title"], "Something else");
    assert!(!world.repository().join(".agent-collab/plan.md").exists());
    let names = names_in(&world, "history");
    let [archived] = names.as_slice() else {
        panic!("{names:?}")
    };
    assert!(archived.ends_with("-a-test"), "{archived}");
    assert_eq!(read(&world, &format!("history/{archived}/plan.md")), plan);
    let state = read(&world, &format!("history/{archived}/state.json"));
    assert!(state.contains(run.as_str().unwrap()), "{state}");
    leave(terminal);
}
