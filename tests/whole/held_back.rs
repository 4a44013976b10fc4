//! What stops calls although rules allow them: loops, missing tools, the parent session of a child.

use serde_json::{Value, json};

use crate::script::{Agent, say, write};
use crate::world::World;

/// A command that asks before it runs.
fn asking(run: &str) -> Value {
    json!({ "do": "command", "run": run, "ask": "always" })
}

/// Allows `touch` with a rule of the user.
const TOUCH: &str =
    "[[permission.rule]]\npermission = \"bash\"\npattern = \"touch *\"\naction = \"allow\"\n";

/// The answers to the calls whose target contains this, with what decided.
fn answers(world: &World, target: &str) -> Vec<(bool, String, String)> {
    let answered = world.events_of("approval.answered");
    let asked = world.events_of("approval.asked").into_iter();
    let about = asked.filter(|call| call["targets"].to_string().contains(target));
    about
        .map(|call| {
            let answer = answered
                .iter()
                .find(|answer| answer["request"] == call["request"])
                .expect("each call has its answer");
            (
                answer["allowed"] == true,
                call["why"]["rule"].as_str().unwrap_or_default().to_owned(),
                answer["reason"].as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect()
}

#[test]
fn a_circle_of_calls_ends_the_turn_where_nobody_is_there() {
    for (circle, mode) in [
        (vec!["touch a.txt"], "default"),
        (vec!["touch a.txt", "touch b.txt"], "yolo"),
    ] {
        let mut world = World::new();
        world.config = TOUCH.to_owned();
        let mut actions: Vec<Value> = circle
            .iter()
            .cycle()
            .take(circle.len() * 3)
            .map(|run| asking(run))
            .collect();
        actions.extend([write("never.txt", "never\n"), say("Went on.")]);
        let planner = Agent::planning(&["Write"]).step(1, actions);
        world.cast_claude_first(&planner, &Agent::approving());
        let ran = world.run(&["--on-ask", "allow-rules", "--mode", mode]);
        ran.ends(3).says("calls repeat").says("Turn interrupted");
        let last = answers(&world, "touch").pop().expect("calls");
        assert_eq!((last.0, last.1.as_str()), (false, "doom loop"), "{last:?}");
        let n_allowed = answers(&world, "touch")
            .iter()
            .filter(|answer| answer.0)
            .count();
        assert_eq!(n_allowed, circle.len() * 3 - 1);
        assert!(!world.root.join("never.txt").exists());
    }
}

#[test]
fn calls_that_differ_are_no_circle() {
    let mut world = World::new();
    world.config = TOUCH.to_owned();
    let actions = [
        "touch a", "touch b", "touch a", "touch c", "touch a", "touch d",
    ]
    .map(asking);
    let mut actions = actions.to_vec();
    actions.push(say("Touched."));
    let planner = Agent::planning(&["Write"]).step(1, actions);
    world.cast_claude_first(&planner, &Agent::approving());
    world.run(&["--on-ask", "allow-rules"]).ends(0);
    assert!(answers(&world, "touch").iter().all(|answer| answer.0));
}

/// A call of a tool, as claude asks about it; the agent is a sub-agent's where it is named.
fn tool(name: &str, input: &Value, agent: Option<&str>) -> Value {
    let mut request = json!({
        "subtype": "can_use_tool", "tool_name": name, "input": input, "tool_use_id": format!("toolu_{name}"),
    });
    if let Some(agent) = agent {
        request["agent_id"] = json!(agent);
    }
    json!({ "do": "frame", "json": { "type": "control_request", "request_id": format!("ask_{name}"), "request": request } })
}

#[test]
fn a_tool_that_is_not_there_is_blocked_and_recorded() {
    let mut world = World::new();
    world.config =
        "[agents.review]\ntools = { websearch = false }\n[[permission.rule]]\npermission = \"mcp__*\"\npattern = \"*\"\naction = \"deny\"\n"
            .to_owned();
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            tool(
                "Task",
                &json!({ "subagent_type": "explore", "prompt": "look" }),
                None,
            ),
            tool("WebSearch", &json!({ "query": "rust" }), None),
            tool("mcp__notes__read", &json!({ "id": "1" }), None),
            tool("WebFetch", &json!({ "url": "https://example.org" }), None),
            write("${comments_path}", "[APPROVED]\n"),
        ],
    );
    let planner = Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    world.cast(&planner, &reviewer);
    world
        .run(&[])
        .ends(0)
        .says("blocked: the tool Task is not offered here");
    let check = |target: &str, expected: (bool, &str, &str)| {
        let found = answers(&world, target).pop().expect("the call");
        assert_eq!(
            (found.0, found.1.as_str()),
            (expected.0, expected.1),
            "{found:?}"
        );
        assert!(found.2.contains(expected.2), "{found:?}");
    };
    check(
        "subagent_type",
        (false, "hidden tool", "blocked: the tool Task"),
    );
    check("rust", (false, "hidden tool", "websearch \"*\" deny"));
    check(
        "\\\"id\\\"",
        (false, "hidden tool", "mcp__notes__read is not offered"),
    );
    check("example.org", (true, "webfetch \"*\" allow", ""));
    let blocked = world.events_of("tool.blocked");
    let tools: Vec<&Value> = blocked.iter().map(|event| &event["tool"]).collect();
    assert_eq!(
        tools,
        ["Task", "WebSearch", "mcp__notes__read"],
        "{blocked:?}"
    );
    let reviewer = &world.state()["reviewer"]["id"];
    assert!(
        blocked.iter().all(|event| event["session"] == *reviewer),
        "{blocked:?}"
    );
}

#[test]
fn a_tool_that_claude_says_is_not_there_is_recorded_as_blocked() {
    let world = World::new();
    let frame = |json: Value| json!({ "do": "frame", "json": json });
    let message = |kind: &str, block: Value| {
        let message = json!({ "id": "m", "role": kind, "content": [block] });
        frame(json!({ "type": kind, "message": message }))
    };
    let call =
        json!({ "type": "tool_use", "id": "t1", "name": "Agent", "input": { "prompt": "look" } });
    let error = "<tool_use_error>Error: No such tool available: Agent</tool_use_error>";
    let result =
        json!({ "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": error });
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            message("assistant", call),
            message("user", result),
            write("${comments_path}", "[APPROVED]\n"),
        ],
    );
    let planner = Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    world.cast(&planner, &reviewer);
    world
        .run(&[])
        .ends(0)
        .says("Tool Agent blocked: claude does not have it here");
    assert_eq!(world.events_of("tool.blocked").len(), 1);
}

#[test]
fn a_child_s_call_of_a_tool_that_it_does_not_have_is_recorded_as_blocked() {
    let mut world = World::new();
    world.config = "[agents.explore]\nadapter = \"claude\"\n".to_owned();
    let explorer = Agent::new().on(
        "[agent-collab task explore#1]",
        vec![write("no.txt", "no\n"), say("Found.")],
    );
    world.cast(&Agent::new(), &explorer);
    world
        .program(&["task", "--agent", "explore", "look"])
        .ends(0);
    let blocked = world.events_of("tool.blocked");
    let tools: Vec<&Value> = blocked.iter().map(|event| &event["tool"]).collect();
    assert_eq!(tools, ["edit"], "{blocked:?}");
    assert!(!world.root.join("no.txt").exists());
}

#[test]
fn a_child_s_call_is_held_to_what_its_session_may() {
    let mut world = World::new();
    world.config = "[agents.review]\nrules = [[\"webfetch\", \"*\", \"allow\"]]\n[[permission.rule]]\npermission = \"webfetch\"\npattern = \"https://secret*\"\naction = \"deny\"\n".to_owned();
    let fetch = json!({ "url": "https://secret.example.org" });
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            tool("WebFetch", &fetch, Some("explore-2")),
            tool(
                "group_discuss_context",
                &json!({ "name": "all" }),
                Some("explore-2"),
            ),
            write("${comments_path}", "[APPROVED]\n"),
        ],
    );
    let planner = Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    let calls = world.events_of("approval.asked");
    let of_child = calls.iter().filter(|call| call["child"] == "explore-2");
    let rules: Vec<&Value> = of_child.map(|call| &call["why"]["rule"]).collect();
    assert_eq!(rules, ["parent session", "parent session"], "{calls:?}");
    assert!(answers(&world, "secret").iter().all(|answer| !answer.0));
}
