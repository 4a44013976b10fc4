//! Which changes of a step the path rules hold back, however they were made, and how they are put back.
//!
//! An edit that an agent asked about was decided then; what a command wrote is seen here alone. Refuses to ask.

use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::question::HeldEdit;
use crate::engine::git::{GitError, GitRepository, TreeChange, TreeId};
use crate::engine::{Engine, agent_activity, failure_event};
use crate::permission::{
    AgentToolCall, DecisionContext, Mode, PermissionAction, PhaseAccess, ResolvedPath,
    SandboxReach, decide_call,
};

use super::git_error_with_hint;
use super::tree_audit::path_to_event_text;

/// What the decision about a change rests on.
pub(super) struct EditRules {
    context: DecisionContext,
}

impl Engine {
    /// The path rules as they hold for the agent that executes.
    pub(super) fn edit_rules(&self) -> EditRules {
        let profile = self.state().planner.current_profile().name();
        // Where what was approved cannot be read, more is asked about.
        let approvals = self.setup.approvals.list_for_run(&self.state().run);
        let context = DecisionContext {
            mode: match self.state().mode {
                // It holds calls back from now on, not what was written before.
                Mode::Plan => Mode::Default,
                mode => mode,
            },
            approvals: approvals.unwrap_or_default(),
            ..self.base_decision_context(profile, PhaseAccess::Execute, &self.setup.root)
        };
        EditRules { context }
    }

    /// Puts files back to what they were before the step; what is there now is stored first, so that nothing is lost.
    pub(in crate::engine) fn restore_files(&mut self, step: u32, paths: Vec<String>) {
        let (Some(git), Some((before, _))) = (self.repository.clone(), self.tree_before_step())
        else {
            return self.spawn_event_task(async move {
                failure_event(
                    "restore files",
                    "the working tree before the step is unknown",
                )
            });
        };
        let name = format!("put-back-step-{step}-{}", uuid::Uuid::now_v7().simple());
        self.spawn_event_task(async move {
            match restore_paths(&git, &before, &paths, &name).await {
                Ok(kept) => Event::EditsPutBack { step, paths, kept },
                Err(error) => failure_event("restore files", git_error_with_hint(&error)),
            }
        });
    }
}

/// Gives the tree in which what was there is kept.
async fn restore_paths(
    git: &GitRepository,
    before: &TreeId,
    paths: &[String],
    name: &str,
) -> Result<String, GitError> {
    let now = git.snapshot(name).await?.tree;
    let changes = git.changes_between(&now, before).await?.into_iter();
    let wanted = changes.filter(|change| paths.contains(&path_to_event_text(&change.path)));
    let contents = wanted.map(|change| (change.path, change.content)).collect();
    let target = git.tree_with_contents(&now, &contents).await?;
    git.restore_tree(&target).await?;
    Ok(now.0)
}

impl EditRules {
    /// The changes that are not simply allowed.
    pub(super) fn find_held_edits(&self, changes: &[TreeChange]) -> Vec<HeldEdit> {
        changes
            .iter()
            .filter_map(|change| self.check_change(change))
            .collect()
    }

    fn check_change(&self, change: &TreeChange) -> Option<HeldEdit> {
        // The entry itself was changed, and no folder above it in a tree is a link.
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
