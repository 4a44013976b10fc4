//! Builds the trees of a step's cells: old and new code, each with old and new tests.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::domain::rust_test_items;
use crate::domain::test_paths::TestPaths;
use crate::engine::execution_effects::path_to_event_text;
use crate::engine::git::{GitError, GitRepository, PathMergeResult, TreeId};

/// The trees of a step.
#[derive(Debug)]
pub(super) struct StepTrees {
    /// Old code with old tests.
    pub(super) old: TreeId,
    /// New code with new tests.
    pub(super) new: TreeId,
    /// Old code with new tests.
    pub(super) red: TreeId,
    /// New code with old tests.
    pub(super) kept: TreeId,
    /// Those of them that hold tests, or code and tests of which the tests differ.
    pub(super) changed_tests: Vec<String>,
    /// Those of them that do not exist before the step.
    pub(super) added_tests: Vec<String>,
    /// The contents of those that hold code, before and after the step.
    pub(super) changed_code: BTreeMap<PathBuf, PathMergeResult>,
}

impl StepTrees {
    /// Divides the change from `old` to `new` into code and tests.
    ///
    /// # Errors
    /// Git fails.
    pub(super) async fn divide(
        git: &GitRepository,
        old: TreeId,
        new: TreeId,
        tests: &TestPaths,
    ) -> Result<Self, GitError> {
        let mut with_new_tests = BTreeMap::new();
        let mut with_old_tests = BTreeMap::new();
        let mut changed_tests = Vec::new();
        let mut added_tests = Vec::new();
        let mut changed_code = BTreeMap::new();
        for (path, change) in git.trees().path_changes_between(&old, &new).await? {
            let name = path_to_event_text(&path);
            let sides = if tests.is_test(&name) {
                Some((change.after.clone(), change.before.clone()))
            } else {
                changed_code.insert(path.clone(), change.clone());
                exchange_rust_tests(git, &path, &change).await?
            };
            if let Some((new_tests, old_tests)) = sides {
                with_new_tests.insert(path.clone(), new_tests);
                with_old_tests.insert(path, old_tests);
                if change.before.is_none() {
                    added_tests.push(name.clone());
                }
                changed_tests.push(name);
            } else if brings_rust_tests(git, &path, &change).await? {
                changed_tests.push(name);
            }
        }
        let (red, kept) = tokio::try_join!(
            git.trees().tree_with_contents(&old, &with_new_tests),
            git.trees().tree_with_contents(&new, &with_old_tests)
        )?;
        Ok(Self {
            red,
            kept,
            old,
            new,
            changed_tests,
            added_tests,
            changed_code,
        })
    }
}

/// The contents of a path in the red and in the kept tree.
type ExchangedContents = (Option<String>, Option<String>);

/// Exchanges the tests of a Rust file that holds code and tests; `None` where its tests do not differ, or where they
/// cannot be told from its code.
async fn exchange_rust_tests(
    git: &GitRepository,
    path: &Path,
    change: &PathMergeResult,
) -> Result<Option<ExchangedContents>, GitError> {
    let (Some(before), Some(after)) = (&change.before, &change.after) else {
        return Ok(None);
    };
    if path.extension() != Some(OsStr::new("rs")) {
        return Ok(None);
    }
    let (Some(old), Some(new)) = (
        git.trees().read_content_text(before).await?,
        git.trees().read_content_text(after).await?,
    ) else {
        return Ok(None);
    };
    if !rust_test_items::tests_differ(&old, &new) {
        return Ok(None);
    }
    let (Some(red), Some(kept)) = (
        rust_test_items::with_tests_of(&old, &new),
        rust_test_items::with_tests_of(&new, &old),
    ) else {
        return Ok(None);
    };
    Ok(Some((
        Some(git.trees().write_content(before, red).await?),
        Some(git.trees().write_content(after, kept).await?),
    )))
}

/// Returns whether a Rust file that could not be divided has other tests than before, as a new file has.
async fn brings_rust_tests(
    git: &GitRepository,
    path: &Path,
    change: &PathMergeResult,
) -> Result<bool, GitError> {
    let trees = git.trees();
    let Some(after) = change.after.as_ref() else {
        return Ok(false);
    };
    if path.extension() != Some(OsStr::new("rs")) {
        return Ok(false);
    }
    let new = trees.read_content_text(after).await?.unwrap_or_default();
    let old = match &change.before {
        Some(before) => trees.read_content_text(before).await?.unwrap_or_default(),
        None => String::new(),
    };
    Ok(rust_test_items::tests_differ(&old, &new))
}

/// Returns the tree that a step's commit will have: another tree with the step's paths as they are in `now`.
///
/// # Errors
/// Git fails.
pub(super) async fn tree_with_paths(
    git: &GitRepository,
    base: &TreeId,
    now: &TreeId,
    paths: &[PathBuf],
) -> Result<TreeId, GitError> {
    let trees = git.trees();
    let changes = trees.path_changes_between(base, now).await?.into_iter();
    let wanted = changes.filter(|(path, _)| paths.contains(path));
    let contents: BTreeMap<_, _> = wanted.map(|(path, change)| (path, change.after)).collect();
    if contents.len() == trees.changes_between(base, now).await?.len() {
        return Ok(now.clone());
    }
    trees.tree_with_contents(base, &contents).await
}
