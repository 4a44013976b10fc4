//! Lists what lies in `history/`: one directory a run, named by its date and title.
//!
//! Refuses to read what a run is: a directory is told by its name alone, and nothing is changed.

use std::fs;

use jiff::civil::Date;

use crate::domain::ids::DiscussionId;

use super::plain::{self, Found};
use super::{Layout, StoreError};

/// The length of a date in a directory's name.
const DATE: usize = "2026-11-21".len();

/// The directory of one archived run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    /// The directory's name.
    pub name: String,
    /// When the run was archived.
    pub date: Date,
    /// Where its files lie.
    pub layout: Layout,
}

/// Lists the archived runs by name. Texts that lost a conflict and files set aside are no runs.
///
/// # Errors
/// The directory is there and cannot be listed.
pub fn list(layout: &Layout) -> Result<Vec<Archive>, StoreError> {
    let history = layout.history();
    if plain::look(&history)? != Found::Directory {
        return Ok(Vec::new());
    }
    let failed = |e| StoreError::io("list", &history, e);
    let mut archives = Vec::new();
    for entry in fs::read_dir(&history).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if plain::look(&entry.path())? != Found::Directory {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(date) = date_of(&name) {
            let layout = layout.in_history(&name);
            archives.push(Archive { name, date, layout });
        }
    }
    archives.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(archives)
}

/// The archived run in which a discussion was begun, by its directory's name; `None` where there is none.
///
/// # Errors
/// As [`list`].
pub fn with_discussion(layout: &Layout, id: &DiscussionId) -> Result<Option<String>, StoreError> {
    let has_it = |archive: &Archive| archive.layout.discussion(id).is_file();
    let found = list(layout)?.into_iter().find(has_it);
    Ok(found.map(|archive| archive.name))
}

/// The date that a run's directory begins with; `None` when it is none of a run.
fn date_of(name: &str) -> Option<Date> {
    let (date, rest) = name.split_at_checked(DATE)?;
    rest.starts_with('-').then(|| date.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::*;

    #[test]
    fn runs_are_told_from_what_else_lies_there() {
        let place = Place::new();
        assert_eq!(list(&place.layout).unwrap(), []);
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
        let found = list(&place.layout).unwrap();
        let names: Vec<&str> = found.iter().map(|archive| archive.name.as_str()).collect();
        assert_eq!(names, ["2026-11-20-实现", "2026-11-21-fix-it"]);
        assert_eq!(
            found[1].layout.state(),
            history.join("2026-11-21-fix-it/state.json")
        );
    }
}
