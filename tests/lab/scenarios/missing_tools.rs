//! Each CLI's model calls tools that its agent does not have here: nothing runs, and each call is recorded.

use serde_json::{Value, json};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{USUAL, World};

fn named(name: &'static str, input: Value) -> Tool {
    Tool::Named { name, input }
}

fn calls(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) => {
            let spawn = named("spawn_agent", json!({ "message": "look around" }));
            brain::after(&[spawn], request)
        }
        Purpose::Review(_) => {
            let agent = json!({ "description": "looks", "prompt": "look around", "subagent_type": "general-purpose" });
            let search = json!({ "query": "rust" });
            brain::after(
                &[named("Agent", agent), named("WebSearch", search)],
                request,
            )
        }
        _other => brain::honest(request),
    }
}

/// codex plans, claude reviews.
pub fn usual(notes: &mut Notes) {
    let world = World::create("missing-tools", USUAL, calls);
    world.configure("[agents.review]\ntools = { websearch = false }\n");
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let blocked: Vec<&Value> = outcome
        .of_kind("tool.blocked")
        .map(|event| &event["data"]["tool"])
        .collect();
    // The plan is reviewed twice.
    let expected = ["spawn_agent", "Agent", "WebSearch", "Agent", "WebSearch"];
    assert_eq!(blocked, expected);
}
