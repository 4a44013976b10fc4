//! Computes what a run changed between its stored trees, for the screen and for `agent-collab diff`.
//!
//! It takes no lock and changes nothing but git's object store.

use similar::TextDiff;
use thiserror::Error;

use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::PlanExecution;
use crate::store::{StoreError, WorkdirLayout, iteration_files};
use crate::text::front_matter;
use crate::text::unified_diff::UnifiedDiff;

use super::git::{GitError, GitRepository, TreeId};

/// The changes of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunChanges {
    Diff(UnifiedDiff),
    /// There are none, for this reason.
    Unchanged(String),
}

/// The reason why the changes cannot be shown.
#[derive(Debug, Error)]
pub enum RunChangesError {
    #[error("{error}\nhint: {}", error.hint())]
    Git { error: GitError },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Loads the changes of a scope.
///
/// # Errors
/// Git fails, for example because a tree is gone, or a saved version of the plan cannot be read.
pub async fn load_changes(
    git: Option<&GitRepository>,
    execution: Option<&PlanExecution>,
    layout: &WorkdirLayout,
    scope: DiffScope,
) -> Result<RunChanges, RunChangesError> {
    if scope == DiffScope::Plan {
        return diff_plan_versions(layout);
    }
    let trees = execution.and_then(|execution| execution.diff_trees(scope));
    let (Some(git), Some(trees)) = (git, trees) else {
        return Ok(RunChanges::Unchanged(missing_tree_message(
            execution, scope,
        )));
    };
    let text = diff_trees(git, trees.before, trees.after).await;
    let patch = UnifiedDiff::parse(&text.map_err(|error| RunChangesError::Git { error })?);
    Ok(if patch.lines.is_empty() {
        RunChanges::Unchanged(no_changes_message(scope))
    } else {
        RunChanges::Diff(patch)
    })
}

async fn diff_trees(
    git: &GitRepository,
    before: String,
    after: Option<String>,
) -> Result<String, GitError> {
    let after = match after {
        Some(after) => TreeId(after),
        None => git.work_tree().current_tree().await?,
    };
    git.trees().diff(&TreeId(before), &after).await
}

fn no_changes_message(scope: DiffScope) -> String {
    match scope {
        DiffScope::All => "nothing differs from before the first step".to_owned(),
        DiffScope::Step(n) => format!("step {n} changed nothing"),
        DiffScope::Plan => "the last two versions of the plan are the same".to_owned(),
    }
}

/// Returns the reason why there is no tree to compare with.
fn missing_tree_message(execution: Option<&PlanExecution>, scope: DiffScope) -> String {
    let is_listed = execution.is_some_and(|execution| execution.diff_scopes().contains(&scope));
    match scope {
        DiffScope::Step(n) if !is_listed && execution.is_some() => {
            format!("step {n} has not started, so it has no changes")
        }
        DiffScope::All | DiffScope::Step(_) | DiffScope::Plan => {
            "no step has changed anything yet".to_owned()
        }
    }
}

/// Compares the last two saved versions of the plan.
fn diff_plan_versions(layout: &WorkdirLayout) -> Result<RunChanges, RunChangesError> {
    let name = &layout.names().plan;
    let mut versions = iteration_files::load_last_versions(layout, name, 2)?;
    let (Some(last), Some(before)) = (versions.pop(), versions.pop()) else {
        return Ok(RunChanges::Unchanged(
            "the plan has no earlier version to compare with".to_owned(),
        ));
    };
    // The front matter, which the program writes, differs in every version.
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        front_matter::parse_document(&text).body.to_owned()
    };
    let (old, new) = (text(&before.bytes), text(&last.bytes));
    let (from, to) = (format!("a/{}", before.name), format!("b/{}", last.name));
    let lines = TextDiff::from_lines(&old, &new)
        .unified_diff()
        .header(&from, &to)
        .to_string();
    let head = format!("diff --git {from} {to}\n");
    Ok(if lines.is_empty() {
        RunChanges::Unchanged(no_changes_message(DiffScope::Plan))
    } else {
        RunChanges::Diff(UnifiedDiff::parse(&(head + &lines)))
    })
}
