//! A turn without events is reported as slow, waiting, stuck or stopped, depending on its processes.

use serde_json::json;

use crate::script::{Agent, shell};
use crate::world::World;

const RUN: [&str; 7] = [
    "run",
    "--goal",
    "A test",
    "--auto",
    "--yes-execute",
    "-s",
    "limits.silence=1s",
];

/// Lets a step run a command in silence, and waits for the verdict.
fn check(command: &str, verdict: &str) {
    let world = World::new();
    world.cast(
        &Agent::planning(&["Write"]).step(1, vec![shell(command)]),
        &Agent::approving(),
    );
    let mut run = world.start(&RUN);
    run.until(verdict);
    run.signal("TERM");
    run.wait().ends(130);
    assert_eq!(world.leftovers(), Vec::<String>::new());
}

#[test]
fn a_command_that_computes_is_slow() {
    check(
        "while :; do :; done",
        "slow: `while :; do :; done` has been running since",
    );
}

#[test]
fn a_command_that_sleeps_is_waited_for() {
    check("sleep 1000", "waiting: `sleep 1000` has been running since");
}

#[test]
fn a_command_that_a_signal_stopped_is_told() {
    check(
        "kill -STOP $$",
        "stopped: `kill -STOP $$` was stopped by a signal; `kill -CONT",
    );
}

#[test]
fn a_model_that_does_not_answer_is_waited_for_and_told_once() {
    let world = World::new();
    let planner = Agent::new().on("[agent-collab WRITE_PLAN]", vec![json!({ "do": "stall" })]);
    world.cast(&planner, &Agent::approving());
    let verdict = "waiting: the model has not answered, no command is running, no CPU is used";
    // Long for a verdict on a busy machine, too; what is left of it would show the second one.
    let more = ["-s", "limits.turn_timeout=15s"];
    let mut run = world.start(&[&RUN[..], &more].concat());
    run.until(verdict);
    run.until("longer than limits.turn_timeout");
    run.signal("TERM");
    let ran = run.wait();
    ran.ends(130);
    let told = world
        .events_of("agent")
        .into_iter()
        .filter(|event| event["news"]["verdict"] == verdict && event["turn"] == "trn_1");
    assert_eq!(told.count(), 1, "{}", ran.out);
}
