//! Stores the whole work tree as a git tree, under a reference of the program's own.

use serde::{Deserialize, Serialize};

use super::GitWorkTree;
use crate::engine::git::branch::{GitBranches, to_ref_component};
use crate::engine::git::error::GitError;
use crate::engine::git::private_index::PrivateIndex;
use crate::engine::git::{CommitId, TreeId};

/// The whole work tree at a moment, stored under a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSnapshot {
    /// The full name of the reference.
    pub reference: String,
    /// The commit with the tree, on no branch. Its parents are HEAD at that moment and, if the user had
    /// staged content that neither HEAD nor the work tree contains, a commit of the index at that moment.
    pub commit: CommitId,
    pub tree: TreeId,
}

impl GitWorkTree<'_> {
    /// Stores the whole work tree under `refs/agent-collab/<run>/<name>` and replaces an earlier snapshot
    /// with that name. Index, work tree and branches stay unchanged.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn snapshot(self, name: &str) -> Result<TreeSnapshot, GitError> {
        let tree = self.current_tree().await?;
        self.store_snapshot(name, tree).await
    }

    /// Stores a tree of the whole work tree as a snapshot, with what is staged now.
    ///
    /// # Errors
    /// Git fails.
    pub async fn store_snapshot(self, name: &str, tree: TreeId) -> Result<TreeSnapshot, GitError> {
        let branches = GitBranches { git: self.git };
        let reference = format!(
            "refs/agent-collab/{}/{}",
            to_ref_component(&self.git.settings.run),
            to_ref_component(name)
        );
        let mut parents: Vec<CommitId> = branches
            .head()
            .await?
            .commit()
            .cloned()
            .into_iter()
            .collect();
        if let Some(staged) = self.staged_tree().await?
            && staged != tree
            && Some(&staged) != branches.head_tree().await?.as_ref()
        {
            let message = format!("agent-collab: {name}: what was staged");
            parents.push(self.commit_tree(&staged, &parents, &message).await?);
        }
        let message = format!("agent-collab: {name}");
        let commit = self.commit_tree(&tree, &parents, &message).await?;
        self.git
            .object_command(&["update-ref"])
            .arg(&reference)
            .arg(&commit.0)
            .stdout_text()
            .await?;
        Ok(TreeSnapshot {
            reference,
            commit,
            tree,
        })
    }

    /// Creates a commit in the program's own name, on no branch.
    async fn commit_tree(
        self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let mut call = self.git.object_command(&["commit-tree", "-m"]).arg(message);
        for parent in parents {
            call = call.arg("-p").arg(&parent.0);
        }
        for variable in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            call = call
                .env(&format!("{variable}_NAME"), "agent-collab")
                .env(&format!("{variable}_EMAIL"), "agent-collab@localhost");
        }
        call.arg(&tree.0).stdout_text().await.map(CommitId)
    }

    /// Returns the user's index as a tree, without the program's own folders; `None` during a merge with
    /// conflicts, which no tree can represent.
    async fn staged_tree(self) -> Result<Option<TreeId>, GitError> {
        let git = self.git;
        let args = ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD"];
        if git.object_command(&args).output().await?.is_success() {
            // The staged content equals HEAD.
            return Ok(None);
        }
        let index = PrivateIndex::copy_of(&git.git_dir.join("index"))?;
        let index = &index.path();
        self.excluded.remove_from_index(self.git, index).await?;
        let unmerged = git
            .object_command(&["ls-files", "-z", "--unmerged"])
            .index_file(index)
            .stdout_bytes()
            .await?;
        if !unmerged.is_empty() {
            return Ok(None);
        }
        let tree = git
            .command(&["write-tree"])
            .index_file(index)
            .stdout_text()
            .await?;
        Ok(Some(TreeId(tree)))
    }
}
