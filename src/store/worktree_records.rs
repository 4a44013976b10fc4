//! The record of the work trees that children write in: a folder of the user's cache, and beside each tree what it is.
//!
//! What stands in no record is not the program's. The record lies where no child writes. Refuses to know git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::workdir_layout::id_to_file_name;
use super::{StoreError, WorkdirLayout, atomic_file, nofollow_fs};
use crate::domain::ids::{SessionId, TurnId};

const SCHEMA: u32 = 1;
/// The largest record that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The folder of one repository's trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeRegistry {
    folder: PathBuf,
}

/// What is known of one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRecord {
    schema: u32,
    /// The child session that works in it.
    pub session: SessionId,
    /// Its turn.
    pub turn: TurnId,
    /// How its run is named.
    pub run: String,
    /// The repository's real root.
    pub root: PathBuf,
    /// The commit that it was made from.
    pub commit: String,
    /// The tree that its child began with.
    pub base: String,
    /// The tree that its child left, once that is saved.
    #[serde(default)]
    pub tree: Option<String>,
    /// How far it is.
    pub stage: WorktreeStage,
}

/// The trees of a folder.
#[derive(Debug, Default)]
pub struct WorktreeList {
    /// What their records say.
    pub records: Vec<WorktreeRecord>,
    /// Why others could not be read.
    pub failures: Vec<StoreError>,
}

/// How far a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeStage {
    /// Its files are being laid down; nobody has worked in it.
    Making,
    /// A child works in it, or did.
    Made,
    /// What was changed in it is saved elsewhere.
    Saved,
    /// It holds what cannot be saved, and stays.
    Left,
}

impl WorktreeRecord {
    /// Describes a tree that is about to be made.
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
    /// The folder of a repository's trees in a folder of the user's cache, by the run's own folder; nothing is made.
    pub fn new(cache: &Path, layout: &WorkdirLayout) -> Self {
        let name = super::approval_store::repository_file(cache, layout.workdir());
        Self {
            folder: name.with_extension(""),
        }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder (0700), and gives the place of a child's tree in it, every link resolved.
    ///
    /// # Errors
    /// The folder lies inside the repository, or the disk refuses.
    pub fn prepare_worktree_path(&self, session: &SessionId, root: &Path) -> io::Result<PathBuf> {
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
        Ok(folder.join(id_to_file_name(session.as_str())))
    }

    fn record_path(&self, session: &SessionId) -> PathBuf {
        let name = format!("{}.json", id_to_file_name(session.as_str()));
        self.folder.join(name)
    }

    /// Writes what a tree is.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn save_record(&self, record: &WorktreeRecord) -> Result<(), StoreError> {
        let path = self.record_path(&record.session);
        let bytes = serde_json::to_vec(record).map_err(|error| StoreError::Unserializable {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        atomic_file::replace_file(&path, &bytes)
    }

    /// What a child's tree is; `None` where it has none.
    ///
    /// # Errors
    /// The record cannot be read, or is damaged.
    pub fn load_record(&self, session: &SessionId) -> Result<Option<WorktreeRecord>, StoreError> {
        read_record(&self.record_path(session))
    }

    /// Forgets a tree that is gone.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn remove_record(&self, session: &SessionId) -> Result<(), StoreError> {
        let path = self.record_path(session);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::from_io("remove", &path, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// All trees that there are, by their names; a record that cannot be read hides no other.
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
    // What a newer version keeps there may mean something else.
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
