//! Tests whole turns of the scripted `codex`, frame by frame.

use serde_json::{Value, json};

use crate::scripted::ScriptedProgram;
use crate::scripted::test_harness::{ScriptedAgentHarness, start_codex_thread, start_codex_turn};

fn is_over(frame: &Value) -> bool {
    frame["method"] == "turn/completed"
}

fn is_ask(frame: &Value) -> bool {
    frame["method"].is_string() && frame.get("id").is_some()
}

/// Plays one prompt, answers every request with `decision`; returns the ended items, in order.
fn check(sandbox: &str, actions: &str, decision: &str) -> String {
    check_answered(sandbox, actions, |_| json!({"decision": decision}))
}

/// Does the same with an answer that depends on the parameters of the request.
fn check_answered(sandbox: &str, actions: &str, answer: impl Fn(&Value) -> Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("[[turn]]\naction = [{actions}]");
    let codex = ScriptedAgentHarness::new(
        ScriptedProgram::Codex,
        &script,
        &["app-server"],
        folder.path(),
    );
    let thread = start_codex_thread(&codex, sandbox);
    start_codex_turn(&codex, &thread, "go");
    let mut said = Vec::new();
    loop {
        let news = codex.read_until(|frame| is_ask(frame) || is_over(frame));
        for frame in news
            .iter()
            .filter(|frame| frame["method"] == "item/completed")
        {
            let item = &frame["params"]["item"];
            match item["type"].as_str().unwrap() {
                "userMessage" => {}
                "agentMessage" => said.push(item["text"].as_str().unwrap().to_owned()),
                kind => said.push(format!("{kind} {}", item["status"].as_str().unwrap())),
            }
        }
        let last = news.last().unwrap();
        if is_over(last) {
            said.push(
                last["params"]["turn"]["status"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            );
            break;
        }
        said.push("?".to_owned());
        codex.send_frame(json!({"id": last["id"], "result": answer(&last["params"])}));
    }
    assert_eq!(codex.close_input().code, 0);
    said.join(" | ")
}

const TOUCH: &str = r#"{ do = "command", run = "touch made && test -e made", if_allowed = [{ do = "text", text = "made" }],
    if_denied = [{ do = "text", text = "not made" }] }"#;
const PATCH: &str = r#"{ do = "write", path = "a.txt", content = "a\n", if_denied = [{ do = "text", text = "refused" }] }"#;

#[test]
fn a_command_is_asked_about_in_a_read_only_turn_only() {
    assert_eq!(
        check("workspace-write", TOUCH, ""),
        "commandExecution completed | made | completed"
    );
    assert_eq!(
        check("read-only", TOUCH, "accept"),
        "? | commandExecution completed | made | completed"
    );
    assert_eq!(
        check("read-only", TOUCH, "decline"),
        "? | commandExecution declined | not made | completed"
    );
    assert_eq!(
        check("read-only", r#"{ do = "command", run = "ls -a" }"#, ""),
        "commandExecution completed | completed"
    );
}

#[test]
fn a_refusal_that_cancels_ends_the_turn() {
    assert_eq!(
        check("read-only", TOUCH, "cancel"),
        "? | commandExecution declined | interrupted"
    );
    assert_eq!(check("read-only", PATCH, "cancel"), "? | interrupted");
}

#[test]
fn a_patch_is_asked_about_where_the_sandbox_would_stop_it() {
    assert_eq!(
        check("workspace-write", PATCH, ""),
        "fileChange completed | completed"
    );
    assert_eq!(
        check("read-only", PATCH, "decline"),
        "? | fileChange declined | refused | completed"
    );
    for outside in [".git/hooks/x", "sub/../../out.txt"] {
        let patch = PATCH.replace("a.txt", outside);
        assert_eq!(
            check("workspace-write", &patch, "decline"),
            "? | fileChange declined | refused | completed"
        );
    }
}

#[test]
fn an_answer_to_a_question_is_a_word_of_the_script() {
    let actions = r#"{ do = "question", question = "Which?", options = ["a", "b"],
        if_answered = [{ do = "text", text = "chose ${answer}" }], if_dismissed = [{ do = "text", text = "nothing" }] }"#;
    let second = |params: &Value| {
        let asked = &params["questions"][0];
        let (id, option) = (asked["id"].as_str().unwrap(), &asked["options"][1]["label"]);
        json!({"answers": { id: {"answers": [option]} }})
    };
    assert_eq!(
        check_answered("read-only", actions, second),
        "? | chose b | completed"
    );
    for dismissed in [json!({"answers": {}}), Value::Null] {
        assert_eq!(
            check_answered("read-only", actions, |_| dismissed.clone()),
            "? | nothing | completed"
        );
    }
}

#[test]
fn a_malformed_decision_is_a_refusal() {
    assert_eq!(
        check("read-only", TOUCH, "whatever"),
        "? | commandExecution failed | not made | completed"
    );
}

#[test]
fn a_failing_command_says_its_exit_code() {
    let failing = r#"{ do = "command", run = "exit 7" }"#;
    assert_eq!(
        check("workspace-write", failing, ""),
        "commandExecution failed | completed"
    );
}

#[test]
fn lost_text_never_completes_and_is_said_again() {
    let actions = r#"{ do = "cut", text = "half a" }, { do = "text", text = "half a sentence" }"#;
    assert_eq!(
        check("read-only", actions, ""),
        "half a sentence | completed"
    );
}

#[test]
fn an_interrupt_leaves_the_command_running_until_the_terminals_are_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[[turn]]\naction = [{ do = \"command\", run = \"echo up; sleep 600\" }]";
    let codex = ScriptedAgentHarness::new(ScriptedProgram::Codex, script, &[], folder.path());
    let thread = start_codex_thread(&codex, "workspace-write");
    start_codex_turn(&codex, &thread, "go");
    codex.read_until(|frame| frame["method"] == "item/commandExecution/outputDelta");
    codex.send_frame(json!({"id": 7, "method": "turn/interrupt", "params": {"threadId": thread}}));
    let frames = codex.read_until(is_over);
    assert_eq!(
        frames.last().unwrap()["params"]["turn"]["status"],
        "interrupted"
    );
    assert!(
        !frames
            .iter()
            .any(|frame| frame["method"] == "item/completed")
    );
    codex.send_frame(json!({"id": 8, "method": "thread/backgroundTerminals/clean", "params": {"threadId": thread}}));
    let item = codex
        .read_until(|frame| frame["method"] == "item/completed")
        .pop()
        .unwrap();
    assert_eq!(item["params"]["item"]["exitCode"], -1);
    assert_eq!(codex.close_input().code, 0);
}

#[test]
fn what_is_said_in_a_turn_is_taken_for_that_turn_alone() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[[turn]]\naction = [{ do = \"stall\" }]";
    let codex = ScriptedAgentHarness::new(ScriptedProgram::Codex, script, &[], folder.path());
    let thread = start_codex_thread(&codex, "read-only");
    start_codex_turn(&codex, &thread, "go");
    let begun = codex
        .read_until(|frame| frame["method"] == "turn/started")
        .pop();
    let turn = begun.unwrap()["params"]["turn"]["id"].clone();
    let steer = |id: u64, turn: &Value| {
        let params = json!({"threadId": thread, "expectedTurnId": turn, "input": []});
        codex.send_frame(json!({"id": id, "method": "turn/steer", "params": params}));
        codex.read_until(|frame| frame["id"] == id).pop().unwrap()
    };
    assert_eq!(steer(7, &turn)["result"]["turnId"], turn);
    let refused = steer(8, &json!("another"));
    assert_eq!(refused["error"]["message"], "no active turn to steer");
    assert_eq!(codex.close_input().code, 0);
}

#[test]
fn the_end_of_input_ends_it_at_once_even_within_a_request() {
    let folder = tempfile::tempdir().unwrap();
    let codex = ScriptedAgentHarness::new(
        ScriptedProgram::Codex,
        &format!("[[turn]]\naction = [{TOUCH}]"),
        &[],
        folder.path(),
    );
    let thread = start_codex_thread(&codex, "read-only");
    start_codex_turn(&codex, &thread, "go");
    codex.read_until(is_ask);
    let end = codex.close_input();
    assert_eq!((end.code, end.lines), (0, vec![]));
}

#[test]
fn a_thread_is_resumed_by_a_later_process_once_a_turn_has_begun() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[[turn]]\naction = [{ do = \"text\", text = \"first\" }]\n[[turn]]\naction = [{ do = \"text\", text = \"second\" }]\n";
    let codex = ScriptedAgentHarness::new(ScriptedProgram::Codex, script, &[], folder.path());
    let thread = start_codex_thread(&codex, "read-only");
    let never_used = start_codex_thread(&codex, "read-only");
    start_codex_turn(&codex, &thread, "go");
    codex.read_until(is_over);
    codex.close_input();
    let codex = ScriptedAgentHarness::new(ScriptedProgram::Codex, script, &[], folder.path());
    start_codex_thread(&codex, "read-only");
    codex.send_frame(
        json!({"id": 5, "method": "thread/resume", "params": {"threadId": never_used}}),
    );
    assert!(
        codex.read_until(|frame| frame["id"] == 5)[0]
            .get("error")
            .is_some()
    );
    codex.send_frame(json!({"id": 6, "method": "thread/resume", "params": {"threadId": thread}}));
    assert_eq!(
        codex.read_until(|frame| frame["id"] == 6)[0]["result"]["thread"]["id"],
        thread
    );
    start_codex_turn(&codex, &thread, "go");
    let over = codex.read_until(is_over).pop().unwrap();
    assert_eq!(over["params"]["turn"]["items"][0]["text"], "second");
    codex.close_input();
}

#[test]
fn a_turn_may_change_the_sandbox_and_bad_lines_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let codex = ScriptedAgentHarness::new(
        ScriptedProgram::Codex,
        &format!("[[turn]]\naction = [{PATCH}]"),
        &[],
        folder.path(),
    );
    let thread = start_codex_thread(&codex, "read-only");
    codex.send_line("{not json");
    let input = json!([{"type": "text", "text": "go"}]);
    let policy = json!({"type": "workspaceWrite", "writableRoots": []});
    codex.send_frame(json!({"id": 3, "method": "turn/start", "params": {"threadId": thread, "input": input, "sandboxPolicy": policy}}));
    let frames = codex.read_until(is_over);
    assert!(!frames.iter().any(is_ask));
    let end = codex.close_input();
    assert!(end.errors.contains("failed to parse"), "{}", end.errors);
}
