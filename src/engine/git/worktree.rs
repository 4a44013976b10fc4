//! Work trees beside the user's own, in which somebody else writes: made, spoken to, and removed.
//!
//! Git is always told where such a tree's own folder is: what lies in the tree, its `.git` file too, may have been
//! written by whoever works there and leads git nowhere. Refuses to touch a tree that it is not given.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::CommitId;
use super::discover::Repository;
use super::error::GitError;
use super::invoke::{nul_parts, path_of};
use crate::permission::lexical_path::lexical_absolute;

impl Repository {
    /// Makes a work tree of a commit on no branch; the folder must be missing or empty.
    ///
    /// # Errors
    /// Git fails, or the disk refuses.
    pub async fn plant(&self, path: &Path, commit: &CommitId) -> Result<Self, GitError> {
        let add = [
            "worktree",
            "add",
            "--quiet",
            "--force",
            "--detach",
            "--no-checkout",
        ];
        let add = self.git_on_objects(&add).arg(path.to_string_lossy());
        add.arg(&commit.0).text().await?;
        let planted = self.planted_at(path).ok_or_else(|| GitError::Unreadable {
            command: "worktree add".to_owned(),
            what: format!("no work tree came to be in {}", path.display()),
        })?;
        let fill = planted.git(&["read-tree", "--reset", "-u"]).arg(&commit.0);
        let fill = fill.writes(&planted.root).writes(&planted.git_dir);
        fill.text().await?;
        Ok(planted)
    }

    /// The work tree at a path, where this repository knows one there.
    pub fn planted_at(&self, path: &Path) -> Option<Self> {
        let git_dir = self.folder_of_tree(path)?;
        let mut settings = self.settings.clone();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        settings.env.insert("GIT_DIR".to_owned(), text(&git_dir));
        settings.env.insert("GIT_WORK_TREE".to_owned(), text(path));
        Some(Self {
            root: path.to_owned(),
            git_dir,
            settings,
            commits_held: None,
            ..self.clone()
        })
    }

    /// Removes the work tree at a path: its files, then what the repository keeps of it.
    ///
    /// # Errors
    /// A file cannot be removed; what was removed until then is gone.
    pub fn uproot(&self, path: &Path) -> Result<(), GitError> {
        remove_all(path)?;
        while let Some(kept) = self.folder_of_tree(path) {
            remove_all(&kept)?;
        }
        // As git does it: the folder goes with the last tree.
        let _others_are_there = std::fs::remove_dir(self.common_dir.join("worktrees"));
        Ok(())
    }

    /// The work trees below a folder of which the repository keeps something, but whose files are gone.
    pub fn gone_below(&self, folder: &Path) -> Vec<PathBuf> {
        let places = self.trees().into_iter().map(|(_, place)| place);
        places
            .filter(|place| place.starts_with(folder) && !place.exists())
            .collect()
    }

    /// Where the repository keeps what it knows of the work tree at a path.
    fn folder_of_tree(&self, path: &Path) -> Option<PathBuf> {
        let mut trees = self.trees().into_iter();
        trees.find(|(_, place)| place == path).map(|(kept, _)| kept)
    }

    /// What is kept of each work tree, and where the tree is.
    fn trees(&self) -> Vec<(PathBuf, PathBuf)> {
        let entries = std::fs::read_dir(self.common_dir.join("worktrees"));
        let place = |kept: PathBuf| {
            let pointer = std::fs::read(kept.join("gitdir")).ok()?;
            let pointer = pointer.strip_suffix(b"\n").unwrap_or(&pointer);
            let place = lexical_absolute(&kept, &path_of(pointer))
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
    pub async fn nested(&self) -> Result<Vec<PathBuf>, GitError> {
        let others = self.git(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let others = others.bytes().await?;
        let nested = nul_parts(&others).filter(|path| path.ends_with(b"/"));
        Ok(nested
            .map(path_of)
            .filter(|path| !self.is_own(path))
            .collect())
    }
}

fn remove_all(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(GitError::File {
            verb: "remove",
            path: path.to_owned(),
            source,
        }),
        Ok(()) | Err(_) => Ok(()),
    }
}
