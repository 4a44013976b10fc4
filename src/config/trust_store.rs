//! Stores which repositories the user trusts, in the user's state folder; bound to a repository's real path and to the
//! content of its settings.
//!
//! What trust changes is decided in `config_layers` and by the callers. A file that cannot be parsed is never
//! overwritten.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs2::FileExt;
use serde::{Deserialize, Serialize};

use super::project_files::ProjectFiles;
use super::trust_state::TrustState;
use super::user_dirs::UserDirs;
use crate::domain::ids::Sha256;
use crate::domain::instructions_choice::InstructionsChoice;

/// One repository that the user trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustEntry {
    /// The repository's real path.
    pub root: PathBuf,
    /// The hash of its settings, see [`ProjectFiles::sha256`].
    pub sha256: Sha256,
    /// When the user granted the trust.
    pub granted_at: jiff::Timestamp,
}

/// The user's decision about a repository's agent instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsEntry {
    /// The repository's real path.
    pub root: PathBuf,
    /// The hash of the instructions, see [`ProjectFiles::instructions_sha256`].
    pub sha256: Sha256,
    /// Whether the instructions reach agents.
    pub choice: InstructionsChoice,
    /// When the user decided.
    pub decided_at: jiff::Timestamp,
}

/// What can go wrong with the file of trusted repositories. Nothing is trusted in that case.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The trust file cannot be read.
    #[error("read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    /// The trust file cannot be written.
    #[error("write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    /// The file is not a list of trusted repositories.
    #[error(
        "understand {path}: {problem}; move it away and run `agent-collab trust` again in each trusted repository"
    )]
    Damaged {
        path: PathBuf,
        /// What is wrong, with its line.
        problem: String,
    },
    /// The file is where the repository itself, or an agent in it, could write it.
    #[error(
        "store trust in {path}, which is inside the repository {root}; set XDG_STATE_HOME to a folder outside"
    )]
    InsideRepository { path: PathBuf, root: PathBuf },
    /// The repository's path cannot be stored exactly.
    #[error("trust {root}, because its path is not UTF-8; rename the folder")]
    PathNotUtf8 { root: PathBuf },
}

const SCHEMA: u32 = 1;

#[derive(Serialize, Deserialize)]
struct TrustFile {
    schema: u32,
    trusted: Vec<TrustEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    instructions: Vec<InstructionsEntry>,
}

/// The file with the trusted repositories.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

impl TrustStore {
    /// Builds the path of the file; nothing is read yet.
    pub fn new(places: &UserDirs) -> Self {
        Self {
            file: places.trust_file(),
        }
    }

    /// Returns whether the user trusts exactly these files of exactly this repository.
    pub fn status(&self, project: &ProjectFiles) -> Result<TrustState, TrustError> {
        let entries = self.list()?;
        let Some(entry) = entries.iter().find(|entry| entry.root == project.root) else {
            return Ok(TrustState::Untrusted);
        };
        self.check_outside(&project.root)?;
        Ok(if entry.sha256 == project.sha256() {
            TrustState::Trusted
        } else {
            TrustState::Changed
        })
    }

    /// Trusts exactly these files of exactly this repository.
    pub fn grant(&self, project: &ProjectFiles) -> Result<TrustEntry, TrustError> {
        let root = project.root.clone();
        if root.to_str().is_none() {
            return Err(TrustError::PathNotUtf8 { root });
        }
        self.check_outside(&root)?;
        let entry = TrustEntry {
            root,
            sha256: project.sha256(),
            granted_at: jiff::Timestamp::now(),
        };
        let granted = entry.clone();
        self.update_file(|file| {
            // Trust makes the instructions count, whatever the user decided about them before.
            file.instructions.retain(|entry| entry.root != granted.root);
            file.trusted.retain(|entry| entry.root != granted.root);
            file.trusted.push(granted);
            file.trusted.sort_by(|a, b| a.root.cmp(&b.root));
        })?;
        Ok(entry)
    }

    /// Returns the user's decision about exactly these instructions of exactly this repository.
    pub fn instructions(
        &self,
        project: &ProjectFiles,
    ) -> Result<Option<InstructionsChoice>, TrustError> {
        let file = self.read_file()?;
        let entry = file.instructions.iter();
        let mut entry = entry.filter(|entry| entry.root == project.root);
        let Some(entry) = entry.next() else {
            return Ok(None);
        };
        self.check_outside(&project.root)?;
        let is_of_these = entry.sha256 == project.instructions_sha256();
        Ok(is_of_these.then_some(entry.choice))
    }

    /// Stores the user's decision about exactly these instructions of exactly this repository.
    pub fn decide_instructions(
        &self,
        project: &ProjectFiles,
        choice: InstructionsChoice,
    ) -> Result<(), TrustError> {
        let root = project.root.clone();
        if root.to_str().is_none() {
            return Err(TrustError::PathNotUtf8 { root });
        }
        self.check_outside(&root)?;
        let entry = InstructionsEntry {
            root,
            sha256: project.instructions_sha256(),
            choice,
            decided_at: jiff::Timestamp::now(),
        };
        self.update_file(|file| {
            file.instructions.retain(|known| known.root != entry.root);
            file.instructions.push(entry);
            file.instructions.sort_by(|a, b| a.root.cmp(&b.root));
        })
    }

    /// Revokes the trust in the repository at a real path; returns whether there was any.
    pub fn revoke(&self, root: &Path) -> Result<bool, TrustError> {
        let file = self.read_file()?;
        let is_trusted = file.trusted.iter().any(|entry| entry.root == root);
        if !is_trusted && file.instructions.iter().all(|entry| entry.root != root) {
            return Ok(false);
        }
        self.update_file(|file| {
            file.trusted.retain(|entry| entry.root != root);
            file.instructions.retain(|entry| entry.root != root);
        })?;
        Ok(is_trusted)
    }

    /// Lists all trusted repositories by path.
    pub fn list(&self) -> Result<Vec<TrustEntry>, TrustError> {
        Ok(self.read_file()?.trusted)
    }

    fn read_file(&self) -> Result<TrustFile, TrustError> {
        let path = || self.file.clone();
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(TrustFile {
                    schema: SCHEMA,
                    trusted: Vec::new(),
                    instructions: Vec::new(),
                });
            }
            Err(source) => {
                return Err(TrustError::Read {
                    path: path(),
                    source,
                });
            }
        };
        let damaged = |problem: String| TrustError::Damaged {
            path: path(),
            problem,
        };
        let file: TrustFile =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if file.schema != SCHEMA {
            return Err(damaged(format!(
                "it has schema {}, but this version of agent-collab knows {SCHEMA}",
                file.schema
            )));
        }
        Ok(file)
    }

    /// Reads, changes and replaces the file under a lock; after a crash the file has the old or the new content.
    fn update_file(&self, change: impl FnOnce(&mut TrustFile)) -> Result<(), TrustError> {
        let write = |source: io::Error| TrustError::Write {
            path: self.file.clone(),
            source,
        };
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(write)?;
        // A rename replaces the file itself, so the lock is a separate file next to it.
        let lock = File::create(self.file.with_extension("lock")).map_err(write)?;
        lock.lock_exclusive().map_err(write)?;
        let mut file = self.read_file()?;
        change(&mut file);
        let mut text = serde_json::to_vec_pretty(&file).map_err(|error| write(error.into()))?;
        text.push(b'\n');
        replace_file(&self.file, folder, &text).map_err(write)
    }

    /// Checks that the file is outside the repository: an agent may write inside, and could grant itself trust.
    fn check_outside(&self, root: &Path) -> Result<(), TrustError> {
        let real = self
            .file
            .ancestors()
            .find_map(|path| path.canonicalize().ok())
            .unwrap_or_else(|| self.file.clone());
        if real.starts_with(root) {
            return Err(TrustError::InsideRepository {
                path: self.file.clone(),
                root: root.to_owned(),
            });
        }
        Ok(())
    }
}

fn replace_file(file: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    // The temporary file is readable by its owner only, and the renamed file keeps that mode.
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(file)?;
    File::open(folder)?.sync_all()
}
