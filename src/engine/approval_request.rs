//! A call as its CLI asked about it, and what of its turn a decision about it rests on.
//!
//! Refuses to decide, and to look at the disk.

use serde_json::json;

use crate::adapter::{AdapterEvent, FileChange};
use crate::domain::ids::RequestId;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::tool_names::{self, permission_for_tool};
use crate::permission::{AgentToolCall, LoopStatus, RuleSet, SessionLineage, loop_detector};

use super::run_setup::RunSetup;

/// A call as its CLI asked about it.
#[derive(Debug)]
pub(super) struct ApprovalRequest {
    pub(super) request: RequestId,
    /// The tool call that it belongs to, where known.
    pub(super) item: Option<String>,
    pub(super) call: AgentToolCall,
    pub(super) changes: Vec<FileChange>,
    pub(super) reason: Option<String>,
    /// Whose it is when it is a sub-agent's.
    pub(super) sub_agent: Option<String>,
    /// The mark of tool and input, where the CLI tells them.
    pub(super) fingerprint: Option<String>,
}

/// What a call comes out of, beside its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallCircumstances {
    /// Whether it is a child's.
    pub(super) lineage: SessionLineage,
    /// Whether it closes a circle.
    pub(super) repetition: LoopStatus,
}

impl ApprovalRequest {
    /// Takes the call out of what an adapter told; `None` where that is something else.
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

    /// Tells what the call comes out of, and notes it among the calls of its turn.
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

    /// Whose call of a role's turn it is: the role's, or that of a sub-agent of its CLI's.
    pub(super) fn lineage(&self, setup: &RunSetup) -> SessionLineage {
        match self.sub_agent {
            None => SessionLineage::Role,
            Some(_) => setup.permissions.child_lineage(),
        }
    }

    /// The mark of a call whose CLI does not tell the input. What an edit writes must be known: two edits of one
    /// file are not the same.
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

/// Permissions whose tools a turn's agent is not to see. Before EXECUTE documents are written, so that the tools
/// that edit are there.
pub(super) fn hidden_permissions(rules: &RuleSet, writes: bool) -> Vec<String> {
    let hidden =
        tool_names::known_permissions().filter(|name| rules.find_hiding_rule(name).is_some());
    hidden
        .filter(|name| writes || *name != "edit")
        .map(str::to_owned)
        .collect()
}

/// The same for a child, which hands nothing in by a file: one that may not edit sees no tool that does.
pub(super) fn hidden_child_permissions(rules: &RuleSet) -> Vec<String> {
    hidden_permissions(rules, true)
}

/// The names of tools that are not there for a turn's agent: those that the CLI was started without, and the one
/// of this call where the rules hide it.
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
