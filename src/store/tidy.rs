//! Puts the work directory in order at a start, before anything is read from it.
//!
//! Refuses to touch what is not the program's own unfinished work.

use std::path::{Path, PathBuf};

use super::plain::{self, Found};
use super::{InstanceLock, Layout, StoreError, atomic, history};

/// What was left by a process that ended in the middle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tidied {
    /// How many temporary files of unfinished writes were removed.
    pub n_swept: usize,
    /// Where a half-archived run is now complete.
    pub archived: Option<PathBuf>,
}

/// Finishes a half-done archive move and removes temporary files that nobody writes any more.
pub fn tidy(layout: &Layout, lock: &InstanceLock) -> Result<Tidied, StoreError> {
    let archived = history::finish(layout, lock)?;
    let mut n_swept = 0;
    let history = [layout.history(), layout.conflicts()];
    let mut open = layout.own_folders().to_vec();
    for dir in [layout.workdir()]
        .into_iter()
        .chain(history.iter().map(PathBuf::as_path))
    {
        n_swept += atomic::sweep(dir)?;
    }
    while let Some(dir) = open.pop() {
        n_swept += atomic::sweep(&dir)?;
        open.extend(directories(&dir)?);
    }
    Ok(Tidied { n_swept, archived })
}

fn directories(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if plain::look(dir)? != Found::Directory {
        return Ok(Vec::new());
    }
    let failed = |e| StoreError::io("list", dir, e);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if plain::look(&path)? == Found::Directory {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::place::Place;
    use super::*;

    #[test]
    fn leftovers_of_unfinished_writes_go_and_nothing_else() {
        let place = Place::new();
        let deep = place.layout.sessions().join("ses_a");
        fs::create_dir_all(&deep).unwrap();
        for dir in [place.layout.workdir(), &deep] {
            fs::write(dir.join(".agent-collab-abc.tmp"), "half").unwrap();
            fs::write(dir.join("mine.tmp"), "whole").unwrap();
        }
        let lock = InstanceLock::take(&place.layout).unwrap();
        let tidied = tidy(&place.layout, &lock).unwrap();
        assert_eq!((tidied.n_swept, tidied.archived), (2, None));
        assert!(deep.join("mine.tmp").exists());
        assert_eq!(tidy(&place.layout, &lock).unwrap(), Tidied::default());
    }
}
