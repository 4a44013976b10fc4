//! The work tree of a child that writes: laid down from the user's tree as it is, saved when its child is done, removed.
//!
//! A git work tree, so that its child sees history and its own difference. What git keeps of it lies in the user's
//! repository, where the child writes nothing: no commit, branch, setting or hook. Its files are all that comes back,
//! and git is told where its own folder is rather than led by what lies in the tree. Refuses to know what becomes of
//! the changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::task_patch::{PatchState, PatchedFile, TaskPatch};
use crate::engine::git::{GitError, Repository, TreeId};
use crate::engine::news;
use crate::store::worktree_records::{WorktreeRecord, WorktreeRegistry, WorktreeStage};
use crate::store::{StoreError, WorkdirLayout, patch_files};
use crate::text::unified_diff::UnifiedDiff;
use crate::text::{clean_text, truncate};

/// How many files of a patch are named.
const MAX_FILES: usize = 60;
/// How much of a patch's text is told, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// A child's tree, and all that it takes to make it, save it and remove it.
#[derive(Debug, Clone)]
pub(super) struct Plot {
    /// The user's repository; its calls outlive the run's cancellation, for saving comes last.
    pub(super) git: Repository,
    /// Held by whoever changes the user's tree or compares it.
    pub(super) lock: Arc<Mutex<()>>,
    pub(super) trees: WorktreeRegistry,
    pub(super) layout: WorkdirLayout,
    pub(super) run: String,
    /// Where it is.
    pub(super) path: PathBuf,
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
    /// What its child changed before and nobody took over: from the first tree to the second.
    pub(super) carried: Option<(TreeId, TreeId)>,
}

fn git_words(error: GitError) -> String {
    format!("{error}; {}", error.hint())
}

fn store_words(error: StoreError) -> String {
    format!("{error}; {}", error.hint())
}

impl Plot {
    /// Lays the tree down; where that fails, nothing of it is left.
    pub(super) async fn lay(&self) -> Result<(), String> {
        let record = self.trees.load_record(&self.session).map_err(store_words)?;
        if record.is_some() || self.path.exists() {
            return Err(format!(
                "there is a work tree in {} already, from a task whose changes could not be saved whole; \
                 take out of it what you need, then `git worktree remove --force` it",
                self.path.display()
            ));
        }
        let laid = self.lay_down().await;
        if laid.is_err()
            && let Err(error) = self.clear().await
        {
            tracing::warn!(error, "a half made work tree stays");
        }
        laid
    }

    async fn lay_down(&self) -> Result<(), String> {
        let held = self.lock.lock().await;
        let name = format!("{}-base", self.turn);
        let now = self.git.snapshot(&name).await.map_err(git_words)?;
        drop(held);
        let mut record = WorktreeRecord::new(
            (&self.session, &self.turn),
            (&self.run, &self.git.root),
            (&now.commit.0, &now.tree.0),
        );
        self.trees.save_record(&record).map_err(store_words)?;
        let planted = self.git.plant(&self.path, &now.commit).await;
        let planted = planted.map_err(git_words)?;
        if let Some((from, to)) = &self.carried {
            let joined = self.git.join(from, &now.tree, to).await;
            let joined = joined.map_err(git_words)?;
            if !joined.conflicts.is_empty() {
                let paths: Vec<String> = joined.conflicts.iter().map(news_path).collect();
                return Err(format!(
                    "what this task changed before was not taken over, and the repository changed in the same places \
                     since ({}); its patch is still there: apply it, or begin a new task",
                    paths.join(", ")
                ));
            }
            let contents = joined.contents();
            let target = self.git.tree_with(&now.tree, &contents).await;
            let target = target.map_err(git_words)?;
            planted.restore(&target).await.map_err(git_words)?;
        }
        record.stage = WorktreeStage::Made;
        self.trees.save_record(&record).map_err(store_words)
    }

    /// Stores what was changed in the tree, in the repository and as a patch file; `None` where nothing was.
    pub(super) async fn save(&self) -> Result<Option<TaskPatch>, String> {
        let Some(mut record) = self.trees.load_record(&self.session).map_err(store_words)? else {
            return Ok(None);
        };
        let base = TreeId(record.base.clone());
        let (tree, nested) = match (&record.stage, &record.tree) {
            (WorktreeStage::Making, _) => return Ok(None),
            (WorktreeStage::Saved | WorktreeStage::Left, Some(tree)) => {
                (TreeId(tree.clone()), Vec::new())
            }
            (WorktreeStage::Made | WorktreeStage::Saved | WorktreeStage::Left, _) => {
                self.look().await?
            }
        };
        let told = self.tell(&base, &tree).await?;
        let told = told.map(|told| TaskPatch {
            why: in_own_repositories(&self.path, &nested),
            ..told
        });
        if record.stage == WorktreeStage::Made {
            record.stage = match nested.is_empty() {
                true => WorktreeStage::Saved,
                false => WorktreeStage::Left,
            };
            record.tree = Some(tree.0);
            self.trees.save_record(&record).map_err(store_words)?;
        }
        Ok(told)
    }

    /// The tree as it is now, kept, and the repositories in it that it does not hold.
    async fn look(&self) -> Result<(TreeId, Vec<PathBuf>), String> {
        let planted = self
            .git
            .planted_at(&self.path)
            .filter(|_| self.path.is_dir());
        let planted = planted
            .ok_or_else(|| format!("git knows no work tree in {} any more", self.path.display()))?;
        let name = format!("{}-after", self.turn);
        let after = planted.snapshot(&name).await.map_err(git_words)?;
        let nested = planted.nested().await.map_err(git_words)?;
        Ok((after.tree, nested))
    }

    /// Writes the patch between two trees down and tells it; `None` where they do not differ.
    async fn tell(&self, base: &TreeId, tree: &TreeId) -> Result<Option<TaskPatch>, String> {
        let whole = self.git.patch(base, tree).await.map_err(git_words)?;
        if whole.is_empty() {
            return Ok(None);
        }
        let file = patch_files::write_patch(&self.layout, self.turn.as_str(), &whole);
        let file = file.map_err(store_words)?;
        let text = self.git.diff(base, tree).await.map_err(git_words)?;
        let patch = UnifiedDiff::parse(&text);
        let (added, removed) = patch.totals();
        let files = patch.files.iter().take(MAX_FILES);
        let files = files.map(|file| PatchedFile {
            path: news::line(&file.title()),
            added: file.added,
            removed: file.removed,
            about: news::line(&file.notes),
        });
        Ok(Some(TaskPatch {
            state: PatchState::Waiting,
            base: base.0.clone(),
            tree: tree.0.clone(),
            files: files.collect(),
            n_files: patch.files.len(),
            added,
            removed,
            file: Some(self.below_root(&file)),
            between: None,
            why: String::new(),
            text: truncate::to_bytes(&clean_text(&text), MAX_TEXT),
        }))
    }

    /// A path of the program's as the user reads it.
    pub(super) fn below_root(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.layout.root()).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }

    /// The folders of the user's that its child leaves alone: the tree, git's, and those of other children.
    pub(super) fn closed(&self) -> Vec<PathBuf> {
        let mut closed = vec![
            self.git.root.clone(),
            self.git.common_dir.clone(),
            self.git.git_dir.clone(),
        ];
        closed.extend(self.path.parent().map(Path::to_owned));
        closed
    }

    /// Removes the tree. One that holds what could not be saved stays.
    pub(super) async fn clear(&self) -> Result<(), String> {
        let record = self.trees.load_record(&self.session).map_err(store_words)?;
        if record.is_none_or(|record| record.stage == WorktreeStage::Left) {
            return Ok(());
        }
        let (git, path) = (self.git.clone(), self.path.clone());
        let removed = tokio::task::spawn_blocking(move || git.uproot(&path)).await;
        let removed = removed.map_err(|panicked| panicked.to_string())?;
        removed.map_err(git_words)?;
        self.trees.remove_record(&self.session).map_err(store_words)
    }
}

pub(super) fn news_path(path: impl AsRef<Path>) -> String {
    news::line(&path.as_ref().to_string_lossy())
}

fn in_own_repositories(path: &Path, nested: &[PathBuf]) -> String {
    if nested.is_empty() {
        return String::new();
    }
    let names: Vec<String> = nested.iter().map(news_path).collect();
    format!(
        "without {}, which is a repository of its own; it stays in {}",
        names.join(", "),
        path.display()
    )
}
