//! Lays down the submodules of a clean tree: each at the commit that the tree names, from the objects that its checkout in
//! the user's work tree has. Nothing is fetched.

use std::path::{Path, PathBuf};

use super::{CleanTreeFolder, CleanTrees, MissingContent, MissingContentKind, remove_path};
use crate::engine::git::TreeId;
use crate::engine::git::error::GitError;
use crate::engine::git::git_command::{path_from_bytes, split_nul};
use crate::engine::git::repository::{GitRepository, RepositoryDiscovery};
use crate::engine::git::submodules::list_index_submodules;

/// A submodule as a tree names it.
struct GitlinkEntry {
    /// Relative to the root.
    path: PathBuf,
    commit: String,
}

impl CleanTrees<'_> {
    /// Lays down the submodules of the tree that lies in a folder, and theirs. Returns what is not on this machine.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub(in crate::engine::git) async fn lay_down_submodules(
        self,
        folder: &CleanTreeFolder,
    ) -> Result<Vec<MissingContent>, GitError> {
        let mut missing = Vec::new();
        for link in self.list_gitlinks(folder).await? {
            let place = folder.submodule(&link.path);
            let tree = TreeId(link.commit);
            let Some(submodule) = self.find_submodule(&link.path, &tree).await else {
                // What an earlier tree had there is no part of this one.
                remove_path(&place.files())?;
                let git_file = self.git.root.join(&link.path).join(".git");
                missing.push(MissingContent {
                    is_missing_for_user: git_file.symlink_metadata().is_err(),
                    kind: MissingContentKind::Submodule,
                    path: link.path,
                });
                continue;
            };
            let inner = Box::pin(submodule.clean_trees().lay_down_tree(&tree, &place)).await?;
            // The sandbox of git leaves an empty one, which git in the tests would take for a repository.
            remove_path(&place.files().join(".git"))?;
            missing.extend(inner.into_iter().map(|inner| MissingContent {
                path: link.path.join(inner.path),
                ..inner
            }));
        }
        Ok(missing)
    }

    /// Lists the submodules of the tree that lies in a folder.
    async fn list_gitlinks(self, folder: &CleanTreeFolder) -> Result<Vec<GitlinkEntry>, GitError> {
        if list_index_submodules(&folder.index()).is_empty() {
            return Ok(Vec::new());
        }
        let index = folder.index().display().to_string();
        let listed = self
            .git
            .object_command(&["ls-files", "-z", "--stage"])
            .env("GIT_INDEX_FILE", index)
            .stdout_bytes()
            .await?;
        Ok(split_nul(&listed).filter_map(parse_gitlink).collect())
    }

    /// Returns the checkout of a submodule, if it is one of this repository and has this commit.
    async fn find_submodule(self, path: &Path, commit: &TreeId) -> Option<GitRepository> {
        let root = self.git.root.join(path).canonicalize().ok()?;
        // Git would find the repository around a folder that has none of its own.
        root.join(".git").symlink_metadata().ok()?;
        let found = GitRepository::discover(&root, self.git.settings.clone()).await;
        let Ok(RepositoryDiscovery::Found(mut found)) = found else {
            return None;
        };
        // Agents can write a repository that lies in the work tree, and git does not check the hashes of what it lays down.
        let is_protected = found.git.common_dir.starts_with(&self.git.common_dir);
        if found.git.root != root || !root.starts_with(&self.git.root) || !is_protected {
            return None;
        }
        let whole = format!("{}^{{tree}}", commit.0);
        let has_tree = found.git.object_command(&["cat-file", "-e", &whole]);
        has_tree.stdout_text_if_success().await.ok()??;
        found.git.sandbox = self.git.sandbox.clone();
        Some(found)
    }
}

/// Parses `160000 <id> 0\t<path>`; `None` for any other entry.
fn parse_gitlink(entry: &[u8]) -> Option<GitlinkEntry> {
    let rest = entry.strip_prefix(b"160000 ")?;
    let tab = rest.iter().position(|byte| *byte == b'\t')?;
    let (about, path) = rest.split_at(tab);
    let commit = std::str::from_utf8(about).ok()?.split(' ').next()?;
    Some(GitlinkEntry {
        path: path_from_bytes(path.strip_prefix(b"\t")?),
        commit: commit.to_owned(),
    })
}
