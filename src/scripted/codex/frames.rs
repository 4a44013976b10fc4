//! Builds the frames of `codex app-server` from values.
//!
//! It knows the format of each frame; when to send it is decided elsewhere. Every builder here is compared with
//! recorded streams of codex 0.169.0 (`fidelity.rs`).

use serde_json::{Value, json};

use super::ScriptedThread;
use crate::scripted::runtime::ScriptedFileChange;

/// The turn and the thread that a frame belongs to.
#[derive(Debug, Clone)]
pub struct ScriptedTurnIds {
    pub thread: String,
    pub turn: String,
}

/// Returns the current time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Builds a notification.
pub fn notification(method: &str, params: Value) -> Value {
    json!({"method": method, "params": params, "emittedAtMs": now_ms()})
}

/// Builds a request of the server.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"method": method, "id": id, "params": params})
}

/// Builds a successful answer.
pub fn response(id: &Value, result: Value) -> Value {
    json!({"id": id, "result": result})
}

/// Builds an error answer.
pub fn error_response(id: &Value, message: &str) -> Value {
    json!({"error": {"code": -32600, "message": message}, "id": id})
}

/// Builds the thread object.
pub fn thread_object(id: &str, cwd: &str, model: &str, version: &str) -> Value {
    let now = now_ms() / 1000;
    json!({
        "id": id,
        "environments": [{"environmentId": "local", "cwd": cwd, "runtimeWorkspaceRoots": [cwd]}],
        "extra": null, "sessionId": id, "forkedFromId": null, "attachedToThreadId": null,
        "parentThreadId": null, "preview": "", "ephemeral": false, "section": null,
        "sectionEnteredAt": null, "projectId": null, "historyMode": "paginated",
        "modelProvider": "scripted", "model": model, "reasoningEffort": null,
        "createdAt": now, "updatedAt": now, "recencyAt": now, "status": {"type": "idle"},
        "path": format!("scripted-{id}.jsonl"), "cwd": cwd, "cliVersion": version,
        "originator": "agent-collab", "source": "vscode", "canAcceptDirectInput": true,
        "threadSource": null, "agentNickname": null, "agentRole": null, "gitInfo": null,
        "name": null, "daybreakEnabled": null, "turns": [],
    })
}

/// Builds the answer to `hooks/list`: the command-line hook, trusted by its hash. The hook is never run.
pub fn hooks_list(trusted: &Option<String>, params: &Value) -> Value {
    let hooks: Vec<Value> = trusted
        .iter()
        .map(|hash| {
            json!({
                "key": "/<session-flags>/config.toml:pre_tool_use:0:0", "eventName": "preToolUse",
                "handlerType": "command", "matcher": ".*", "source": "sessionFlags", "enabled": true,
                "currentHash": hash, "trustStatus": "trusted",
            })
        })
        .collect();
    json!({"data": [{"cwd": params["cwds"][0], "hooks": hooks, "warnings": [], "errors": []}]})
}

/// Builds the answer to `thread/start` and `thread/resume`.
pub(super) fn thread_opened(thread: &Value, opened: &ScriptedThread) -> Value {
    let profile = opened.profile.as_ref();
    let profile = profile.map(|id| json!({"id": id, "extends": null}));
    json!({
        "thread": thread, "model": thread["model"], "modelProvider": thread["modelProvider"],
        "serviceTier": null, "disabledPluginIds": [], "cwd": thread["cwd"],
        "runtimeWorkspaceRoots": [thread["cwd"]], "instructionSources": [],
        "approvalPolicy": opened.policy, "approvalsReviewer": "user", "sandbox": opened.sandbox,
        "activePermissionProfile": profile, "reasoningEffort": null,
        "multiAgentMode": "explicitRequestOnly",
    })
}

/// Builds the turn object; times are in seconds since 1970.
pub fn turn_object(
    id: &str,
    status: &str,
    times: [Option<i64>; 3],
    last: Option<&Value>,
    error: &Value,
) -> Value {
    let [started, completed, duration_ms] = times;
    let view = if last.is_some() {
        "summary"
    } else {
        "notLoaded"
    };
    json!({
        "id": id, "rootTurnId": id, "items": last.into_iter().collect::<Vec<_>>(), "itemsView": view,
        "status": status, "error": error, "startedAt": started, "completedAt": completed,
        "durationMs": duration_ms,
    })
}

/// Builds the notification about a thread's status.
pub fn thread_status_changed(thread: &str, status: Value) -> Value {
    notification(
        "thread/status/changed",
        json!({"threadId": thread, "status": status}),
    )
}

/// Builds the notification that starts an item.
pub fn item_started(place: &ScriptedTurnIds, item: &Value) -> Value {
    let params = json!({
        "item": item, "threadId": place.thread, "turnId": place.turn, "startedAtMs": item["startedAtMs"],
    });
    notification("item/started", params)
}

/// Builds the notification that ends an item.
pub fn item_completed(place: &ScriptedTurnIds, item: &Value) -> Value {
    let params = json!({
        "item": item, "threadId": place.thread, "turnId": place.turn, "contentTokenCount": null,
        "completedAtMs": item["completedAtMs"],
    });
    notification("item/completed", params)
}

/// Builds the notification with a delta of an item.
pub fn item_delta(place: &ScriptedTurnIds, method: &str, item: &str, delta: &str) -> Value {
    let mut params =
        json!({"threadId": place.thread, "turnId": place.turn, "itemId": item, "delta": delta});
    if method == "item/reasoning/summaryTextDelta" {
        params["summaryIndex"] = json!(0);
    }
    notification(method, params)
}

/// Builds the item of a user message.
pub fn user_message_item(id: &str, text: &str) -> Value {
    json!({
        "type": "userMessage", "id": id, "clientId": null,
        "content": [{"type": "text", "text": text, "text_elements": []}],
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Builds the item of an agent message.
pub fn agent_message_item(id: &str) -> Value {
    json!({
        "type": "agentMessage", "moderation": null, "id": id, "text": "", "phase": null,
        "memoryCitation": null, "delivery": null, "questions": null,
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Builds the item of thinking.
pub fn reasoning_item(id: &str) -> Value {
    json!({
        "type": "reasoning", "id": id, "summary": [], "content": [],
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Builds the item of a command that has not run yet.
pub fn command_item(id: &str, line: &str, cwd: &str) -> Value {
    json!({
        "type": "commandExecution", "id": id, "pluginId": null, "scriptPath": null,
        "command": wrap_in_bash(line), "cwd": cwd, "processId": null, "source": "agent",
        "status": "inProgress", "commandActions": [{"type": "unknown", "command": line}],
        "aggregatedOutput": null, "exitCode": null, "durationMs": null,
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Builds the item of a call of a host tool.
pub fn tool_call_item(id: &str, tool: &str, input: &Value) -> Value {
    json!({
        "type": "mcpToolCall", "id": id, "server": "agent_collab", "tool": tool, "status": "inProgress",
        "arguments": input, "appContext": null, "mcpAppUi": null, "pluginId": null, "readOnlyHint": null,
        "result": null, "error": null, "durationMs": null, "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Builds the item of a patch that is not applied yet.
pub fn file_change_item(id: &str, change: &ScriptedFileChange) -> Value {
    let (kind, diff) = match change.before {
        None => (json!({"type": "add"}), change.after.clone()),
        Some(_) => (json!({"type": "update", "move_path": null}), change.hunks()),
    };
    json!({
        "type": "fileChange", "id": id,
        "changes": [{"path": change.path, "kind": kind, "diff": diff}],
        "status": "inProgress", "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Builds the parameters of the request to run a command outside the sandbox.
pub fn command_approval_params(
    place: &ScriptedTurnIds,
    item: &Value,
    reason: Option<&str>,
) -> Value {
    let line = &item["commandActions"][0]["command"];
    let words: Vec<&str> = line
        .as_str()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    json!({
        "kind": "command", "threadId": place.thread, "turnId": place.turn, "itemId": item["id"],
        "startedAtMs": item["startedAtMs"], "environmentId": "local",
        "reason": reason.unwrap_or("May I run this outside the sandbox?"),
        "command": item["command"], "cwd": item["cwd"], "commandActions": item["commandActions"],
        "proposedExecpolicyAmendment": words,
        "availableDecisions": [
            "accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": words}}, "cancel",
        ],
    })
}

/// Builds the parameters of the request that asks the user one question, a heading and a text; its id is that of the
/// call.
pub fn user_input_params(
    place: &ScriptedTurnIds,
    id: &str,
    header: &str,
    text: &str,
    options: &[String],
) -> Value {
    let offered = options.iter();
    let offered = offered.map(|label| json!({"label": label, "description": ""}));
    let question = json!({
        "id": id, "header": header, "question": text, "isOther": true, "isSecret": false,
        "options": offered.collect::<Vec<_>>(),
    });
    json!({
        "threadId": place.thread, "turnId": place.turn, "itemId": id, "questions": [question],
        "isBlocking": true, "autoResolutionMs": null,
    })
}

/// Builds the parameters of the request to apply a patch.
pub fn patch_approval_params(place: &ScriptedTurnIds, item: &Value) -> Value {
    json!({
        "threadId": place.thread, "turnId": place.turn, "itemId": item["id"],
        "startedAtMs": item["startedAtMs"], "reason": null, "grantRoot": null,
    })
}

/// Formats the whole diff of one change, as `turn/diff/updated` carries it.
pub fn git_diff(change: &ScriptedFileChange) -> String {
    let path = change.path.display();
    let (mode, old) = match change.before {
        None => ("new file mode 100644\n", "/dev/null".to_owned()),
        Some(_) => ("", format!("a/{path}")),
    };
    format!(
        "diff --git a/{path} b/{path}\n{mode}--- {old}\n+++ b/{path}\n{}",
        change.hunks()
    )
}

/// Builds an error object.
pub fn error_object(message: &str, info: Value, details: Option<&str>) -> Value {
    json!({
        "message": message, "codexErrorInfo": info, "additionalDetails": details, "misalignment": null,
    })
}

/// Builds the token counts: of the whole thread and of the last call, each as (read, written).
pub fn token_usage(place: &ScriptedTurnIds, total: (u64, u64), last: (u64, u64)) -> Value {
    let counts = |(input, output): (u64, u64)| {
        json!({
            "totalTokens": input + output, "inputTokens": input, "cachedInputTokens": 0,
            "cacheWriteInputTokens": 0, "outputTokens": output, "reasoningOutputTokens": 0,
        })
    };
    let params = json!({
        "threadId": place.thread, "turnId": place.turn,
        "tokenUsage": {"total": counts(total), "last": counts(last), "modelContextWindow": 258_400},
    });
    notification("thread/tokenUsage/updated", params)
}

/// Builds the rate limits of an account about which nothing is known.
pub fn rate_limits_unknown() -> Value {
    rate_limits_updated(&Value::Null)
}

/// Builds the rate limits of an account that is used up until this instant, in seconds since 1970.
pub fn rate_limits_exhausted(resets_at: i64) -> Value {
    rate_limits_updated(
        &json!({"usedPercent": 100, "windowDurationMins": 300, "resetsAt": resets_at}),
    )
}

fn rate_limits_updated(primary: &Value) -> Value {
    let limits = json!({
        "limitId": "codex", "limitName": null, "normalModelSlug": null, "primary": primary,
        "secondary": null, "credits": null, "individualLimit": null, "spendControlReached": null,
        "planType": null, "rateLimitReachedType": null,
    });
    notification("account/rateLimits/updated", json!({"rateLimits": limits}))
}

/// Wraps a command line as codex shows it.
fn wrap_in_bash(line: &str) -> String {
    format!("/bin/bash -c '{}'", line.replace('\'', r"'\''"))
}
