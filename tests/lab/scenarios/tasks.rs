//! One CLI's agent gives tasks to agents that the other CLI runs: in parallel, in the background, resumed,
//! and denied to a child.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, World};

fn task(input: Value) -> Tool {
    Tool::Own {
        tool: "task",
        input,
    }
}

fn scout(prompt: &str) -> Value {
    json!({ "agent": "scout", "prompt": prompt, "description": "looks around" })
}

/// What a child does: the first tries to have a child itself.
fn child(n: &str, request: &Request) -> Reply {
    if request.prompt.contains("go on with it") {
        return Reply::text("the scout went on");
    }
    match (n, request.n_outputs()) {
        ("1", 0) => Reply::call(task(scout("do my work"))),
        _ => Reply::text(format!("scout {n} found it")),
    }
}

/// Returns the first task that was given in this conversation.
fn first_task(request: &Request) -> String {
    let text = request.body.to_string();
    let (_, id) = text.split_once("task_id: ").unwrap_or_default();
    id.split_whitespace().next().unwrap_or_default().to_owned()
}

fn acts(request: &Request) -> Reply {
    static CHILD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[agent-collab task scout#(\d+)\]").expect("a pattern"));
    // Only a child's prompt contains such a header; the text that the CLI adds around it does not matter.
    if let Some(found) = CHILD.captures(&request.body.to_string()) {
        return child(&found[1], request);
    }
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) => {
            let three = ["look here", "look there", "look elsewhere"].map(scout);
            let mut behind = scout("look behind");
            behind["background"] = json!(true);
            brain::after(&[task(json!({ "tasks": three })), task(behind)], request)
        }
        Purpose::FirstStep => {
            let mut again = scout("go on with it");
            again["task_id"] = json!(first_task(request));
            brain::after(&[task(again)], request)
        }
        _other => brain::honest(request),
    }
}

fn play(notes: &mut Notes, planner: Vendor, other: Vendor) {
    let cast = Cast {
        planner,
        reviewer: other,
    };
    let world = World::create(&format!("tasks-{}", planner.cli()), cast, acts);
    world.configure(&format!(
        "[agents.scout]\nmode = \"subagent\"\nadapter = \"{}\"\n",
        other.cli()
    ));
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let started: Vec<&Value> = outcome.of_kind("task.started").collect();
    // No sixth: a child has no tool for it.
    assert_eq!(started.len(), 5, "{started:#?}");
    for order in &started {
        assert_eq!(order["data"]["adapter"], other.cli());
    }
    let mut summaries: Vec<&str> = outcome
        .of_kind("task.ended")
        .map(|ended| ended["data"]["summary"].as_str().unwrap_or_default())
        .collect();
    summaries.sort_unstable();
    assert_eq!(
        summaries,
        [
            "scout 1 found it",
            "scout 2 found it",
            "scout 3 found it",
            "scout 4 found it",
            "the scout went on",
        ],
        "{:#?}",
        outcome.of_kind("task.ended").collect::<Vec<_>>()
    );
    let requests = world.server.bodies(planner);
    let last_of = |words: &str| {
        let found = requests.iter().rfind(|body| body.contains(words));
        found.unwrap_or_else(|| panic!("{words} reaches {}", planner.cli()))
    };
    let planning = last_of("[agent-collab WRITE_PLAN]");
    for n in 1..=3 {
        assert!(planning.contains(&format!("scout {n} found it")), "{n}");
    }
    let told = last_of("[agent-collab tasks ended]");
    assert!(told.contains("scout 4 found it"));
    // A child's prompt contains nothing about who gave the task.
    let children = world.server.bodies(other);
    let children = children
        .iter()
        .filter(|body| body.contains("[agent-collab task scout#"));
    for body in children {
        assert!(!body.contains("[agent-collab WRITE_PLAN]"), "{body}");
    }
    notes.prove(
        "gives tasks to agents that the other CLI plays",
        planner,
        "yes",
    );
}

/// codex gives the tasks and claude does them.
pub fn codex(notes: &mut Notes) {
    play(notes, Vendor::Openai, Vendor::Anthropic);
}

/// claude gives the tasks and codex does them.
pub fn claude(notes: &mut Notes) {
    play(notes, Vendor::Anthropic, Vendor::Openai);
}
