//! A scripted agent that imitates `codex app-server`.
//!
//! It exchanges JSON-RPC lines without the `jsonrpc` field on standard input and output, one turn at a time.
//! It has no sandbox: in a read-only turn it asks for every command that does more than read, as a model does whose
//! command failed in the sandbox, and runs allowed commands directly.

pub mod frames;
mod incoming_requests;
mod outgoing_requests;
mod sandbox_profiles;
mod script_actions;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use self::frames::ScriptedTurnIds;
use self::sandbox_profiles::ScriptedSandboxProfiles;
use self::script_actions::failure_error;
use crate::scripted::conversation_store::{
    ScriptConversation, ScriptConversationStore, ScriptPlaceholders,
};
use crate::scripted::mcp_client::ToolServerCommand;
use crate::scripted::runtime::{InboxEvent, ScriptCommandId, ScriptRuntime, StdoutState};
use crate::scripted::script::{AgentScript, ScriptAction};
use crate::scripted::script_actor::{
    ScriptedTurnEvent, ScriptedTurnFailure, ScriptedTurnStop, perform_actions,
};
use crate::scripted::{ScriptedAgentOptions, ScriptedProgram};

/// The exit code of codex if its output is no longer read.
const EXIT_CODE_READER_GONE: i32 = 101;

/// A running `codex app-server`.
pub struct ScriptedCodex {
    runtime: ScriptRuntime,
    script: AgentScript,
    conversations: ScriptConversationStore,
    cwd: PathBuf,
    version: String,
    /// The hash that makes the command-line hook trusted.
    trusted_hook_hash: Option<String>,
    profiles: ScriptedSandboxProfiles,
    handshake: ClientHandshake,
    threads: BTreeMap<String, ScriptedThread>,
    active_turn: Option<ActiveCodexTurn>,
    terminals: BTreeMap<ScriptCommandId, ScriptedTerminal>,
    n_requests: u64,
}

/// Whether the client has sent its handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientHandshake {
    Pending,
    Complete,
}

struct ScriptedThread {
    conversation: ScriptConversation,
    cwd: PathBuf,
    model: String,
    policy: String,
    sandbox: Value,
    /// The permission profile of the sandbox.
    profile: Option<String>,
    /// The host's tool server.
    mcp_server: Option<ToolServerCommand>,
}

/// The turn that is being played.
struct ActiveCodexTurn {
    turn_ids: ScriptedTurnIds,
    started: Instant,
    started_at: i64,
    placeholders: ScriptPlaceholders,
    n_items: u64,
    last_message: Option<Value>,
    diff: String,
    usage_report: UsageReportState,
}

/// Whether a turn has reported its token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UsageReportState {
    Pending,
    Sent,
}

/// A command that is running.
struct ScriptedTerminal {
    turn_ids: ScriptedTurnIds,
    item: Value,
    output: String,
    started: Instant,
}

/// The result of handling a line of the client.
enum CodexInputOutcome {
    /// Nothing that concerns the turn.
    Nothing,
    /// A turn must be played.
    StartTurn {
        place: ScriptedTurnIds,
        prompt: String,
    },
    /// The turn must end.
    Interrupt,
    /// A request is answered; null if the client answered with an error.
    Answer { request: String, answer: Value },
}

/// Finds the hash of `-c hooks.state={"KEY"={trusted_hash="HASH"}}` among the arguments.
fn find_trusted_hook_hash(arguments: &[String]) -> Option<String> {
    let state = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("hooks.state="))?;
    let (_, hash) = state.split_once("trusted_hash=\"")?;
    let (hash, _) = hash.split_once('"')?;
    Some(hash.to_owned())
}

impl ScriptedCodex {
    /// Builds the agent; nothing is played yet.
    pub fn new(casting: ScriptedAgentOptions, stage: ScriptRuntime) -> Self {
        let recorded = ScriptedProgram::Codex.recorded_version();
        Self {
            runtime: stage,
            trusted_hook_hash: find_trusted_hook_hash(&casting.arguments),
            profiles: ScriptedSandboxProfiles::from_arguments(&casting.arguments),
            version: casting
                .script
                .version
                .clone()
                .unwrap_or_else(|| recorded.to_owned()),
            script: casting.script,
            conversations: casting.conversations,
            cwd: casting.cwd,
            handshake: ClientHandshake::Pending,
            threads: BTreeMap::new(),
            active_turn: None,
            terminals: BTreeMap::new(),
            n_requests: 0,
        }
    }

    /// Plays until the input ends; returns the exit code.
    pub fn play(mut self) -> i32 {
        let code = loop {
            if self.runtime.stdout_state() == StdoutState::Closed {
                break EXIT_CODE_READER_GONE;
            }
            let cue = match self.runtime.wait_for_event(None) {
                Some(InboxEvent::Line(line)) => self.on_line(&line),
                Some(InboxEvent::CommandOutput(run, text)) => self.on_command_output(run, &text),
                Some(InboxEvent::CommandEnded(run, code)) => self.on_command_ended(run, code),
                Some(InboxEvent::InputClosed | InboxEvent::Terminate) | None => break 0,
            };
            if let CodexInputOutcome::StartTurn { place, prompt } = cue
                && let Err(code) = self.play_turn(place, &prompt)
            {
                break code;
            }
        };
        self.runtime.kill_all();
        code
    }

    /// Handles an event of the inbox within a turn.
    fn on_event(&mut self, heard: InboxEvent) -> Result<ScriptedTurnEvent, ScriptedTurnStop> {
        match heard {
            InboxEvent::Line(line) => match self.on_line(&line) {
                CodexInputOutcome::Interrupt => Err(ScriptedTurnStop::Interrupted),
                CodexInputOutcome::Answer { request, answer } => {
                    Ok(ScriptedTurnEvent::Answer { request, answer })
                }
                CodexInputOutcome::Nothing | CodexInputOutcome::StartTurn { .. } => {
                    Ok(ScriptedTurnEvent::Other)
                }
            },
            InboxEvent::CommandOutput(run, text) => {
                self.on_command_output(run, &text);
                Ok(ScriptedTurnEvent::CommandOutput(run, text))
            }
            InboxEvent::CommandEnded(run, code) => {
                self.on_command_ended(run, code);
                Ok(ScriptedTurnEvent::CommandEnded(run, code))
            }
            InboxEvent::InputClosed | InboxEvent::Terminate => Err(ScriptedTurnStop::Exit(0)),
        }
    }

    /// Handles one line of the client; a line that is not JSON is reported and ignored.
    fn on_line(&mut self, line: &str) -> CodexInputOutcome {
        if line.is_empty() {
            return CodexInputOutcome::Nothing;
        }
        let frame: Value = match serde_json::from_str(line) {
            Ok(frame) => frame,
            Err(error) => {
                self.runtime.write_stderr(&format!(
                    "ERROR failed to parse a line of the client: {error}"
                ));
                return CodexInputOutcome::Nothing;
            }
        };
        let Some(method) = frame["method"].as_str() else {
            let Some(request) = frame["id"].as_u64() else {
                return CodexInputOutcome::Nothing;
            };
            return CodexInputOutcome::Answer {
                request: request.to_string(),
                answer: frame["result"].clone(),
            };
        };
        let Some(id) = frame.get("id") else {
            return CodexInputOutcome::Nothing;
        };
        self.on_request(method, id, &frame["params"])
    }

    fn on_command_output(&mut self, run: ScriptCommandId, text: &str) -> CodexInputOutcome {
        if let Some(terminal) = self.terminals.get_mut(&run) {
            terminal.output.push_str(text);
            let id = terminal.item["id"].as_str().unwrap_or_default();
            let frame = frames::item_delta(
                &terminal.turn_ids,
                "item/commandExecution/outputDelta",
                id,
                text,
            );
            self.runtime.send(&frame);
        }
        CodexInputOutcome::Nothing
    }

    fn on_command_ended(&mut self, run: ScriptCommandId, code: Option<i32>) -> CodexInputOutcome {
        if let Some(mut terminal) = self.terminals.remove(&run) {
            let duration = terminal
                .started
                .elapsed()
                .as_millis()
                .try_into()
                .unwrap_or(i64::MAX);
            let item = &mut terminal.item;
            item["status"] = json!(if code == Some(0) {
                "completed"
            } else {
                "failed"
            });
            item["aggregatedOutput"] = json!(terminal.output);
            item["exitCode"] = json!(code.unwrap_or(-1));
            item["durationMs"] = json!(duration);
            item["completedAtMs"] = json!(frames::now_ms());
            self.runtime
                .send(&frames::item_completed(&terminal.turn_ids, item));
        }
        CodexInputOutcome::Nothing
    }

    /// Plays one turn to its end; an error is the exit code of the process.
    fn play_turn(&mut self, place: ScriptedTurnIds, prompt: &str) -> Result<(), i32> {
        let started_at = frames::now_ms() / 1000;
        self.active_turn = Some(ActiveCodexTurn {
            turn_ids: place.clone(),
            started: Instant::now(),
            started_at,
            placeholders: ScriptPlaceholders::from_prompt(prompt),
            n_items: 0,
            last_message: None,
            diff: String::new(),
            usage_report: UsageReportState::Pending,
        });
        self.runtime.send(&frames::thread_status_changed(
            &place.thread,
            json!({"type": "active", "activeFlags": []}),
        ));
        let turn = frames::turn_object(
            &place.turn,
            "inProgress",
            [Some(started_at), None, None],
            None,
            &Value::Null,
        );
        let params = json!({"threadId": place.thread, "turn": turn});
        self.runtime
            .send(&frames::notification("turn/started", params));
        let mut message = frames::user_message_item(&uuid::Uuid::now_v7().to_string(), prompt);
        self.runtime.send(&frames::item_started(&place, &message));
        message["completedAtMs"] = json!(frames::now_ms());
        self.runtime.send(&frames::item_completed(&place, &message));
        let ended = self
            .select_turn(&place, prompt)
            .and_then(|actions| perform_actions(self, &actions));
        self.end_turn(&place, ended)
    }

    /// Selects the script's turn for the prompt and records that it is used.
    fn select_turn(
        &mut self,
        place: &ScriptedTurnIds,
        prompt: &str,
    ) -> Result<Vec<ScriptAction>, ScriptedTurnStop> {
        let other = |text| ScriptedTurnStop::Failed(ScriptedTurnFailure::NoTurn(text));
        let Some(thread) = self.threads.get_mut(&place.thread) else {
            return Err(other(format!("thread not found: {}", place.thread)));
        };
        let conversation = (place.thread.as_str(), &mut thread.conversation);
        (self.conversations)
            .select_turn(conversation.0, conversation.1, &self.script, prompt)
            .map_err(other)
    }

    fn end_turn(
        &mut self,
        place: &ScriptedTurnIds,
        ended: Result<(), ScriptedTurnStop>,
    ) -> Result<(), i32> {
        let (status, error) = match ended {
            Ok(()) => {
                if self
                    .active_turn
                    .as_ref()
                    .is_some_and(|playing| playing.usage_report == UsageReportState::Pending)
                {
                    self.send_usage((1000, 50));
                }
                ("completed", Value::Null)
            }
            Err(ScriptedTurnStop::Interrupted) => ("interrupted", Value::Null),
            Err(ScriptedTurnStop::Exit(code)) => return Err(code),
            Err(ScriptedTurnStop::Failed(failure)) => ("failed", failure_error(failure)),
        };
        let Some(playing) = self.active_turn.take() else {
            return Ok(());
        };
        if status == "failed" {
            self.runtime.send(&frames::thread_status_changed(
                &place.thread,
                json!({"type": "systemError"}),
            ));
            let params = json!({
                "error": error, "willRetry": false, "threadId": place.thread, "turnId": place.turn,
            });
            self.runtime.send(&frames::notification("error", params));
        } else {
            self.runtime.send(&frames::thread_status_changed(
                &place.thread,
                json!({"type": "idle"}),
            ));
        }
        let duration = playing
            .started
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(i64::MAX);
        let times = [
            Some(playing.started_at),
            Some(frames::now_ms() / 1000),
            Some(duration),
        ];
        let last = playing.last_message.filter(|_| status == "completed");
        let turn = frames::turn_object(&place.turn, status, times, last.as_ref(), &error);
        let params = json!({"threadId": place.thread, "turn": turn});
        self.runtime
            .send(&frames::notification("turn/completed", params));
        Ok(())
    }
}
