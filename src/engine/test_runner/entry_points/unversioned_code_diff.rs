//! Compares two scans of code that git or the tests may run and no tree shows.
//!
//! Does not depend on the test command: a change that no commit shows always needs approval.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{PathChangeKind, SensitiveChange};
use crate::engine::git::sensitive_files::{self, SensitiveFileReader};
use crate::engine::git::{UnversionedCode, UnversionedCodeKind, dependency_folder_of};

/// The maximum number of packages that are named.
const MAX_NAMED_PACKAGES: usize = 5;

/// A path that differs between two scans.
struct UnversionedCodeChange {
    path: PathBuf,
    kind: UnversionedCodeKind,
    how: PathChangeKind,
    /// The fingerprint of the new state; `None` if it is gone.
    content: Option<String>,
}

impl UnversionedCode {
    /// Lists what was added, changed or removed since an earlier scan, in path order; a package folder
    /// appears once.
    pub fn changes_since(&self, earlier: &Self) -> Vec<SensitiveChange> {
        let mut packages = BTreeMap::<PathBuf, Vec<UnversionedCodeChange>>::new();
        let mut changes = Vec::new();
        for difference in self.differences(earlier) {
            let is_package = difference.kind == UnversionedCodeKind::Dependency;
            let folder = dependency_folder_of(&difference.path).filter(|_| is_package);
            match folder {
                Some(folder) => packages.entry(folder).or_default().push(difference),
                None => changes.push(SensitiveChange {
                    why: describe_path(&difference.path, difference.kind),
                    path: difference.path,
                    how: difference.how,
                    content: difference.content,
                }),
            }
        }
        let packages = packages.into_iter();
        changes.extend(packages.map(|(folder, packages)| summarize_packages(folder, &packages)));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }

    fn differences(&self, earlier: &Self) -> Vec<UnversionedCodeChange> {
        let now = self.0.iter().filter_map(|(path, mark)| {
            let how = match earlier.0.get(path) {
                None => PathChangeKind::Created,
                Some(before) if before.content != mark.content => PathChangeKind::Changed,
                Some(_) => return None,
            };
            Some(UnversionedCodeChange {
                path: path.clone(),
                kind: mark.kind,
                how,
                content: Some(mark.content.clone()),
            })
        });
        let gone = earlier.0.iter().filter(|(path, mark)| {
            mark.kind != UnversionedCodeKind::SetId && !self.0.contains_key(*path)
        });
        let gone = gone.map(|(path, mark)| UnversionedCodeChange {
            path: path.clone(),
            kind: mark.kind,
            how: PathChangeKind::Removed,
            content: None,
        });
        now.chain(gone).collect()
    }
}

/// Summarizes all changes in a package folder as one change.
fn summarize_packages(folder: PathBuf, packages: &[UnversionedCodeChange]) -> SensitiveChange {
    let mut hash = Sha256::new();
    for package in packages {
        hash.update(package.path.as_os_str().as_bytes());
        hash.update([0]);
        hash.update(package.content.as_deref().unwrap_or("gone"));
        hash.update([0]);
    }
    let hash = hash.finalize();
    let content = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let named = packages.iter().take(MAX_NAMED_PACKAGES).map(|package| {
        let name = package.path.strip_prefix(&folder).unwrap_or(&package.path);
        match package.how {
            PathChangeKind::Created => format!("{} (new)", name.display()),
            PathChangeKind::Changed => name.display().to_string(),
            PathChangeKind::Removed => format!("{} (removed)", name.display()),
        }
    });
    let mut named = named.collect::<Vec<_>>().join(", ");
    if packages.len() > MAX_NAMED_PACKAGES {
        named.push_str(", …");
    }
    let n = packages.len();
    let noun = if n == 1 { "package" } else { "packages" };
    SensitiveChange {
        path: folder,
        why: format!(
            "{n} installed {noun} changed: {named}; what is installed runs with the tests, and no commit shows it"
        ),
        how: PathChangeKind::Changed,
        content: Some(content),
    }
}

/// Describes what a path decides: the text of the table, where it says more than the kind alone.
fn describe_path(path: &Path, kind: UnversionedCodeKind) -> String {
    let later = sensitive_files::sensitive_file_rows(path)
        .find(|row| row.reader == SensitiveFileReader::Anybody);
    match later.filter(|_| kind == UnversionedCodeKind::EntryPoint) {
        Some(row) => format!("{}, and no commit shows it", row.why),
        None => kind.reason().to_owned(),
    }
}
