//! Defines a call about which its CLI asks, with the facts of its turn that a decision needs.
//!
//! It reads nothing from the disk.

use serde_json::json;

use crate::adapter::{AdapterEvent, FileChange};
use crate::domain::ids::RequestId;
use crate::domain::tool_availability::own_tool_name;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::tool_names::{self, permission_for_tool};
use crate::permission::{AgentToolCall, LoopStatus, RuleSet, SessionLineage, loop_detector};

use crate::engine::run_setup::RunSetup;

/// A call about which its CLI asks.
#[derive(Debug)]
pub(in crate::engine) struct ApprovalRequest {
    pub(in crate::engine) request: RequestId,
    /// The tool call that the request belongs to, where known.
    pub(in crate::engine) item: Option<String>,
    pub(in crate::engine) call: AgentToolCall,
    pub(in crate::engine) changes: Vec<FileChange>,
    pub(in crate::engine) reason: Option<String>,
    /// The sub-agent that made the call, if one did.
    pub(in crate::engine) sub_agent: Option<String>,
    /// The fingerprint of tool and input, where the CLI sends them.
    pub(in crate::engine) fingerprint: Option<String>,
    pub(in crate::engine) wait: DecisionWait,
}

/// How long whoever asks waits for the decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum DecisionWait {
    /// Until the user has answered.
    UntilUserDecides,
    /// Only for an immediate decision; if the user must decide, the CLI asks again.
    ImmediateOnly,
}

/// Facts about a call besides its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct CallCircumstances {
    /// Whether a child made the call.
    pub(in crate::engine) lineage: SessionLineage,
    /// Whether the call closes a loop.
    pub(in crate::engine) repetition: LoopStatus,
}

impl ApprovalRequest {
    /// Reads the call from an adapter event; `None` for any other event.
    pub(in crate::engine) fn from_adapter_event(event: AdapterEvent) -> Option<Self> {
        match event {
            AdapterEvent::ApprovalRequested {
                request,
                item,
                call,
                reason,
                origin,
                changes,
                mark,
            } => Some(Self {
                request,
                item,
                call,
                changes,
                reason,
                sub_agent: origin,
                fingerprint: mark,
                wait: DecisionWait::UntilUserDecides,
            }),
            AdapterEvent::HookApprovalRequested {
                request,
                item,
                call,
                origin,
                changes,
                mark,
            } => Some(Self {
                request,
                item,
                call,
                changes,
                reason: None,
                sub_agent: origin,
                fingerprint: mark,
                wait: DecisionWait::ImmediateOnly,
            }),
            _not_about_a_call => None,
        }
    }

    /// Returns whether a CLI asks about one of the program's own tools, whose call is decided when it arrives.
    pub(super) fn is_program_tool(&self) -> bool {
        match &self.call {
            AgentToolCall::Tool { name, .. } => {
                self.sub_agent.is_none() && own_tool_name(name).is_some()
            }
            AgentToolCall::Command { .. }
            | AgentToolCall::Edit { .. }
            | AgentToolCall::Read { .. } => false,
        }
    }

    /// Returns the circumstances of the call and adds the call to those of its turn.
    pub(in crate::engine) fn record_circumstances(
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
    pub(in crate::engine) fn lineage(&self, setup: &RunSetup) -> SessionLineage {
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

/// Returns the permissions whose tools a turn's agent must not see. An agent that writes documents in a turn without
/// other edits (`writes` is false) keeps the tools that edit.
pub(in crate::engine) fn hidden_permissions(rules: &RuleSet, writes: bool) -> Vec<String> {
    let hidden =
        tool_names::known_permissions().filter(|name| rules.find_hiding_rule(name).is_some());
    hidden
        .filter(|name| writes || *name != "edit")
        .map(str::to_owned)
        .collect()
}

/// Returns the tools that a turn's agent does not have: those that the CLI was started without, and the tool of
/// this call if the rules hide it.
pub(in crate::engine) fn hidden_tool_names(
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
