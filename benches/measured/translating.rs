//! Measures the translation of 100 MB of CLI output into events by the adapters, compared with only reading the same
//! lines into trees.

use std::hint::black_box;

use agent_collab::adapter::claude::ClaudeAdapter;
use agent_collab::adapter::codex::CodexAdapter;
use agent_collab::adapter::{
    Adapter, AdapterCommand, AdapterOutput, SessionSpec, TurnAccess, TurnSpec,
};
use agent_collab::domain::ids::TurnId;
use serde_json::{Value, json};

use crate::limit::Limit;
use crate::streams::{self, THREAD, TURN};
use crate::{side_by_side, timed};

const N_BYTES: usize = 100_000_000;
const ROUNDS: usize = 3;
/// 0.4 of the speed.
const LIMIT: Limit = Limit::Times(2.5);

type Begin = fn() -> anyhow::Result<Box<dyn Adapter>>;
type Lines = fn(usize) -> Vec<String>;

pub fn run() -> anyhow::Result<()> {
    let cases: [(&str, Begin, Lines); 4] = [
        ("translate 100 MB of codex's items", codex, streams::codex),
        (
            "translate 100 MB of codex's pieces of text",
            codex,
            streams::codex_pieces,
        ),
        (
            "translate 100 MB of claude's blocks",
            claude,
            streams::claude,
        ),
        (
            "translate 100 MB of claude's pieces of text",
            claude,
            streams::claude_pieces,
        ),
    ];
    for (name, begin, lines) in cases {
        let lines = lines(N_BYTES);
        let mut ours = || {
            let mut adapter = begin()?;
            let (took, n_told) = timed(|| translate(adapter.as_mut(), &lines));
            anyhow::ensure!(
                n_told + 10 >= lines.len(),
                "{name}: {n_told} of {} lines told something",
                lines.len()
            );
            Ok(took)
        };
        let mut beside = || {
            let (took, parsed) = timed(|| parse(&lines));
            parsed?;
            Ok(took)
        };
        side_by_side(name, LIMIT, ROUNDS, &mut ours, &mut beside)?;
    }
    Ok(())
}

/// Returns how many lines produced an event.
fn translate(adapter: &mut dyn Adapter, lines: &[String]) -> usize {
    let told = lines
        .iter()
        .filter(|line| !black_box(adapter.on_stdout_line(line)).is_empty());
    told.count()
}

fn parse(lines: &[String]) -> serde_json::Result<()> {
    for line in lines {
        black_box(serde_json::from_str::<Value>(line)?);
    }
    Ok(())
}

fn turn() -> TurnSpec {
    TurnSpec {
        turn: TurnId::new("trn_1"),
        prompt: "go".to_owned(),
        access: TurnAccess::Workspace,
        hidden_permissions: Vec::new(),
    }
}

fn claude() -> anyhow::Result<Box<dyn Adapter>> {
    let mut claude = ClaudeAdapter::default();
    claude.prepare_launch(&SessionSpec::example("cli"), &turn());
    claude.on_command(AdapterCommand::StartTurn(turn()));
    let answer = json!({"subtype": "success", "request_id": "initialize", "response": {}});
    claude.on_stdout_line(&json!({"type": "control_response", "response": answer}).to_string());
    Ok(Box::new(claude))
}

/// Answers codex's requests until its turn runs.
fn codex() -> anyhow::Result<Box<dyn Adapter>> {
    let mut codex = CodexAdapter::default();
    codex.prepare_launch(&SessionSpec::example("cli"), &turn());
    let mut outputs = codex.on_command(AdapterCommand::StartTurn(turn()));
    while !outputs.is_empty() {
        let mut next = Vec::new();
        for output in outputs {
            if let AdapterOutput::Send(line) = output {
                let asked: Value = serde_json::from_str(&line)?;
                if let Some(answer) = answer(&asked) {
                    next.extend(codex.on_stdout_line(&answer.to_string()));
                }
            }
        }
        outputs = next;
    }
    let begun =
        json!({"threadId": THREAD, "turn": {"id": TURN, "status": "inProgress", "error": null}});
    codex.on_stdout_line(&json!({"method": "turn/started", "params": begun}).to_string());
    Ok(Box::new(codex))
}

fn answer(asked: &Value) -> Option<Value> {
    let result = match asked["method"].as_str()? {
        "initialize" => json!({"userAgent": "bench/0.169.0 (Debian)"}),
        "thread/start" => {
            json!({"thread": {"id": THREAD}, "approvalPolicy": "on-request", "approvalsReviewer": "user",
            "sandbox": {"type": "readOnly", "networkAccess": false},
            "activePermissionProfile": {"id": asked["params"]["permissions"]}})
        }
        "turn/start" => json!({"turn": {"id": TURN}}),
        _ => return None,
    };
    Some(json!({"id": asked["id"], "result": result}))
}
