//! Parses the lines that `claude` writes: each is known, unknown or malformed.
//!
//! Fields that this program does not read are left out. A known type whose required fields are missing or have
//! another type is malformed, never guessed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::messages_api::{
    AssistantFrame, ContentBlockDelta, MessagesApiEvent, StreamEventFrame, UserFrame,
};
use crate::domain::session::AccountUsageWindow;

#[derive(Debug)]
pub struct ClaudeLine {
    pub frame: ClaudeFrame,
    /// The ids of the user lines that it belongs to, as far as it names them.
    pub user_line_ids: Vec<String>,
}

/// The kinds of lines.
#[derive(Debug)]
pub enum ClaudeFrame {
    Init(InitFrame),
    /// The service failed; another attempt follows.
    Retry(ApiRetryFrame),
    /// The CLI denied a call by itself.
    PermissionDenied(PermissionDenialFrame),
    /// A text for the user.
    Notice(InformationalFrame),
    TaskStarted(TaskStartFrame),
    /// A delta of a message that the model is writing.
    Stream(StreamEventFrame),
    /// A finished block of a message.
    Assistant(AssistantFrame),
    /// An echoed user line, or tool results.
    User(UserFrame),
    /// The end of a turn.
    Result(Box<ClaudeResultFrame>),
    /// A request of the CLI.
    ControlRequest(ControlRequestFrame),
    /// The CLI no longer waits for an answer.
    CancelRequest {
        request_id: String,
    },
    /// An answer of the CLI, or the echo of our own answer.
    ControlResponse(ControlResponseFrame),
    /// What happened to a user line.
    Lifecycle(CommandLifecycleFrame),
    /// The state of the plan's limit.
    RateLimit(RateLimitFrame),
    /// A known type that carries nothing of interest.
    Ignored,
    /// A type that is unknown to this program.
    Unknown {
        kind: String,
    },
    /// Not a frame of the protocol.
    Malformed {
        problem: String,
    },
}

/// `system/init`.
#[derive(Debug, Deserialize)]
pub struct InitFrame {
    /// The conversation's id; may change within a process.
    pub session_id: String,
    /// The model that answers.
    pub model: Option<String>,
}

/// `system/api_retry`.
#[derive(Debug, Deserialize)]
pub struct ApiRetryFrame {
    /// The number of the next attempt.
    pub attempt: Option<u32>,
    /// The maximum number of attempts.
    pub max_retries: Option<u32>,
    /// The HTTP status; `None` if there was no answer.
    pub error_status: Option<i64>,
    /// The CLI's code for the failure.
    pub error: Option<String>,
}

/// `system/permission_denied`.
#[derive(Debug, Clone, Deserialize)]
pub struct PermissionDenialFrame {
    pub tool_name: String,
    pub tool_use_id: Option<String>,
    pub message: Option<String>,
}

/// `system/informational`, `system/model_fallback`, `system/compact_boundary`.
#[derive(Debug, Deserialize)]
pub struct InformationalFrame {
    pub content: Option<String>,
}

/// `system/task_started`.
#[derive(Debug, Deserialize)]
pub struct TaskStartFrame {
    /// The task; for a sub-agent it is also the sub-agent's id.
    pub task_id: Option<String>,
    /// The kind of sub-agent.
    pub subagent_type: Option<String>,
}

/// `result`.
#[derive(Debug, Deserialize)]
pub struct ClaudeResultFrame {
    /// Whether the turn failed; the only field to rely on, because `subtype` says `success` for failed requests too.
    pub is_error: bool,
    /// How many times the model was asked; 0 if the prompt never reached it.
    pub num_turns: Option<u64>,
    /// Why the turn ended.
    pub terminal_reason: Option<String>,
    /// The last text of the turn.
    pub result: Option<String>,
    pub errors: Option<Vec<String>>,
    /// The HTTP status of a failed request.
    pub api_error_status: Option<i64>,
    /// The CLI's code for a failure without an HTTP status.
    pub api_error: Option<String>,
    /// The cost of the conversation so far, in US dollars.
    pub total_cost_usd: Option<f64>,
    /// The tokens of the conversation so far, by model.
    #[serde(rename = "modelUsage")]
    pub model_usage: Option<BTreeMap<String, ClaudeModelUsage>>,
    /// Calls that the CLI or we denied.
    pub permission_denials: Option<Vec<PermissionDenialFrame>>,
    /// What caused the turn, if it was not a user line.
    pub origin: Option<Value>,
}

/// Tokens of one model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeModelUsage {
    /// Uncached tokens that the model read.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// Tokens that the model read from the cache.
    pub cache_read_input_tokens: Option<u64>,
    /// Tokens that the model read and added to the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// The size of the model's context.
    pub context_window: Option<u64>,
}

/// `control_request`.
#[derive(Debug, Deserialize)]
pub struct ControlRequestFrame {
    pub request_id: String,
    /// The request body, with its `subtype`.
    pub request: Value,
}

/// `control_request` with `can_use_tool`.
#[derive(Debug, Deserialize)]
pub struct CanUseToolRequest {
    pub tool_name: String,
    pub input: Value,
    pub tool_use_id: Option<String>,
    /// The purpose of the call, as described by the agent or the CLI.
    pub description: Option<String>,
    /// Why the CLI asks.
    pub decision_reason: Option<String>,
    /// What made the CLI ask: a rule, its mode, or `hook` if our hook told it to.
    pub decision_reason_type: Option<String>,
    /// The sub-agent that makes the call.
    pub agent_id: Option<String>,
}

/// `control_request` with `hook_callback`.
#[derive(Debug, Deserialize)]
pub struct HookCallbackRequest {
    /// The input of the hook.
    pub input: ClaudeHookInput,
    pub tool_use_id: Option<String>,
}

/// The input of a hook that runs before a call.
#[derive(Debug, Deserialize)]
pub struct ClaudeHookInput {
    pub tool_name: String,
    pub tool_input: Value,
    /// Where a command would run: an earlier command may have changed the folder.
    pub cwd: Option<PathBuf>,
    /// The sub-agent that makes the call.
    pub agent_id: Option<String>,
}

/// The input of `AskUserQuestion`.
#[derive(Debug, Deserialize)]
pub struct AskUserQuestionInput {
    pub questions: Vec<ClaudeQuestion>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaudeQuestion {
    /// The text, which is also the key of its answer.
    pub question: String,
    /// The topic, in one or two words.
    pub header: Option<String>,
    /// Whether the user may choose several of the offered answers.
    pub multi_select: Option<bool>,
    pub options: Option<Vec<ClaudeQuestionOption>>,
}

#[derive(Debug, Deserialize)]
pub struct ClaudeQuestionOption {
    pub label: String,
    pub description: Option<String>,
}

/// `control_response`.
#[derive(Debug, Deserialize)]
pub struct ControlResponseFrame {
    pub response: ControlResponseBody,
}

/// The answer inside a `control_response`.
#[derive(Debug, Deserialize)]
pub struct ControlResponseBody {
    /// `success` or `error`.
    pub subtype: String,
    /// The id of the answered request.
    pub request_id: String,
    /// The content of a successful answer.
    pub response: Option<Value>,
    /// What went wrong, for an error.
    pub error: Option<String>,
}

/// `command_lifecycle`.
#[derive(Debug, Deserialize)]
pub struct CommandLifecycleFrame {
    /// The id of the user line.
    pub command_uuid: String,
    /// `queued`, `started`, `completed`, `cancelled`.
    pub state: String,
}

/// `rate_limit_event`.
#[derive(Debug, Deserialize)]
pub struct RateLimitFrame {
    pub rate_limit_info: RateLimitInfo,
}

/// The plan's limit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RateLimitInfo {
    /// `allowed`, `allowed_warning`, `rejected`.
    pub status: String,
    /// When the limit resets, in seconds since 1970.
    #[serde(rename = "resetsAt")]
    pub resets_at: Option<i64>,
    /// The plan's windows by name: how much of each is used (1 is all of it) and when it resets.
    #[serde(rename = "unifiedWindows")]
    windows: Option<Value>,
}

/// The names of the windows and their lengths in minutes.
const PLAN_WINDOW_MINUTES: &[(&str, u32)] = &[("five_hour", 300), ("seven_day", 10_080)];

impl RateLimitInfo {
    /// Returns how much of the plan is used, as far as it is reported, the shortest window first.
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

    /// Returns whether the service accepts no more requests.
    pub fn is_used_up(&self) -> bool {
        self.status == "rejected"
    }
}

#[derive(Deserialize)]
struct CancelRequestFrame {
    request_id: String,
}

/// Parses one line; total, so that no input panics.
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

/// A text delta and nothing else; an answer contains thousands of them.
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

/// Parses a text delta without building a tree; returns `None` for every other line and for any irregular one,
/// which the full parser handles.
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

/// Collects `user_message_uuid` and `user_message_uuids`, which occur on many kinds of lines.
fn user_line_ids(value: &Value) -> Vec<String> {
    let one = value.get("user_message_uuid").into_iter();
    let many = value.get("user_message_uuids").and_then(Value::as_array);
    one.chain(many.into_iter().flatten())
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
