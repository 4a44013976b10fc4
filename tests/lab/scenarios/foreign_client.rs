//! The official MCP client calls the program's tools in place of scripted agents: the offered tools, the result of each
//! call, invalid input, cancelled calls, and tokens that do not belong to the session.

use std::path::Path;

use serde_json::{Value, json};

use crate::brain;
use crate::report::Notes;
use crate::world::{Outcome, USUAL, World};

/// The client, with the packages that `npm ci` installs next to it.
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real-cli/mcp_client.mjs");
const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-collab");
/// More than one line between server and program may contain.
const TOO_MUCH: usize = 5 * 1024 * 1024;

fn turn(when: &str, actions: Value) -> Value {
    json!({ "when": when, "uses": "always", "action": actions })
}

/// Runs these steps with the client and stores the results under a name.
fn steps(world: &Path, name: &str, steps: &Value) -> Value {
    let into = world.join(format!("{name}.json"));
    json!({ "do": "tool", "tool": "lab", "input": { "steps": steps, "into": into } })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

/// Builds the same call from another of codex's conversations, or without naming one.
fn by(thread: Option<&str>, mut call: Value) -> Value {
    call["_meta"] = json!(thread.map(|thread| json!({ "threadId": thread })));
    call
}

fn script(turns: &[Value]) -> String {
    let said = |when: &str| turn(when, json!([{ "do": "text", "text": "All is said." }]));
    let mut turns = turns.to_vec();
    turns.push(said("[agent-collab EXECUTE summary]"));
    json!({ "turn": turns, "tool_client": ["node", CLIENT] }).to_string()
}

/// A world whose CLIs are scripted.
fn world(name: &str, turns: impl Fn(&Path) -> [Vec<Value>; 2]) -> World {
    let world = World::create(name, USUAL, |_| unreachable!("no model is asked"));
    let root = world.home.root();
    for (cli, turns) in ["codex", "claude"].into_iter().zip(turns(root)) {
        let path = world.outside(&format!("{cli}.json"));
        std::fs::write(&path, script(&turns)).expect("a script");
        world.configure(&format!(
            "[adapters.{cli}]\nprogram = {PROGRAM:?}\nwritable = [{root:?}]\n\
             args = [\"scripted-agent\", \"--as\", \"{cli}\", \"--fast\", \"--script\", {path:?}]\n",
        ));
    }
    world
}

/// What came of the steps of that name.
fn seen(world: &World, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.outside(&format!("{name}.json")));
    let text = text.unwrap_or_else(|error| panic!("no report of {name}: {error}"));
    serde_json::from_str(&text).expect("a report")
}

fn text_of(result: &Value) -> &str {
    result
        .pointer("/result/content/0/text")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[track_caller]
fn assert_done(result: &Value, words: &str) {
    assert!(
        text_of(result).contains(words),
        "no {words:?} in {result:#}"
    );
    assert_ne!(result["result"]["isError"], true, "{result:#}");
}

#[track_caller]
fn assert_failed(result: &Value, words: &str) {
    assert!(
        text_of(result).contains(words),
        "no {words:?} in {result:#}"
    );
    assert_eq!(result["result"]["isError"], true, "{result:#}");
}

#[track_caller]
fn assert_blocked(result: &Value, tool: &str, words: &str) {
    let data = &result["result"]["structuredContent"];
    assert_eq!(
        (&data["blocked"], &data["tool"]),
        (&json!(true), &json!(tool)),
        "{result:#}"
    );
    let reason = data["reason"].as_str().unwrap_or_default();
    assert!(reason.contains(words), "no {words:?} in {result:#}");
    assert_eq!(result["result"]["isError"], true, "{result:#}");
    assert_eq!(
        serde_json::from_str::<Value>(text_of(result)).ok().as_ref(),
        Some(data)
    );
}

fn todos(statuses: &[&str]) -> Value {
    let todo = |status: &&str| json!({ "content": "a part", "status": status });
    let todos: Vec<Value> = statuses.iter().map(todo).collect();
    call("todowrite", json!({ "todos": todos }))
}

fn explore(prompt: &str) -> Value {
    json!({ "agent": "explore", "prompt": prompt, "description": prompt })
}

/// What is no call, and what is none of this protocol at all.
fn nonsense() -> Value {
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "lab", "version": "0" } });
    let ask = |id: u32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let frames = json!([
        ask(1, "initialize", hello),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        "this is no JSON",
        "{\"jsonrpc\": \"2.0\"}",
        "[]",
        "",
        ask(2, "no/such/method", json!({})),
        ask(3, "tools/call", json!({})),
        ask(
            4,
            "tools/call",
            json!({ "name": "todoread", "arguments": "text" })
        ),
        ask(5, "tools/list", json!({})),
    ]);
    json!({ "frames": frames, "answers": [1, 2, 3, 4, 5] })
}

fn planning(root: &Path) -> Value {
    let log = root.join("repository/.agent-collab/events.jsonl");
    let big: Vec<Value> = (0..100)
        .map(|_| json!({ "content": "𝄞".repeat(500), "status": "pending" }))
        .collect();
    let mut behind = explore("look behind");
    behind["background"] = json!(true);
    json!([
        { "who": true },
        { "list": true },
        nonsense(),
        { "token": "0".repeat(64) },
        todos(&["in_progress", "pending"]),
        todos(&["in_progress", "in_progress"]),
        call("todowrite", json!({ "todos": "all" })),
        call("todoread", json!({ "of": "another" })),
        by(Some("another"), call("todoread", json!({}))),
        by(None, call("todoread", json!({}))),
        call("review_submit", json!({ "verdict": "approved" })),
        call("nonsense", json!({})),
        call("todowrite", json!({ "todos": big })),
        call("todoread", json!({})),
        call("plan_exit", json!({})),
        call("plan_submit", json!({ "plan": "# Task: no steps\n" })),
        { "name": "plan_submit", "arguments": {}, "pad": { "key": "plan", "bytes": TOO_MUCH } },
        call("plan_submit", json!({ "plan": brain::plan("") })),
        call("plan_exit", json!({})),
        call("ask_user", json!({ "question": "Which way?", "default": "left" })),
        call("task", explore("look here")),
        call("task", json!({ "tasks": [explore("look there"), { "agent": "build", "prompt": "build it" }] })),
        call("task", behind),
        { "cancel": call("task", explore("wait for ever")), "file": log, "once": "wait for ever",
          "then": "\"status\":\"cancelled\"" },
        call("session_manage", json!({ "action": "list" })),
        call("session_manage", json!({ "action": "show", "task_id": "ses_another" })),
    ])
}

fn executing() -> Value {
    json!([
        { "list": true },
        call("plan_submit", json!({ "plan": brain::plan("") })),
        call("plan_enter", json!({ "reason": "a part is missing" })),
        call("todoread", json!({})),
        call("step_result", json!({ "result": "blocked" })),
        call("step_result", json!({ "result": "done" })),
    ])
}

fn reviewing() -> Value {
    let finding = json!({ "severity": "blocking", "place": "step 1", "text": brain::REMARK });
    json!([
        { "list": true },
        todos(&["pending"]),
        call("plan_submit", json!({ "plan": brain::plan("") })),
        call("review_submit", json!({ "verdict": "approved", "findings": [finding] })),
        call("review_submit", json!({ "verdict": "yes" })),
        call("review_submit", json!({ "verdict": "approved" })),
    ])
}

fn turns(root: &Path) -> [Vec<Value>; 2] {
    let write =
        |path: &str, content: &str| json!({ "do": "write", "path": path, "content": content });
    let code = "exports.sum = (a, b) => a + b;\nexports.double = (a) => 2 * a;\n";
    let said = |words: &str| json!([{ "do": "text", "text": words, "delta": "whole" }]);
    let planner = vec![
        turn(
            "[agent-collab WRITE_PLAN]",
            json!([steps(root, "planning", &planning(root))]),
        ),
        turn(
            "[agent-collab EXECUTE step 1]",
            json!([
                steps(root, "executing", &executing()),
                write("code.js", code)
            ]),
        ),
        turn(
            "[agent-collab EXECUTE step 2]",
            json!([
                steps(root, "executing-on", &json!([{ "list": true }])),
                write("README.md", "# Scratch\n")
            ]),
        ),
        turn("wait for ever", json!([{ "do": "stall" }])),
        turn("[agent-collab task explore", said("I found it.")),
    ];
    let reviewer = vec![turn(
        "[agent-collab REVIEW",
        json!([steps(root, "reviewing", &reviewing())]),
    )];
    [planner, reviewer]
}

/// Plans, reviews and executes by the client's calls alone.
pub fn plays(_: &mut Notes) {
    let world = world("foreign-client", turns);
    let outcome = world.run(&["--yes-execute", "--on-ask", "deny"]);
    outcome.assert_code(0);
    assert_planned(&seen(&world, "planning"));
    assert_reviewed(&seen(&world, "reviewing"));
    let first = seen(&world, "executing");
    assert_executed(&first);
    // One connection serves both steps.
    let second = seen(&world, "executing-on");
    assert_eq!(second[0]["names"], first[0]["names"]);
    assert!(
        second[0]["changes"].as_u64() > first[0]["changes"].as_u64(),
        "the client hears of each turn that its tools may be others"
    );
    assert_recorded(&outcome);
}

fn assert_planned(seen: &[Value]) {
    let (greeting, rest) = seen.split_at(4);
    assert_greeted(greeting);
    let (about_todos, rest) = rest.split_at(8);
    assert_todos(about_todos);
    let [big, read, early, bad, much, plan, exit, asked, rest @ ..] = rest else {
        panic!("{rest:#?}");
    };
    assert_done(big, "0 of 100 todos are completed");
    assert_eq!(big["result"], read["result"]);
    assert!(text_of(read).len() > 200_000, "every word comes back");
    assert_failed(early, "there is no plan yet");
    assert_failed(bad, "the plan has no numbered box");
    assert_eq!(much["error"]["code"], -32602, "{much:#}");
    assert_done(plan, "the plan is accepted");
    assert_done(exit, "The plan is handed on");
    assert_done(asked, "your default counts: left");
    assert_tasks(rest);
}

fn assert_greeted(seen: &[Value]) {
    let [who, list, raw, token] = seen else {
        panic!("{seen:#?}");
    };
    assert_eq!(who["server"]["name"], "agent-collab");
    assert_eq!(who["can"], json!({ "tools": { "listChanged": true } }));
    let names = json!([
        "todoread",
        "todowrite",
        "plan_submit",
        "plan_exit",
        "ask_user",
        "task",
        "group_discuss",
        "group_discuss_context",
        "session_manage"
    ]);
    assert_eq!((&list["names"], &list["told"]), (&names, &json!(true)));
    assert_eq!(raw["2"]["error"]["code"], -32601, "{raw:#}");
    for id in ["3", "4"] {
        assert!(raw[id]["error"]["message"].is_string(), "{raw:#}");
    }
    assert_eq!(
        raw["5"]["result"]["tools"].as_array().map(Vec::len),
        Some(9)
    );
    assert_eq!(token["code"], 1, "{token:#}");
    let refused = token["told"].as_str().unwrap_or_default();
    assert!(
        refused.contains("it does not have the session's token"),
        "{refused}"
    );
}

fn assert_todos(seen: &[Value]) {
    let [first, two, text, more, other, nobody, review, none] = seen else {
        panic!("{seen:#?}");
    };
    assert_done(first, "0 of 2 todos are completed");
    assert_eq!(
        first["result"]["structuredContent"]["todos"][0]["status"],
        "in_progress"
    );
    assert_failed(two, "todos 1, 2 are in_progress, at most one may be");
    assert_failed(text, "the arguments do not fit");
    assert_failed(more, "the arguments do not fit");
    assert_blocked(other, "todoread", "only the session's own agent");
    assert_blocked(nobody, "todoread", "only the session's own agent");
    assert_blocked(review, "review_submit", "review_submit \"*\" deny");
    assert_blocked(none, "nonsense", "there is no such tool");
}

fn assert_tasks(seen: &[Value]) {
    let [one, batch, behind, cancelled, list, other] = seen else {
        panic!("{seen:#?}");
    };
    assert_done(one, "<task_result>");
    let result = &one["result"]["structuredContent"];
    assert_eq!(
        (&result["status"], &result["summary"]),
        (&json!("completed"), &json!("I found it."))
    );
    assert!(
        result["duration_ms"].is_u64() && result["tool_calls"].is_u64(),
        "{result:#}"
    );
    let results = &batch["result"]["structuredContent"]["results"];
    assert_eq!(
        (&results[0]["status"], &results[1]["status"]),
        (&json!("completed"), &json!("declined"))
    );
    assert_done(behind, "running in the background");
    assert!(cancelled["error"].is_object(), "{cancelled:#}");
    let tasks = list["result"]["structuredContent"]["tasks"].as_array();
    let statuses: Vec<&Value> = tasks
        .into_iter()
        .flatten()
        .map(|task| &task["status"])
        .collect();
    assert_eq!(statuses.len(), 4, "{list:#}");
    assert_eq!(statuses[3], "cancelled", "{list:#}");
    assert_failed(other, "ses_another is no task of yours");
}

fn assert_reviewed(seen: &[Value]) {
    let [list, todos, plan, blocking, yes, approved] = seen else {
        panic!("{seen:#?}");
    };
    assert_eq!(
        list["names"],
        json!([
            "todoread",
            "review_submit",
            "ask_user",
            "task",
            "group_discuss",
            "group_discuss_context"
        ])
    );
    assert_blocked(todos, "todowrite", "todowrite");
    assert_blocked(plan, "plan_submit", "plan_submit");
    assert_failed(
        blocking,
        "an approval cannot stand beside blocking or major findings",
    );
    assert_failed(yes, "the arguments do not fit");
    assert_done(approved, "the review is accepted");
}

fn assert_executed(seen: &[Value]) {
    let [list, plan, enter, read, blocked, done] = seen else {
        panic!("{seen:#?}");
    };
    let names = json!([
        "todoread",
        "todowrite",
        "plan_enter",
        "step_result",
        "ask_user",
        "task",
        "group_discuss",
        "group_discuss_context",
        "session_manage"
    ]);
    assert_eq!(list["names"], names);
    assert_blocked(plan, "plan_submit", "plan_submit");
    assert_failed(enter, "nobody is there to agree");
    // The list of todos is the session's, whatever turn it is.
    assert_done(read, "0 of 100 todos are completed");
    assert_failed(blocked, "quote in `detail` what stands in the way");
    assert_done(done, "the result is accepted");
}

/// Checks that the blocked calls are recorded, and that a task whose call was cancelled ended with it.
fn assert_recorded(outcome: &Outcome) {
    let blocked: Vec<&Value> = outcome
        .of_kind("tool.blocked")
        .map(|event| &event["data"]["tool"])
        .collect();
    let expected = [
        "todoread",
        "todoread",
        "review_submit",
        "nonsense",
        "todowrite",
        "plan_submit",
        "plan_submit",
    ];
    assert_eq!(blocked, expected);
    let at = |kind: &str, fits: &dyn Fn(&Value) -> bool| {
        let found = outcome.of_kind(kind).find(|event| fits(&event["data"]));
        found.unwrap_or_else(|| panic!("no {kind}"))["seq"].as_u64()
    };
    let cancelled = at("task.ended", &|data| data["status"] == "cancelled");
    assert!(cancelled < at("turn.ended", &|_| true));
}
