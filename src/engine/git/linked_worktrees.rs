//! Adds, opens and removes work trees beside the user's own, in which agents write.
//!
//! Git always gets the path of such a tree's git folder explicitly: what is in the tree, including its `.git`
//! file, may have been written by the agent that works there and must not redirect git.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::CommitId;
use super::error::GitError;
use super::git_command::{GitProgram, path_from_bytes};
use super::repository::GitRepository;
use crate::permission::lexical_path::lexical_absolute;

impl GitRepository {
    /// Creates a work tree of a commit on no branch; the folder must be missing or empty.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub async fn add_worktree(&self, path: &Path, commit: &CommitId) -> Result<Self, GitError> {
        let add = [
            "worktree",
            "add",
            "--quiet",
            "--force",
            "--detach",
            "--no-checkout",
        ];
        let add = self.git.object_command(&add).arg(path.to_string_lossy());
        add.arg(&commit.0).stdout_text().await?;
        let planted = self.worktree_at(path).ok_or_else(|| GitError::Unreadable {
            command: "worktree add".to_owned(),
            what: format!("git did not create a worktree in {}", path.display()),
        })?;
        let fill = planted
            .git
            .command(&["read-tree", "--reset", "-u"])
            .arg(&commit.0);
        let fill = fill
            .writable_folder(&planted.git.root)
            .writable_folder(&planted.git.git_dir);
        fill.stdout_text().await?;
        Ok(planted)
    }

    /// Returns the work tree at a path, if this repository has one there.
    pub fn worktree_at(&self, path: &Path) -> Option<Self> {
        let git_dir = self.worktree_git_dir(path)?;
        let mut settings = self.git.settings.clone();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        settings.env.insert("GIT_DIR".to_owned(), text(&git_dir));
        settings.env.insert("GIT_WORK_TREE".to_owned(), text(path));
        let git = GitProgram {
            root: path.to_owned(),
            git_dir,
            settings,
            ..self.git.clone()
        };
        Some(Self {
            git,
            commit_sandbox: None,
            ..self.clone()
        })
    }

    /// Removes the work tree at a path: its files, then its entry in the repository.
    ///
    /// # Errors
    /// A file cannot be removed; what was removed before is gone.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), GitError> {
        remove_folder(path)?;
        while let Some(kept) = self.worktree_git_dir(path) {
            remove_folder(&kept)?;
        }
        // As in git, the folder is removed with the last tree.
        let _others_are_there = std::fs::remove_dir(self.git.common_dir.join("worktrees"));
        Ok(())
    }

    /// Lists the work trees below a folder that the repository still has an entry for, but whose files are
    /// gone.
    pub fn missing_worktrees_below(&self, folder: &Path) -> Vec<PathBuf> {
        let places = self.list_worktrees().into_iter().map(|(_, place)| place);
        places
            .filter(|place| place.starts_with(folder) && !place.exists())
            .collect()
    }

    /// Returns the git folder of the work tree at a path.
    fn worktree_git_dir(&self, path: &Path) -> Option<PathBuf> {
        let mut trees = self.list_worktrees().into_iter();
        trees.find(|(_, place)| place == path).map(|(kept, _)| kept)
    }

    /// Lists the git folder of each work tree with the path of the tree.
    fn list_worktrees(&self) -> Vec<(PathBuf, PathBuf)> {
        let entries = std::fs::read_dir(self.git.common_dir.join("worktrees"));
        let place = |kept: PathBuf| {
            let pointer = std::fs::read(kept.join("gitdir")).ok()?;
            let pointer = pointer.strip_suffix(b"\n").unwrap_or(&pointer);
            let place = lexical_absolute(&kept, &path_from_bytes(pointer))
                .parent()?
                .to_owned();
            Some((kept, place))
        };
        let entries = entries.into_iter().flatten().flatten();
        entries.filter_map(|entry| place(entry.path())).collect()
    }
}

fn remove_folder(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(GitError::File {
            verb: "remove",
            path: path.to_owned(),
            source,
        }),
        Ok(()) | Err(_) => Ok(()),
    }
}
