//! Cleans up the work directory at the start, before anything is read from it.
//!
//! Touches only unfinished work of the program itself.

use std::path::{Path, PathBuf};

use super::nofollow_fs::{self, PathKind};
use super::{InstanceLock, StoreError, WorkdirLayout, archive_move, atomic_file};

/// What a process that was interrupted left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CleanupReport {
    /// How many temporary files of unfinished writes were removed.
    pub n_removed: usize,
    /// The directory of a half-archived run that is now complete.
    pub archived: Option<PathBuf>,
}

/// Finishes an interrupted archive move and removes temporary files that no process is writing any more.
pub fn clean_up_workdir(
    layout: &WorkdirLayout,
    lock: &InstanceLock,
) -> Result<CleanupReport, StoreError> {
    let archived = archive_move::finish_move(layout, lock)?;
    let mut n_swept = 0;
    let history = [layout.history(), layout.conflicts()];
    let mut open = layout.guarded_folders().to_vec();
    for dir in [layout.workdir()]
        .into_iter()
        .chain(history.iter().map(PathBuf::as_path))
    {
        n_swept += atomic_file::remove_temporary_files(dir)?;
    }
    while let Some(dir) = open.pop() {
        n_swept += atomic_file::remove_temporary_files(&dir)?;
        open.extend(list_subfolders(&dir)?);
    }
    Ok(CleanupReport {
        n_removed: n_swept,
        archived,
    })
}

fn list_subfolders(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if nofollow_fs::path_kind(dir)? != PathKind::Directory {
        return Ok(Vec::new());
    }
    let failed = |e| StoreError::from_io("list", dir, e);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if nofollow_fs::path_kind(&path)? == PathKind::Directory {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn leftovers_of_unfinished_writes_go_and_nothing_else() {
        let place = TestRepo::new();
        let deep = place.layout.sessions().join("ses_a");
        fs::create_dir_all(&deep).unwrap();
        for dir in [place.layout.workdir(), &deep] {
            fs::write(dir.join(".agent-collab-abc.tmp"), "half").unwrap();
            fs::write(dir.join("mine.tmp"), "whole").unwrap();
        }
        let lock = InstanceLock::acquire(&place.layout).unwrap();
        let tidied = clean_up_workdir(&place.layout, &lock).unwrap();
        assert_eq!((tidied.n_removed, tidied.archived), (2, None));
        assert!(deep.join("mine.tmp").exists());
        assert_eq!(
            clean_up_workdir(&place.layout, &lock).unwrap(),
            CleanupReport::default()
        );
    }
}
