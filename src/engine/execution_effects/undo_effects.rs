//! Runs the effects that undo and redo steps: stores the tree, restores files, reverts commits.

use std::future::ready;

use crate::domain::event::Event;
use crate::domain::question::CommitTarget;
use crate::domain::reversal_plan::ReversalPlan;
use crate::engine::agent_activity;
use crate::engine::git::{CommitId, TreeId};
use crate::engine::run_context::RunContext;
use crate::engine::tree_reversal::{
    CommitRepository, ReversalAttempt, ReversalResult, apply_reversal,
};
use crate::engine::warnings::warning_event;

use super::git_error_with_hint;
use super::step_commits::find_existing_commit;

/// Returns where the commits of this execution go, for a reversal.
pub(in crate::engine) fn reversal_commit_repository(run: &RunContext) -> CommitRepository {
    let execution = run.state().execution.as_ref();
    let terms = execution.map(|execution| execution.commits.clone());
    CommitRepository {
        git: run.commit_repository().cloned(),
        terms: terms.unwrap_or(CommitTarget::Off {
            reason: String::new(),
        }),
    }
}

/// Stores the tree, unless it has changed since the user was asked.
pub(in crate::engine) fn store_tree_before_undo(run: &mut RunContext, seen: String) {
    let Some(git) = run.repository.clone() else {
        let reason = "there is no repository to save the working tree in".to_owned();
        return run.spawn_event_task(ready(Event::UndoFailed { reason }));
    };
    let name = format!("undo-before-{}", uuid::Uuid::now_v7().simple());
    run.spawn_event_task(async move {
        match git.work_tree().snapshot(&name).await {
            Ok(stored) if stored.tree.0 == seen => Event::UndoKept {
                tree: stored.tree.0,
            },
            Ok(_) => Event::UndoFailed {
                reason: "files changed since you were asked; undo again to see the new changes"
                    .to_owned(),
            },
            Err(error) => Event::UndoFailed {
                reason: agent_activity::clean_block(&git_error_with_hint(&error)),
            },
        }
    });
}

/// Restores files and reverts commits: all of it, or nothing. In a resumed run an earlier process may have started it.
pub(in crate::engine) fn apply_planned_reversal(
    run: &mut RunContext,
    reversal: ReversalPlan,
    kept: String,
    is_resumed: bool,
) {
    let Some(git) = run.repository.clone() else {
        let reason = "there is no repository with the saved working trees".to_owned();
        return run.spawn_event_task(ready(Event::UndoFailed { reason }));
    };
    let commits = reversal_commit_repository(run);
    let execution = run.state().execution.as_ref();
    let base = execution.and_then(|execution| execution.base.clone());
    run.spawn_events_task(async move {
        let attempt = match (is_resumed, &commits.git) {
            (true, Some(git)) if !reversal.commits.is_empty() => {
                let base = base.map(CommitId);
                ReversalAttempt::Repeated(
                    find_existing_commit(git, base.as_ref(), &reversal.commit_message()).await,
                )
            }
            (true, _) => ReversalAttempt::Repeated(None),
            (false, _) => ReversalAttempt::First,
        };
        match apply_reversal(&git, &commits, &reversal, &TreeId(kept), attempt).await {
            Ok(ReversalResult {
                tree,
                commit,
                warnings,
            }) => {
                let warnings = warnings.into_iter();
                let warnings = warnings.map(|(what, why)| warning_event(what, why));
                let applied = Event::UndoPutBack {
                    tree: tree.0,
                    commit,
                };
                warnings.chain([applied]).collect()
            }
            Err(reason) => vec![Event::UndoFailed {
                reason: agent_activity::clean_block(&reason),
            }],
        }
    });
}
