//! The program is killed while tasks run: they are cancelled, each can be resumed by its id, and nothing of them
//! remains.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::script::{Agent, say, write};
use crate::world::World;

const SCOUT: &str = "[agents.scout]\nmode = \"subagent\"\nadapter = \"claude\"\n";

fn task(input: Value) -> Value {
    json!({ "do": "tool", "tool": "task", "input": input })
}

fn scout(prompt: &str) -> Value {
    json!({ "agent": "scout", "prompt": prompt, "description": "looks around" })
}

/// Builds a planner whose first step starts with this call.
fn planner(call: Value) -> Agent {
    Agent::planning(&["Look"]).always(
        "[agent-collab EXECUTE step 1]",
        vec![call, write("a.txt", "${answer}\n"), say("Looked.")],
    )
}

#[test]
fn tasks_that_a_kill_cut_off_are_cancelled_and_go_on_by_their_ids() {
    let mut world = World::new();
    world.config = SCOUT.to_owned();
    let stuck = Agent::approving().always(
        "[agent-collab task scout#",
        vec![say("I begin."), json!({ "do": "stall" })],
    );
    let three = ["look here", "look there", "look elsewhere"].map(scout);
    world.cast(&planner(task(json!({ "tasks": three }))), &stuck);
    let mut running = world.start_run(&["--json"]);
    for _ in 0..2 {
        running.until("\"kind\":\"task.opened\"");
    }
    assert_ne!(world.doors(), Vec::<PathBuf>::new());
    running.signal("KILL");
    running.wait();
    let given = world.events_of("task.started");
    assert_eq!(given.len(), 3);
    let first = given[0]["session"].as_str().expect("an id");

    let mut again = scout("go on");
    again["task_id"] = json!(first);
    let goes_on = Agent::approving().always("\n\ngo on", vec![say("Here it is.")]);
    world.cast(&planner(task(again)), &goes_on);
    world
        .program(&["resume", "--auto", "--yes-execute", "--on-step", "continue"])
        .ends(0);
    let told = world.read("a.txt");
    assert!(told.contains("Here it is."), "{told}");
    let ended: Vec<(Value, Value)> = world
        .events_of("task.ended")
        .into_iter()
        .map(|ended| (ended["task_id"].clone(), ended["status"].clone()))
        .collect();
    let cancelled = given
        .iter()
        .map(|given| (given["session"].clone(), json!("cancelled")));
    let completed = (json!(first), json!("completed"));
    assert_eq!(ended, cancelled.chain([completed]).collect::<Vec<_>>());
    assert_eq!(world.leftovers(), Vec::<String>::new());
    assert_eq!(world.files(".agent-collab/turns"), []);
    assert_eq!(world.doors(), Vec::<PathBuf>::new());
}
