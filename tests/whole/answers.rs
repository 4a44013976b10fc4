//! Flags that answer questions in advance.

use crate::script::{Agent, say, write};
use crate::world::World;

fn failing(world: &World) {
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
}

const NO_FIX: [&str; 4] = [
    "-s",
    "test.default_command=false",
    "-s",
    "test.max_fix_turns=0",
];

#[test]
fn an_answer_that_stops_the_run_ends_the_program() {
    let world = World::new();
    failing(&world);
    let ran = world.run(&[&NO_FIX[..], &["--answer", "tests_failed=stop"]].concat());
    ran.ends(3).complains("stopped");
    assert_eq!(world.state()["phase"], "REFINE_GOAL");
    assert_eq!(world.subjects(), ["first"]);
    assert_eq!(world.read("new.txt"), "new\n");
}

#[test]
fn an_answer_of_no_kind_or_choice_is_a_usage_error() {
    let world = World::new();
    failing(&world);
    world
        .run(&["--answer", "tests_faild=accept"])
        .ends(2)
        .complains("tests_faild")
        .complains("tests_failed");
    world
        .run(&["--answer", "tests_failed=perhaps"])
        .ends(2)
        .complains("perhaps")
        .complains("retry, skip, accept, stop");
    world
        .run(&["--answer", "nonsense"])
        .ends(2)
        .complains("KIND=CHOICE");
    assert!(!world.root.join(".agent-collab/state.json").exists());
}

#[test]
fn any_question_may_be_answered_by_cancelling() {
    let world = World::new();
    failing(&world);
    let ran = world.run(&[&NO_FIX[..], &["--answer", "tests_failed=cancel"]].concat());
    ran.ends(5);
    assert_eq!(world.state()["phase"], "CANCELLED");
}

#[test]
fn changes_asked_for_at_the_approval_are_asked_for_once() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).always(
        "[agent-collab RESPOND",
        vec![write("${plan_path}", "# Task: B\n\n1. [ ] Write better\n")],
    );
    world.cast(
        &planner,
        &Agent::new().always(
            "[agent-collab REVIEW",
            vec![write("${comments_path}", "[APPROVED]\n")],
        ),
    );
    let ran = world.program(&[
        "run",
        "--goal",
        "A test",
        "--auto",
        "--answer",
        "execute=changes:better, please",
    ]);
    ran.ends(3).complains("--yes-execute");
    assert_eq!(world.state()["iteration"], 2);
    assert!(world.read(".agent-collab/plan.md").contains("Write better"));
}

#[test]
fn the_approval_shows_what_is_approved() {
    let world = World::new();
    world.put("mine.txt", "mine\n");
    failing(&world);
    let ran = world.program(&[
        "run",
        "--goal",
        "A test",
        "--auto",
        "-s",
        "test.default_command=make check",
    ]);
    ran.ends(3)
        .complains("make check")
        .complains("agent-collab/a-test")
        .complains("1 file with uncommitted changes");
}

#[test]
fn a_run_says_at_its_end_what_it_did() {
    let world = World::new();
    failing(&world);
    world
        .run(&[])
        .ends(0)
        .says("done: 1 of 1 step changed something, 1 commit on agent-collab/a-test");
}
