//! Finds the changes of a step that the path rules hold back, however they were made, and restores those
//! files.
//!
//! An edit that an agent asked for was decided at that time; what a command wrote is found only here. Does
//! not ask the user.

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

/// The inputs of the decision about a change.
pub(super) struct EditRules {
    context: DecisionContext,
}

impl Engine {
    /// Returns the path rules that apply to the executing agent.
    pub(super) fn edit_rules(&self) -> EditRules {
        let profile = self.state().planner.current_profile().name();
        // If the stored approvals cannot be read, the user is asked more often.
        let approvals = self.run.setup.approvals.list_for_run(&self.state().run);
        let context = DecisionContext {
            mode: match self.state().mode {
                // Plan mode blocks calls from now on; it does not apply to what was already written.
                Mode::Plan => Mode::Default,
                mode => mode,
            },
            approvals: approvals.unwrap_or_default(),
            ..self
                .run
                .base_decision_context(profile, PhaseAccess::Execute, &self.run.setup.root)
        };
        EditRules { context }
    }

    /// Restores files to their state before the step; their current content is stored first, so that nothing
    /// is lost.
    pub(in crate::engine) fn restore_files(&mut self, step: u32, paths: Vec<String>) {
        let (Some(git), Some((before, _))) = (self.run.repository.clone(), self.tree_before_step())
        else {
            return self.run.spawn_event_task(async move {
                failure_event(
                    "restore files",
                    "the working tree before the step is unknown",
                )
            });
        };
        let name = format!("put-back-step-{step}-{}", uuid::Uuid::now_v7().simple());
        self.run.spawn_event_task(async move {
            match restore_paths(&git, &before, &paths, &name).await {
                Ok(kept) => Event::EditsPutBack { step, paths, kept },
                Err(error) => failure_event("restore files", git_error_with_hint(&error)),
            }
        });
    }
}

/// Restores the paths and returns the tree that stores what was there.
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
