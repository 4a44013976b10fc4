//! A scripted agent in the guise of `codex app-server`.
//!
//! JSON-RPC lines without the `jsonrpc` field on standard input and output; one turn at a time.
//! Has no sandbox: in a read-only turn it asks for every command but plain reading ones, as a
//! model does whose command failed in the sandbox, and runs what is allowed as it stands.

mod asking;
mod calling;
pub mod frames;
mod perform;
mod profiles;
mod requests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use self::frames::Place;
use self::profiles::Profiles;
use crate::scripted::act::{Audience, Heard, RunNumber, Stage};
use crate::scripted::cursor::{Conversation, Memory, Words};
use crate::scripted::script::{Action, Script};
use crate::scripted::tool_server::ToolServer;
use crate::scripted::{Casting, Guise};

/// The exit code of codex when nobody reads it any more.
const READER_GONE: i32 = 101;

/// A `codex app-server`.
pub struct Codex {
    stage: Stage,
    script: Script,
    memory: Memory,
    cwd: PathBuf,
    version: String,
    /// The hash by which the hook of the command line is trusted.
    trusted_hook: Option<String>,
    profiles: Profiles,
    hands: Hands,
    threads: BTreeMap<String, Thread>,
    playing: Option<Playing>,
    terminals: BTreeMap<RunNumber, Terminal>,
    /// The call of a tool that is under way, and what answered it.
    called: Option<(RunNumber, String)>,
    n_requests: u64,
}

/// Whether the client has introduced itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hands {
    NotShaken,
    Shaken,
}

/// One conversation.
struct Thread {
    conversation: Conversation,
    cwd: PathBuf,
    model: String,
    policy: String,
    sandbox: Value,
    /// The profile that the sandbox is of.
    profile: Option<String>,
    /// The host's server of tools.
    tools: Option<ToolServer>,
}

/// The turn that is being played.
struct Playing {
    place: Place,
    started: Instant,
    started_at: i64,
    words: Words,
    n_items: u64,
    last_message: Option<Value>,
    diff: String,
    usage: Told,
}

/// Whether a turn has told its token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    NotYet,
    Already,
}

/// A command that runs.
struct Terminal {
    place: Place,
    item: Value,
    output: String,
    started: Instant,
}

/// What a line of the client comes to.
enum Cue {
    /// Nothing that the turn has to know of.
    Nothing,
    /// A turn is to be played.
    Play { place: Place, prompt: String },
    /// The turn is over.
    Interrupt,
    /// A request is answered; `None` for a refusal to answer.
    Answer { request: u64, result: Option<Value> },
}

/// What a wait within a turn comes to.
enum Wake {
    Timeout,
    Ended(RunNumber),
    Answer { request: u64, result: Option<Value> },
    Other,
}

/// Why a turn ends before its script does.
enum Stop {
    Interrupted,
    Failed(Value),
    Exit(i32),
}

/// Finds the hash of `-c hooks.state={"KEY"={trusted_hash="HASH"}}` among the arguments.
fn trusted_hook(arguments: &[String]) -> Option<String> {
    let state = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("hooks.state="))?;
    let (_, hash) = state.split_once("trusted_hash=\"")?;
    let (hash, _) = hash.split_once('"')?;
    Some(hash.to_owned())
}

impl Codex {
    /// Takes its place on the stage.
    pub fn new(casting: Casting, stage: Stage) -> Self {
        let recorded = Guise::Codex.recorded_version();
        Self {
            stage,
            trusted_hook: trusted_hook(&casting.arguments),
            profiles: Profiles::of(&casting.arguments),
            version: casting
                .script
                .version
                .clone()
                .unwrap_or_else(|| recorded.to_owned()),
            script: casting.script,
            memory: casting.memory,
            cwd: casting.cwd,
            hands: Hands::NotShaken,
            threads: BTreeMap::new(),
            playing: None,
            terminals: BTreeMap::new(),
            called: None,
            n_requests: 0,
        }
    }

    /// Plays until the input ends; returns the exit code.
    pub fn play(mut self) -> i32 {
        let code = loop {
            if self.stage.audience() == Audience::Gone {
                break READER_GONE;
            }
            let cue = match self.stage.hear(None) {
                Some(Heard::Line(line)) => self.on_line(&line),
                Some(Heard::Output(run, text)) => self.on_output(run, &text),
                Some(Heard::Ended(run, code)) => self.on_ended(run, code),
                Some(Heard::End | Heard::Terminate) | None => break 0,
            };
            if let Cue::Play { place, prompt } = cue
                && let Err(code) = self.play_turn(place, &prompt)
            {
                break code;
            }
        };
        self.stage.kill_all();
        code
    }

    /// Waits within a turn until something happens or `deadline` passes.
    fn listen(&mut self, deadline: Option<Instant>) -> Result<Wake, Stop> {
        if self.stage.audience() == Audience::Gone {
            return Err(Stop::Exit(READER_GONE));
        }
        let Some(heard) = self.stage.hear(deadline) else {
            return Ok(Wake::Timeout);
        };
        match heard {
            Heard::Line(line) => match self.on_line(&line) {
                Cue::Interrupt => Err(Stop::Interrupted),
                Cue::Answer { request, result } => Ok(Wake::Answer { request, result }),
                Cue::Nothing | Cue::Play { .. } => Ok(Wake::Other),
            },
            Heard::Output(run, text) => {
                self.on_output(run, &text);
                Ok(Wake::Other)
            }
            Heard::Ended(run, code) => {
                self.on_ended(run, code);
                Ok(Wake::Ended(run))
            }
            Heard::End | Heard::Terminate => Err(Stop::Exit(0)),
        }
    }

    /// Takes one line of the client; a line that is no JSON is complained of and ignored.
    fn on_line(&mut self, line: &str) -> Cue {
        if line.is_empty() {
            return Cue::Nothing;
        }
        let frame: Value = match serde_json::from_str(line) {
            Ok(frame) => frame,
            Err(error) => {
                self.stage.complain(&format!(
                    "ERROR failed to parse a line of the client: {error}"
                ));
                return Cue::Nothing;
            }
        };
        let Some(method) = frame["method"].as_str() else {
            let Some(request) = frame["id"].as_u64() else {
                return Cue::Nothing;
            };
            return Cue::Answer {
                request,
                result: frame.get("result").cloned(),
            };
        };
        let Some(id) = frame.get("id") else {
            return Cue::Nothing;
        };
        self.on_request(method, id, &frame["params"])
    }

    fn on_output(&mut self, run: RunNumber, text: &str) -> Cue {
        if let Some((called, line)) = &mut self.called
            && *called == run
        {
            text.clone_into(line);
        }
        if let Some(terminal) = self.terminals.get_mut(&run) {
            terminal.output.push_str(text);
            let id = terminal.item["id"].as_str().unwrap_or_default();
            let frame = frames::delta(
                &terminal.place,
                "item/commandExecution/outputDelta",
                id,
                text,
            );
            self.stage.send(&frame);
        }
        Cue::Nothing
    }

    fn on_ended(&mut self, run: RunNumber, code: Option<i32>) -> Cue {
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
            self.stage
                .send(&frames::item_completed(&terminal.place, item));
        }
        Cue::Nothing
    }

    /// Plays one turn to its end; an error is the exit code of the process.
    fn play_turn(&mut self, place: Place, prompt: &str) -> Result<(), i32> {
        let started_at = frames::now_ms() / 1000;
        self.playing = Some(Playing {
            place: place.clone(),
            started: Instant::now(),
            started_at,
            words: Words::of_prompt(prompt),
            n_items: 0,
            last_message: None,
            diff: String::new(),
            usage: Told::NotYet,
        });
        self.stage.send(&frames::status(
            &place.thread,
            json!({"type": "active", "activeFlags": []}),
        ));
        let turn = frames::turn(
            &place.turn,
            "inProgress",
            [Some(started_at), None, None],
            None,
            &Value::Null,
        );
        let params = json!({"threadId": place.thread, "turn": turn});
        self.stage
            .send(&frames::notification("turn/started", params));
        let mut message = frames::user_message(&uuid::Uuid::now_v7().to_string(), prompt);
        self.stage.send(&frames::item_started(&place, &message));
        message["completedAtMs"] = json!(frames::now_ms());
        self.stage.send(&frames::item_completed(&place, &message));
        let ended = self
            .take_turn(&place, prompt)
            .and_then(|actions| self.perform(&actions));
        self.end_turn(&place, ended)
    }

    /// Takes the script's turn for the prompt and remembers that it is used.
    fn take_turn(&mut self, place: &Place, prompt: &str) -> Result<Vec<Action>, Stop> {
        let other = |message: String| Stop::Failed(frames::error(&message, json!("other"), None));
        let Some(thread) = self.threads.get_mut(&place.thread) else {
            return Err(other(format!("thread not found: {}", place.thread)));
        };
        let conversation = (place.thread.as_str(), &mut thread.conversation);
        (self.memory)
            .take_turn(conversation, &self.script, prompt)
            .map_err(other)
    }

    fn end_turn(&mut self, place: &Place, ended: Result<(), Stop>) -> Result<(), i32> {
        let (status, error) = match ended {
            Ok(()) => {
                if self
                    .playing
                    .as_ref()
                    .is_some_and(|playing| playing.usage == Told::NotYet)
                {
                    self.tell_usage((1000, 50));
                }
                ("completed", Value::Null)
            }
            Err(Stop::Interrupted) => ("interrupted", Value::Null),
            Err(Stop::Exit(code)) => return Err(code),
            Err(Stop::Failed(error)) => ("failed", error),
        };
        let Some(playing) = self.playing.take() else {
            return Ok(());
        };
        if status == "failed" {
            self.stage.send(&frames::status(
                &place.thread,
                json!({"type": "systemError"}),
            ));
            let params = json!({
                "error": error, "willRetry": false, "threadId": place.thread, "turnId": place.turn,
            });
            self.stage.send(&frames::notification("error", params));
        } else {
            self.stage
                .send(&frames::status(&place.thread, json!({"type": "idle"})));
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
        let turn = frames::turn(&place.turn, status, times, last.as_ref(), &error);
        let params = json!({"threadId": place.thread, "turn": turn});
        self.stage
            .send(&frames::notification("turn/completed", params));
        Ok(())
    }
}
