//! The frames of `codex app-server` on the wire: JSON-RPC without its version field.
//!
//! A frame is known, harmless, unknown or malformed. A frame with a known name but unexpected fields is malformed,
//! never unknown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One line of codex's standard output.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CodexFrame {
    /// The answer to a request of ours.
    Answer {
        id: i64,
        outcome: Result<Value, RpcError>,
    },
    /// Codex sends a request and waits for an answer.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    /// Codex reports something and expects no answer.
    Notification { method: String, params: Value },
    /// Valid JSON-RPC of an unknown kind.
    Unknown { kind: String },
}

/// The error with which codex answers a request of ours.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RpcError {
    pub code: i64,
    pub message: String,
}

/// Parses one line; the error says what is wrong with it.
pub(super) fn parse_frame(line: &str) -> Result<CodexFrame, String> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| format!("no JSON: {}", short_error(&error)))?;
    let Value::Object(mut fields) = value else {
        return Err("no JSON object".to_owned());
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), fields.remove("id")) {
        (Some(Value::String(method)), None) => Ok(CodexFrame::Notification { method, params }),
        (Some(Value::String(method)), Some(id @ (Value::Number(_) | Value::String(_)))) => {
            Ok(CodexFrame::Request { id, method, params })
        }
        (Some(Value::String(_)), Some(_)) => {
            Err("the id is neither a number nor a text".to_owned())
        }
        (Some(_), _) => Err("the method is not a text".to_owned()),
        (None, Some(id)) => parse_response(&id, fields.remove("result"), fields.remove("error")),
        (None, None) => Err("neither a method nor an id".to_owned()),
    }
}

fn parse_response(
    id: &Value,
    result: Option<Value>,
    error: Option<Value>,
) -> Result<CodexFrame, String> {
    let Some(id) = id.as_i64() else {
        let kind = "an answer to a request that was never made".to_owned();
        return Ok(CodexFrame::Unknown { kind });
    };
    let outcome = match (result, error) {
        (_, Some(error)) => Err(parse_params(error)?),
        (Some(result), None) => Ok(result),
        (None, None) => return Err("an answer without result and error".to_owned()),
    };
    Ok(CodexFrame::Answer { id, outcome })
}

/// Parses the fields of a frame with a known name.
pub(super) fn parse_params<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| short_error(&error))
}

/// The maximum length of the description of a malformed frame, in characters.
pub(super) const MAX_PROBLEM_CHARS: usize = 200;

/// Cuts the message of a parse error, because it quotes the input, which may be megabytes long.
fn short_error(error: &serde_json::Error) -> String {
    error.to_string().chars().take(MAX_PROBLEM_CHARS).collect()
}

/// The answer to `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResponse {
    pub user_agent: String,
}

/// The answer to `hooks/list`.
#[derive(Debug, Deserialize)]
pub(super) struct HooksListResponse {
    pub data: Vec<FolderHooks>,
}

/// The hooks that apply in one folder.
#[derive(Debug, Deserialize)]
pub(super) struct FolderHooks {
    pub hooks: Vec<HookMetadata>,
}

/// A hook as codex describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HookMetadata {
    pub key: String,
    pub enabled: bool,
    pub current_hash: String,
    pub trust_status: String,
}

/// `hook/completed`.
#[derive(Debug, Deserialize)]
pub(super) struct HookCompletedNotification {
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

/// What codex writes to the standard input of a hook.
#[derive(Debug, Deserialize)]
pub(super) struct CodexHookInput {
    pub session_id: String,
    pub cwd: std::path::PathBuf,
    pub tool_name: String,
    pub tool_input: Value,
    pub tool_use_id: Option<String>,
}

/// The answer to `thread/start` and `thread/resume`: the thread and the settings that really apply.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadOpenResponse {
    pub thread: CodexObjectId,
    #[serde(default)]
    pub model: Option<String>,
    pub approval_policy: Value,
    pub approvals_reviewer: Value,
    pub sandbox: CodexSandboxPolicy,
    pub active_permission_profile: Option<CodexObjectId>,
}

/// Any object of which only the id matters.
#[derive(Debug, Deserialize)]
pub(super) struct CodexObjectId {
    pub id: String,
}

/// The answer to `turn/start`.
#[derive(Debug, Deserialize)]
pub(super) struct TurnStartResponse {
    pub turn: CodexObjectId,
}

/// The sandbox that a thread's commands run in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum CodexSandboxPolicy {
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
    /// No sandbox, or an unknown one.
    #[serde(other)]
    Other,
}

/// `thread/settings/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettingsUpdateNotification {
    pub thread_id: String,
    pub thread_settings: CodexThreadSettings,
}

/// The settings that apply from now on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexThreadSettings {
    pub approval_policy: Value,
    pub approvals_reviewer: Value,
    pub sandbox_policy: CodexSandboxPolicy,
    pub active_permission_profile: Option<CodexObjectId>,
}

/// `turn/started` and `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnNotification {
    pub thread_id: String,
    pub turn: CodexTurn,
}

/// A turn as codex describes it.
#[derive(Debug, Deserialize)]
pub(super) struct CodexTurn {
    pub id: String,
    pub status: CodexTurnStatus,
    pub error: Option<CodexTurnError>,
}

/// The status of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum CodexTurnStatus {
    InProgress,
    Completed,
    Interrupted,
    Failed,
}

/// The error that failed a turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexTurnError {
    pub message: String,
    pub codex_error_info: Option<Value>,
    pub additional_details: Option<String>,
}

/// `error`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorNotification {
    pub error: CodexTurnError,
    pub will_retry: bool,
    pub thread_id: String,
}

/// `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item: Value,
}

/// A piece of an item: text, thinking, or output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexItemDelta {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub delta: String,
}

/// `item/reasoning/summaryPartAdded`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryPartNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub summary_index: u64,
}

/// `item/mcpToolCall/progress`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct McpProgressNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub message: String,
}

/// `item/fileChange/patchUpdated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PatchUpdateNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub changes: Vec<super::thread_items::CodexFileChange>,
}

/// `thread/tokenUsage/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsageNotification {
    pub thread_id: String,
    pub token_usage: ThreadTokenUsage,
}

/// What a thread has used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadTokenUsage {
    pub total: CodexTokenTotals,
    /// The tokens of the last request only.
    #[serde(default)]
    pub last: Option<LastRequestTokens>,
    pub model_context_window: Option<u64>,
}

/// The tokens that the last request of a thread read and wrote.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LastRequestTokens {
    pub total_tokens: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexTokenTotals {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// `account/rateLimits/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RateLimitsNotification {
    pub rate_limits: CodexRateLimits,
}

/// How much of the plan is used.
#[derive(Debug, Deserialize)]
pub(super) struct CodexRateLimits {
    pub primary: Option<RateLimitWindow>,
    pub secondary: Option<RateLimitWindow>,
}

/// A time window in which the plan allows a certain amount of use.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RateLimitWindow {
    pub used_percent: f64,
    /// The length of the window in minutes.
    pub window_duration_mins: Option<i64>,
    /// When the window resets, in seconds since 1970.
    pub resets_at: Option<i64>,
}

/// `serverRequest/resolved`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestResolvedNotification {
    pub request_id: Value,
}

/// `warning` and `guardianWarning`.
#[derive(Debug, Deserialize)]
pub(super) struct WarningNotification {
    pub message: String,
}

/// `configWarning` and `deprecationNotice`.
#[derive(Debug, Deserialize)]
pub(super) struct SummaryNotification {
    pub summary: String,
    pub details: Option<String>,
}

/// `mcpServer/startupStatus/updated`.
#[derive(Debug, Deserialize)]
pub(super) struct McpStartupNotification {
    pub name: String,
    pub status: String,
    pub error: Option<String>,
}

/// `model/rerouted`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelRerouteNotification {
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
        check(r#"{"method":1}"#, r#"Err("the method is not a text")"#);
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
            r#"Err("the id is neither a number nor a text")"#,
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
