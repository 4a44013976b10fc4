//! Stores what the user approved for more than one call: one file per repository, beside the list of trusted
//! repositories and outside of every repository, so that no agent can reach it.
//!
//! Does not decide anything. A file that it cannot parse is never overwritten and approves nothing.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fs2::FileExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{StoreError, atomic_file, nofollow_fs};
use crate::domain::ids::{RunId, UnixMillis};
use crate::permission::{ApprovalScope, StoredApproval};

const SCHEMA: u64 = 1;
const MAX_BYTES: u64 = 4 << 20;

/// An approval with the time and the run in which it was granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// Its number, by which it is revoked; never reused in the file.
    pub id: u64,
    #[serde(flatten)]
    pub approved: StoredApproval,
    pub granted_at: UnixMillis,
    /// The run in which it was granted.
    pub run: RunId,
}

#[derive(Debug, Serialize, Deserialize)]
struct ApprovalFile {
    schema: u64,
    /// The repository's real path, for people who read the file.
    root: String,
    next_id: u64,
    approvals: Vec<ApprovalRecord>,
}

/// The approvals of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalStore {
    file: PathBuf,
    root: PathBuf,
}

/// Returns the file of a repository, by its real root, in a folder of the user's.
pub(super) fn repository_file(folder: &Path, root: &Path) -> PathBuf {
    let hash = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let name: String = hash
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    folder.join(format!("{name}.json"))
}

impl ApprovalStore {
    /// Opens the store of a repository, by its real root, in a folder of the user's; reads nothing yet.
    pub fn new(folder: &Path, root: &Path) -> Self {
        Self {
            file: repository_file(folder, root),
            root: root.to_owned(),
        }
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Lists all approvals in the order in which they were granted.
    ///
    /// # Errors
    /// The file cannot be read, is not one of this program's, or is inside the repository.
    pub fn list(&self) -> Result<Vec<ApprovalRecord>, StoreError> {
        Ok(self.load()?.approvals)
    }

    /// Lists the approvals that apply to a run: granted for the project, or in this run.
    ///
    /// # Errors
    /// As [`ApprovalStore::list`].
    pub fn list_for_run(&self, run: &RunId) -> Result<Vec<StoredApproval>, StoreError> {
        let stored = self.list()?.into_iter();
        Ok(stored
            .filter(|stored| match stored.approved.scope {
                ApprovalScope::Project => true,
                ApprovalScope::Run => stored.run == *run,
            })
            .map(|stored| stored.approved)
            .collect())
    }

    /// Stores approvals that are not stored yet; returns the number of new ones.
    ///
    /// # Errors
    /// As [`ApprovalStore::list`], or the file cannot be written.
    pub fn add(
        &self,
        run: &RunId,
        granted_at: UnixMillis,
        new: &[StoredApproval],
    ) -> Result<usize, StoreError> {
        self.update_file(|kept| {
            let before = kept.approvals.len();
            for approved in new {
                let is_kept = |stored: &ApprovalRecord| {
                    let same_time = approved.scope == ApprovalScope::Project || stored.run == *run;
                    stored.approved == *approved && same_time
                };
                if kept.approvals.iter().any(is_kept) {
                    continue;
                }
                kept.approvals.push(ApprovalRecord {
                    id: kept.next_id,
                    approved: approved.clone(),
                    granted_at,
                    run: run.clone(),
                });
                kept.next_id += 1;
            }
            kept.approvals.len() - before
        })
    }

    /// Revokes and returns the approvals that match the predicate.
    ///
    /// # Errors
    /// As [`ApprovalStore::add`].
    pub fn revoke(
        &self,
        goes: impl Fn(&ApprovalRecord) -> bool,
    ) -> Result<Vec<ApprovalRecord>, StoreError> {
        if !self.list()?.iter().any(&goes) {
            return Ok(Vec::new());
        }
        self.update_file(|kept| {
            let (gone, left) = std::mem::take(&mut kept.approvals)
                .into_iter()
                .partition(&goes);
            kept.approvals = left;
            gone
        })
    }

    fn load(&self) -> Result<ApprovalFile, StoreError> {
        self.check_outside_repository()?;
        let Some(bytes) = nofollow_fs::read_limited(&self.file, MAX_BYTES)? else {
            return Ok(ApprovalFile {
                schema: SCHEMA,
                root: self.root.to_string_lossy().into_owned(),
                next_id: 1,
                approvals: Vec::new(),
            });
        };
        let damaged = |error: serde_json::Error| StoreError::ForeignContent {
            path: self.file.clone(),
            line: error.line() as u64,
            reason: error.to_string(),
        };
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(damaged)?;
        let found = value.get("schema").and_then(serde_json::Value::as_u64);
        if let Some(found) = found.filter(|found| *found > SCHEMA) {
            return Err(StoreError::NewerSchema {
                path: self.file.clone(),
                found,
                known: SCHEMA,
            });
        }
        serde_json::from_value(value).map_err(damaged)
    }

    /// Reads, changes and replaces the file under a lock; a crash leaves the old or the new content.
    fn update_file<T>(&self, change: impl FnOnce(&mut ApprovalFile) -> T) -> Result<T, StoreError> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
            .create(folder)
            .map_err(|error| StoreError::from_io("create", folder, error))?;
        // The file itself is replaced by a rename, so the lock is a file beside it.
        let path = self.file.with_extension("lock");
        let locking = |error| StoreError::from_io("lock", &path, error);
        let lock = nofollow_fs::open_lock(&path)?;
        lock.lock_exclusive().map_err(locking)?;
        let mut kept = self.load()?;
        let changed = change(&mut kept);
        let mut text =
            serde_json::to_vec_pretty(&kept).map_err(|error| StoreError::Unserializable {
                path: self.file.clone(),
                reason: error.to_string(),
            })?;
        text.push(b'\n');
        atomic_file::replace_file(&self.file, &text)?;
        Ok(changed)
    }

    /// Checks that the file is outside of the repository: a file that an agent can write must not approve
    /// anything.
    fn check_outside_repository(&self) -> Result<(), StoreError> {
        let real = self
            .file
            .ancestors()
            .find_map(|path| path.canonicalize().ok())
            .unwrap_or_else(|| self.file.clone());
        if real.starts_with(&self.root) {
            return Err(StoreError::InsideRepository {
                path: self.file.clone(),
                root: self.root.clone(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::permission::ApprovalMatcher;

    fn approved(text: &str, scope: ApprovalScope) -> StoredApproval {
        StoredApproval {
            profile: "build".to_owned(),
            permission: "bash".to_owned(),
            what: ApprovalMatcher::Pattern(text.to_owned()),
            scope,
        }
    }

    fn store() -> (tempfile::TempDir, ApprovalStore) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("repository");
        std::fs::create_dir(&root).unwrap();
        let approvals = ApprovalStore::new(&folder.path().join("state/approvals"), &root);
        (folder, approvals)
    }

    fn texts(approved: &[StoredApproval]) -> String {
        let texts: Vec<&str> = approved
            .iter()
            .map(|approved| approved.what.as_str())
            .collect();
        texts.join(", ")
    }

    #[test]
    fn what_is_kept_serves_its_run_or_its_project() {
        let (_folder, approvals) = store();
        let (first, second) = (RunId::new("run_1"), RunId::new("run_2"));
        assert_eq!(texts(&approvals.list_for_run(&first).unwrap()), "");
        let new = [
            approved("ls *", ApprovalScope::Run),
            approved("make *", ApprovalScope::Project),
        ];
        assert_eq!(approvals.add(&first, UnixMillis(1), &new).unwrap(), 2);
        assert_eq!(approvals.add(&first, UnixMillis(2), &new).unwrap(), 0);
        assert_eq!(
            texts(&approvals.list_for_run(&first).unwrap()),
            "ls *, make *"
        );
        assert_eq!(texts(&approvals.list_for_run(&second).unwrap()), "make *");
        assert_eq!(approvals.add(&second, UnixMillis(3), &new).unwrap(), 1);
    }

    #[test]
    fn an_approval_is_taken_back_and_its_number_not_used_again() {
        let (_folder, approvals) = store();
        let run = RunId::new("run_1");
        let add = |text: &str| {
            approvals.add(
                &run,
                UnixMillis(1),
                &[approved(text, ApprovalScope::Project)],
            )
        };
        add("a").unwrap();
        add("b").unwrap();
        let gone = approvals.revoke(|stored| stored.id == 2).unwrap();
        assert_eq!(gone.len(), 1);
        assert!(
            approvals
                .revoke(|stored| stored.id == 2)
                .unwrap()
                .is_empty()
        );
        add("c").unwrap();
        let ids: Vec<u64> = approvals
            .list()
            .unwrap()
            .iter()
            .map(|stored| stored.id)
            .collect();
        assert_eq!(ids, [1, 3]);
    }

    #[test]
    fn nobody_else_reads_the_file_and_what_is_not_understood_stays() {
        let (_folder, approvals) = store();
        let run = RunId::new("run_1");
        approvals
            .add(
                &run,
                UnixMillis(1),
                &[approved("a", ApprovalScope::Project)],
            )
            .unwrap();
        let mode = std::fs::metadata(approvals.file())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        for text in ["{", "[]", r#"{"schema":99}"#] {
            std::fs::write(approvals.file(), text).unwrap();
            assert!(approvals.list().is_err(), "{text}");
            assert!(
                approvals
                    .add(&run, UnixMillis(1), &[approved("b", ApprovalScope::Run)])
                    .is_err()
            );
            assert_eq!(std::fs::read_to_string(approvals.file()).unwrap(), text);
        }
    }

    #[test]
    fn approvals_inside_the_repository_count_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let approvals = ApprovalStore::new(&root.join("state"), &root);
        assert!(matches!(
            approvals.list(),
            Err(StoreError::InsideRepository { .. })
        ));
    }
}
