//! Which changes of a step the path rules hold back, however they were made, and how they are put back.
//!
//! An edit that an agent asked about was decided then; what a command wrote is seen here alone. Refuses to ask.

use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::question::HeldEdit;
use crate::engine::git::{GitError, Repository, TreeChange, TreeId};
use crate::engine::{Engine, failed, news};
use crate::permission::{
    AgentToolCall, DecisionContext, Mode, PermissionAction, PhaseAccess, ResolvedPath,
    SandboxReach, decide_call,
};

use super::in_words;
use super::looks::to_text;

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
            ..self.context_under(profile, PhaseAccess::Execute, &self.setup.root)
        };
        EditRules { context }
    }

    /// Puts files back to what they were before the step; what is there now is stored first, so that nothing is lost.
    pub(in crate::engine) fn put_back(&mut self, step: u32, paths: Vec<String>) {
        let (Some(git), Some((before, _))) = (self.repository.clone(), self.step_base()) else {
            return self.spawn(async move {
                failed("put files back", "the tree before the step is not known")
            });
        };
        let name = format!("put-back-step-{step}-{}", uuid::Uuid::now_v7().simple());
        self.spawn(async move {
            match put_back(&git, &before, &paths, &name).await {
                Ok(kept) => Event::EditsPutBack { step, paths, kept },
                Err(error) => failed("put files back", in_words(&error)),
            }
        });
    }
}

/// Gives the tree in which what was there is kept.
async fn put_back(
    git: &Repository,
    before: &TreeId,
    paths: &[String],
    name: &str,
) -> Result<String, GitError> {
    let now = git.snapshot(name).await?.tree;
    let changes = git.changes_between(&now, before).await?.into_iter();
    let wanted = changes.filter(|change| paths.contains(&to_text(&change.path)));
    let contents = wanted.map(|change| (change.path, change.content)).collect();
    let target = git.tree_with(&now, &contents).await?;
    git.restore(&target).await?;
    Ok(now.0)
}

impl EditRules {
    /// The changes that are not simply allowed.
    pub(super) fn held(&self, changes: &[TreeChange]) -> Vec<HeldEdit> {
        changes
            .iter()
            .filter_map(|change| self.held_one(change))
            .collect()
    }

    fn held_one(&self, change: &TreeChange) -> Option<HeldEdit> {
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
            path: to_text(&change.path),
            hold: decision.action,
            why: news::line(&format!("{verb}: {} ({})", why.rule, why.origin)),
            content: change.content.clone(),
        })
    }
}
