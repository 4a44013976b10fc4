//! The lines that `claude` writes: each is known, unknown or malformed.
//!
//! Refuses to know what a line means for a turn. Fields that this program does not read are left out;
//! a known type whose needed fields are missing or of another kind is malformed, never guessed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::messages::{Assistant, Delta, Sse, Stream, User};
use crate::domain::session::PlanWindow;

/// One line.
#[derive(Debug)]
pub struct Line {
    /// What it is.
    pub frame: Frame,
    /// The ids of the user lines that it belongs to, as far as it says.
    pub answers: Vec<String>,
}

/// What a line is.
#[derive(Debug)]
pub enum Frame {
    /// A turn begins.
    Init(Init),
    /// The service failed, another try follows.
    Retry(Retry),
    /// The CLI refused a call by itself.
    Denied(Denied),
    /// A text for people.
    Notice(Notice),
    /// A sub-agent began.
    AgentStarted(AgentStarted),
    /// A piece of a message that is being written.
    Stream(Stream),
    /// A finished block of a message.
    Assistant(Assistant),
    /// A user's line coming back, or results of tools.
    User(User),
    /// The end of a turn.
    Result(Box<TurnResult>),
    /// The CLI asks.
    Request(Request),
    /// The CLI no longer waits for an answer.
    CancelRequest {
        /// Which request.
        request_id: String,
    },
    /// The CLI answers, or an answer of ours comes back.
    Response(Response),
    /// What became of a user's line.
    Lifecycle(Lifecycle),
    /// How the plan's limit stands.
    Limit(LimitTold),
    /// Known, and nothing to tell.
    Quiet,
    /// A type that this program does not know.
    Unknown {
        /// Its type.
        kind: String,
    },
    /// No frame of the protocol.
    Malformed {
        /// What is wrong.
        problem: String,
    },
}

/// `system/init`.
#[derive(Debug, Deserialize)]
pub struct Init {
    /// The conversation's id; may change within a process.
    pub session_id: String,
    /// The model that answers.
    pub model: Option<String>,
}

/// `system/api_retry`.
#[derive(Debug, Deserialize)]
pub struct Retry {
    /// Which try follows.
    pub attempt: Option<u32>,
    /// How many there are.
    pub max_retries: Option<u32>,
    /// The HTTP status; none when no answer came.
    pub error_status: Option<i64>,
    /// The CLI's word for it.
    pub error: Option<String>,
}

/// `system/permission_denied`.
#[derive(Debug, Clone, Deserialize)]
pub struct Denied {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: Option<String>,
    /// Why.
    pub message: Option<String>,
}

/// `system/informational`, `system/model_fallback`, `system/compact_boundary`.
#[derive(Debug, Deserialize)]
pub struct Notice {
    /// The text.
    pub content: Option<String>,
}

/// `system/task_started`.
#[derive(Debug, Deserialize)]
pub struct AgentStarted {
    /// The task; for a sub-agent also its id.
    pub task_id: Option<String>,
    /// What kind of sub-agent.
    pub subagent_type: Option<String>,
}

/// `result`.
#[derive(Debug, Deserialize)]
pub struct TurnResult {
    /// Whether the turn failed; the only word to go by, since `subtype` says `success` of failed requests too.
    pub is_error: bool,
    /// How many times the model was asked; 0 when the prompt never reached it.
    pub num_turns: Option<u64>,
    /// Why it ended.
    pub terminal_reason: Option<String>,
    /// The last text.
    pub result: Option<String>,
    /// What went wrong.
    pub errors: Option<Vec<String>>,
    /// The HTTP status of a failed request.
    pub api_error_status: Option<i64>,
    /// The CLI's word for a failure without an HTTP status.
    pub api_error: Option<String>,
    /// Dollars of the conversation so far.
    pub total_cost_usd: Option<f64>,
    /// Tokens of the conversation so far, by model.
    #[serde(rename = "modelUsage")]
    pub model_usage: Option<BTreeMap<String, ModelUsage>>,
    /// Calls that were denied, by the CLI or by us.
    pub permission_denials: Option<Vec<Denied>>,
    /// Who asked for the turn, when it was not a user's line.
    pub origin: Option<Value>,
}

/// Tokens of one model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Read anew.
    pub input_tokens: Option<u64>,
    /// Written.
    pub output_tokens: Option<u64>,
    /// Read from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Read and put into the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// The model's context.
    pub context_window: Option<u64>,
}

/// `control_request`.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// Its id.
    pub request_id: String,
    /// What is asked, with its `subtype`.
    pub request: Value,
}

/// `control_request` with `can_use_tool`.
#[derive(Debug, Deserialize)]
pub struct CanUseTool {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub input: Value,
    /// The call.
    pub tool_use_id: Option<String>,
    /// What the call is for, in the agent's or the CLI's words.
    pub description: Option<String>,
    /// Why the CLI asks.
    pub decision_reason: Option<String>,
    /// What made it ask: a rule, its mode, `hook` where it was told to.
    pub decision_reason_type: Option<String>,
    /// The sub-agent that wants it.
    pub agent_id: Option<String>,
}

/// `control_request` with `hook_callback`.
#[derive(Debug, Deserialize)]
pub struct HookCallback {
    /// What the hook is told.
    pub input: HookInput,
    /// The call.
    pub tool_use_id: Option<String>,
}

/// What a hook before a call is told.
#[derive(Debug, Deserialize)]
pub struct HookInput {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: Value,
    /// Where a command would run: an earlier one may have led elsewhere.
    pub cwd: Option<PathBuf>,
    /// The sub-agent that wants it.
    pub agent_id: Option<String>,
}

/// The input of `AskUserQuestion`.
#[derive(Debug, Deserialize)]
pub struct Questions {
    /// The questions.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Its text, also the key of its answer.
    pub question: String,
    /// A word or two on what it is about.
    pub header: Option<String>,
    /// Whether several of the offered answers may be chosen.
    pub multi_select: Option<bool>,
    /// The offered answers.
    pub options: Option<Vec<Choice>>,
}

/// An offered answer.
#[derive(Debug, Deserialize)]
pub struct Choice {
    /// Its text.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

/// `control_response`.
#[derive(Debug, Deserialize)]
pub struct Response {
    /// The answer.
    pub response: ResponseBody,
}

/// The answer inside a `control_response`.
#[derive(Debug, Deserialize)]
pub struct ResponseBody {
    /// `success` or `error`.
    pub subtype: String,
    /// The request that is answered.
    pub request_id: String,
    /// What was answered.
    pub response: Option<Value>,
    /// What went wrong.
    pub error: Option<String>,
}

/// `command_lifecycle`.
#[derive(Debug, Deserialize)]
pub struct Lifecycle {
    /// The user's line.
    pub command_uuid: String,
    /// `queued`, `started`, `completed`, `cancelled`.
    pub state: String,
}

/// `rate_limit_event`.
#[derive(Debug, Deserialize)]
pub struct LimitTold {
    /// The limit.
    pub rate_limit_info: Limit,
}

/// The plan's limit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Limit {
    /// `allowed`, `allowed_warning`, `rejected`.
    pub status: String,
    /// When it begins anew, in seconds since 1970.
    #[serde(rename = "resetsAt")]
    pub resets_at: Option<i64>,
    /// Every window of the plan, by its name: how much of it is used, 1 being all, and when it begins anew.
    #[serde(rename = "unifiedWindows")]
    windows: Option<Value>,
}

/// The names of the windows, with their minutes.
const WINDOWS: &[(&str, u32)] = &[("five_hour", 300), ("seven_day", 10_080)];

impl Limit {
    /// How much of the plan is used, as far as it is told, the shortest window first.
    pub fn windows(&self) -> Vec<PlanWindow> {
        let known = WINDOWS.iter().filter_map(|(name, minutes)| {
            let told = self.windows.as_ref()?.get(*name)?;
            let percent = told.get("utilization")?.as_f64()? * 100.0;
            let resets_at = told.get("resetsAt").and_then(Value::as_i64);
            Some(PlanWindow::told(Some(*minutes), percent, resets_at))
        });
        known.collect()
    }

    /// Tells whether the service takes nothing any more.
    pub fn is_used_up(&self) -> bool {
        self.status == "rejected"
    }
}

#[derive(Deserialize)]
struct CancelRequest {
    request_id: String,
}

/// Reads one line; total.
pub fn parse(line: &str) -> Line {
    if let Some(stream) = piece_of_text(line) {
        return Line {
            frame: Frame::Stream(stream),
            answers: Vec::new(),
        };
    }
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => {
            return Line {
                frame: malformed(format!("not JSON: {error}")),
                answers: Vec::new(),
            };
        }
    };
    Line {
        answers: answers(&value),
        frame: frame(value),
    }
}

/// A piece of text and nothing else, as it comes thousands of times in an answer.
#[derive(Deserialize)]
struct PieceOfText<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    event: PieceEvent<'a>,
    user_message_uuid: Option<IgnoredAny>,
    user_message_uuids: Option<IgnoredAny>,
    abandoned_blocks: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct PieceEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    index: u64,
    #[serde(borrow)]
    delta: PieceDelta<'a>,
}

#[derive(Deserialize)]
struct PieceDelta<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: String,
}

/// Reads a piece of text without building a tree; `None` for every other line, and for whatever is odd
/// about it: those are read in full.
fn piece_of_text(line: &str) -> Option<Stream> {
    if !line.contains("\"text_delta\"") {
        return None;
    }
    let piece: PieceOfText<'_> = serde_json::from_str(line).ok()?;
    let PieceEvent { kind, index, delta } = piece.event;
    let is_plain = piece.user_message_uuid.is_none()
        && piece.user_message_uuids.is_none()
        && piece.abandoned_blocks.is_none();
    let fits =
        (piece.kind, kind, delta.kind) == ("stream_event", "content_block_delta", "text_delta");
    (is_plain && fits).then_some(Stream {
        event: Sse::ContentBlockDelta {
            index,
            delta: Delta::Text { text: delta.text },
        },
        abandoned_blocks: None,
    })
}

fn frame(value: Value) -> Frame {
    let Some(kind) = value.get("type").and_then(Value::as_str) else {
        return malformed("no frame: it has no type".to_owned());
    };
    match kind.to_owned().as_str() {
        "system" => system(value),
        "stream_event" => known(value, Frame::Stream),
        "assistant" => known(value, Frame::Assistant),
        "user" => known(value, Frame::User),
        "result" => known(value, Frame::Result),
        "control_request" => known(value, Frame::Request),
        "control_response" => known(value, Frame::Response),
        "control_cancel_request" => known(value, |CancelRequest { request_id }| {
            Frame::CancelRequest { request_id }
        }),
        "rate_limit_event" => known(value, Frame::Limit),
        "command_lifecycle" => known(value, Frame::Lifecycle),
        "tool_progress" | "keep_alive" => Frame::Quiet,
        other => Frame::Unknown {
            kind: other.to_owned(),
        },
    }
}

fn system(value: Value) -> Frame {
    let Some(subtype) = value.get("subtype").and_then(Value::as_str) else {
        return malformed("system: it has no subtype".to_owned());
    };
    match subtype.to_owned().as_str() {
        "init" => known(value, Frame::Init),
        "api_retry" => known(value, Frame::Retry),
        "permission_denied" => known(value, Frame::Denied),
        "informational" | "model_fallback" | "compact_boundary" => known(value, Frame::Notice),
        "task_started" => known(value, Frame::AgentStarted),
        "status"
        | "thinking_tokens"
        | "task_progress"
        | "task_updated"
        | "task_notification"
        | "background_tasks_changed"
        | "hook_started"
        | "hook_progress"
        | "hook_response"
        | "session_title_changed" => Frame::Quiet,
        other => Frame::Unknown {
            kind: format!("system/{other}"),
        },
    }
}

fn known<T: DeserializeOwned>(value: Value, wrap: impl Fn(T) -> Frame) -> Frame {
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    match serde_json::from_value(value) {
        Ok(inner) => wrap(inner),
        Err(error) => malformed(format!("{kind}: {error}")),
    }
}

fn malformed(problem: String) -> Frame {
    Frame::Malformed { problem }
}

/// Collects `user_message_uuid` and `user_message_uuids`, which stand on many kinds of lines.
fn answers(value: &Value) -> Vec<String> {
    let one = value.get("user_message_uuid").into_iter();
    let many = value.get("user_message_uuids").and_then(Value::as_array);
    one.chain(many.into_iter().flatten())
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
