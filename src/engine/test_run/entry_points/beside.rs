//! Compares two looks at what git or the tests may run and no tree shows.
//!
//! Refuses to know a command: what is hidden from every commit asks whatever runs the tests.

use super::{How, SensitiveChange};
use crate::engine::git::{Kind, Runnable};

impl Runnable {
    /// Lists what came, changed or went since an earlier look, in the order of paths.
    pub fn changes_since(&self, earlier: &Self) -> Vec<SensitiveChange> {
        let change = |path: &std::path::PathBuf, kind: Kind, how, content| SensitiveChange {
            path: path.clone(),
            why: kind.why().to_owned(),
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
