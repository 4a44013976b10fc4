//! Derives from a call and its turn what a decision needs. It reads nothing from the disk.

use std::path::PathBuf;

use serde_json::json;

use crate::adapter::{ApprovalRequest, FileChangeKind};
use crate::domain::own_tool::own_tool_name;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::tool_names::{self, permission_for_tool};
use crate::permission::{AgentToolCall, LoopStatus, RuleSet, SessionLineage, loop_detector};

/// Facts about a call besides its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct CallCircumstances {
    /// Whether a child made the call.
    pub(in crate::engine) lineage: SessionLineage,
    /// Whether the call closes a loop.
    pub(in crate::engine) repetition: LoopStatus,
    /// The paths that an edit removes, as the call names them.
    pub(in crate::engine) deleted: Vec<PathBuf>,
}

/// Returns whether a CLI asks about one of the program's own tools, whose call is decided when it arrives.
pub(super) fn is_program_tool(asking: &ApprovalRequest) -> bool {
    match &asking.call {
        AgentToolCall::Tool { name, .. } => {
            asking.sub_agent.is_none() && own_tool_name(name).is_some()
        }
        AgentToolCall::Command { .. } | AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => {
            false
        }
    }
}

impl CallCircumstances {
    /// Returns the circumstances of a call and adds the call to those of its turn.
    pub(super) fn record(
        asking: &ApprovalRequest,
        calls: &mut LoopDetector,
        lineage: SessionLineage,
    ) -> Self {
        let fingerprint = asking.fingerprint.clone();
        let fingerprint = fingerprint.or_else(|| call_fingerprint(asking));
        let removes = |kind: &FileChangeKind| match kind {
            FileChangeKind::Delete | FileChangeKind::Move(_) => true,
            FileChangeKind::Add | FileChangeKind::Update => false,
        };
        let deleted = asking.changes.iter().filter(|change| removes(&change.kind));
        Self {
            deleted: deleted.map(|change| change.path.clone()).collect(),
            lineage,
            repetition: calls.record_call(asking.item.as_deref(), fingerprint.as_deref()),
        }
    }
}

/// Computes the fingerprint of a call whose CLI does not send the input. An edit needs its changes: two edits of one
/// file are not the same.
fn call_fingerprint(asking: &ApprovalRequest) -> Option<String> {
    let (call, changes) = (&asking.call, &asking.changes);
    let input = match call {
        AgentToolCall::Command { .. } | AgentToolCall::Tool { .. } => json!(call),
        AgentToolCall::Edit { .. } if !changes.is_empty() => json!([call, changes]),
        AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => return None,
    };
    Some(loop_detector::call_fingerprint("", &input))
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
