//! Compares two looks at what git or the tests may run and no tree shows.
//!
//! Refuses to know a command: what is hidden from every commit asks whatever runs the tests.

use std::path::Path;

use super::{How, SensitiveChange};
use crate::engine::git::before_tests::{self, Reader};
use crate::engine::git::{Kind, Runnable};

impl Runnable {
    /// Lists what came, changed or went since an earlier look, in the order of paths.
    pub fn changes_since(&self, earlier: &Self) -> Vec<SensitiveChange> {
        let change = |path: &std::path::PathBuf, kind: Kind, how, content| SensitiveChange {
            path: path.clone(),
            why: why(path, kind),
            how,
            content,
        };
        let now = self.0.iter().filter_map(|(path, mark)| {
            let how = match earlier.0.get(path) {
                None => How::Created,
                Some(before) if before.content != mark.content => How::Changed,
                Some(_) => return None,
            };
            Some(change(path, mark.kind, how, Some(mark.content.clone())))
        });
        let gone = earlier
            .0
            .iter()
            .filter(|(path, _)| !self.0.contains_key(*path));
        let gone = gone.map(|(path, mark)| change(path, mark.kind, How::Removed, None));
        let mut changes: Vec<SensitiveChange> = now.chain(gone).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

/// Says what a path decides: what the table knows of it, where the kind alone says less.
fn why(path: &Path, kind: Kind) -> String {
    let later = before_tests::whole(path).find(|row| row.reader == Reader::Anybody);
    match later.filter(|_| kind == Kind::EntryPoint) {
        Some(row) => format!("{}, and no commit shows it", row.why),
        None => kind.why().to_owned(),
    }
}
