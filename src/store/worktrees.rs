//! The record of the work trees that children write in: a folder of the user's cache, and beside each tree what it is.
//!
//! What stands in no record is not the program's. The record lies where no child writes. Refuses to know git.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::layout::file_name;
use super::{Layout, StoreError, atomic, plain};
use crate::domain::ids::{SessionId, TurnId};

const SCHEMA: u32 = 1;

/// The folder of one repository's trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktrees {
    folder: PathBuf,
}

/// What is known of one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRecord {
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
    pub stage: TreeStage,
}

/// How far a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeStage {
    /// Its files are being laid down; nobody has worked in it.
    Making,
    /// A child works in it, or did.
    Made,
    /// What was changed in it is saved elsewhere.
    Saved,
    /// It holds what cannot be saved, and stays.
    Left,
}

impl TreeRecord {
    /// Describes a tree that is about to be made.
    pub fn new(
        (session, turn): (&SessionId, &TurnId),
        (run, root): (&str, &Path),
        (commit, base): (&str, &str),
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
            stage: TreeStage::Making,
        }
    }
}

impl Worktrees {
    /// The folder of a repository's trees in a folder of the user's cache, by the run's own folder; nothing is made.
    pub fn new(cache: &Path, layout: &Layout) -> Self {
        let name = super::approvals::file_of(cache, layout.workdir());
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
    pub fn place_of(&self, session: &SessionId, root: &Path) -> io::Result<PathBuf> {
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
        Ok(folder.join(file_name(session.as_str())))
    }

    fn record(&self, session: &SessionId) -> PathBuf {
        let name = format!("{}.json", file_name(session.as_str()));
        self.folder.join(name)
    }

    /// Writes what a tree is.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn save(&self, record: &TreeRecord) -> Result<(), StoreError> {
        let path = self.record(&record.session);
        let bytes = serde_json::to_vec(record).map_err(|error| StoreError::Shape {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        atomic::replace(&path, &bytes)
    }

    /// What a child's tree is; `None` where it has none.
    ///
    /// # Errors
    /// The record cannot be read, or is damaged.
    pub fn load(&self, session: &SessionId) -> Result<Option<TreeRecord>, StoreError> {
        read(&self.record(session))
    }

    /// Forgets a tree that is gone.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn forget(&self, session: &SessionId) -> Result<(), StoreError> {
        let path = self.record(session);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &path, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// All trees that there are, by their names.
    ///
    /// # Errors
    /// The folder or a record cannot be read.
    pub fn list(&self) -> Result<Vec<TreeRecord>, StoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| StoreError::io("list", &self.folder, error))?,
        };
        let mut records = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| StoreError::io("list", &self.folder, error))?;
            let path = path.path();
            if path.extension().is_some_and(|end| end == "json") {
                records.extend(read(&path)?);
            }
        }
        records.sort_by(|a: &TreeRecord, b| a.session.as_str().cmp(b.session.as_str()));
        Ok(records)
    }
}

fn read(path: &Path) -> Result<Option<TreeRecord>, StoreError> {
    plain::read_json(path, 64 * 1024)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::place::Place;
    use super::*;

    #[test]
    fn a_tree_has_a_private_place_outside_of_the_repository_and_a_record() {
        let (place, cache) = (Place::new(), tempfile::tempdir().unwrap());
        let root = place.layout.root();
        let trees = Worktrees::new(cache.path(), &place.layout);
        assert_eq!(trees.list().unwrap(), []);
        let session = SessionId::new("ses_1");
        let at = trees.place_of(&session, root).unwrap();
        assert!(at.starts_with(cache.path().canonicalize().unwrap()));
        let mode = fs::metadata(trees.folder()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let turn = TurnId::new("ses_1.1");
        let record = TreeRecord::new((&session, &turn), ("run_1", root), ("c", "b"));
        trees.save(&record).unwrap();
        assert_eq!(trees.load(&session).unwrap().as_ref(), Some(&record));
        assert_eq!(trees.list().unwrap(), [record]);
        trees.forget(&session).unwrap();
        trees.forget(&session).unwrap();
        assert_eq!(trees.list().unwrap(), []);

        let inside = Worktrees::new(&root.join("cache"), &place.layout);
        let refused = inside.place_of(&session, root).unwrap_err().to_string();
        assert!(refused.contains("set XDG_CACHE_HOME"), "{refused}");
    }
}
