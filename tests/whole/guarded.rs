//! Files that only the program may write: an agent's change is undone, preserved and reported.

use crate::script::{Agent, say, shell, write};
use crate::world::World;

fn check_tampering(command: &str, name: &str) {
    let world = World::new();
    let planner = Agent::planning(&["Write", "More"])
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .step(
            2,
            vec![shell(command), write("more.txt", "more\n"), say("Wrote.")],
        );
    world.cast(&planner, &Agent::approving());
    let ran = world.run(&[]);
    ran.ends(3).complains(name).complains("restored");
    let restored: Vec<u8> = world
        .files(".agent-collab")
        .into_iter()
        .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "history"))
        .filter(|(path, _)| {
            !path.to_string_lossy().contains("/turns/") && !path.to_string_lossy().contains("raw")
        })
        .filter(|(path, _)| path.to_string_lossy().contains(name))
        .flat_map(|(_, bytes)| bytes)
        .collect();
    let ours = String::from_utf8_lossy(&restored)
        .lines()
        .all(|line| line != "TAMPERED");
    assert!(ours, "{name} is ours again");
    assert_eq!(
        world.subjects(),
        ["[Step 1] Wrote", "first"],
        "nothing goes on after it"
    );
    if command.contains("TAMPERED") {
        let kept: Vec<u8> = world
            .files(".agent-collab/history")
            .into_iter()
            .flat_map(|(_, bytes)| bytes)
            .collect();
        assert!(
            String::from_utf8_lossy(&kept).contains("TAMPERED"),
            "the other copy of {name} is kept"
        );
    }
}

#[test]
fn a_changed_snapshot_is_undone() {
    check_tampering("echo TAMPERED > .agent-collab/state.json", "state.json");
}

#[test]
fn a_changed_event_log_is_undone() {
    check_tampering(
        "echo TAMPERED >> .agent-collab/events.jsonl",
        "events.jsonl",
    );
}

#[test]
fn a_changed_run_log_is_undone() {
    check_tampering("echo TAMPERED >> .agent-collab/log.md", "log.md");
}

#[test]
fn a_deleted_run_log_is_brought_back() {
    check_tampering("rm .agent-collab/log.md", "log.md");
}

#[test]
fn a_changed_session_is_undone() {
    check_tampering(
        "for file in $(find .agent-collab/sessions -name '*.json*' -not -name '*raw*' | head -1); do echo TAMPERED > $file; done",
        "sessions",
    );
}

#[test]
fn a_changed_iteration_is_undone() {
    check_tampering(
        "echo TAMPERED > .agent-collab/iterations/1/plan.md",
        "iterations",
    );
}

#[test]
fn a_turn_that_changed_one_is_sent_again_by_the_users_word() {
    let world = World::new();
    let tampers = shell("echo TAMPERED >> .agent-collab/log.md");
    let planner = Agent::planning(&["Write"]).step(1, vec![tampers, say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    let needs_you = "needs you (adapter_failed): The turn failed (tampered files): ";
    world.run(&[]).ends(3).complains(needs_you);
    let state = world.state();
    assert_eq!(state["phase"], "EXECUTE");
    assert_eq!(state["running"], serde_json::Value::Null);
    let actions = vec![write("new.txt", "new\n"), say("Wrote.")];
    let agent = Agent::new().always("[agent-collab EXECUTE step 1]", actions);
    world.cast(&agent, &Agent::approving());
    let resume = ["resume", "--auto", "--yes-execute"];
    world.program(&resume).ends(3).complains(needs_you);
    let again = [&resume[..], &["--answer", "adapter_failed=retry"]].concat();
    world.program(&again).ends(0);
    assert_eq!(world.subjects(), ["[Step 1] Wrote", "first"]);
}

#[test]
fn a_run_folder_that_goes_is_told() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            shell("rm -rf .agent-collab"),
            write("more.txt", "x\n"),
            say("Wrote."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    let ran = world.run(&[]);
    ran.ends(3).complains(" others");
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert_eq!(world.subjects(), ["first"]);
}
