//! Compares two looks at what git or the tests may run and no tree shows.
//!
//! Refuses to know a command: what is hidden from every commit asks whatever runs the tests.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{How, SensitiveChange};
use crate::engine::git::before_tests::{self, Reader};
use crate::engine::git::{Kind, Runnable, dependency_folder_of};

/// How many packages are named at the most.
const MOST_NAMED: usize = 5;

/// A path that differs between two looks.
struct LookDifference {
    path: PathBuf,
    kind: Kind,
    how: How,
    /// The mark of what it is afterwards; `None` where it is gone.
    content: Option<String>,
}

impl Runnable {
    /// Lists what came, changed or went since an earlier look, in the order of paths; a folder of packages once.
    pub fn changes_since(&self, earlier: &Self) -> Vec<SensitiveChange> {
        let mut packages = BTreeMap::<PathBuf, Vec<LookDifference>>::new();
        let mut changes = Vec::new();
        for difference in self.differences(earlier) {
            let is_package = difference.kind == Kind::Dependency;
            let folder = dependency_folder_of(&difference.path).filter(|_| is_package);
            match folder {
                Some(folder) => packages.entry(folder).or_default().push(difference),
                None => changes.push(SensitiveChange {
                    why: why(&difference.path, difference.kind),
                    path: difference.path,
                    how: difference.how,
                    content: difference.content,
                }),
            }
        }
        let packages = packages.into_iter();
        changes.extend(packages.map(|(folder, packages)| in_sum(folder, &packages)));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }

    fn differences(&self, earlier: &Self) -> Vec<LookDifference> {
        let now = self.0.iter().filter_map(|(path, mark)| {
            let how = match earlier.0.get(path) {
                None => How::Created,
                Some(before) if before.content != mark.content => How::Changed,
                Some(_) => return None,
            };
            Some(LookDifference {
                path: path.clone(),
                kind: mark.kind,
                how,
                content: Some(mark.content.clone()),
            })
        });
        let gone = earlier
            .0
            .iter()
            .filter(|(path, mark)| mark.kind != Kind::SetId && !self.0.contains_key(*path));
        let gone = gone.map(|(path, mark)| LookDifference {
            path: path.clone(),
            kind: mark.kind,
            how: How::Removed,
            content: None,
        });
        now.chain(gone).collect()
    }
}

/// All that changed in a folder of packages, as one change.
fn in_sum(folder: PathBuf, packages: &[LookDifference]) -> SensitiveChange {
    let mut hash = Sha256::new();
    for package in packages {
        hash.update(package.path.as_os_str().as_bytes());
        hash.update([0]);
        hash.update(package.content.as_deref().unwrap_or("gone"));
        hash.update([0]);
    }
    let hash = hash.finalize();
    let content = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let named = packages.iter().take(MOST_NAMED).map(|package| {
        let name = package.path.strip_prefix(&folder).unwrap_or(&package.path);
        match package.how {
            How::Created => format!("{} (new)", name.display()),
            How::Changed => name.display().to_string(),
            How::Removed => format!("{} (removed)", name.display()),
        }
    });
    let mut named = named.collect::<Vec<_>>().join(", ");
    if packages.len() > MOST_NAMED {
        named.push_str(", …");
    }
    let n = packages.len();
    let noun = if n == 1 { "package" } else { "packages" };
    SensitiveChange {
        path: folder,
        why: format!(
            "{n} installed {noun} changed: {named}; what is installed runs with the tests, and no commit shows it"
        ),
        how: How::Changed,
        content: Some(content),
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
