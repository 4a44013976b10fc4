//! Looks at the tree around turns and test runs: what is there, what changed, what would be run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use crate::domain::event::{Event, StepAudit};
use crate::domain::question::EntryPoint;
use crate::domain::receipt::Receipt;
use crate::engine::git::{GitError, Repository, Runnable, Status, TreeChange, TreeId};
use crate::engine::news;
use crate::engine::test_run::{self, TestRun, TestRunError, sensitive_changes};

use crate::text::path_name::{path_from_text, path_to_text};

use super::claims::Claims;
use super::edits::EditRules;

/// A path in events: what is no text in it is quoted, so that it can be had back.
pub(super) fn to_text(path: &Path) -> String {
    path_to_text(path.as_os_str().as_bytes())
}

/// The path that an event names so.
pub(in crate::engine) fn to_path(text: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(path_from_text(text)))
}

pub(super) async fn changed_since(
    git: &Repository,
    before: &TreeId,
) -> Result<(TreeId, Vec<String>), GitError> {
    let now = git.tree_now().await?;
    let changed = paths_of(&git.changes_between(before, &now).await?);
    Ok((now, changed))
}

pub(super) fn paths_of(changes: &[TreeChange]) -> Vec<String> {
    changes.iter().map(|change| to_text(&change.path)).collect()
}

/// Stores the whole tree and notes what git and the tests would run beside it.
pub(super) async fn store(git: &Repository, name: &str) -> Result<(TreeId, Runnable), GitError> {
    let snapshot = git.snapshot(name).await?;
    Ok((snapshot.tree, git.runnable().await?))
}

/// What an audit holds a step's changes against.
pub(super) struct Held {
    pub(super) dirty: Vec<String>,
    /// What the step's calls account for; `None` where that is not known.
    pub(super) claims: Option<Claims>,
    pub(super) command: Option<test_run::TestCommand>,
    pub(super) edits: EditRules,
    pub(super) runnable: Option<Runnable>,
}

pub(super) async fn audit(
    git: &Repository,
    step: u32,
    before: &TreeId,
    held: &Held,
) -> Result<StepAudit, GitError> {
    let now = git.tree_now().await?;
    let changes = git.changes_between(before, &now).await?;
    let changed = paths_of(&changes);
    let dirty = changed
        .iter()
        .filter(|path| held.dirty.contains(path))
        .cloned()
        .collect();
    let looks = (before, &now, held.runnable.as_ref());
    let entry_points = entry_points(git, held.command.as_ref(), looks).await?;
    let claims = held.claims.as_ref();
    let outside_of_calls = claims.map_or_else(Vec::new, |claims| claims.outside(&changes));
    Ok(StepAudit {
        step,
        changed,
        dirty,
        outside_of_calls,
        entry_points,
        held: held.edits.held(&changes),
        tree: Some(now.0),
    })
}

/// What changed, in the tree or beside it, that the program would run.
pub(super) async fn entry_points(
    git: &Repository,
    command: Option<&test_run::TestCommand>,
    (before, now, runnable): (&TreeId, &TreeId, Option<&Runnable>),
) -> Result<Vec<EntryPoint>, GitError> {
    let mut found = sensitive_changes(git, command, before, now).await?;
    if let Some(earlier) = runnable {
        // What a tree shows, too, is told once, by its content there.
        let beside = git.runnable().await?.changes_since(earlier);
        let is_new = |change: &test_run::SensitiveChange| {
            found.iter().all(|known| known.path != change.path)
        };
        let beside: Vec<_> = beside.into_iter().filter(is_new).collect();
        found.extend(beside);
    }
    let point = |change: test_run::SensitiveChange| EntryPoint {
        path: to_text(&change.path),
        why: news::line(&change.why),
        content: change.content,
    };
    let mut points: Vec<EntryPoint> = found.into_iter().map(point).collect();
    let ignored = git.ignored_since(before, now).await?;
    points.extend(ignored.into_iter().map(|(path, pattern)| EntryPoint {
        path: to_text(&path),
        why: news::line(&format!(
            "the step's own line `{pattern}` of .gitignore keeps it out of every commit, and the tests see it"
        )),
        content: None,
    }));
    Ok(points)
}

/// Runs the tests between two looks at the tree.
pub(super) async fn test_between_looks(
    git: &Repository,
    step: u32,
    before: &TreeId,
    (run, cancel): (Option<TestRun<'_>>, &CancellationToken),
    held: &Held,
) -> Result<Event, TestRunError> {
    let (given, changed_before) = changed_since(git, before).await?;
    let untracked_before = untracked(git).await?;
    let mut receipt = match run {
        Some(run) => test_run::run(run, cancel).await?,
        None => Receipt::without_command(),
    };
    // Kept: what is shown of the step, and what undoing it begins from, is this tree.
    let now = git.snapshot(&format!("step-{step}-after")).await?.tree;
    if run.is_some() {
        receipt.tree_before = Some(given.0.clone());
        receipt.tree_after = Some(now.0.clone());
    }
    let changes = git.changes_between(before, &now).await?;
    let looks = (before, &now, held.runnable.as_ref());
    let entry_points = entry_points(git, run.map(|run| run.command), looks).await?;
    let made_by_tests: Vec<String> = untracked(git)
        .await?
        .into_iter()
        .filter(|path| !untracked_before.contains(path) && !changed_before.contains(path))
        .collect();
    let mut rewritten = paths_of(&git.changes_between(&given, &now).await?);
    rewritten.retain(|path| !made_by_tests.contains(path));
    Ok(Event::TestsRan {
        step,
        receipt,
        changed: paths_of(&changes),
        held: held.edits.held(&changes),
        made_by_tests,
        entry_points,
        rewritten,
        tree: Some(now.0),
    })
}

pub(super) async fn untracked(git: &Repository) -> Result<BTreeSet<String>, GitError> {
    let dirty = git.dirty().await?;
    Ok(dirty
        .iter()
        .filter(|c| c.status == Status::Untracked)
        .map(|c| to_text(&c.path))
        .collect())
}
