//! Lays down git trees as plain files in a folder of the program's own, without untracked and ignored files.
//!
//! One folder takes many trees, one after another: only what differs is written, so that build tools keep what is still
//! right. Filters run in the sandbox of calls that read the work tree.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::TreeId;
use super::error::GitError;
use super::git_command::GitCommand;
use super::repository::GitRepository;

/// A folder for clean trees, outside the repository.
#[derive(Debug, Clone)]
pub struct CleanTreeFolder {
    place: PathBuf,
}

impl CleanTreeFolder {
    /// Uses this folder, which is created where it is missing. Only this program may write there.
    pub fn new(place: PathBuf) -> Self {
        Self { place }
    }

    /// Returns the folder in which the files of a tree lie.
    pub fn files(&self) -> PathBuf {
        self.place.join("files")
    }

    /// Returns the path of the index that knows which tree lies here.
    fn index(&self) -> PathBuf {
        self.place.join("index").join("index")
    }
}

impl GitRepository {
    /// Lays down a tree. What else is in the folder is removed, and what differs is written again.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub async fn lay_down_tree(
        &self,
        tree: &TreeId,
        folder: &CleanTreeFolder,
    ) -> Result<(), GitError> {
        if self.fill_clean_tree(tree, folder).await.is_ok() {
            return Ok(());
        }
        // Tests may leave what git cannot remove or read; a new folder has nothing of that.
        for part in [folder.files(), folder.place.join("index")] {
            set_folder_aside(&part)?;
        }
        self.fill_clean_tree(tree, folder).await
    }

    async fn fill_clean_tree(
        &self,
        tree: &TreeId,
        folder: &CleanTreeFolder,
    ) -> Result<(), GitError> {
        let (files, index) = (folder.files(), folder.index());
        for path in [Some(files.as_path()), index.parent()]
            .into_iter()
            .flatten()
        {
            create_folder(path)?;
        }
        remove_path(&files.join(".git"))?;
        let at_folder = Self {
            root: files.clone(),
            ..self.clone()
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let call = |args: &[&str]| -> GitCommand<'_> {
            at_folder
                .git_command(args)
                .env("GIT_DIR", text(&self.git_dir))
                .env("GIT_WORK_TREE", text(&files))
                .index_file(&index)
                .writable_folder(&files)
                // Tests can set a file's modification time, but not the time at which its entry changed.
                .config("core.trustctime=true")
                .config("core.checkStat=default")
                .config("core.sparseCheckout=false")
        };
        if index.exists() {
            call(&["clean", "-ffdxq"]).stdout_text().await?;
        }
        let fill = call(&["read-tree", "--reset", "-u"]).arg(&tree.0);
        fill.stdout_text().await.map(drop)
    }
}

fn create_folder(path: &Path) -> Result<(), GitError> {
    fs::create_dir_all(path).map_err(|source| GitError::File {
        verb: "create",
        path: path.to_owned(),
        source,
    })
}

/// Removes a folder with all that is in it, or a file: the sandbox leaves one where the repository's `.git` is a file.
fn remove_path(path: &Path) -> Result<(), GitError> {
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let removed = if is_folder {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(GitError::File {
            verb: "remove",
            path: path.to_owned(),
            source,
        }),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Moves a folder out of the way, and removes of it what can be removed.
fn set_folder_aside(place: &Path) -> Result<(), GitError> {
    if !place.exists() {
        return Ok(());
    }
    let name = format!("aside-{}", uuid::Uuid::now_v7().simple());
    let aside = place.with_file_name(name);
    fs::rename(place, &aside).map_err(|source| GitError::File {
        verb: "move",
        path: place.to_owned(),
        source,
    })?;
    let _left = fs::remove_dir_all(&aside);
    Ok(())
}
