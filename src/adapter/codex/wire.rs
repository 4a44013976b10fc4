//! The frames of `codex app-server` as they stand on the wire: JSON-RPC without its version field.
//!
//! Refuses to know what a frame means. A frame is known, harmless, unknown or malformed: one whose
//! name is known but whose fields are not as expected is malformed, never unknown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One line of codex's standard output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// The answer to a request of ours.
    Answer {
        id: i64,
        outcome: Result<Value, RpcError>,
    },
    /// Codex asks and waits for an answer.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    /// Codex tells.
    Notification { method: String, params: Value },
    /// Valid JSON-RPC of no kind that is known.
    Unknown { kind: String },
}

/// Why codex could not do what a request of ours wanted.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RpcError {
    pub code: i64,
    pub message: String,
}

/// Parses one line; the error says what is wrong with it.
pub(super) fn parse_frame(line: &str) -> Result<Frame, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("no JSON: {}", short(&error)))?;
    let Value::Object(mut fields) = value else {
        return Err("no JSON object".to_owned());
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), fields.remove("id")) {
        (Some(Value::String(method)), None) => Ok(Frame::Notification { method, params }),
        (Some(Value::String(method)), Some(id @ (Value::Number(_) | Value::String(_)))) => {
            Ok(Frame::Request { id, method, params })
        }
        (Some(Value::String(_)), Some(_)) => Err("the id is no number and no text".to_owned()),
        (Some(_), _) => Err("the method is no text".to_owned()),
        (None, Some(id)) => parse_answer(&id, fields.remove("result"), fields.remove("error")),
        (None, None) => Err("neither a method nor an id".to_owned()),
    }
}

fn parse_answer(id: &Value, result: Option<Value>, error: Option<Value>) -> Result<Frame, String> {
    let Some(id) = id.as_i64() else {
        let kind = "an answer to a request that was never made".to_owned();
        return Ok(Frame::Unknown { kind });
    };
    let outcome = match (result, error) {
        (_, Some(error)) => Err(parse_params(error)?),
        (Some(result), None) => Ok(result),
        (None, None) => return Err("an answer without result and error".to_owned()),
    };
    Ok(Frame::Answer { id, outcome })
}

/// Parses the fields of a frame whose name is known.
pub(super) fn parse_params<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| short(&error))
}

/// The longest description of what is wrong with a frame, in characters.
pub(super) const PROBLEM_CHARS: usize = 200;

/// An error quotes what it met, which may be megabytes.
fn short(error: &serde_json::Error) -> String {
    error.to_string().chars().take(PROBLEM_CHARS).collect()
}

/// The answer to `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialized {
    pub user_agent: String,
}

/// The answer to `hooks/list`.
#[derive(Debug, Deserialize)]
pub(super) struct HooksListed {
    pub data: Vec<HooksOfFolder>,
}

/// The hooks that hold in one folder.
#[derive(Debug, Deserialize)]
pub(super) struct HooksOfFolder {
    pub hooks: Vec<ListedHook>,
}

/// A hook as codex has it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedHook {
    pub key: String,
    pub enabled: bool,
    pub current_hash: String,
    pub trust_status: String,
}

/// `hook/completed`.
#[derive(Debug, Deserialize)]
pub(super) struct HookCompleted {
    pub run: HookRun,
}

/// One run of a hook.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HookRun {
    pub id: String,
    pub status: String,
    pub source_path: String,
}

/// What a hook is handed on its standard input.
#[derive(Debug, Deserialize)]
pub(super) struct HookInput {
    pub session_id: String,
    pub cwd: std::path::PathBuf,
    pub tool_name: String,
    pub tool_input: Value,
    pub tool_use_id: Option<String>,
}

/// The answer to `thread/start` and `thread/resume`: the thread and the settings that really hold.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenedThread {
    pub thread: Named,
    pub approval_policy: Value,
    pub approvals_reviewer: Value,
    pub sandbox: Sandbox,
    pub active_permission_profile: Option<Named>,
}

/// Anything of which only the id matters.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub id: String,
}

/// The answer to `turn/start`.
#[derive(Debug, Deserialize)]
pub(super) struct StartedTurn {
    pub turn: Named,
}

/// What holds the commands of a thread.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum Sandbox {
    ReadOnly {
        #[serde(default)]
        network_access: bool,
    },
    WorkspaceWrite {
        #[serde(default)]
        writable_roots: Vec<String>,
        network_access: bool,
        exclude_tmpdir_env_var: bool,
        exclude_slash_tmp: bool,
    },
    /// None, or one that this program knows nothing about.
    #[serde(other)]
    Other,
}

/// `thread/settings/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettingsUpdated {
    pub thread_id: String,
    pub thread_settings: Settings,
}

/// The settings that hold from now on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Settings {
    pub approval_policy: Value,
    pub approvals_reviewer: Value,
    pub sandbox_policy: Sandbox,
    pub active_permission_profile: Option<Named>,
}

/// `turn/started` and `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnChanged {
    pub thread_id: String,
    pub turn: Turn,
}

/// A turn as codex tells of it.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub id: String,
    pub status: TurnStatus,
    pub error: Option<TurnError>,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TurnStatus {
    InProgress,
    Completed,
    Interrupted,
    Failed,
}

/// What went wrong with a turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnError {
    pub message: String,
    pub codex_error_info: Option<Value>,
    pub additional_details: Option<String>,
}

/// `error`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorTold {
    pub error: TurnError,
    pub will_retry: bool,
    pub thread_id: String,
}

/// `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemChanged {
    pub thread_id: String,
    pub turn_id: String,
    pub item: Value,
}

/// A piece of an item: text, thinking, or output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Delta {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
}

/// `item/reasoning/summaryPartAdded`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryPart {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub summary_index: u64,
}

/// `item/mcpToolCall/progress`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub message: String,
}

/// `item/fileChange/patchUpdated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PatchUpdated {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub changes: Vec<super::items::Change>,
}

/// `thread/tokenUsage/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageUpdated {
    pub thread_id: String,
    pub token_usage: TokenUsage,
}

/// What a thread has used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsage {
    pub total: Tokens,
    /// Those of the last request alone.
    #[serde(default)]
    pub last: Option<LastTokens>,
    pub model_context_window: Option<u64>,
}

/// What the last request of a thread had read and written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LastTokens {
    pub total_tokens: u64,
}

/// Counts of tokens.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tokens {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// `account/rateLimits/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RateLimitsUpdated {
    pub rate_limits: RateLimits,
}

/// How much of the plan is used.
#[derive(Debug, Deserialize)]
pub(super) struct RateLimits {
    pub primary: Option<LimitWindow>,
    pub secondary: Option<LimitWindow>,
}

/// A span of time for which the plan allows so much.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LimitWindow {
    pub used_percent: f64,
    /// How long it is.
    pub window_duration_mins: Option<i64>,
    /// Seconds since 1970.
    pub resets_at: Option<i64>,
}

/// `serverRequest/resolved`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resolved {
    pub request_id: Value,
}

/// `warning` and `guardianWarning`.
#[derive(Debug, Deserialize)]
pub(super) struct Warning {
    pub message: String,
}

/// `configWarning` and `deprecationNotice`.
#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    pub summary: String,
    pub details: Option<String>,
}

/// `mcpServer/startupStatus/updated`.
#[derive(Debug, Deserialize)]
pub(super) struct McpStartup {
    pub name: String,
    pub status: String,
    pub error: Option<String>,
}

/// `model/rerouted`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rerouted {
    pub from_model: String,
    pub to_model: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, wanted: &str) {
        assert_eq!(format!("{:?}", parse_frame(line)), wanted);
    }

    #[test]
    fn a_line_that_is_no_frame_says_why() {
        check("[]", r#"Err("no JSON object")"#);
        check("{}", r#"Err("neither a method nor an id")"#);
        check(r#"{"method":1}"#, r#"Err("the method is no text")"#);
        check(
            r#"{"id":1}"#,
            r#"Err("an answer without result and error")"#,
        );
        check(
            r#"{"id":1,"error":{"code":"x"}}"#,
            r#"Err("invalid type: string \"x\", expected i64")"#,
        );
        check(
            r#"{"id":null,"method":"x"}"#,
            r#"Err("the id is no number and no text")"#,
        );
    }

    #[test]
    fn the_kinds_of_frames_are_told_apart() {
        check(
            r#"{"id":1,"result":{}}"#,
            "Ok(Answer { id: 1, outcome: Ok(Object {}) })",
        );
        check(
            r#"{"id":"a","method":"m"}"#,
            r#"Ok(Request { id: String("a"), method: "m", params: Null })"#,
        );
        check(
            r#"{"method":"m","params":[]}"#,
            r#"Ok(Notification { method: "m", params: Array [] })"#,
        );
        check(
            r#"{"id":"a","result":1}"#,
            r#"Ok(Unknown { kind: "an answer to a request that was never made" })"#,
        );
    }
}
