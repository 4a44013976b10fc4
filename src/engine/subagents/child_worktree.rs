//! Manages the work tree of a child that writes: created from the user's tree as it is, saved when the child
//! finishes, removed.
//!
//! It is a git work tree, so that the child sees the history and its own diff. The git folder of the work
//! tree is in the user's repository, where the child writes nothing: no commit, branch, setting or hook. Only
//! its files come back, and git gets the path of the git folder explicitly instead of reading it from the
//! tree. `patch_apply` decides about the changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::task_patch::{PatchState, PatchedFile, TaskPatch};
use crate::engine::agent_activity;
use crate::engine::git::{GitError, GitRepository, TreeId};
use crate::store::worktree_records::{WorktreeRecord, WorktreeRegistry, WorktreeStage};
use crate::store::{StoreError, WorkdirLayout, patch_files};
use crate::text::unified_diff::UnifiedDiff;
use crate::text::{clean_text, truncate};

/// How many files of a patch are listed.
const MAX_LISTED_FILES: usize = 60;
/// How much text of a patch is included, in bytes.
const MAX_PATCH_TEXT_BYTES: usize = 16 * 1024;

/// A child's work tree with everything needed to create, save and remove it.
#[derive(Debug, Clone)]
pub(super) struct ChildWorktree {
    /// The user's repository; its calls outlive the cancellation of the run, because saving comes last.
    pub(super) git: GitRepository,
    /// Locked by whoever changes the user's tree or compares it.
    pub(super) tree_lock: Arc<Mutex<()>>,
    pub(super) registry: WorktreeRegistry,
    pub(super) layout: WorkdirLayout,
    pub(super) run: String,
    /// The path of the work tree.
    pub(super) path: PathBuf,
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
    /// What the child changed before and is not applied yet: from the first tree to the second.
    pub(super) unapplied_changes: Option<(TreeId, TreeId)>,
}

fn describe_git_error(error: GitError) -> String {
    format!("{error}; {}", error.hint())
}

fn describe_store_error(error: StoreError) -> String {
    format!("{error}; {}", error.hint())
}

impl ChildWorktree {
    /// Creates the work tree; if this fails, nothing of it is left.
    pub(super) async fn create(&self) -> Result<(), String> {
        let record = self
            .registry
            .load_record(&self.session)
            .map_err(describe_store_error)?;
        if record.is_some() || self.path.exists() {
            return Err(format!(
                "there is already a worktree in {}, from a task whose changes could not be saved completely; \
                 copy what you need from it, then run `git worktree remove --force` on it",
                self.path.display()
            ));
        }
        let laid = self.record_and_check_out().await;
        if laid.is_err()
            && let Err(error) = self.remove().await
        {
            tracing::warn!(error, "an incomplete worktree was left behind");
        }
        laid
    }

    async fn record_and_check_out(&self) -> Result<(), String> {
        let trees = self.git.trees();
        let held = self.tree_lock.lock().await;
        let name = format!("{}-base", self.turn);
        let now = self
            .git
            .work_tree()
            .snapshot(&name)
            .await
            .map_err(describe_git_error)?;
        drop(held);
        let mut record = WorktreeRecord::new(
            &self.session,
            &self.turn,
            &self.run,
            self.git.root(),
            &now.commit.0,
            &now.tree.0,
        );
        self.registry
            .save_record(&record)
            .map_err(describe_store_error)?;
        let planted = self.git.add_worktree(&self.path, &now.commit).await;
        let planted = planted.map_err(describe_git_error)?;
        if let Some((from, to)) = &self.unapplied_changes {
            let joined = trees.merge_trees(from, &now.tree, to).await;
            let joined = joined.map_err(describe_git_error)?;
            if !joined.conflicts.is_empty() {
                let paths: Vec<String> = joined.conflicts.iter().map(display_path).collect();
                return Err(format!(
                    "the earlier changes of this task were not applied, and the repository changed in the same places \
                     since ({}); apply the patch, which still exists, or start a new task",
                    paths.join(", ")
                ));
            }
            let contents = joined.result_contents();
            let target = trees.tree_with_contents(&now.tree, &contents).await;
            let target = target.map_err(describe_git_error)?;
            planted
                .work_tree()
                .restore_tree(&target)
                .await
                .map_err(describe_git_error)?;
        }
        record.stage = WorktreeStage::Made;
        self.registry
            .save_record(&record)
            .map_err(describe_store_error)
    }

    /// Stores the changes in the tree, in the repository and as a patch file; `None` if nothing changed.
    pub(super) async fn save_patch(&self) -> Result<Option<TaskPatch>, String> {
        let Some(mut record) = self
            .registry
            .load_record(&self.session)
            .map_err(describe_store_error)?
        else {
            return Ok(None);
        };
        let base = TreeId(record.base.clone());
        let (tree, nested) = match (&record.stage, &record.tree) {
            (WorktreeStage::Making, _) => return Ok(None),
            (WorktreeStage::Saved | WorktreeStage::Left, Some(tree)) => {
                (TreeId(tree.clone()), Vec::new())
            }
            (WorktreeStage::Made | WorktreeStage::Saved | WorktreeStage::Left, _) => {
                self.snapshot_changes().await?
            }
        };
        let told = self.write_task_patch(&base, &tree).await?;
        let told = told.map(|told| TaskPatch {
            why: describe_nested_repositories(&self.path, &nested),
            ..told
        });
        if record.stage == WorktreeStage::Made {
            record.stage = if nested.is_empty() {
                WorktreeStage::Saved
            } else {
                WorktreeStage::Left
            };
            record.tree = Some(tree.0);
            self.registry
                .save_record(&record)
                .map_err(describe_store_error)?;
        }
        Ok(told)
    }

    /// Stores the tree as it is now and returns it with the nested repositories that it does not contain.
    async fn snapshot_changes(&self) -> Result<(TreeId, Vec<PathBuf>), String> {
        let planted = self
            .git
            .worktree_at(&self.path)
            .filter(|_| self.path.is_dir());
        let planted = planted
            .ok_or_else(|| format!("git no longer has a worktree in {}", self.path.display()))?;
        let name = format!("{}-after", self.turn);
        let after = planted
            .work_tree()
            .snapshot(&name)
            .await
            .map_err(describe_git_error)?;
        let nested = planted
            .status()
            .nested_repositories()
            .await
            .map_err(describe_git_error)?;
        Ok((after.tree, nested))
    }

    /// Writes the patch between two trees and describes it; `None` if they are equal.
    async fn write_task_patch(
        &self,
        base: &TreeId,
        tree: &TreeId,
    ) -> Result<Option<TaskPatch>, String> {
        let trees = self.git.trees();
        let whole = trees
            .binary_patch(base, tree)
            .await
            .map_err(describe_git_error)?;
        if whole.is_empty() {
            return Ok(None);
        }
        let file = patch_files::write_patch(&self.layout, self.turn.as_str(), &whole);
        let file = file.map_err(describe_store_error)?;
        let text = trees.diff(base, tree).await.map_err(describe_git_error)?;
        let patch = UnifiedDiff::parse(&text);
        let (added, removed) = patch.totals();
        let files = patch.files.iter().take(MAX_LISTED_FILES);
        let files = files.map(|file| PatchedFile {
            path: agent_activity::clean_line(&file.title()),
            added: file.added,
            removed: file.removed,
            about: agent_activity::clean_line(&file.notes),
        });
        Ok(Some(TaskPatch {
            state: PatchState::Waiting,
            base: base.0.clone(),
            tree: tree.0.clone(),
            files: files.collect(),
            n_files: patch.files.len(),
            added,
            removed,
            file: Some(self.relative_to_root(&file)),
            between: None,
            why: String::new(),
            text: truncate::to_bytes(&clean_text(&text), MAX_PATCH_TEXT_BYTES),
        }))
    }

    /// Formats a path of the program relative to the user's root.
    pub(super) fn relative_to_root(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.layout.root()).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }

    /// Returns the user's folders that the child must not touch: the tree, git's folders, and the trees of
    /// other children.
    pub(super) fn protected_folders(&self) -> Vec<PathBuf> {
        let mut closed = vec![
            self.git.root().to_path_buf(),
            self.git.common_dir().to_path_buf(),
            self.git.git_dir().to_path_buf(),
        ];
        closed.extend(self.path.parent().map(Path::to_owned));
        closed
    }

    /// Removes the work tree. A tree with content that could not be saved stays.
    pub(super) async fn remove(&self) -> Result<(), String> {
        let record = self
            .registry
            .load_record(&self.session)
            .map_err(describe_store_error)?;
        if record.is_none_or(|record| record.stage == WorktreeStage::Left) {
            return Ok(());
        }
        let (git, path) = (self.git.clone(), self.path.clone());
        let removed = tokio::task::spawn_blocking(move || git.remove_worktree(&path)).await;
        let removed = removed.map_err(|panicked| panicked.to_string())?;
        removed.map_err(describe_git_error)?;
        self.registry
            .remove_record(&self.session)
            .map_err(describe_store_error)
    }
}

pub(super) fn display_path(path: impl AsRef<Path>) -> String {
    agent_activity::clean_line(&path.as_ref().to_string_lossy())
}

fn describe_nested_repositories(path: &Path, nested: &[PathBuf]) -> String {
    if nested.is_empty() {
        return String::new();
    }
    let names: Vec<String> = nested.iter().map(display_path).collect();
    format!(
        "without {}, which is a separate repository; it stays in {}",
        names.join(", "),
        path.display()
    )
}
