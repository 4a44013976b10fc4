//! Replays recorded streams of the real codex through the adapter; the results are snapshots.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::CodexAdapter;
use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, CallDecision, LaunchSpec,
    RepositoryTrust, SessionSpec, TurnAccess, TurnSpec,
};
use crate::domain::ids::{RequestId, TurnId};

mod malformed_lines;
mod turns;

fn session(external_id: Option<&str>, trust: RepositoryTrust) -> SessionSpec {
    let mut session = SessionSpec::example("codex");
    session.external_id = external_id.map(str::to_owned);
    session.cli.args = vec!["--user-flag".to_owned()];
    session.trust = trust;
    session
}

fn turn(prompt: &str, access: TurnAccess) -> TurnSpec {
    TurnSpec {
        turn: TurnId::new("trn_1"),
        prompt: prompt.to_owned(),
        access,
        hidden_permissions: Vec::new(),
    }
}

fn launched(external_id: Option<&str>) -> CodexAdapter {
    let mut codex = CodexAdapter::default();
    let session = session(external_id, RepositoryTrust::Untrusted);
    codex.prepare_launch(&session, &turn("go", TurnAccess::Workspace));
    codex
}

/// Formats outputs, one per line.
fn show(outputs: &[AdapterOutput]) -> String {
    let lines = outputs.iter().map(|output| match output {
        AdapterOutput::Send(bytes) => format!("send {}", bytes.trim_end()),
        AdapterOutput::CloseInput => "close input".to_owned(),
        AdapterOutput::Relaunch => "relaunch".to_owned(),
        AdapterOutput::AnswerHook(number, text) => format!("answer hook {number}: {text}"),
        AdapterOutput::Event(event) => serde_json::to_string(event).unwrap(),
    });
    lines.map(|line| line + "\n").collect()
}

/// A recorded stream that is being replayed through an adapter.
struct CodexReplay {
    codex: CodexAdapter,
    /// Methods of the recording client's requests by their ids.
    recorded: BTreeMap<i64, String>,
    /// Ids of our own requests by their methods, oldest first.
    ours: BTreeMap<String, VecDeque<i64>>,
    n_turns: usize,
    shown: String,
}

impl CodexReplay {
    fn record_outputs(&mut self, outputs: &[AdapterOutput]) {
        for output in outputs {
            if let AdapterOutput::Send(line) = output {
                let frame: Value = serde_json::from_str(line).unwrap();
                if let (Some(method), Some(id)) = (frame["method"].as_str(), frame["id"].as_i64()) {
                    let ids = self.ours.entry(method.to_owned()).or_default();
                    ids.push_back(id);
                }
            }
        }
        self.shown.push_str(&show(outputs));
    }

    /// Sends the adapter the command that made the recording client send this message.
    fn on_sent(&mut self, msg: &Value) {
        let id = msg["id"].as_i64();
        let order = match (msg["method"].as_str(), id) {
            (Some(method), Some(id)) => {
                self.recorded.insert(id, method.to_owned());
                match method {
                    "turn/interrupt" => AdapterCommand::Interrupt,
                    "turn/start" => {
                        self.n_turns += 1;
                        if self.n_turns == 1 {
                            return;
                        }
                        AdapterCommand::StartTurn(turn("again", TurnAccess::Workspace))
                    }
                    _ => return,
                }
            }
            (None, Some(id)) => {
                AdapterCommand::DecideApproval(RequestId::new(id.to_string()), decision(msg))
            }
            (_, None) => return,
        };
        let outputs = self.codex.on_command(order);
        self.record_outputs(&outputs);
    }

    fn on_received(&mut self, mut msg: Value) {
        if msg["method"].is_null() {
            let Some(method) = msg["id"].as_i64().and_then(|id| self.recorded.get(&id)) else {
                return;
            };
            let Some(id) = self.ours.get_mut(method).and_then(VecDeque::pop_front) else {
                return;
            };
            if method == "thread/start" {
                msg["result"]["sandbox"] = json!({"type": "readOnly", "networkAccess": false});
                msg["result"]["activePermissionProfile"] = json!({"id": "agent-collab-before"});
            }
            msg["id"] = json!(id);
        }
        let outputs = self.codex.on_stdout_line(&msg.to_string());
        self.record_outputs(&outputs);
    }
}

fn decision(msg: &Value) -> CallDecision {
    let result = &msg["result"];
    match result["decision"].as_str().or(result["action"].as_str()) {
        Some("accept") => CallDecision::Allow,
        Some("cancel") => CallDecision::DenyAndStop,
        _ => CallDecision::Deny {
            reason: "not now".to_owned(),
        },
    }
}

fn replay(recording: &str) -> String {
    let mut replay = CodexReplay {
        codex: launched(None),
        recorded: BTreeMap::new(),
        ours: BTreeMap::new(),
        n_turns: 0,
        shown: String::new(),
    };
    let first = AdapterCommand::StartTurn(turn("go", TurnAccess::Workspace));
    let outputs = replay.codex.on_command(first);
    replay.record_outputs(&outputs);
    for line in recording.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let msg = line["msg"].take();
        match line["dir"].as_str() {
            Some("->") => replay.on_sent(&msg),
            _ => replay.on_received(msg),
        }
    }
    replay.shown
}

macro_rules! recorded {
    ($($name:ident: $file:literal,)*) => {$(
        #[test]
        fn $name() {
            let recording = include_str!(concat!("../../../tests/fixtures/codex/", $file, ".jsonl"));
            insta::assert_snapshot!($file, replay(recording));
        }
    )*};
}

recorded! {
    text_and_thinking_stream_and_are_replaced_by_their_blocks: "text_and_thinking",
    an_accepted_command_runs: "command_accepted",
    a_cancelled_command_ends_the_turn: "command_cancelled",
    a_declined_command_lets_the_turn_go_on: "command_declined",
    a_patch_inside_the_sandbox_shows_its_diff: "patch_inside",
    a_patch_outside_the_sandbox_is_asked_with_its_paths: "patch_outside_accepted",
    an_interrupted_command_is_cleaned_up: "interrupted_command",
    interrupted_text_is_withdrawn: "interrupted_text",
    command_output_is_live: "command_output",
    an_mcp_call_is_asked: "mcp_call_declined",
    an_mcp_server_that_wants_more_than_a_yes_is_declined: "mcp_server_asks",
    a_missing_login_fails_the_turn_after_bounded_retries: "unauthorized",
    a_used_up_limit_fails_the_turn_at_once: "usage_limit",
    a_used_up_limit_tells_its_end: "usage_limit_until",
    a_server_error_that_passes_is_not_seen: "server_error_once",
    a_cut_stream_withdraws_its_text: "cut_stream",
    code_mode_asks_twice_at_once: "code_mode",
    a_sub_agent_asks_in_its_own_name: "sub_agent",
}

#[test]
fn who_may_not_search_the_web_is_started_without_codex_s_own_search() {
    let mut codex = CodexAdapter::default();
    let free = turn("go", TurnAccess::ReadOnly);
    let held = TurnSpec {
        hidden_permissions: vec!["websearch".to_owned()],
        ..free.clone()
    };
    let session = session(None, RepositoryTrust::Trusted);
    let is_left_out =
        |launch: LaunchSpec| launch.args.contains(&"web_search=\"disabled\"".to_owned());
    assert!(!is_left_out(codex.prepare_launch(&session, &free)));
    assert!(codex.can_serve(&free) && !codex.can_serve(&held));
    assert!(is_left_out(codex.prepare_launch(&session, &held)));
    assert!(codex.can_serve(&held) && !codex.can_serve(&free));
}
