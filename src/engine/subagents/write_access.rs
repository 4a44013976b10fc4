//! Decides whether a child may write, and prepares the work tree for it.
//!
//! Does not create the tree on disk.

use std::path::PathBuf;

use super::child_worktree::ChildWorktree;
use super::task_start_error::TaskStartError;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::phase::{Mode, Phase};
use crate::domain::task::ChildSession;
use crate::engine::git::{GitRepository, TreeId};
use crate::engine::run_context::RunContext;

/// Returns whether an agent that gets a task now may write: by its rules, the mode, and the phase of the run.
pub(super) fn may_agent_write(run: &RunContext, agent: &str) -> bool {
    let state = run.state();
    let here = run.setup.is_one_shot || state.phase == Phase::Execute;
    let rules = run.setup.permissions.rules(agent);
    here && state.mode != Mode::Plan && rules.find_hiding_rule("edit").is_none()
}

pub(super) fn plan_child_worktree(
    run: &RunContext,
    session: &SessionId,
    turn: &TurnId,
    known: Option<&ChildSession>,
) -> Result<ChildWorktree, TaskStartError> {
    let git = run
        .uncancelled_repository()
        .ok_or(TaskStartError::NoRepository)?;
    let place = run
        .setup
        .worktrees
        .prepare_worktree_path(session, git.root());
    let path = place.map_err(|error| TaskStartError::Failed(error.to_string()))?;
    let kept = known.and_then(|child| child.patch.as_ref());
    let kept = kept.filter(|patch| patch.is_saved_as_file());
    Ok(ChildWorktree {
        turn: turn.clone(),
        unapplied_changes: kept.map(|kept| (TreeId(kept.base.clone()), TreeId(kept.tree.clone()))),
        ..build_child_worktree(run, git, path, session)
    })
}

/// Describes a work tree that belongs to no turn yet.
pub(super) fn build_child_worktree(
    run: &RunContext,
    git: GitRepository,
    path: PathBuf,
    session: &SessionId,
) -> ChildWorktree {
    ChildWorktree {
        git,
        tree_lock: run.tree_lock.clone(),
        registry: run.setup.worktrees.clone(),
        layout: run.journal.layout().clone(),
        run: run.state().run.as_str().to_owned(),
        path,
        session: session.clone(),
        turn: TurnId::new(session.as_str()),
        unapplied_changes: None,
    }
}
