//! The lines that `claude` writes: each is known, unknown or malformed.
//!
//! Refuses to know what a line means for a turn. Fields that this program does not read are left out;
//! a known type whose needed fields are missing or of another kind is malformed, never guessed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::messages_api::{
    AssistantFrame, ContentBlockDelta, MessagesApiEvent, StreamEventFrame, UserFrame,
};
use crate::domain::session::AccountUsageWindow;

/// One line.
#[derive(Debug)]
pub struct ClaudeLine {
    /// What it is.
    pub frame: ClaudeFrame,
    /// The ids of the user lines that it belongs to, as far as it says.
    pub user_line_ids: Vec<String>,
}

/// What a line is.
#[derive(Debug)]
pub enum ClaudeFrame {
    /// A turn begins.
    Init(InitFrame),
    /// The service failed, another try follows.
    Retry(ApiRetryFrame),
    /// The CLI refused a call by itself.
    PermissionDenied(PermissionDenialFrame),
    /// A text for people.
    Notice(InformationalFrame),
    /// A sub-agent began.
    TaskStarted(TaskStartFrame),
    /// A piece of a message that is being written.
    Stream(StreamEventFrame),
    /// A finished block of a message.
    Assistant(AssistantFrame),
    /// A user's line coming back, or results of tools.
    User(UserFrame),
    /// The end of a turn.
    Result(Box<ClaudeResultFrame>),
    /// The CLI asks.
    ControlRequest(ControlRequestFrame),
    /// The CLI no longer waits for an answer.
    CancelRequest {
        /// Which request.
        request_id: String,
    },
    /// The CLI answers, or an answer of ours comes back.
    ControlResponse(ControlResponseFrame),
    /// What became of a user's line.
    Lifecycle(CommandLifecycleFrame),
    /// How the plan's limit stands.
    RateLimit(RateLimitFrame),
    /// Known, and nothing to tell.
    Ignored,
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

/// `parse_system_frame/init`.
#[derive(Debug, Deserialize)]
pub struct InitFrame {
    /// The conversation's id; may change within a process.
    pub session_id: String,
    /// The model that answers.
    pub model: Option<String>,
}

/// `parse_system_frame/api_retry`.
#[derive(Debug, Deserialize)]
pub struct ApiRetryFrame {
    /// Which try follows.
    pub attempt: Option<u32>,
    /// How many there are.
    pub max_retries: Option<u32>,
    /// The HTTP status; none when no answer came.
    pub error_status: Option<i64>,
    /// The CLI's word for it.
    pub error: Option<String>,
}

/// `parse_system_frame/permission_denied`.
#[derive(Debug, Clone, Deserialize)]
pub struct PermissionDenialFrame {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: Option<String>,
    /// Why.
    pub message: Option<String>,
}

/// `parse_system_frame/informational`, `parse_system_frame/model_fallback`, `parse_system_frame/compact_boundary`.
#[derive(Debug, Deserialize)]
pub struct InformationalFrame {
    /// The text.
    pub content: Option<String>,
}

/// `parse_system_frame/task_started`.
#[derive(Debug, Deserialize)]
pub struct TaskStartFrame {
    /// The task; for a sub-agent also its id.
    pub task_id: Option<String>,
    /// What kind of sub-agent.
    pub subagent_type: Option<String>,
}

/// `result`.
#[derive(Debug, Deserialize)]
pub struct ClaudeResultFrame {
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
    pub model_usage: Option<BTreeMap<String, ClaudeModelUsage>>,
    /// Calls that were denied, by the CLI or by us.
    pub permission_denials: Option<Vec<PermissionDenialFrame>>,
    /// Who asked for the turn, when it was not a user's line.
    pub origin: Option<Value>,
}

/// Tokens of one model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeModelUsage {
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
pub struct ControlRequestFrame {
    /// Its id.
    pub request_id: String,
    /// What is asked, with its `subtype`.
    pub request: Value,
}

/// `control_request` with `can_use_tool`.
#[derive(Debug, Deserialize)]
pub struct CanUseToolRequest {
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
pub struct HookCallbackRequest {
    /// What the hook is told.
    pub input: ClaudeHookInput,
    /// The call.
    pub tool_use_id: Option<String>,
}

/// What a hook before a call is told.
#[derive(Debug, Deserialize)]
pub struct ClaudeHookInput {
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
pub struct AskUserQuestionInput {
    /// The questions.
    pub questions: Vec<ClaudeQuestion>,
}

/// One question.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeQuestion {
    /// Its text, also the key of its answer.
    pub question: String,
    /// A word or two on what it is about.
    pub header: Option<String>,
    /// Whether several of the offered answers may be chosen.
    pub multi_select: Option<bool>,
    /// The offered answers.
    pub options: Option<Vec<ClaudeQuestionOption>>,
}

/// An offered answer.
#[derive(Debug, Deserialize)]
pub struct ClaudeQuestionOption {
    /// Its text.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

/// `control_response`.
#[derive(Debug, Deserialize)]
pub struct ControlResponseFrame {
    /// The answer.
    pub response: ControlResponseBody,
}

/// The answer inside a `control_response`.
#[derive(Debug, Deserialize)]
pub struct ControlResponseBody {
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
pub struct CommandLifecycleFrame {
    /// The user's line.
    pub command_uuid: String,
    /// `queued`, `started`, `completed`, `cancelled`.
    pub state: String,
}

/// `rate_limit_event`.
#[derive(Debug, Deserialize)]
pub struct RateLimitFrame {
    /// The limit.
    pub rate_limit_info: RateLimitInfo,
}

/// The plan's limit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RateLimitInfo {
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
const PLAN_WINDOW_MINUTES: &[(&str, u32)] = &[("five_hour", 300), ("seven_day", 10_080)];

impl RateLimitInfo {
    /// How much of the plan is used, as far as it is told, the shortest window first.
    pub fn plan_windows(&self) -> Vec<AccountUsageWindow> {
        let known = PLAN_WINDOW_MINUTES.iter().filter_map(|(name, minutes)| {
            let told = self.windows.as_ref()?.get(*name)?;
            let percent = told.get("utilization")?.as_f64()? * 100.0;
            let resets_at = told.get("resetsAt").and_then(Value::as_i64);
            Some(AccountUsageWindow::from_report(
                Some(*minutes),
                percent,
                resets_at,
            ))
        });
        known.collect()
    }

    /// Tells whether the service takes nothing any more.
    pub fn is_used_up(&self) -> bool {
        self.status == "rejected"
    }
}

#[derive(Deserialize)]
struct CancelRequestFrame {
    request_id: String,
}

/// Reads one line; total.
pub fn parse_line(line: &str) -> ClaudeLine {
    if let Some(stream) = parse_text_delta(line) {
        return ClaudeLine {
            frame: ClaudeFrame::Stream(stream),
            user_line_ids: Vec::new(),
        };
    }
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => {
            return ClaudeLine {
                frame: malformed_frame(format!("not JSON: {error}")),
                user_line_ids: Vec::new(),
            };
        }
    };
    ClaudeLine {
        user_line_ids: user_line_ids(&value),
        frame: parse_frame(value),
    }
}

/// A piece of text and nothing else, as it comes thousands of times in an answer.
#[derive(Deserialize)]
struct TextDeltaFrame<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    event: TextDeltaEvent<'a>,
    user_message_uuid: Option<IgnoredAny>,
    user_message_uuids: Option<IgnoredAny>,
    abandoned_blocks: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct TextDeltaEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    index: u64,
    #[serde(borrow)]
    delta: TextDeltaPayload<'a>,
}

#[derive(Deserialize)]
struct TextDeltaPayload<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: String,
}

/// Reads a piece of text without building a tree; `None` for every other line, and for whatever is odd
/// about it: those are read in full.
fn parse_text_delta(line: &str) -> Option<StreamEventFrame> {
    if !line.contains("\"text_delta\"") {
        return None;
    }
    let piece: TextDeltaFrame<'_> = serde_json::from_str(line).ok()?;
    let TextDeltaEvent { kind, index, delta } = piece.event;
    let is_plain = piece.user_message_uuid.is_none()
        && piece.user_message_uuids.is_none()
        && piece.abandoned_blocks.is_none();
    let fits =
        (piece.kind, kind, delta.kind) == ("stream_event", "content_block_delta", "text_delta");
    (is_plain && fits).then_some(StreamEventFrame {
        event: MessagesApiEvent::ContentBlockDelta {
            index,
            delta: ContentBlockDelta::Text { text: delta.text },
        },
        abandoned_blocks: None,
    })
}

fn parse_frame(value: Value) -> ClaudeFrame {
    let Some(kind) = value.get("type").and_then(Value::as_str) else {
        return malformed_frame("no frame: it has no type".to_owned());
    };
    match kind.to_owned().as_str() {
        "system" => parse_system_frame(value),
        "stream_event" => parse_known_frame(value, ClaudeFrame::Stream),
        "assistant" => parse_known_frame(value, ClaudeFrame::Assistant),
        "user" => parse_known_frame(value, ClaudeFrame::User),
        "result" => parse_known_frame(value, ClaudeFrame::Result),
        "control_request" => parse_known_frame(value, ClaudeFrame::ControlRequest),
        "control_response" => parse_known_frame(value, ClaudeFrame::ControlResponse),
        "control_cancel_request" => {
            parse_known_frame(value, |CancelRequestFrame { request_id }| {
                ClaudeFrame::CancelRequest { request_id }
            })
        }
        "rate_limit_event" => parse_known_frame(value, ClaudeFrame::RateLimit),
        "command_lifecycle" => parse_known_frame(value, ClaudeFrame::Lifecycle),
        "tool_progress" | "keep_alive" => ClaudeFrame::Ignored,
        other => ClaudeFrame::Unknown {
            kind: other.to_owned(),
        },
    }
}

fn parse_system_frame(value: Value) -> ClaudeFrame {
    let Some(subtype) = value.get("subtype").and_then(Value::as_str) else {
        return malformed_frame("system: it has no subtype".to_owned());
    };
    match subtype.to_owned().as_str() {
        "init" => parse_known_frame(value, ClaudeFrame::Init),
        "api_retry" => parse_known_frame(value, ClaudeFrame::Retry),
        "permission_denied" => parse_known_frame(value, ClaudeFrame::PermissionDenied),
        "informational" | "model_fallback" | "compact_boundary" => {
            parse_known_frame(value, ClaudeFrame::Notice)
        }
        "task_started" => parse_known_frame(value, ClaudeFrame::TaskStarted),
        "status"
        | "thinking_tokens"
        | "task_progress"
        | "task_updated"
        | "task_notification"
        | "background_tasks_changed"
        | "hook_started"
        | "hook_progress"
        | "hook_response"
        | "session_title_changed" => ClaudeFrame::Ignored,
        other => ClaudeFrame::Unknown {
            kind: format!("system/{other}"),
        },
    }
}

fn parse_known_frame<T: DeserializeOwned>(
    value: Value,
    wrap: impl Fn(T) -> ClaudeFrame,
) -> ClaudeFrame {
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    match serde_json::from_value(value) {
        Ok(inner) => wrap(inner),
        Err(error) => malformed_frame(format!("{kind}: {error}")),
    }
}

fn malformed_frame(problem: String) -> ClaudeFrame {
    ClaudeFrame::Malformed { problem }
}

/// Collects `user_message_uuid` and `user_message_uuids`, which stand on many kinds of lines.
fn user_line_ids(value: &Value) -> Vec<String> {
    let one = value.get("user_message_uuid").into_iter();
    let many = value.get("user_message_uuids").and_then(Value::as_array);
    one.chain(many.into_iter().flatten())
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
