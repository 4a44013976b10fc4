//! Lists the archived runs in `history/`: one directory per run, named by its date and title.
//!
//! Recognizes a directory by its name alone, and changes nothing.

use std::fs;

use jiff::civil::Date;

use crate::domain::ids::DiscussionId;

use super::nofollow_fs::{self, PathKind};
use super::{StoreError, WorkdirLayout};

/// The length of a date in a directory's name.
const DATE_LEN: usize = "2026-11-21".len();

/// The directory of one archived run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunArchive {
    pub name: String,
    /// When the run was archived.
    pub date: Date,
    /// The paths of its files.
    pub layout: WorkdirLayout,
}

/// Lists the archived runs by name. Texts that lost a conflict and files set aside are no runs.
///
/// # Errors
/// The directory exists and cannot be listed.
pub fn list_archives(layout: &WorkdirLayout) -> Result<Vec<RunArchive>, StoreError> {
    let history = layout.history();
    if nofollow_fs::path_kind(&history)? != PathKind::Directory {
        return Ok(Vec::new());
    }
    let failed = |e| StoreError::from_io("list", &history, e);
    let mut archives = Vec::new();
    for entry in fs::read_dir(&history).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if nofollow_fs::path_kind(&entry.path())? != PathKind::Directory {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(date) = parse_archive_date(&name) {
            let layout = layout.archived_layout(&name);
            archives.push(RunArchive { name, date, layout });
        }
    }
    archives.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(archives)
}

/// Finds the archived run in which a discussion was started; returns its directory's name, `None` if there is
/// none.
///
/// # Errors
/// As [`list_archives`].
pub fn find_archive_of_discussion(
    layout: &WorkdirLayout,
    id: &DiscussionId,
) -> Result<Option<String>, StoreError> {
    let has_it = |archive: &RunArchive| archive.layout.discussion_file(id).is_file();
    let found = list_archives(layout)?.into_iter().find(has_it);
    Ok(found.map(|archive| archive.name))
}

/// Parses the date at the start of a run's directory name; `None` if the directory is not of a run.
fn parse_archive_date(name: &str) -> Option<Date> {
    let (date, rest) = name.split_at_checked(DATE_LEN)?;
    rest.starts_with('-').then(|| date.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn runs_are_told_from_what_else_lies_there() {
        let place = TestRepo::new();
        assert_eq!(list_archives(&place.layout).unwrap(), []);
        let history = place.layout.history();
        for name in [
            "2026-11-21-fix-it",
            "2026-02-30-no-date",
            "conflicts",
            "2026-11-20-实现",
            "2026-11-21",
        ] {
            fs::create_dir_all(history.join(name)).unwrap();
        }
        fs::write(history.join("2026-11-22-a-file"), "").unwrap();
        std::os::unix::fs::symlink("/tmp", history.join("2026-11-22-a-link")).unwrap();
        let found = list_archives(&place.layout).unwrap();
        let names: Vec<&str> = found.iter().map(|archive| archive.name.as_str()).collect();
        assert_eq!(names, ["2026-11-20-实现", "2026-11-21-fix-it"]);
        assert_eq!(
            found[1].layout.state(),
            history.join("2026-11-21-fix-it/state.json")
        );
    }
}
