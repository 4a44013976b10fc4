//! What a run changed, between the trees that it noted: for the screen and for `agent-collab diff`.
//!
//! Takes no lock and changes nothing but git's store of objects. Refuses to know who looks.

use similar::TextDiff;
use thiserror::Error;

use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::PlanExecution;
use crate::store::{StoreError, WorkdirLayout, iteration_files};
use crate::text::front_matter;
use crate::text::unified_diff::UnifiedDiff;

use super::git::{GitError, Repository, TreeId};

/// What there is to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// These changes.
    Found(UnifiedDiff),
    /// None, and why.
    Nothing(String),
}

/// Why the changes cannot be shown.
#[derive(Debug, Error)]
pub enum ChangesError {
    /// Git fails.
    #[error("{error}\nhint: {}", error.hint())]
    Git {
        /// What it said.
        error: GitError,
    },
    /// A document cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Looks at the changes of a scope.
///
/// # Errors
/// Git fails, for example because a tree is gone, or a kept version of the plan cannot be read.
pub async fn look(
    git: Option<&Repository>,
    execution: Option<&PlanExecution>,
    layout: &WorkdirLayout,
    scope: DiffScope,
) -> Result<Changes, ChangesError> {
    if scope == DiffScope::Plan {
        return of_plan(layout);
    }
    let trees = execution.and_then(|execution| execution.diff_trees(scope));
    let (Some(git), Some(trees)) = (git, trees) else {
        return Ok(Changes::Nothing(unknown(execution, scope)));
    };
    let text = between(git, trees.before, trees.after).await;
    let patch = UnifiedDiff::parse(&text.map_err(|error| ChangesError::Git { error })?);
    Ok(match patch.lines.is_empty() {
        true => Changes::Nothing(nothing(scope)),
        false => Changes::Found(patch),
    })
}

async fn between(
    git: &Repository,
    before: String,
    after: Option<String>,
) -> Result<String, GitError> {
    let after = match after {
        Some(after) => TreeId(after),
        None => git.tree_now().await?,
    };
    git.diff(&TreeId(before), &after).await
}

fn nothing(scope: DiffScope) -> String {
    match scope {
        DiffScope::All => "nothing differs from before the first step".to_owned(),
        DiffScope::Step(n) => format!("step {n} changed nothing"),
        DiffScope::Plan => "the last two versions of the plan are the same".to_owned(),
    }
}

/// Why there is no tree to compare with.
fn unknown(execution: Option<&PlanExecution>, scope: DiffScope) -> String {
    let is_listed = execution.is_some_and(|execution| execution.diff_scopes().contains(&scope));
    match scope {
        DiffScope::Step(n) if !is_listed && execution.is_some() => {
            format!("step {n} was not begun, so it has changed nothing yet")
        }
        DiffScope::All | DiffScope::Step(_) | DiffScope::Plan => {
            "no step has changed anything yet".to_owned()
        }
    }
}

/// Compares the last two kept versions of the plan.
fn of_plan(layout: &WorkdirLayout) -> Result<Changes, ChangesError> {
    let name = &layout.names().plan;
    let mut versions = iteration_files::load_last_versions(layout, name, 2)?;
    let (Some(last), Some(before)) = (versions.pop(), versions.pop()) else {
        return Ok(Changes::Nothing(
            "the plan has no earlier version to compare with".to_owned(),
        ));
    };
    // What the program writes before the text differs in every version.
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
    Ok(match lines.is_empty() {
        true => Changes::Nothing(nothing(DiffScope::Plan)),
        false => Changes::Found(UnifiedDiff::parse(&(head + &lines))),
    })
}
