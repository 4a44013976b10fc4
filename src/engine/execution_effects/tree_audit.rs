//! Scans the tree around turns and test runs: what it contains, what changed, and what would be run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use crate::domain::event::{Event, StepAudit};
use crate::domain::question::EntryPoint;
use crate::domain::receipt::Receipt;
use crate::domain::step_scope::{ScopeChange, StepScope};
use crate::engine::agent_activity;
use crate::engine::git::{
    FileStatus, GitError, GitRepository, TreeChange, TreeChangeKind, TreeId, UnversionedCode,
};
use crate::engine::test_runner::{self, TestRun, TestRunError, sensitive_changes_between};

use crate::text::path_name::{path_from_text, path_to_text};

use super::change_attribution::ChangeAttribution;
use super::edit_rules::EditRules;

/// Formats a path for events; a path that is not valid text is quoted, so that it can be parsed back.
pub(in crate::engine) fn path_to_event_text(path: &Path) -> String {
    path_to_text(path.as_os_str().as_bytes())
}

/// Parses a path from its form in events.
pub(in crate::engine) fn path_from_event_text(text: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(path_from_text(text)))
}

pub(super) async fn changes_since_tree(
    git: &GitRepository,
    before: &TreeId,
) -> Result<(TreeId, Vec<String>), GitError> {
    let now = git.work_tree().current_tree().await?;
    let changed = change_paths(&git.trees().changes_between(before, &now).await?);
    Ok((now, changed))
}

pub(super) fn change_paths(changes: &[TreeChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| path_to_event_text(&change.path))
        .collect()
}

/// Stores the whole tree and records what git and the tests would run from outside of it.
pub(super) async fn store_tree(
    git: &GitRepository,
    name: &str,
) -> Result<(TreeId, UnversionedCode), GitError> {
    let snapshot = git.work_tree().snapshot(name).await?;
    Ok((snapshot.tree, git.unversioned_code().scan().await?))
}

/// What an audit compares a step's changes with.
pub(super) struct StepAuditInputs {
    pub(super) user_dirty_paths: Vec<String>,
    /// What the calls of the step explain; `None` where this is unknown.
    pub(super) attribution: Option<ChangeAttribution>,
    pub(super) command: Option<test_runner::TestCommandLine>,
    pub(super) edit_rules: EditRules,
    /// What the step may write; `None` where it may write anywhere, and where only tests ran.
    pub(super) scope: Option<StepScope>,
    /// Code outside the tree, as it was before the execution's first turn.
    pub(super) initial_unversioned_code: Option<UnversionedCode>,
}

pub(super) async fn audit_changes(
    git: &GitRepository,
    step: u32,
    before: &TreeId,
    inputs: &StepAuditInputs,
) -> Result<StepAudit, GitError> {
    let now = git.work_tree().current_tree().await?;
    let changes = git.trees().changes_between(before, &now).await?;
    let changed = change_paths(&changes);
    let dirty = changed
        .iter()
        .filter(|path| inputs.user_dirty_paths.contains(path))
        .cloned()
        .collect();
    let initial_code = inputs.initial_unversioned_code.as_ref();
    let command = inputs.command.as_ref();
    let entry_points = find_entry_points(git, command, before, &now, initial_code).await?;
    let attribution = inputs.attribution.as_ref();
    let outside_of_calls = attribution.map(|known| known.unattributed_paths(&changes));
    Ok(StepAudit {
        step,
        changed,
        dirty,
        outside_of_calls: outside_of_calls.unwrap_or_default(),
        entry_points,
        held: inputs.edit_rules.find_held_edits(&changes),
        out_of_scope: inputs
            .scope
            .as_ref()
            .map_or(Vec::new(), |scope| find_changes_outside(scope, &changes)),
        tree: Some(now.0),
    })
}

fn find_changes_outside(scope: &StepScope, changes: &[TreeChange]) -> Vec<ScopeChange> {
    let outside = changes.iter().filter_map(|change| {
        let path = path_to_event_text(&change.path);
        let is_new = change.kind == TreeChangeKind::Added;
        (!scope.contains(&path, is_new)).then(|| ScopeChange {
            path,
            is_deleted: change.content.is_none(),
        })
    });
    outside.collect()
}

/// Finds the changes, in the tree or outside of it, to files that the program would run.
pub(super) async fn find_entry_points(
    git: &GitRepository,
    command: Option<&test_runner::TestCommandLine>,
    before: &TreeId,
    now: &TreeId,
    initial_code: Option<&UnversionedCode>,
) -> Result<Vec<EntryPoint>, GitError> {
    let configuration = &git.config().read().await?;
    let mut found = sensitive_changes_between(git, configuration, command, before, now).await?;
    if let Some(initial_code) = initial_code {
        // If a change also appears in the tree it is reported once, with its content there.
        let mut outside_tree = git
            .unversioned_code()
            .scan_with(configuration)
            .await?
            .changes_since(initial_code);
        outside_tree.retain(|change| found.iter().all(|known| known.path != change.path));
        found.extend(outside_tree);
    }
    let point = |change: test_runner::SensitiveChange| EntryPoint {
        path: path_to_event_text(&change.path),
        why: agent_activity::clean_line(&change.why),
        content: change.content,
    };
    let mut points: Vec<EntryPoint> = found.into_iter().map(point).collect();
    let ignored = git.status().newly_ignored_files(before, now).await?;
    points.extend(ignored.into_iter().map(|(path, pattern)| EntryPoint {
        path: path_to_event_text(&path),
        why: agent_activity::clean_line(&format!(
            "the step's own line `{pattern}` of .gitignore keeps it out of every commit, and the tests see it"
        )),
        content: None,
    }));
    Ok(points)
}

/// Runs the tests between two snapshots of the tree.
pub(super) async fn run_tests_between_snapshots(
    git: &GitRepository,
    step: u32,
    before: &TreeId,
    run: Option<TestRun<'_>>,
    cancel: &CancellationToken,
    inputs: &StepAuditInputs,
) -> Result<Event, TestRunError> {
    let (tested, changed_before) = changes_since_tree(git, before).await?;
    let untracked_before = untracked_paths(git).await?;
    let mut receipt = match run {
        Some(run) => test_runner::run_tests(run, cancel).await?,
        None => Receipt::without_command(),
    };
    // The snapshot is stored: it is what the step shows and where its undo starts.
    let now = git
        .work_tree()
        .snapshot(&format!("step-{step}-after"))
        .await?
        .tree;
    if run.is_some() {
        receipt.tree_before = Some(tested.0.clone());
        receipt.tree_after = Some(now.0.clone());
    }
    let changes = git.trees().changes_between(before, &now).await?;
    let initial_code = inputs.initial_unversioned_code.as_ref();
    let command = run.map(|run| run.command);
    let entry_points = find_entry_points(git, command, before, &now, initial_code).await?;
    let made_by_tests: Vec<String> = untracked_paths(git)
        .await?
        .into_iter()
        .filter(|path| !untracked_before.contains(path) && !changed_before.contains(path))
        .collect();
    let mut rewritten = change_paths(&git.trees().changes_between(&tested, &now).await?);
    rewritten.retain(|path| !made_by_tests.contains(path));
    Ok(Event::TestsRan {
        step,
        receipt,
        changed: change_paths(&changes),
        held: inputs.edit_rules.find_held_edits(&changes),
        made_by_tests,
        entry_points,
        rewritten,
        tree: Some(now.0),
    })
}

pub(super) async fn untracked_paths(git: &GitRepository) -> Result<BTreeSet<String>, GitError> {
    let dirty = git.status().dirty_files().await?;
    Ok(dirty
        .iter()
        .filter(|c| c.status == FileStatus::Untracked)
        .map(|c| path_to_event_text(&c.path))
        .collect())
}
