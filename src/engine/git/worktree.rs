//! Work trees beside the user's own, in which somebody else writes: made, spoken to, and removed.
//!
//! Git is always told where such a tree's own folder is: what lies in the tree, its `.git_command` file too, may have been
//! written by whoever works there and leads git nowhere. Refuses to touch a tree that it is not given.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::CommitId;
use super::error::GitError;
use super::git_command::{path_from_bytes, split_nul};
use super::repository::GitRepository;
use crate::permission::lexical_path::lexical_absolute;

impl GitRepository {
    /// Makes a work tree of a commit on no branch; the folder must be missing or empty.
    ///
    /// # Errors
    /// Git fails, or the disk refuses.
    pub async fn add_worktree(&self, path: &Path, commit: &CommitId) -> Result<Self, GitError> {
        let add = [
            "worktree",
            "add",
            "--quiet",
            "--force",
            "--detach",
            "--no-checkout",
        ];
        let add = self.git_object_command(&add).arg(path.to_string_lossy());
        add.arg(&commit.0).stdout_text().await?;
        let planted = self.worktree_at(path).ok_or_else(|| GitError::Unreadable {
            command: "worktree add".to_owned(),
            what: format!("git did not create a worktree in {}", path.display()),
        })?;
        let fill = planted
            .git_command(&["read-tree", "--reset", "-u"])
            .arg(&commit.0);
        let fill = fill
            .writable_folder(&planted.root)
            .writable_folder(&planted.git_dir);
        fill.stdout_text().await?;
        Ok(planted)
    }

    /// The work tree at a path, where this repository knows one there.
    pub fn worktree_at(&self, path: &Path) -> Option<Self> {
        let git_dir = self.worktree_git_dir(path)?;
        let mut settings = self.settings.clone();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        settings.env.insert("GIT_DIR".to_owned(), text(&git_dir));
        settings.env.insert("GIT_WORK_TREE".to_owned(), text(path));
        Some(Self {
            root: path.to_owned(),
            git_dir,
            settings,
            commit_sandbox: None,
            ..self.clone()
        })
    }

    /// Removes the work tree at a path: its files, then what the repository keeps of it.
    ///
    /// # Errors
    /// A file cannot be removed; what was removed until then is gone.
    pub fn remove_worktree(&self, path: &Path) -> Result<(), GitError> {
        remove_folder(path)?;
        while let Some(kept) = self.worktree_git_dir(path) {
            remove_folder(&kept)?;
        }
        // As git does it: the folder goes with the last tree.
        let _others_are_there = std::fs::remove_dir(self.common_dir.join("worktrees"));
        Ok(())
    }

    /// The work trees below a folder of which the repository keeps something, but whose files are gone.
    pub fn missing_worktrees_below(&self, folder: &Path) -> Vec<PathBuf> {
        let places = self.list_worktrees().into_iter().map(|(_, place)| place);
        places
            .filter(|place| place.starts_with(folder) && !place.exists())
            .collect()
    }

    /// Where the repository keeps what it knows of the work tree at a path.
    fn worktree_git_dir(&self, path: &Path) -> Option<PathBuf> {
        let mut trees = self.list_worktrees().into_iter();
        trees.find(|(_, place)| place == path).map(|(kept, _)| kept)
    }

    /// What is kept of each work tree, and where the tree is.
    fn list_worktrees(&self) -> Vec<(PathBuf, PathBuf)> {
        let entries = std::fs::read_dir(self.common_dir.join("worktrees"));
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

    /// The repositories inside of this one that are not part of it: their content is in no tree of this one.
    ///
    /// # Errors
    /// Git fails.
    pub async fn nested_repositories(&self) -> Result<Vec<PathBuf>, GitError> {
        let others = self.git_command(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let others = others.stdout_bytes().await?;
        let nested = split_nul(&others).filter(|path| path.ends_with(b"/"));
        Ok(nested
            .map(path_from_bytes)
            .filter(|path| !self.is_excluded(path))
            .collect())
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
