//! Tests of the adapter with recorded streams of the real CLI, and with lines that no CLI should write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::ClaudeAdapter;
use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, CallDecision, CliExit, SessionSpec,
    TurnAccess, TurnSpec,
};
use crate::domain::ids::{RequestId, TurnId};

const FRESH: &str = "6f1f7f0a-52f4-4c58-9d75-000000000001";

fn session(external: Option<&str>) -> SessionSpec {
    let mut session = SessionSpec::example("claude");
    session.fresh_id = FRESH.to_owned();
    session.external_id = external.map(str::to_owned);
    session.cli.args = vec!["--effort=low".to_owned()];
    let (variable, url) = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    session.cli.env = BTreeMap::from([(variable.to_owned(), url.to_owned())]);
    session.cli.model = Some("opus".to_owned());
    session
}

fn turn(number: usize, prompt: &str) -> TurnSpec {
    TurnSpec {
        turn: TurnId::new(format!("trn_{number}")),
        prompt: prompt.to_owned(),
        access: TurnAccess::ReadOnly,
        hidden_permissions: Vec::new(),
    }
}

fn exit(code: i32, stderr: &str) -> CliExit {
    CliExit {
        code: Some(code),
        signal: None,
        stderr_tail: stderr.to_owned(),
    }
}

const HANDSHAKE: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"initialize","response":{"claude_code_version":"2.1.330","hooks_applied":true}}}"#;

/// A recorded conversation between a CLI and the adapter, and the log of it.
struct ClaudeReplay {
    claude: ClaudeAdapter,
    text: String,
    /// The id of the recorded host's line → the id of ours.
    line_ids: Vec<(String, String)>,
    last_sent_id: String,
    n_turns: usize,
}

impl ClaudeReplay {
    fn new(external: Option<&str>) -> Self {
        let mut claude = ClaudeAdapter::default();
        claude.prepare_launch(&session(external), &turn(1, ""));
        Self {
            claude,
            text: String::new(),
            line_ids: Vec::new(),
            last_sent_id: String::new(),
            n_turns: 0,
        }
    }

    fn order(&mut self, order: AdapterCommand) {
        let out = self.claude.on_command(order);
        self.write(&out);
    }

    fn line(&mut self, line: &str) {
        let mut line = line.to_owned();
        for (theirs, ours) in &self.line_ids {
            line = line.replace(theirs.as_str(), ours);
        }
        let out = self.claude.on_stdout_line(&line);
        self.write(&out);
    }

    fn turn(&mut self, prompt: &str, recorded_id: Option<&str>) {
        self.n_turns += 1;
        let order = AdapterCommand::StartTurn(turn(self.n_turns, prompt));
        writeln!(self.text, "-- turn {}: {prompt}", self.n_turns).unwrap();
        self.order(order);
        if self.n_turns == 1 {
            self.line(HANDSHAKE);
        }
        if let Some(id) = recorded_id {
            self.line_ids
                .push((id.to_owned(), self.last_sent_id.clone()));
        }
    }

    fn exit(&mut self, exit: &CliExit) {
        writeln!(self.text, "-- exit {:?}", exit.code).unwrap();
        let out = self.claude.on_exit(exit);
        self.write(&out);
    }

    fn write(&mut self, out: &[AdapterOutput]) {
        for output in out {
            let line = match output {
                AdapterOutput::Send(line) => {
                    assert!(line.ends_with('\n') && !line[..line.len() - 1].contains('\n'));
                    let frame: Value = serde_json::from_str(line).unwrap();
                    if frame["type"] == "user" {
                        self.last_sent_id = frame["uuid"].as_str().unwrap().to_owned();
                    }
                    format!("> {}", line.trim_end())
                }
                AdapterOutput::CloseInput => "> (closed)".to_owned(),
                AdapterOutput::Relaunch => "> (relaunch)".to_owned(),
                AdapterOutput::Event(AdapterEvent::Unknown { kind, .. }) => {
                    format!("  unknown {kind}")
                }
                AdapterOutput::Event(AdapterEvent::Malformed { problem, .. }) => {
                    format!("  malformed {problem}")
                }
                AdapterOutput::AnswerHook(number, text) => format!("> (hook {number}) {text}"),
                AdapterOutput::Event(event) => {
                    format!("  {}", serde_json::to_string(event).unwrap())
                }
            };
            writeln!(self.text, "{}", line.chars().take(600).collect::<String>()).unwrap();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the recorded streams of the tests are files"
)]
fn fixture(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/claude")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Plays a stream with only the CLI's lines: one turn, then the exit.
fn play_one_way(name: &str) -> String {
    let mut play = ClaudeReplay::new(None);
    play.turn("go", None);
    for frame in fixture(name) {
        play.line(&frame.to_string());
    }
    play.exit(&exit(0, ""));
    play.text
}

/// Plays a stream with both directions; what the recorded host sent becomes commands.
fn play_both_ways(name: &str) -> String {
    let mut play = ClaudeReplay::new(None);
    for record in fixture(name) {
        let msg = &record["msg"];
        if record["dir"] == "<" {
            play.line(&msg.to_string());
        } else {
            play_host(&mut play, msg);
        }
    }
    play.exit(&exit(0, ""));
    play.text
}

fn play_host(play: &mut ClaudeReplay, msg: &Value) {
    match msg["type"].as_str() {
        Some("user") => play.turn(
            msg["message"]["content"].as_str().unwrap_or_default(),
            msg["uuid"].as_str(),
        ),
        Some("control_request") if msg["request"]["subtype"] == "interrupt" => {
            play.order(AdapterCommand::Interrupt)
        }
        Some("control_response") => {
            let answer = &msg["response"]["response"];
            let request = RequestId::new(msg["response"]["request_id"].as_str().unwrap());
            let answers = &answer["updatedInput"]["answers"];
            if answers.is_object() {
                let answers = serde_json::from_value(answers.clone()).unwrap();
                return play.order(AdapterCommand::AnswerQuestions(request, Some(answers)));
            }
            let weighed = &answer["hookSpecificOutput"]["permissionDecision"];
            if weighed == "ask" {
                return play.order(AdapterCommand::AskUserFirst(request));
            }
            let said = answer["behavior"].as_str().or(weighed.as_str());
            let decision = match (said, answer["interrupt"].as_bool()) {
                (Some("allow"), _) => CallDecision::Allow,
                (Some("deny"), Some(true)) => CallDecision::DenyAndStop,
                _ => CallDecision::Deny {
                    reason: answer["message"].as_str().unwrap_or("no").to_owned(),
                },
            };
            play.order(AdapterCommand::DecideApproval(request, decision));
        }
        _ => {}
    }
}

#[test]
fn every_recorded_one_way_stream_reads_as_the_turn_that_it_was() {
    for name in [
        "budget",
        "err_401_retrying",
        "err_404",
        "err_429_always",
        "err_529_always",
        "err_down",
        "err_usage_limit",
        "fallback_model",
        "hook_defer",
        "hook_defer_resume",
        "max_turns",
        "mcp_allowed",
        "mcp_timeout",
        "no_credentials",
        "oneshot_partial",
        "perm_denied_default",
        "resume",
        "schema_ok",
        "schema_textonly",
        "sigint_bash",
        "sigterm_bash",
        "stream_cut_always_nonstream_fallback",
        "stream_cut_then_retry",
        "thinking_parallel_tools",
    ] {
        insta::assert_snapshot!(name, play_one_way(&format!("{name}.jsonl")));
    }
}

#[test]
fn every_recorded_two_way_stream_reads_as_the_turns_that_it_was() {
    for name in [
        "background_unsolicited_turn",
        "live_askuserquestion",
        "live_bash_interrupt",
        "live_hooks_sdkmcp",
        "live_interrupts_queue",
        "live_permissions",
        "live_plan_exitplan",
        "subagent",
    ] {
        insta::assert_snapshot!(name, play_both_ways(&format!("{name}.io.jsonl")));
    }
}

fn check(lines: &[&str]) -> String {
    let mut play = ClaudeReplay::new(None);
    play.turn("go", None);
    play.text.clear();
    for line in lines {
        play.line(line);
    }
    play.text
}

#[test]
fn a_conversation_that_is_gone_is_given_up_and_begun_anew() {
    let mut play = ClaudeReplay::new(Some("be14b09b-5de4-4f55-a75e-4297d66a2d3f"));
    play.order(AdapterCommand::StartTurn(turn(1, "go")));
    for frame in fixture("resume_unknown.jsonl") {
        play.line(&frame.to_string());
    }
    play.exit(&exit(1, "No conversation found with session ID: be14b09b"));
    let launch = play.claude.prepare_launch(
        &session(Some("be14b09b-5de4-4f55-a75e-4297d66a2d3f")),
        &turn(1, "go"),
    );
    let at = launch
        .args
        .iter()
        .position(|arg| arg == "--session-id")
        .unwrap();
    writeln!(
        play.text,
        "-- launched with {}",
        launch.args[at..at + 2].join(" ")
    )
    .unwrap();
    play.order(AdapterCommand::StartTurn(turn(1, "go")));
    play.exit(&exit(1, "Error: Session ID x is already in use."));
    insta::assert_snapshot!(play.text);
}

#[test]
fn a_launch_names_all_that_keeps_the_cli_in_hand() {
    let mut claude = ClaudeAdapter::default();
    let fresh = claude.prepare_launch(&session(None), &turn(1, "go"));
    let mut resumed = ClaudeAdapter::default();
    let workspace = TurnSpec {
        access: TurnAccess::Workspace,
        ..turn(2, "go")
    };
    let resumed = resumed.prepare_launch(&session(Some("c0ffee")), &workspace);
    insta::assert_snapshot!(format!("{fresh:#?}\n{:#?}", resumed.args));
    assert!(claude.can_serve(&turn(2, "more")));
    assert!(!claude.can_serve(&workspace));
}

#[test]
fn without_its_hook_claude_gets_no_prompt() {
    let refused = |response: Value| {
        let mut play = ClaudeReplay::new(None);
        play.order(AdapterCommand::StartTurn(turn(1, "go")));
        play.text.clear();
        let body = json!({"subtype": "success", "request_id": "initialize", "response": response});
        play.line(&json!({"type": "control_response", "response": body}).to_string());
        play.text
    };
    let missing = refused(json!({"claude_code_version": "2.1.330"}));
    assert_eq!(missing, refused(json!({"hooks_applied": false})));
    insta::assert_snapshot!(missing);
}

/// The hook callback that claude sends before a call.
fn hooked(id: &str, tool: &str, input: &Value) -> String {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input});
    let request = json!({"subtype": "hook_callback", "callback_id": "before", "input": input, "tool_use_id": id.replace('h', "t")});
    json!({"type": "control_request", "request_id": id, "request": request}).to_string()
}

#[test]
fn each_call_is_weighed_before_it_is_asked_about() {
    let mut play = ClaudeReplay::new(None);
    play.turn("go", None);
    play.text.clear();
    let deny = CallDecision::Deny {
        reason: "no".to_owned(),
    };
    for (id, tool, input) in [
        ("h1", "Bash", json!({"command": "ls"})),
        ("h2", "Read", json!({"file_path": "/repo/a"})),
        (
            "h3",
            "Edit",
            json!({"file_path": "/repo/a", "old_string": "a", "new_string": "b"}),
        ),
        ("h4", "Bash", json!({"command": "make"})),
        ("h5", "AskUserQuestion", json!({"questions": []})),
        ("h6", "Bash", json!({})),
    ] {
        play.line(&hooked(id, tool, &input));
    }
    play.order(AdapterCommand::DecideApproval(
        RequestId::new("h1"),
        CallDecision::Allow,
    ));
    play.order(AdapterCommand::DecideApproval(RequestId::new("h2"), deny));
    play.order(AdapterCommand::AskUserFirst(RequestId::new("h3")));
    play.order(AdapterCommand::DecideApproval(
        RequestId::new("h4"),
        CallDecision::DenyAndStop,
    ));
    play.order(AdapterCommand::AskUserFirst(RequestId::new("h4")));
    // claude asks because of a rule of ours, too: the same call was decided already, another one was not.
    let again = |id: &str, input: &Value| {
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": input, "tool_use_id": "t1"});
        json!({"type": "control_request", "request_id": id, "request": request}).to_string()
    };
    play.line(&again("a1", &json!({"command": "ls"})));
    play.line(&again("a2", &json!({"command": "ls"})));
    play.line(r#"{"type":"control_request","request_id":"a3","request":{"subtype":"can_use_tool","tool_name":"Edit","input":{"file_path":"/repo/a","old_string":"a","new_string":"b"},"tool_use_id":"t","description":"edits a","decision_reason":"Hook PreToolUse: the user is asked","decision_reason_type":"hook"}}"#);
    insta::assert_snapshot!(play.text);
}

#[test]
fn a_refused_login_is_not_retried() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":4,"error_status":401,"error":"authentication_failed"}"#;
    let end = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","errors":["x"]}"#;
    insta::assert_snapshot!(check(&[retry, retry, end]));
}

#[test]
fn what_is_no_frame_is_reported_and_what_is_new_is_kept() {
    insta::assert_snapshot!(check(&[
        "plain words",
        "[1]",
        r#"{"a":1}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":{}}"#,
        r#"{"type":"system"}"#,
        r#"{"type":"system","subtype":"brand_new"}"#,
        r#"{"type":"assistant","message":{"id":"m","content":"text"}}"#,
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text"},{"type":"hologram"},{"type":"text","text":"kept"}]}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}}"#,
        r#"{"type":"stream_event","event":{"type":"message_dance"}}"#,
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"mcp_message"}}"#,
        r#"{"type":"control_request","request_id":"r2","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#,
        r#"{"type":"control_request","request_id":"r3","request":{"subtype":"can_use_tool"}}"#,
        r#"{"type":"result","subtype":"success","result":"cut h"#,
        "",
    ]));
}

#[test]
fn an_ask_is_answered_once_and_with_its_own_input() {
    let mut play = ClaudeReplay::new(None);
    play.turn("go", None);
    play.text.clear();
    let ask = |id: &str, tool: &str, input: Value| {
        json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool",
            "tool_name": tool, "input": input, "tool_use_id": format!("t{id}"), "agent_id": "agent7"}})
        .to_string()
    };
    play.line(&ask(
        "1",
        "Edit",
        json!({"file_path": "/repo/a", "old_string": "a", "new_string": "b"}),
    ));
    play.line(&ask("2", "Read", json!({"file_path": "/etc/hostname"})));
    play.line(&ask("3", "WebFetch", json!({"url": "http://x/"})));
    play.line(&ask(
        "4",
        "AskUserQuestion",
        json!({"questions": [{"question": "Which?", "options": [{"label": "a"}]}]}),
    ));
    play.order(AdapterCommand::DecideApproval(
        RequestId::new("1"),
        CallDecision::Allow,
    ));
    play.order(AdapterCommand::DecideApproval(
        RequestId::new("1"),
        CallDecision::Allow,
    ));
    play.order(AdapterCommand::DecideApproval(
        RequestId::new("2"),
        CallDecision::Deny {
            reason: "not before EXECUTE".to_owned(),
        },
    ));
    play.line(r#"{"type":"control_cancel_request","request_id":"3"}"#);
    play.order(AdapterCommand::DecideApproval(
        RequestId::new("3"),
        CallDecision::Allow,
    ));
    play.order(AdapterCommand::AnswerQuestions(RequestId::new("4"), None));
    insta::assert_snapshot!(play.text);
}

#[test]
fn a_result_of_a_turn_that_nobody_asked_for_does_not_end_ours() {
    let mut play = ClaudeReplay::new(None);
    play.turn("go", Some("OURS"));
    play.text.clear();
    let foreign = r#"{"type":"result","is_error":false,"result":"theirs","origin":{"kind":"task-notification"}}"#;
    play.line(foreign);
    play.line(r#"{"type":"command_lifecycle","command_uuid":"OURS","state":"queued"}"#);
    play.line(r#"{"type":"result","is_error":false,"result":"theirs too"}"#);
    play.order(AdapterCommand::Interrupt);
    play.line(r#"{"type":"command_lifecycle","command_uuid":"OURS","state":"started"}"#);
    play.line(r#"{"type":"result","is_error":true,"terminal_reason":"aborted_streaming","user_message_uuids":["OURS"]}"#);
    insta::assert_snapshot!(play.text);
}

#[test]
fn what_is_said_in_the_middle_of_a_turn_waits_for_a_tool_and_for_no_other_turn() {
    let mut play = ClaudeReplay::new(None);
    play.order(AdapterCommand::Steer("nobody hears".to_owned()));
    play.turn("go", Some("OURS"));
    play.line(r#"{"type":"command_lifecycle","command_uuid":"OURS","state":"started"}"#);
    play.text.clear();
    play.order(AdapterCommand::Steer("look there too 中".to_owned()));
    assert_eq!(play.text, "", "it would become a turn of its own");
    play.line(r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#);
    let late = play.last_sent_id.clone();
    play.line(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}"#);
    play.order(AdapterCommand::Steer("and here".to_owned()));
    play.line(
        r#"{"type":"result","is_error":false,"result":"done","user_message_uuids":["OURS"]}"#,
    );
    play.line(&format!(
        r#"{{"type":"command_lifecycle","command_uuid":"{late}","state":"started"}}"#
    ));
    insta::assert_snapshot!(play.text);
}

#[test]
fn what_a_claude_that_dies_has_not_taken_in_is_handed_back() {
    let mut play = ClaudeReplay::new(None);
    play.turn("go", Some("OURS"));
    play.line(r#"{"type":"command_lifecycle","command_uuid":"OURS","state":"started"}"#);
    play.line(r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#);
    play.order(AdapterCommand::Steer("taken in".to_owned()));
    let taken = play.last_sent_id.clone();
    play.line(&format!(
        r#"{{"type":"command_lifecycle","command_uuid":"{taken}","state":"started"}}"#
    ));
    play.order(AdapterCommand::Steer("sent".to_owned()));
    play.line(r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}"#);
    play.order(AdapterCommand::Steer("waiting".to_owned()));
    play.text.clear();
    play.exit(&exit(1, ""));
    let untold: Vec<&str> = play
        .text
        .lines()
        .filter(|line| line.contains("untold"))
        .map(str::trim)
        .collect();
    assert_eq!(
        untold,
        [
            r#"{"event":"untold","text":"sent"}"#,
            r#"{"event":"untold","text":"waiting"}"#
        ]
    );
}

#[test]
fn an_exit_ends_the_turn_by_what_is_known() {
    let mut text = String::new();
    for (code, stderr) in [
        (0, ""),
        (1, "error: unknown option '--bogus'"),
        (1, "Not logged in · Please run /login"),
    ] {
        let mut play = ClaudeReplay::new(None);
        play.order(AdapterCommand::StartTurn(turn(1, "go")));
        play.text.clear();
        play.exit(&exit(code, stderr));
        play.exit(&exit(code, stderr));
        text.push_str(&play.text);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn no_two_lines_have_the_same_id_even_when_a_turn_is_tried_again() {
    let mut play = ClaudeReplay::new(None);
    let mut ids = std::collections::BTreeSet::new();
    for launched in 1..=2 {
        for _try in 1..=2 {
            play.order(AdapterCommand::StartTurn(turn(1, "go")));
            play.line(HANDSHAKE);
            assert!(ids.insert(play.last_sent_id.clone()), "launch {launched}");
            play.line(r#"{"type":"result","is_error":false,"result":"done"}"#);
        }
        play.claude
            .prepare_launch(&session(Some("c0ffee")), &turn(1, "go"));
    }
}

#[test]
fn an_interrupt_before_the_handshake_sends_nothing() {
    let mut play = ClaudeReplay::new(None);
    play.order(AdapterCommand::StartTurn(turn(1, "go")));
    play.order(AdapterCommand::Interrupt);
    play.line(HANDSHAKE);
    insta::assert_snapshot!(play.text);
}

#[test]
fn an_answer_of_five_mebibytes_arrives_whole_and_a_broken_one_is_cut() {
    let big = "é".repeat(5 * 1024 * 1024 / 2);
    let mut claude = ClaudeAdapter::default();
    claude.prepare_launch(&session(None), &turn(1, "go"));
    claude.on_command(AdapterCommand::StartTurn(turn(1, "go")));
    claude.on_stdout_line(HANDSHAKE);
    let line = json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": big}]}});
    let out = claude.on_stdout_line(&line.to_string());
    let [AdapterOutput::Event(AdapterEvent::Text { text, .. })] = out.as_slice() else {
        panic!("{out:?}")
    };
    assert_eq!(text.len(), big.len());
    let out = claude.on_stdout_line(&format!("x{big}"));
    let [AdapterOutput::Event(AdapterEvent::Malformed { line, .. })] = out.as_slice() else {
        panic!("{out:?}")
    };
    assert!(line.len() <= 4096);
}

#[test]
fn another_model_in_the_same_conversation_is_told_once() {
    let mut claude = ClaudeAdapter::default();
    claude.prepare_launch(&session(None), &turn(1, "go"));
    claude.on_command(AdapterCommand::StartTurn(turn(1, "go")));
    claude.on_stdout_line(HANDSHAKE);
    let mut told = Vec::new();
    for model in ["big", "big", "small"] {
        let line = json!({"type": "system", "subtype": "init", "session_id": "s1", "model": model});
        let out = claude.on_stdout_line(&line.to_string()).into_iter();
        told.extend(out.filter_map(|each| match each {
            AdapterOutput::Event(AdapterEvent::SessionOpened { model, .. }) => model,
            _ => None,
        }));
    }
    assert_eq!(told, ["big", "small"]);
}

/// Lines that look like the CLI's, in any order, and lines that look like nothing known.
fn any_line() -> impl Strategy<Value = String> {
    let frames = [
        r#"{"type":"system","subtype":"init","session_id":"s1"}"#,
        r#"{"type":"command_lifecycle","command_uuid":"U","state":"queued"}"#,
        r#"{"type":"command_lifecycle","command_uuid":"U","state":"started"}"#,
        r#"{"type":"command_lifecycle","command_uuid":"U","state":"cancelled"}"#,
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}"#,
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"text"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}}"#,
        r#"{"type":"stream_event","event":{"type":"message_delta"}}"#,
        r#"{"type":"stream_event","event":{"type":"message_stop"}}"#,
        r#"{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"from_block_index":0}}"#,
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"}]}}"#,
        r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}"#,
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#,
        r#"{"type":"control_cancel_request","request_id":"r1"}"#,
        r#"{"type":"system","subtype":"api_retry","error_status":401}"#,
        r#"{"type":"result","is_error":false,"result":"done"}"#,
        r#"{"type":"result","is_error":true,"errors":["No conversation found with session ID: s1"]}"#,
        r#"{"type":"result","is_error":true,"terminal_reason":"aborted_tools"}"#,
        HANDSHAKE,
    ];
    let frame = prop::sample::select(frames.to_vec());
    let cut = (frame.clone(), any::<prop::sample::Index>())
        .prop_map(|(line, at)| line[..at.index(line.len())].to_owned());
    prop_oneof![8 => frame.prop_map(str::to_owned), 1 => cut, 1 => "\\PC{0,40}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_is_said_a_turn_ends_at_most_once_and_nothing_is_asked_after_it(
        lines in prop::collection::vec(any_line(), 0..60), interrupt_at in 0_usize..60,
    ) {
        let mut claude = ClaudeAdapter::default();
        claude.prepare_launch(&session(None), &turn(1, "go"));
        let mut out = claude.on_command(AdapterCommand::StartTurn(turn(1, "go")));
        for (at, line) in lines.iter().enumerate() {
            let id = claude.turn.as_ref().map(|turn| turn.uuid.clone()).unwrap_or_default();
            out.extend(claude.on_stdout_line(&line.replace("\"U\"", &format!("\"{id}\""))));
            if at == interrupt_at {
                out.extend(claude.on_command(AdapterCommand::Interrupt));
            }
        }
        out.extend(claude.on_exit(&exit(0, "")));
        let n_ends = out.iter().filter(|output| matches!(output, AdapterOutput::Event(AdapterEvent::TurnEnded(_)))).count();
        let relaunched = out.contains(&AdapterOutput::Relaunch);
        prop_assert_eq!(n_ends, usize::from(!relaunched));
    }

    #[test]
    fn a_finished_block_is_what_its_pieces_said_unless_they_were_withdrawn(
        pieces in prop::collection::vec("[a-c]{1,3}", 1..8), cut in prop::option::of(0_usize..8),
    ) {
        let mut claude = ClaudeAdapter::default();
        claude.prepare_launch(&session(None), &turn(1, "go"));
        claude.on_command(AdapterCommand::StartTurn(turn(1, "go")));
        claude.on_stdout_line(HANDSHAKE);
        let whole = pieces.concat();
        let stream = |event: Value| json!({"type": "stream_event", "event": event}).to_string();
        let mut lines = vec![
            stream(json!({"type": "message_start", "message": {"id": "m"}})),
            stream(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        ];
        lines.extend(pieces.iter().map(|piece| stream(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}))));
        match cut {
            Some(at) => {
                lines.truncate(2 + at);
                lines.push(stream(json!({"type": "message_stop"})));
                lines.push(json!({"type": "assistant", "message": {"id": "n", "content": [{"type": "text", "text": whole}]}}).to_string());
            }
            None => lines.push(json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": whole}]}}).to_string()),
        }
        let mut shown: BTreeMap<String, String> = BTreeMap::new();
        for output in lines.iter().flat_map(|line| claude.on_stdout_line(line)) {
            match output {
                AdapterOutput::Event(AdapterEvent::TextDelta { item, text }) => shown.entry(item).or_default().push_str(&text),
                AdapterOutput::Event(AdapterEvent::BlockWithdrawn { item }) => { shown.remove(&item); }
                AdapterOutput::Event(AdapterEvent::Text { item, text }) => {
                    if let Some(pieces) = shown.insert(item, text.clone()) {
                        prop_assert_eq!(pieces, text);
                    }
                }
                _ => {}
            }
        }
        prop_assert_eq!(shown.into_values().collect::<Vec<_>>(), vec![whole]);
    }
}

#[test]
fn tools_that_an_agent_is_not_to_see_are_left_out_and_the_process_serves_no_other() {
    let mut claude = ClaudeAdapter::default();
    let held = TurnSpec {
        access: TurnAccess::Workspace,
        hidden_permissions: vec!["websearch".to_owned(), "edit".to_owned(), "task".to_owned()],
        ..turn(1, "go")
    };
    let launch = claude.prepare_launch(&session(None), &held);
    let tools = launch.args.iter().find(|arg| arg.starts_with("--tools="));
    assert_eq!(
        tools.map(String::as_str),
        Some("--tools=Bash,Read,Grep,Glob,WebFetch,AskUserQuestion")
    );
    assert!(claude.can_serve(&held));
    assert!(!claude.can_serve(&TurnSpec {
        hidden_permissions: Vec::new(),
        ..held
    }));
}
