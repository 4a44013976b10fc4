//! The frames of `codex app-server`, built from values.
//!
//! Knows what a frame looks like, not when it is sent. Every builder here is compared with
//! recorded streams of codex 0.169.0 (`fidelity.rs`).

use serde_json::{Value, json};

use super::ScriptedThread;
use crate::scripted::runtime::ScriptedFileChange;

/// Which turn of which thread a frame belongs to.
#[derive(Debug, Clone)]
pub struct ScriptedTurnIds {
    /// The thread.
    pub thread: String,
    /// The turn.
    pub turn: String,
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A notification.
pub fn notification(method: &str, params: Value) -> Value {
    json!({"method": method, "params": params, "emittedAtMs": now_ms()})
}

/// A request of the server.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"method": method, "id": id, "params": params})
}

/// An answer.
pub fn response(id: &Value, result: Value) -> Value {
    json!({"id": id, "result": result})
}

/// A refusal.
pub fn error_response(id: &Value, message: &str) -> Value {
    json!({"error": {"code": -32600, "message": message}, "id": id})
}

/// The thread object.
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

/// What `hooks_list/list` answers: the hook of the command line, trusted by its hash. It is never run.
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

/// What `thread_object/start` and `thread_object/resume` answer.
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

/// The turn object; times in seconds since 1970.
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

/// The thread's status.
pub fn thread_status_changed(thread: &str, status: Value) -> Value {
    notification(
        "thread/status/changed",
        json!({"threadId": thread, "status": status}),
    )
}

/// An item begins.
pub fn item_started(place: &ScriptedTurnIds, item: &Value) -> Value {
    let params = json!({
        "item": item, "threadId": place.thread, "turnId": place.turn, "startedAtMs": item["startedAtMs"],
    });
    notification("item/started", params)
}

/// An item ends.
pub fn item_completed(place: &ScriptedTurnIds, item: &Value) -> Value {
    let params = json!({
        "item": item, "threadId": place.thread, "turnId": place.turn, "contentTokenCount": null,
        "completedAtMs": item["completedAtMs"],
    });
    notification("item/completed", params)
}

/// A piece of an item.
pub fn item_delta(place: &ScriptedTurnIds, method: &str, item: &str, delta: &str) -> Value {
    let mut params =
        json!({"threadId": place.thread, "turnId": place.turn, "itemId": item, "delta": delta});
    if method == "item/reasoning/summaryTextDelta" {
        params["summaryIndex"] = json!(0);
    }
    notification(method, params)
}

/// The user's message as an item.
pub fn user_message_item(id: &str, text: &str) -> Value {
    json!({
        "type": "userMessage", "id": id, "clientId": null,
        "content": [{"type": "text", "text": text, "text_elements": []}],
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// A message of the agent as an item.
pub fn agent_message_item(id: &str) -> Value {
    json!({
        "type": "agentMessage", "moderation": null, "id": id, "text": "", "phase": null,
        "memoryCitation": null, "delivery": null, "questions": null,
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// Thinking as an item.
pub fn reasoning_item(id: &str) -> Value {
    json!({
        "type": "reasoning", "id": id, "summary": [], "content": [],
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// A command as an item, not run yet.
pub fn command_item(id: &str, line: &str, cwd: &str) -> Value {
    json!({
        "type": "commandExecution", "id": id, "pluginId": null, "scriptPath": null,
        "command": wrap_in_bash(line), "cwd": cwd, "processId": null, "source": "agent",
        "status": "inProgress", "commandActions": [{"type": "unknown", "command": line}],
        "aggregatedOutput": null, "exitCode": null, "durationMs": null,
        "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// A call of a tool of the host's as an item.
pub fn tool_call_item(id: &str, tool: &str, input: &Value) -> Value {
    json!({
        "type": "mcpToolCall", "id": id, "server": "agent_collab", "tool": tool, "status": "inProgress",
        "arguments": input, "appContext": null, "mcpAppUi": null, "pluginId": null, "readOnlyHint": null,
        "result": null, "error": null, "durationMs": null, "startedAtMs": now_ms(), "completedAtMs": null,
    })
}

/// A patch as an item, not made yet.
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

/// The request to run a command outside the sandbox.
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

/// The request to put one question, a heading and a text, to the user; its id is that of the call.
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

/// The request to make a patch.
pub fn patch_approval_params(place: &ScriptedTurnIds, item: &Value) -> Value {
    json!({
        "threadId": place.thread, "turnId": place.turn, "itemId": item["id"],
        "startedAtMs": item["startedAtMs"], "reason": null, "grantRoot": null,
    })
}

/// The whole diff of one change, as `turn_object/diff/updated` carries it.
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

/// An error object.
pub fn error_object(message: &str, info: Value, details: Option<&str>) -> Value {
    json!({
        "message": message, "codexErrorInfo": info, "additionalDetails": details, "misalignment": null,
    })
}

/// Token counts: the whole thread's and the last call's, each as (read, written).
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

/// What the account may still use: nothing is known of it.
pub fn rate_limits_unknown() -> Value {
    rate_limits_updated(&Value::Null)
}

/// What the account may still use: nothing until this instant, in seconds since 1970.
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
