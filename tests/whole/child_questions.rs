//! Questions of task agents: they appear in the one queue with their path, and none waits for ever.

use serde_json::{Value, json};

use crate::script::{Agent, say, write};
use crate::world::World;

/// Adds an agent that asks for a choice and repeats the answer, in addition to its other actions.
fn chooser(agent: Agent) -> Agent {
    let question = json!({
        "do": "question", "question": "Which way?", "options": ["left", "right"],
        "if_answered": [say("I take ${answer}.")], "if_dismissed": [say("I decide.")],
    });
    agent.always("[agent-collab task chooser#", vec![question])
}

/// Builds a planner that gives two tasks at once and writes down the results.
fn planner() -> Agent {
    let one = |what: &str| json!({ "agent": "chooser", "description": what, "prompt": what });
    let both = json!({ "tasks": [one("this way"), one("that way")] });
    Agent::planning(&["Choose"]).step(
        1,
        vec![
            json!({ "do": "tool", "tool": "task", "input": both }),
            write("a.txt", "${answer}\n"),
            say("Wrote."),
        ],
    )
}

/// A world in which the agent that asks is this CLI's.
fn world(adapter: &str) -> World {
    let mut world = World::new();
    world.config = format!(
        "[agents.chooser]\nmode = \"subagent\"\nadapter = \"{adapter}\"\nrules = [[\"*\", \"*\", \"allow\"]]\n"
    );
    world.cast(&chooser(planner()), &chooser(Agent::approving()));
    world
}

fn two_ask_at_once(adapter: &str) {
    let world = world(adapter);
    world.run(&["--answer", "question=left"]).ends(0);
    let told = world.read("a.txt");
    assert_eq!(told.matches("I take left.").count(), 2, "{told}");
    let asked = world.events_of("agent.asked");
    let mut paths: Vec<&str> = asked
        .iter()
        .flat_map(|asked| asked["child"].as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["planner ▸ chooser#1", "planner ▸ chooser#2"]);
    let answered = world.events_of("question.answered");
    let texts = answered
        .iter()
        .filter(|answered| answered["answer"]["answer"] == "texts");
    assert_eq!(texts.count(), 2, "{answered:?}");
    assert_eq!(world.leftovers(), Vec::<String>::new());
}

#[test]
fn two_children_of_codex_ask_at_once_and_each_gets_its_answer() {
    two_ask_at_once("codex");
}

#[test]
fn two_children_of_claude_ask_at_once_and_each_gets_its_answer() {
    two_ask_at_once("claude");
}

fn nobody_is_there(adapter: &str) {
    let world = world(adapter);
    world.run(&[]).ends(0);
    let told = world.read("a.txt");
    assert_eq!(told.matches("I decide.").count(), 2, "{told}");
    let alone = world.program(&["task", "--agent", "chooser", "--json", "which?"]);
    let result: Value = serde_json::from_str(&alone.ends(0).out).expect("JSON");
    assert_eq!(result["summary"], "I decide.");
}

#[test]
fn where_nobody_is_there_an_agent_of_codex_decides() {
    nobody_is_there("codex");
}

#[test]
fn where_nobody_is_there_an_agent_of_claude_decides() {
    nobody_is_there("claude");
}
