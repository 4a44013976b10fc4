//! Lays down git trees as plain files in a folder of the program's own, without untracked and ignored files.
//!
//! One folder takes many trees, one after another: only what differs is written, so that build tools keep what is still
//! right. Filters run in the sandbox of calls that read the work tree. Files of git LFS and submodules, which git leaves
//! out, are filled in afterwards, without their programs and without the network.

pub(super) mod lfs_files;
pub(super) mod submodule_trees;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::TreeId;
use super::error::GitError;
use super::git_command::{GitCommand, GitProgram};
use super::submodules::list_index_submodules;

/// A folder for clean trees, outside the repository.
#[derive(Debug, Clone)]
pub struct CleanTreeFolder {
    files: PathBuf,
    /// The folder of the index that knows which tree lies here, and of those of its submodules.
    indexes: PathBuf,
}

/// Content of a tree that is not in its copy, because this machine does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingContent {
    /// The path, relative to the root.
    pub path: PathBuf,
    pub kind: MissingContentKind,
    /// Whether it is missing in the user's work tree, too, so that no test of the user's needs it.
    pub is_missing_for_user: bool,
}

/// What git leaves out of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingContentKind {
    LfsFile,
    Submodule,
}

impl CleanTreeFolder {
    /// Uses this folder, which is created where it is missing. Only this program may write there.
    pub fn new(place: PathBuf) -> Self {
        Self {
            files: place.join("files"),
            indexes: place.join("index"),
        }
    }

    /// Returns the folder in which the files of a tree lie.
    pub fn files(&self) -> PathBuf {
        self.files.clone()
    }

    /// Returns the path of the index that knows which tree lies here.
    pub(super) fn index(&self) -> PathBuf {
        self.indexes.join("index")
    }

    /// Returns the folder of a submodule in this tree.
    pub(super) fn submodule(&self, path: &Path) -> Self {
        let hash = Sha256::digest(path.as_os_str().as_bytes());
        Self {
            files: self.files.join(path),
            indexes: self.indexes.join(format!("{hash:x}")),
        }
    }
}

/// Trees that are laid down outside of the work tree.
#[derive(Debug, Clone, Copy)]
pub struct CleanTrees<'a> {
    pub(super) git: &'a GitProgram,
}

impl<'a> CleanTrees<'a> {
    /// Lays down a tree with its submodules and its files of git LFS; returns those of them that are not on this machine.
    /// What else is in the folder is removed, and what differs is written again.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub async fn lay_down_tree(
        self,
        tree: &TreeId,
        folder: &CleanTreeFolder,
    ) -> Result<Vec<MissingContent>, GitError> {
        if self.fill_clean_tree(tree, folder).await.is_err() {
            // Tests may leave what git cannot remove or read; a new folder has nothing of that.
            for part in [&folder.files, &folder.indexes] {
                set_folder_aside(part)?;
            }
            self.fill_clean_tree(tree, folder).await?;
        }
        let (mut missing, of_submodules) = tokio::try_join!(
            self.fill_lfs_files(folder),
            self.lay_down_submodules(folder)
        )?;
        missing.extend(of_submodules);
        Ok(missing)
    }

    async fn fill_clean_tree(
        self,
        tree: &TreeId,
        folder: &CleanTreeFolder,
    ) -> Result<(), GitError> {
        let (files, index) = (&folder.files, folder.index());
        for path in [files, &folder.indexes] {
            create_folder(path)?;
        }
        remove_path(&files.join(".git"))?;
        let submodules_before = list_index_submodules(&index);
        if index.exists() {
            self.remove_untracked(folder).await?;
        }
        let fill = self.clean_tree_command(folder, &["read-tree", "--reset", "-u"]);
        fill.arg(&tree.0).stdout_text().await?;
        let submodules = list_index_submodules(&index);
        // Git leaves the files of a submodule where it leaves the submodule.
        for gone in submodules_before {
            if !submodules.contains(&gone) && files.join(&gone).is_dir() {
                self.remove_untracked(folder).await?;
                break;
            }
        }
        Ok(())
    }

    async fn remove_untracked(self, folder: &CleanTreeFolder) -> Result<(), GitError> {
        let clean = self.clean_index_command(folder, &["clean", "-ffdxq"]);
        clean.stdout_text().await.map(drop)
    }

    /// Builds a call whose work tree is the folder, and that may run the filters that the configuration names.
    fn clean_tree_command(self, folder: &'a CleanTreeFolder, args: &[&str]) -> GitCommand<'a> {
        Self::in_clean_tree(self.git.command(args), &self.git.git_dir, folder)
    }

    /// Builds a call whose work tree is the folder and that reads the content of no file in it, so that it runs no
    /// program and needs no sandbox, which takes longer to set up than the call.
    pub(super) fn clean_index_command(
        self,
        folder: &'a CleanTreeFolder,
        args: &[&str],
    ) -> GitCommand<'a> {
        Self::in_clean_tree(self.git.object_command(args), &self.git.git_dir, folder)
    }

    fn in_clean_tree(
        call: GitCommand<'a>,
        git_dir: &Path,
        folder: &'a CleanTreeFolder,
    ) -> GitCommand<'a> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        call.in_folder(&folder.files)
            .env("GIT_DIR", text(git_dir))
            .env("GIT_WORK_TREE", text(&folder.files))
            .index_file(&folder.index())
            .writable_folder(&folder.files)
            // Tests can set a file's modification time, but not the time at which its entry changed.
            .config("core.trustctime=true")
            .config("core.checkStat=default")
            .config("core.sparseCheckout=false")
            // The program of git LFS may be missing, and would use the network.
            .config("filter.lfs.process=")
            .config("filter.lfs.smudge=")
            .config("filter.lfs.required=false")
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
pub(super) fn remove_path(path: &Path) -> Result<(), GitError> {
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
