//! Saves the working tree before each turn, and restores it, or single files, to what it was before a step.
//!
//! The current tree is stored before anything is restored, so that nothing is lost.

use std::future::ready;

use crate::domain::event::Event;
use crate::domain::plan_execution::StepOutcome;
use crate::domain::run::ProgramOperation;
use crate::engine::engine_input::EngineInput;
use crate::engine::git::{CommitId, GitError, GitRepository, TreeId};
use crate::engine::run_context::RunContext;
use crate::engine::warnings::{REFRESH_INDEX, failure_event, warning_event};

use super::git_error_with_hint;
use super::step_commits::LeftoverCommit;
use super::tree_audit::{path_to_event_text, store_tree};

/// Returns the repository and the tree before the current step.
pub(super) fn repository_and_step_tree(run: &RunContext) -> Option<(GitRepository, TreeId)> {
    let git = run.repository.clone()?;
    let execution = run.state().execution.as_ref()?;
    let tree = execution.current.as_ref()?.tree_before.clone()?;
    Some((git, TreeId(tree)))
}

/// Reports that an operation failed because the tree before the step is unknown.
pub(super) fn report_missing_tree(run: &mut RunContext, operation: &str) {
    let event = failure_event(operation, "the working tree before the step is unknown");
    run.spawn_event_task(ready(event));
}

/// Saves the working tree before a turn; step 0 is the summary.
pub(in crate::engine) fn snapshot_before_turn(run: &mut RunContext, step: u32, attempt: u32) {
    let Some(git) = run.repository.clone() else {
        return run.spawn_event_task(ready(Event::SnapshotTaken {
            step,
            tree: None,
            attempt,
        }));
    };
    let turn = match &run.state().busy {
        Some(ProgramOperation::Storing { order }) => order.turn.as_str(),
        _ => "turn",
    };
    // The turn's id keeps an earlier tree of the same step from being replaced.
    let name = match (step, attempt) {
        (0, _) => format!("{turn}-summary"),
        (step, 0) => format!("{turn}-step-{step}"),
        (step, attempt) => format!("{turn}-step-{step}-fix-{attempt}"),
    };
    let lock = run.tree_lock.clone();
    run.spawn_input_task(async move {
        let _guard = lock.lock().await;
        match store_tree(&git, &name).await {
            Ok((tree, unversioned_code)) => EngineInput::TreeStored {
                event: Box::new(Event::SnapshotTaken {
                    step,
                    tree: Some(tree.0),
                    attempt,
                }),
                unversioned_code,
            },
            Err(error) => EngineInput::Event(Box::new(failure_event(
                "save the working tree before the turn",
                git_error_with_hint(&error),
            ))),
        }
    });
}

/// Restores the tree from before the step, and reverts the commit that its first try may have left.
pub(in crate::engine) fn restore_step_tree(run: &mut RunContext, step: u32) {
    let Some((git, before)) = repository_and_step_tree(run) else {
        return report_missing_tree(run, "restore the working tree");
    };
    let name = format!("redo-step-{step}-{}", uuid::Uuid::now_v7().simple());
    let lock = run.tree_lock.clone();
    let leftover = find_unrecorded_commit(run, step);
    run.spawn_events_task(async move {
        let _guard = lock.lock().await;
        let restored = match git.work_tree().snapshot(&name).await {
            Ok(_) => git.work_tree().restore_tree(&before).await,
            Err(error) => Err(error),
        };
        if let Err(error) = restored {
            return vec![failure_event(
                "restore the working tree",
                git_error_with_hint(&error),
            )];
        }
        let reverted = match leftover {
            Some(leftover) => leftover.revert().await,
            None => Ok(None),
        };
        match reverted {
            Ok(index_behind) => {
                let warning = index_behind.map(|why| warning_event(REFRESH_INDEX, why));
                let restored = Event::TreeRestored { step };
                warning.into_iter().chain([restored]).collect()
            }
            Err(why) => vec![failure_event("revert the commit of the first try", why)],
        }
    });
}

/// Returns the commit that an earlier try of a step may have left; `None` if commits are off.
fn find_unrecorded_commit(run: &RunContext, step: u32) -> Option<LeftoverCommit> {
    let execution = run.state().execution.as_ref()?;
    let recorded = execution
        .done
        .iter()
        .filter_map(|done| match &done.outcome {
            StepOutcome::Committed { commit, .. } => Some(commit.clone()),
            _ => None,
        });
    Some(LeftoverCommit {
        git: run.commit_repository()?.clone(),
        terms: execution.commits.clone(),
        base: execution.base.clone().map(CommitId),
        recorded: recorded.collect(),
        step,
    })
}

/// Restores files to their state before the step.
pub(in crate::engine) fn restore_files(run: &mut RunContext, step: u32, paths: Vec<String>) {
    let Some((git, before)) = repository_and_step_tree(run) else {
        return report_missing_tree(run, "restore files");
    };
    let name = format!("put-back-step-{step}-{}", uuid::Uuid::now_v7().simple());
    run.spawn_event_task(async move {
        match restore_paths(&git, &before, &paths, &name).await {
            Ok(kept) => Event::EditsPutBack { step, paths, kept },
            Err(error) => failure_event("restore files", git_error_with_hint(&error)),
        }
    });
}

/// Restores the paths and returns the tree that stores what was there.
async fn restore_paths(
    git: &GitRepository,
    before: &TreeId,
    paths: &[String],
    name: &str,
) -> Result<String, GitError> {
    let now = git.work_tree().snapshot(name).await?.tree;
    let changes = git.trees().changes_between(&now, before).await?.into_iter();
    let wanted = changes.filter(|change| paths.contains(&path_to_event_text(&change.path)));
    let contents = wanted.map(|change| (change.path, change.content)).collect();
    let target = git.trees().tree_with_contents(&now, &contents).await?;
    git.work_tree().restore_tree(&target).await?;
    Ok(now.0)
}
