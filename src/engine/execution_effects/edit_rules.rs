//! Finds the changes of a step that the path rules hold back, however they were made.
//!
//! An edit that an agent asked for was decided at that time; what a command wrote is found only here. Does
//! not ask the user.

use std::path::PathBuf;

use crate::domain::question::HeldEdit;
use crate::engine::agent_activity;
use crate::engine::git::TreeChange;
use crate::engine::run_context::RunContext;
use crate::permission::{
    AgentToolCall, DecisionContext, Mode, PermissionAction, PhaseAccess, ResolvedPath,
    SandboxReach, decide_call,
};

use super::tree_audit::path_to_event_text;

/// The inputs of the decision about a change.
pub(super) struct EditRules {
    context: DecisionContext,
}

impl EditRules {
    /// Returns the path rules that apply to the executing agent.
    pub(super) fn for_executing_agent(run: &RunContext) -> Self {
        let state = run.state();
        let profile = state.planner.current_profile().name();
        // If the stored approvals cannot be read, the user is asked more often.
        let approvals = run.setup.approvals.list_for_run(&state.run);
        let context = DecisionContext {
            mode: match state.mode {
                // Plan mode blocks calls from now on; it does not apply to what was already written.
                Mode::Plan => Mode::Default,
                mode => mode,
            },
            approvals: approvals.unwrap_or_default(),
            ..run.base_decision_context(profile, PhaseAccess::Execute, &run.setup.root)
        };
        Self { context }
    }

    /// Returns the changes that are not simply allowed.
    pub(super) fn find_held_edits(&self, changes: &[TreeChange]) -> Vec<HeldEdit> {
        changes
            .iter()
            .filter_map(|change| self.check_change(change))
            .collect()
    }

    fn check_change(&self, change: &TreeChange) -> Option<HeldEdit> {
        // The change is to the entry itself, and in a git tree no parent folder can be a link.
        let path: PathBuf = self.context.root.join(&change.path);
        let call = AgentToolCall::Edit {
            paths: vec![path.clone()],
            reach: SandboxReach::Contained,
        };
        let context = DecisionContext {
            paths: vec![ResolvedPath {
                lexical: path.clone(),
                real: path,
            }],
            ..self.context.clone()
        };
        let decision = decide_call(&call, &context);
        let why = &decision.reason;
        let verb = match decision.action {
            PermissionAction::Allow => return None,
            PermissionAction::Ask => "asks",
            PermissionAction::Deny => "denies",
        };
        Some(HeldEdit {
            path: path_to_event_text(&change.path),
            hold: decision.action,
            why: agent_activity::clean_line(&format!("{verb}: {} ({})", why.rule, why.origin)),
            content: change.content.clone(),
        })
    }
}
