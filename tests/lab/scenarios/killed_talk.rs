//! The program is killed while its screen shows the talk about the goal: the talk waits for its user, and
//! once the goal is confirmed, the planner still knows what was said.

use super::killed::n_of;
use super::whole_run::assert_run_is_done;
use crate::brain;
use crate::cut_off::{RESUME, prompts_before};
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

/// codex refines the goal.
pub fn usual(notes: &mut Notes) {
    play("killed-talk-usual", USUAL, notes);
}

/// claude refines the goal.
pub fn swapped(notes: &mut Notes) {
    play("killed-talk-swapped", SWAPPED, notes);
}

/// Runs a command before it says something about the goal.
fn talkative(request: &Request) -> Reply {
    match (
        request.prompt.contains("[agent-collab REFINE_GOAL]"),
        request.n_outputs(),
    ) {
        (true, 0) => Reply::call(Tool::Shell("cat code.js".to_owned())),
        (true, _) => Reply::text("The goal is clear: two things to do."),
        (false, _) => brain::honest(request),
    }
}

fn play(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, talkative);
    // Its plan says nothing of a proof.
    world.configure("[test]\nproof = \"off\"");
    let mut seat = world.open(&[]);
    seat.type_keys("Make the tests pass and describe the functions\r");
    // What the user has just written is sent without a question.
    seat.wait_until("the agent looks around", || {
        n_of(&world.log(), "agent") >= 2
    });
    seat.kill();
    let waiting = world.program(&RESUME);
    assert_eq!(waiting.code(), 3, "{}", waiting.stderr);
    assert!(waiting.stderr.contains("--yes-goal"), "{}", waiting.stderr);
    let going_on = world.program(&[&RESUME[..], &["--yes-goal"]].concat());
    assert_eq!(going_on.code(), 0, "{}", going_on.stderr);
    let log = world.log();
    assert_run_is_done(&world, &log);
    assert_eq!(
        prompts_before(&world, cast.planner, "EXECUTE summary"),
        [
            "REFINE_GOAL",
            "WRITE_PLAN",
            "RESPOND 1",
            "EXECUTE step 1",
            "EXECUTE step 2",
            "EXECUTE summary"
        ]
    );
    world.note_log(notes, &log);
    notes.prove(
        "the program is killed while it talks about the goal: the talk waits, its conversation goes on",
        cast.planner,
        "yes",
    );
}
