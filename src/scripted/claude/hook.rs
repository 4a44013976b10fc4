//! The hook before each call: the host's quick word, ahead of the CLI's own rules.
//!
//! Knows of hooks only this one, for every tool; a host that answers it with an error blocks the call.

use serde_json::{Value, json};

use super::frames::{Tool, fresh};
use super::{Claude, Stop};

/// What the hook says of a call.
pub(super) enum Weighed {
    /// Nothing: the CLI's own rules decide.
    Silent,
    /// It goes ahead unasked.
    Allow,
    /// It does not go ahead, for this reason.
    Deny(String),
    /// The host is to be asked.
    Ask,
}

impl Claude {
    /// Takes the host's hook, and says so.
    pub(super) fn on_initialize(&mut self, hooks: &Value) -> Value {
        let mut told = self.stamp.initialized();
        self.hook = hooks["PreToolUse"][0]["hookCallbackIds"][0]
            .as_str()
            .map(str::to_owned);
        if self.hook.is_some() {
            told["hooks_applied"] = json!(true);
        }
        told
    }

    /// Asks the hook, where the host has one, about a call.
    pub(super) fn weigh(&mut self, tool: &Tool) -> Result<Weighed, Stop> {
        let Some(hook) = self.hook.clone() else {
            return Ok(Weighed::Silent);
        };
        let request = fresh();
        let frame = self.stamp.hook_callback(&request, &hook, tool);
        let answer = self.put(&frame, request, tool)?;
        Ok(match answer {
            Some(answer) => weighed(&answer),
            None => Weighed::Deny("Stream closed".to_owned()),
        })
    }
}

fn weighed(answer: &Value) -> Weighed {
    if answer["subtype"] != "success" {
        let error = answer["error"].as_str().unwrap_or("malformed answer");
        return Weighed::Deny(error.to_owned());
    }
    let said = &answer["response"]["hookSpecificOutput"];
    let reason = said["permissionDecisionReason"].as_str();
    match said["permissionDecision"].as_str() {
        Some("allow") => Weighed::Allow,
        Some("deny") => Weighed::Deny(reason.unwrap_or_default().to_owned()),
        Some("ask") => Weighed::Ask,
        Some(_) | None => Weighed::Silent,
    }
}
