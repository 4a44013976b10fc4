//! Imitates the hook before each call, whose answer comes before the CLI's own rules.
//!
//! This is the only supported hook, for every tool; if the host answers it with an error, the call is blocked.

use serde_json::{Value, json};

use super::ScriptedClaude;
use super::frames::{ScriptedClaudeToolCall, new_uuid};
use crate::scripted::script_actor::ScriptedTurnStop;

/// The hook's decision about a call.
pub(super) enum ScriptedHookDecision {
    /// No decision: the CLI's own rules decide.
    Defer,
    /// The call runs without asking.
    Allow,
    /// The call does not run, for this reason.
    Deny(String),
    /// The host must be asked.
    Ask,
}

impl ScriptedClaude {
    /// Registers the host's hook and builds the answer.
    pub(super) fn on_initialize(&mut self, hooks: &Value) -> Value {
        let mut told = self.frame_builder.initialize_response();
        self.hook_callback_id = hooks["PreToolUse"][0]["hookCallbackIds"][0]
            .as_str()
            .map(str::to_owned);
        if self.hook_callback_id.is_some() {
            told["hooks_applied"] = json!(true);
        }
        told
    }

    /// Asks the host's hook about a call, if there is one.
    pub(super) fn call_pre_tool_use_hook(
        &mut self,
        tool: &ScriptedClaudeToolCall,
    ) -> Result<ScriptedHookDecision, ScriptedTurnStop> {
        let Some(hook) = self.hook_callback_id.clone() else {
            return Ok(ScriptedHookDecision::Defer);
        };
        let request = new_uuid();
        let frame = self.frame_builder.hook_callback(&request, &hook, tool);
        let answer = self.send_request(&frame, request, tool)?;
        Ok(match answer {
            Some(answer) => parse_hook_decision(&answer),
            None => ScriptedHookDecision::Deny("Stream closed".to_owned()),
        })
    }
}

fn parse_hook_decision(answer: &Value) -> ScriptedHookDecision {
    if answer["subtype"] != "success" {
        let error = answer["error"].as_str().unwrap_or("malformed answer");
        return ScriptedHookDecision::Deny(error.to_owned());
    }
    let said = &answer["response"]["hookSpecificOutput"];
    let reason = said["permissionDecisionReason"].as_str();
    match said["permissionDecision"].as_str() {
        Some("allow") => ScriptedHookDecision::Allow,
        Some("deny") => ScriptedHookDecision::Deny(reason.unwrap_or_default().to_owned()),
        Some("ask") => ScriptedHookDecision::Ask,
        Some(_) | None => ScriptedHookDecision::Defer,
    }
}
