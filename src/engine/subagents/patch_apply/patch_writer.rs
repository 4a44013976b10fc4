//! Merges a child's changes with the user's tree, for review, and writes them.
//!
//! Both happen while no comparison of the tree is running.

use std::path::PathBuf;

use super::PatchApplication;
use crate::adapter::{FileChange, FileChangeKind};
use crate::domain::event::Event;
use crate::domain::task_patch::{PatchState, TaskPatch};
use crate::engine::engine_error::EngineError;
use crate::engine::git::{GitError, TreeId, TreeMerge, TreeWriteError};
use crate::engine::run_context::RunContext;
use crate::engine::subagents::child_event::{PatchEvent, PatchMerge, WriteRetry};
use crate::engine::subagents::child_worktree::ChildWorktree;
use crate::store::{document_files, patch_files, utc_time};
use crate::text::pluralize;
use crate::text::unified_diff::{FileDiff, UnifiedDiff};

impl PatchApplication {
    pub(super) fn start_write(
        &mut self,
        run: &mut RunContext,
        joined: TreeMerge,
        target: &TreeId,
    ) -> Result<(), EngineError> {
        self.patch.state = PatchState::Applying;
        self.patch.between = Some((joined.ours.0.clone(), target.0.clone()));
        // Recorded first, so that a write interrupted by a crash is finished later.
        run.record(Event::TaskPatched {
            session: self.order.session.clone(),
            patch: self.patch.clone(),
        })?;
        let worktree = self.worktree.clone();
        self.spawn_work(run, async move {
            PatchEvent::Written(write_merge(&worktree, &joined).await)
        });
        Ok(())
    }
}

/// Merges changes with the user's current tree.
pub(super) async fn merge_patch(
    plot: &ChildWorktree,
    [base, tree]: [TreeId; 2],
) -> Result<PatchMerge, String> {
    let _held = plot.tree_lock.lock().await;
    let git = &plot.git;
    let joined = async {
        let now = git.work_tree().current_tree().await?;
        let joined = git.trees().merge_trees(&base, &now, &tree).await?;
        let target = git
            .trees()
            .tree_with_contents(&now, &joined.result_contents())
            .await?;
        let text = git.trees().diff(&now, &target).await?;
        Ok::<_, GitError>((joined, target, text))
    };
    let (joined, target, text) = joined.await.map_err(describe_git_error)?;
    let changes = diff_to_file_changes(&text);
    Ok(PatchMerge {
        merge: joined,
        target,
        changes,
    })
}

fn describe_git_error(error: GitError) -> String {
    format!("{error}; {}", error.hint())
}

/// Converts a diff into file changes for display in the queue.
fn diff_to_file_changes(text: &str) -> Vec<FileChange> {
    let patch = UnifiedDiff::parse(text);
    let change = |(n, file): (usize, &FileDiff)| {
        let lines = patch.file_lines(n).iter().map(|line| line.text.as_str());
        FileChange::new(
            PathBuf::from(&file.name),
            FileChangeKind::Update,
            lines.collect::<Vec<_>>().join("\n"),
        )
    };
    patch.files.iter().enumerate().map(change).collect()
}

/// Finishes writing changes after the program ended during the write; returns a note for the user.
///
/// # Errors
/// Why not all of it is in the user's tree.
pub(in crate::engine::subagents) async fn finish_interrupted_write(
    plot: &ChildWorktree,
    patch: &TaskPatch,
) -> Result<String, String> {
    match &patch.between {
        Some((ours, target)) => {
            write_remaining_paths(plot, [ours, target].map(|t| TreeId(t.clone()))).await
        }
        // An earlier version recorded only what the child did.
        None => {
            rewrite_whole_patch(plot, [&patch.base, &patch.tree].map(|t| TreeId(t.clone()))).await
        }
    }
}

/// Writes what is not in the user's tree yet; conflicts are left alone.
async fn rewrite_whole_patch(plot: &ChildWorktree, trees: [TreeId; 2]) -> Result<String, String> {
    let PatchMerge { merge: joined, .. } = merge_patch(plot, trees).await?;
    match joined.conflicts.is_empty() {
        true if joined.paths.is_empty() => Ok(String::new()),
        true => write_merge(plot, &joined).await.map_err(|(_, why)| why),
        false => Err(format!(
            "{} changed since",
            pluralize(joined.conflicts.len(), "file")
        )),
    }
}

/// Gives each path with the old content its new content; a path that changed since stays.
async fn write_remaining_paths(
    plot: &ChildWorktree,
    [ours, target]: [TreeId; 2],
) -> Result<String, String> {
    let kept = {
        let _held = plot.tree_lock.lock().await;
        save_displaced_files(plot, [&ours, &target]).await?
    };
    let now = plot.git.work_tree().current_tree().await;
    let now = now.map_err(describe_git_error)?;
    let rest = plot.git.trees().remaining_change(&ours, &target, now).await;
    let rest = rest.map_err(describe_git_error)?;
    if !rest.merge.paths.is_empty() {
        write_merge(plot, &rest.merge)
            .await
            .map_err(|(_, why)| why)?;
    }
    let told = if kept.is_empty() {
        String::new()
    } else {
        format!("files saved in the meantime are in {}", kept.join(", "))
    };
    if rest.changed_since.is_empty() {
        return Ok(told);
    }
    let changed: Vec<String> = rest
        .changed_since
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let changed = format!(
        "{} changed since and is kept, the rest is written",
        changed.join(", ")
    );
    Err(if told.is_empty() {
        changed
    } else {
        format!("{changed}; {told}")
    })
}

/// Stores what the user saved exactly when the program ended; returns where.
async fn save_displaced_files(
    plot: &ChildWorktree,
    [ours, target]: [&TreeId; 2],
) -> Result<Vec<String>, String> {
    let work_tree = plot.git.work_tree();
    let scratch = scratch_folder(plot);
    let left = work_tree
        .find_displaced_files([ours, target], &scratch)
        .await;
    let mut kept = Vec::new();
    for left in left.map_err(|error| error.to_string())? {
        let name = left.path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("yours-{name}");
        let file =
            document_files::save_conflict_copy(&plot.layout, &name, &left.bytes, utc_time::now());
        let file = file.map_err(|error| format!("{error}; {}", error.hint()))?;
        kept.push(plot.relative_to_root(&file));
    }
    work_tree.clear_scratch(&scratch);
    Ok(kept)
}

/// Returns the folder for files during the exchange.
fn scratch_folder(plot: &ChildWorktree) -> PathBuf {
    plot.layout.turns().join(format!("put-{}", plot.turn))
}

/// Writes a merge; what a conflict replaces is stored as a patch that restores it.
async fn write_merge(
    plot: &ChildWorktree,
    joined: &TreeMerge,
) -> Result<String, (WriteRetry, String)> {
    let _held = plot.tree_lock.lock().await;
    let no = |why: String| (WriteRetry::No, why);
    let git = &plot.git;
    let trees = git.trees();
    let git_no = |error: GitError| no(describe_git_error(error));
    // Stored so that nothing is lost, whatever happens to the rest.
    let name = format!("{}-before", plot.turn);
    git.work_tree().snapshot(&name).await.map_err(git_no)?;
    let mut told = String::new();
    if !joined.conflicts.is_empty() {
        let replaced = joined.result_contents().into_iter();
        let replaced = replaced
            .filter(|(path, _)| joined.conflicts.contains(path))
            .collect();
        let target = trees
            .tree_with_contents(&joined.ours, &replaced)
            .await
            .map_err(git_no)?;
        let back = trees
            .binary_patch(&target, &joined.ours)
            .await
            .map_err(git_no)?;
        let name = format!("{}-replaced", plot.turn);
        let file = patch_files::write_patch(&plot.layout, &name, &back);
        let file = file.map_err(|error| no(format!("{error}; {}", error.hint())))?;
        let file = plot.relative_to_root(&file);
        told = format!("the replaced versions are in {file}; `git apply` restores them");
    }
    let scratch = scratch_folder(plot);
    let put = git.work_tree().write_merge(joined, &scratch).await;
    if let Err(error) = std::fs::remove_dir(&scratch) {
        tracing::warn!(%error, "a child's folder was left behind");
    }
    match put {
        Ok(()) => Ok(told),
        Err(moved @ TreeWriteError::ChangedMeanwhile(_)) => {
            Err((WriteRetry::Yes, moved.to_string()))
        }
        Err(error) => Err(no(error.to_string())),
    }
}
