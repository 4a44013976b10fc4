//! Prepares a turn's staging folder before the turn, and reads it afterwards.
//!
//! Agents never write workflow files directly. What they leave here is untrusted: only regular files of a limited
//! size are read, and no link is followed.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::domain::plan::file_hash;
use crate::domain::turn::TurnPurpose;
use crate::store::document_files::{self, DocumentContent};
use crate::store::{StoreError, WorkdirLayout};

/// The largest document that is accepted from an agent, in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 1024 * 1024;

/// The folder of one turn, and the workflow files as they were when it began.
#[derive(Debug, Clone)]
pub struct TurnStagingFolder {
    /// The only folder that the agent may write to.
    pub dir: PathBuf,
    /// The path at which the agent may write the plan.
    pub plan: PathBuf,
    /// The path at which it may write comments or answers.
    pub comments: PathBuf,
    /// `plan.md` when the turn began; a copy of it is put into the folder.
    pub plan_before: Option<DocumentContent>,
    /// `comments.md` when the turn began.
    pub comments_before: Option<DocumentContent>,
}

impl TurnStagingFolder {
    /// Returns the files that a turn may write, depending on what it returns.
    pub fn writable_files(&self, purpose: &TurnPurpose) -> Vec<PathBuf> {
        match purpose {
            TurnPurpose::WritePlan => vec![self.plan.clone()],
            TurnPurpose::Review => vec![self.comments.clone()],
            TurnPurpose::Respond => vec![self.plan.clone(), self.comments.clone()],
            TurnPurpose::RefineGoal { .. }
            | TurnPurpose::Judge
            | TurnPurpose::Step { .. }
            | TurnPurpose::Fix { .. }
            | TurnPurpose::Summary => Vec::new(),
        }
    }
}

/// Empties the session's folder and copies `plan.md` into it, if that exists.
///
/// # Errors
/// The folder cannot be created, or the workflow files cannot be read.
pub fn prepare_staging(
    layout: &WorkdirLayout,
    dir: PathBuf,
) -> Result<TurnStagingFolder, StoreError> {
    let failed = |what: &'static str| {
        let dir = dir.clone();
        move |error: io::Error| StoreError::from_io(what, &dir, error)
    };
    for dir in [&dir, &baseline_folder(&dir)] {
        empty_folder(dir).map_err(failed("empty"))?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(failed("create"))?;
    }
    let staging = TurnStagingFolder {
        plan_before: document_files::read_document(&layout.plan())?,
        comments_before: document_files::read_document(&layout.comments())?,
        ..staging_paths(layout, dir.clone())
    };
    if let Some(document) = &staging.plan_before {
        fs::write(&staging.plan, &document.bytes).map_err(failed("fill"))?;
    }
    let [plan, comments] = baseline_files(layout, &dir);
    for (file, document) in [
        (plan, &staging.plan_before),
        (comments, &staging.comments_before),
    ] {
        if let Some(document) = document {
            fs::write(&file, &document.bytes).map_err(failed("record the documents in"))?;
        }
    }
    Ok(staging)
}

/// Returns the folder for the documents as they were when the turn began; the agent cannot write to it.
fn baseline_folder(dir: &Path) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_owned();
    name.push(".before");
    dir.with_file_name(name)
}

fn baseline_files(layout: &WorkdirLayout, dir: &Path) -> [PathBuf; 2] {
    let names = layout.names();
    [&names.plan, &names.comments].map(|name| baseline_folder(dir).join(name))
}

/// Loads the folder of a turn that the end of the program interrupted; `None` if there is none.
///
/// # Errors
/// The documents from the beginning of the turn cannot be read.
pub fn load_leftover_staging(
    layout: &WorkdirLayout,
    dir: PathBuf,
) -> Result<Option<TurnStagingFolder>, StoreError> {
    if !dir.is_dir() || !baseline_folder(&dir).is_dir() {
        return Ok(None);
    }
    let [plan, comments] = baseline_files(layout, &dir);
    Ok(Some(TurnStagingFolder {
        plan_before: document_files::read_document(&plan)?,
        comments_before: document_files::read_document(&comments)?,
        ..staging_paths(layout, dir)
    }))
}

/// Returns the paths of the folder and its files without reading the disk.
pub fn staging_paths(layout: &WorkdirLayout, dir: PathBuf) -> TurnStagingFolder {
    TurnStagingFolder {
        plan: dir.join(&layout.names().plan),
        comments: dir.join(&layout.names().comments),
        plan_before: None,
        comments_before: None,
        dir,
    }
}

/// Empties a folder without replacing it, because a sandboxed process has it mounted. Anything else at its path is
/// removed.
fn empty_folder(dir: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()) {
        return remove_at_path(dir);
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)? {
        remove_at_path(&entry?.path())?;
    }
    Ok(())
}

/// Removes whatever is at the folder's path without following a link.
fn remove_at_path(dir: &Path) -> io::Result<()> {
    match fs::symlink_metadata(dir) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(dir),
        Ok(_) => fs::remove_file(dir),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Empties the folder after its documents were committed, and removes the documents from the beginning of the turn.
///
/// # Errors
/// The folder cannot be emptied.
pub fn clear_staging(staging: &TurnStagingFolder) -> io::Result<()> {
    empty_folder(&staging.dir)?;
    remove_at_path(&baseline_folder(&staging.dir))
}

/// Documents that an agent submitted with a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubmittedDocuments {
    pub plan: Option<String>,
    /// The text of the review, or of the answers to one.
    pub comments: Option<String>,
}

/// Saves what a turn's agent submitted, replacing an earlier submission. It is stored where the agent cannot write,
/// and survives the end of the program.
///
/// # Errors
/// The files cannot be written; an earlier submission may be lost.
pub fn save_submission(
    staging: &TurnStagingFolder,
    submitted: &SubmittedDocuments,
) -> io::Result<()> {
    for (file, text) in [
        (submission_path(staging, &staging.plan), &submitted.plan),
        (
            submission_path(staging, &staging.comments),
            &submitted.comments,
        ),
    ] {
        remove_at_path(&file)?;
        if let Some(text) = text {
            let half = file.with_extension("new");
            fs::write(&half, text)?;
            fs::rename(&half, &file)?;
        }
    }
    Ok(())
}

fn submission_path(staging: &TurnStagingFolder, document: &Path) -> PathBuf {
    let name = document.file_name().unwrap_or_default().to_string_lossy();
    baseline_folder(&staging.dir).join(format!("submitted-{name}"))
}

/// The documents that an agent left in its folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StagedDocuments {
    /// The plan, if it differs from the copy that was put there.
    pub plan: Option<String>,
    /// The text of the comments or answers.
    pub comments: Option<String>,
    /// Why existing files were rejected.
    pub rejected_files: Vec<String>,
}

/// Reads what an agent submitted and what it left in its folder; a submission takes precedence.
pub fn read_staging(staging: &TurnStagingFolder) -> StagedDocuments {
    let mut left = read_folder(staging);
    let mut handed_in = |document: &Path| {
        let taken = read_staged_file(
            &submission_path(staging, document),
            &mut left.rejected_files,
        );
        taken.map(to_text)
    };
    let (plan, comments) = (handed_in(&staging.plan), handed_in(&staging.comments));
    left.plan = plan.or(left.plan);
    left.comments = comments.or(left.comments);
    left
}

fn read_folder(staging: &TurnStagingFolder) -> StagedDocuments {
    let mut left = StagedDocuments::default();
    if fs::symlink_metadata(&staging.dir).is_ok_and(|found| !found.is_dir()) {
        left.rejected_files
            .push("the staging folder was replaced by something else".to_owned());
        return left;
    }
    let plan = read_staged_file(&staging.plan, &mut left.rejected_files);
    let before = staging.plan_before.as_ref().map(|before| &before.sha256);
    left.plan = plan
        .filter(|bytes| Some(&file_hash(bytes)) != before)
        .map(to_text);
    left.comments = read_staged_file(&staging.comments, &mut left.rejected_files).map(to_text);
    left
}

fn to_text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_staged_file(path: &Path, refused: &mut Vec<String>) -> Option<Vec<u8>> {
    match read_regular_file(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            refused.push(format!("{}: {error}", path.display()));
            None
        }
    }
}

/// Reads a regular file of at most 1 MiB without hard links; `None` if there is none.
fn read_regular_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // The agent may have put a link or a pipe here: a link is not followed, and opening a pipe does not block.
    let flags = (nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK).bits();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() != 1 {
        return Err(io::Error::other("is not a regular file with a single link"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(io::Error::other("is larger than 1 MiB"));
    }
    Ok(Some(bytes))
}
