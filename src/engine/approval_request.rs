//! Defines a call about which its CLI asks, with the facts of its turn that a decision needs.
//!
//! It reads nothing from the disk; the decision is made in `call_decision`.

use serde_json::json;

use crate::adapter::{AdapterEvent, FileChange};
use crate::domain::ids::RequestId;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::tool_names::{self, permission_for_tool};
use crate::permission::{AgentToolCall, LoopStatus, RuleSet, SessionLineage, loop_detector};

use super::run_setup::RunSetup;

/// A call about which its CLI asks.
#[derive(Debug)]
pub(super) struct ApprovalRequest {
    pub(super) request: RequestId,
    /// The tool call that the request belongs to, where known.
    pub(super) item: Option<String>,
    pub(super) call: AgentToolCall,
    pub(super) changes: Vec<FileChange>,
    pub(super) reason: Option<String>,
    /// The sub-agent that made the call, if one did.
    pub(super) sub_agent: Option<String>,
    /// The fingerprint of tool and input, where the CLI sends them.
    pub(super) fingerprint: Option<String>,
}

/// Facts about a call besides its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallCircumstances {
    /// Whether a child made the call.
    pub(super) lineage: SessionLineage,
    /// Whether the call closes a loop.
    pub(super) repetition: LoopStatus,
}

impl ApprovalRequest {
    /// Reads the call from an adapter event; `None` for any other event.
    pub(super) fn from_adapter_event(event: AdapterEvent) -> Option<Self> {
        let (request, item, call, reason, origin, changes, mark) = match event {
            AdapterEvent::ApprovalRequested {
                request,
                item,
                call,
                reason,
                origin,
                changes,
                mark,
            } => (request, item, call, reason, origin, changes, mark),
            AdapterEvent::HookApprovalRequested {
                request,
                item,
                call,
                origin,
                changes,
                mark,
            } => (request, item, call, None, origin, changes, mark),
            _not_about_a_call => return None,
        };
        Some(Self {
            request,
            item,
            call,
            changes,
            reason,
            sub_agent: origin,
            fingerprint: mark,
        })
    }

    /// Returns the circumstances of the call and adds the call to those of its turn.
    pub(super) fn record_circumstances(
        &self,
        calls: &mut LoopDetector,
        lineage: SessionLineage,
    ) -> CallCircumstances {
        let mark = self.fingerprint.clone().or_else(|| self.call_fingerprint());
        CallCircumstances {
            lineage,
            repetition: calls.record_call(self.item.as_deref(), mark.as_deref()),
        }
    }

    /// Returns who made a call in a role's turn: the role, or a sub-agent of its CLI.
    pub(super) fn lineage(&self, setup: &RunSetup) -> SessionLineage {
        match self.sub_agent {
            None => SessionLineage::Role,
            Some(_) => setup.permissions.child_lineage(),
        }
    }

    /// Computes the fingerprint of a call whose CLI does not send the input. An edit needs its changes: two edits
    /// of one file are not the same.
    fn call_fingerprint(&self) -> Option<String> {
        let input = match &self.call {
            AgentToolCall::Command { .. } | AgentToolCall::Tool { .. } => json!(self.call),
            AgentToolCall::Edit { .. } if !self.changes.is_empty() => {
                json!([self.call, self.changes])
            }
            AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => return None,
        };
        Some(loop_detector::call_fingerprint("", &input))
    }
}

/// Returns the permissions whose tools a turn's agent must not see. Before EXECUTE the agent writes documents, so
/// it keeps the tools that edit.
pub(super) fn hidden_permissions(rules: &RuleSet, writes: bool) -> Vec<String> {
    let hidden =
        tool_names::known_permissions().filter(|name| rules.find_hiding_rule(name).is_some());
    hidden
        .filter(|name| writes || *name != "edit")
        .map(str::to_owned)
        .collect()
}

/// Returns the same for a child. A child submits nothing through a file, so without edit permission it sees no edit
/// tool.
pub(super) fn hidden_child_permissions(rules: &RuleSet) -> Vec<String> {
    hidden_permissions(rules, true)
}

/// Returns the tools that a turn's agent does not have: those that the CLI was started without, and the tool of
/// this call if the rules hide it.
pub(super) fn hidden_tool_names(
    call: &AgentToolCall,
    rules: &RuleSet,
    removed: &[&str],
) -> Vec<String> {
    let mut hidden: Vec<String> = removed.iter().map(|tool| (*tool).to_owned()).collect();
    if let AgentToolCall::Tool { name, .. } = call
        && rules.find_hiding_rule(permission_for_tool(name)).is_some()
    {
        hidden.push(name.clone());
    }
    hidden
}
