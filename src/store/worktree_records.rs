//! Records the work trees that children write in: a folder in the user's cache, with a record file beside
//! each tree.
//!
//! A tree without a record does not belong to the program. No child can write to the records. Does not use
//! git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::workdir_layout::id_to_file_name;
use super::{StoreError, WorkdirLayout, atomic_file, nofollow_fs};
use crate::domain::ids::{SessionId, TurnId};

const SCHEMA: u32 = 1;
/// The maximum size of a record that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The folder of one repository's trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeRegistry {
    folder: PathBuf,
}

/// The record of one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRecord {
    schema: u32,
    /// The child session that works in it.
    pub session: SessionId,
    /// The turn of that session.
    pub turn: TurnId,
    /// The name of its run.
    pub run: String,
    /// The repository's real root.
    pub root: PathBuf,
    /// The commit that it was created from.
    pub commit: String,
    /// The tree that its child started with.
    pub base: String,
    /// The tree that its child left, once it is saved.
    #[serde(default)]
    pub tree: Option<String>,
    pub stage: WorktreeStage,
}

/// The trees in a folder.
#[derive(Debug, Default)]
pub struct WorktreeList {
    pub records: Vec<WorktreeRecord>,
    /// Why other records could not be read.
    pub failures: Vec<StoreError>,
}

/// The stage of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeStage {
    /// Its files are being created; no child has worked in it.
    Making,
    /// A child works in it, or has worked in it.
    Made,
    /// Its changes are saved elsewhere.
    Saved,
    /// It contains what cannot be saved, and stays.
    Left,
}

impl WorktreeRecord {
    /// Describes a tree that is about to be created.
    pub fn new(
        session: &SessionId,
        turn: &TurnId,
        run: &str,
        root: &Path,
        commit: &str,
        base: &str,
    ) -> Self {
        Self {
            schema: SCHEMA,
            session: session.clone(),
            turn: turn.clone(),
            run: run.to_owned(),
            root: root.to_owned(),
            commit: commit.to_owned(),
            base: base.to_owned(),
            tree: None,
            stage: WorktreeStage::Making,
        }
    }
}

impl WorktreeRegistry {
    /// Returns the folder of a repository's trees in the user's cache, named after the run's own folder;
    /// creates nothing.
    pub fn new(cache: &Path, layout: &WorkdirLayout) -> Self {
        let name = super::approval_store::repository_file(cache, layout.workdir());
        Self {
            folder: name.with_extension(""),
        }
    }

    /// Returns the path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder (0700), and returns its path with links resolved.
    ///
    /// # Errors
    /// The folder is inside the repository, or the disk fails.
    pub fn prepare_folder(&self, root: &Path) -> io::Result<PathBuf> {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.folder)?;
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700))?;
        let folder = self.folder.canonicalize()?;
        if folder.starts_with(root) {
            let why = format!(
                "{} is inside the repository {}; set XDG_CACHE_HOME to a folder outside",
                folder.display(),
                root.display()
            );
            return Err(io::Error::other(why));
        }
        Ok(folder)
    }

    /// Creates the folder, and returns the path of a child's tree in it, with links resolved.
    ///
    /// # Errors
    /// The folder is inside the repository, or the disk fails.
    pub fn prepare_worktree_path(&self, session: &SessionId, root: &Path) -> io::Result<PathBuf> {
        let folder = self.prepare_folder(root)?;
        Ok(folder.join(id_to_file_name(session.as_str())))
    }

    fn record_path(&self, session: &SessionId) -> PathBuf {
        let name = format!("{}.json", id_to_file_name(session.as_str()));
        self.folder.join(name)
    }

    /// Writes the record of a tree.
    ///
    /// # Errors
    /// The disk fails.
    pub fn save_record(&self, record: &WorktreeRecord) -> Result<(), StoreError> {
        let path = self.record_path(&record.session);
        let bytes = serde_json::to_vec(record).map_err(|error| StoreError::Unserializable {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        atomic_file::replace_file(&path, &bytes)
    }

    /// Loads the record of a child's tree; `None` if it has none.
    ///
    /// # Errors
    /// The record cannot be read, or is damaged.
    pub fn load_record(&self, session: &SessionId) -> Result<Option<WorktreeRecord>, StoreError> {
        read_record(&self.record_path(session))
    }

    /// Removes the record of a deleted tree.
    ///
    /// # Errors
    /// The disk fails.
    pub fn remove_record(&self, session: &SessionId) -> Result<(), StoreError> {
        let path = self.record_path(session);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::from_io("remove", &path, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Lists all trees by name; an unreadable record does not hide the others.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn list_records(&self) -> Result<WorktreeList, StoreError> {
        let mut listed = WorktreeList::default();
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listed),
            entries => entries.map_err(|error| StoreError::from_io("list", &self.folder, error))?,
        };
        for entry in entries {
            let path = entry.map_err(|error| StoreError::from_io("list", &self.folder, error))?;
            let path = path.path();
            if path.extension().is_some_and(|end| end == "json") {
                match read_record(&path) {
                    Ok(record) => listed.records.extend(record),
                    Err(error) => listed.failures.push(error),
                }
            }
        }
        let by_name =
            |a: &WorktreeRecord, b: &WorktreeRecord| a.session.as_str().cmp(b.session.as_str());
        listed.records.sort_by(by_name);
        Ok(listed)
    }
}

fn read_record(path: &Path) -> Result<Option<WorktreeRecord>, StoreError> {
    let Some(value) = nofollow_fs::read_json::<Value>(path, MAX_BYTES)? else {
        return Ok(None);
    };
    // What a newer version stores there may have another meaning.
    let (found, known) = (value["schema"].as_u64(), u64::from(SCHEMA));
    if let Some(found) = found.filter(|found| *found > known) {
        let path = path.to_owned();
        return Err(StoreError::NewerSchema { path, found, known });
    }
    let record = serde_json::from_value(value);
    record
        .map(Some)
        .map_err(|error| StoreError::from_json(path, &error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn a_tree_has_a_private_place_outside_of_the_repository_and_a_record() {
        let (place, cache) = (TestRepo::new(), tempfile::tempdir().unwrap());
        let root = place.layout.root();
        let trees = WorktreeRegistry::new(cache.path(), &place.layout);
        let all = || trees.list_records().unwrap().records;
        assert_eq!(all(), []);
        let session = SessionId::new("ses_1");
        let at = trees.prepare_worktree_path(&session, root).unwrap();
        assert!(at.starts_with(cache.path().canonicalize().unwrap()));
        let mode = fs::metadata(trees.folder()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let turn = TurnId::new("ses_1.1");
        let record = WorktreeRecord::new(&session, &turn, "run_1", root, "c", "b");
        trees.save_record(&record).unwrap();
        assert_eq!(trees.load_record(&session).unwrap().as_ref(), Some(&record));
        let damaged = trees.folder().join("ses_0.json");
        let newer = trees.folder().join("ses_2.json");
        fs::write(&damaged, "{").unwrap();
        fs::write(&newer, "{\"schema\":99}").unwrap();
        let listed = trees.list_records().unwrap();
        assert_eq!(listed.records, [record]);
        let mut unread: Vec<String> = listed.failures.iter().map(ToString::to_string).collect();
        unread.sort();
        let [one, other] = unread.as_slice() else {
            panic!("{unread:?}");
        };
        assert!(one.contains("ses_0.json:1"), "{one}");
        assert!(other.contains("ses_2.json has schema 99"), "{other}");
        fs::remove_file(damaged).unwrap();
        fs::remove_file(newer).unwrap();
        trees.remove_record(&session).unwrap();
        trees.remove_record(&session).unwrap();
        assert_eq!(all(), []);

        let inside = WorktreeRegistry::new(&root.join("cache"), &place.layout);
        let refused = inside
            .prepare_worktree_path(&session, root)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("set XDG_CACHE_HOME"), "{refused}");
    }
}
