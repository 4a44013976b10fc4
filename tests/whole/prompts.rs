//! `agent-collab prompt` prints what a turn would be sent, and only reads.

use std::path::PathBuf;

use crate::script::{Agent, objection, say, shell, write};
use crate::world::World;

/// The turns before the execution.
const PHASES: [(&str, &str); 4] = [
    ("goal", "[agent-collab REFINE_GOAL]"),
    ("plan", "[agent-collab WRITE_PLAN]"),
    ("review", "[agent-collab REVIEW 1]"),
    ("respond", "[agent-collab RESPOND 1]"),
];

/// Everything that the program stores for the run and for the user.
fn stored(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let home = world.files("../home");
    [world.files(".agent-collab"), home].concat()
}

#[test]
fn each_phase_of_a_stored_run_has_its_prompt_and_printing_it_writes_nothing() {
    let world = World::new();
    let reviewer = Agent::new().review(&objection("major", "say when"));
    world.cast(&Agent::planning(&["Write it"]), &reviewer);
    // Nothing plays the answer, so the run is left in RESPOND.
    world.program(&["run", "--goal", "A test", "--auto"]);
    let before = stored(&world);
    for (phase, header) in PHASES {
        let ran = world.program(&["prompt", phase]);
        ran.ends(0).says(header);
        assert!(ran.out.starts_with(header), "{phase}: {}", ran.out);
    }
    let respond = world.program(&["prompt", "respond"]);
    respond.says("1. [major] say when").says("1. [ ] Write it");
    respond.says("The reviewer judged your plan.");
    world
        .program(&["prompt", "judge"])
        .ends(1)
        .complains("no finding is disputed");
    world
        .program(&["prompt", "execute"])
        .ends(1)
        .complains("the execution is not entered");
    assert_eq!(stored(&world), before);
    world
        .program(&["prompt", "reviews"])
        .ends(2)
        .complains("review");
}

#[test]
fn a_prompt_is_printed_while_the_run_is_in_progress() {
    let world = World::new();
    let (begun, wait) = (world.fifo("begun"), world.fifo("wait"));
    let waits = shell(&format!("echo begun > {begun}; cat {wait}"));
    let planner = Agent::planning(&["Write it", "Write more"])
        .step(1, vec![waits, write("one.txt", "one\n"), say("Wrote.")])
        .step(2, vec![write("two.txt", "two\n"), say("Wrote more.")]);
    world.cast(&planner, &Agent::approving());
    let running = world.start_run(&[]);
    assert_eq!(world.heard("begun"), "begun\n");
    world
        .program(&["prompt", "execute"])
        .ends(0)
        .says("[agent-collab EXECUTE step 1]")
        .says("Make the change of step 1 of 2")
        .says("Write it");
    world
        .program(&["prompt", "summary"])
        .ends(0)
        .says("[agent-collab EXECUTE summary]");
    world.release("wait");
    running.wait().ends(0);
}

#[test]
fn without_a_run_there_is_no_prompt_and_nothing_is_created() {
    let world = World::new();
    world
        .program(&["prompt", "plan"])
        .ends(1)
        .complains("no run here");
    assert!(!world.root.join(".agent-collab").exists());
}
