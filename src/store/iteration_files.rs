//! Stores every committed version of plan and comments under `iterations/<number>/`.
//!
//! Never overwrites a stored version: a second one in the same iteration gets a number.

use std::fs;
use std::path::{Path, PathBuf};

use super::nofollow_fs::PathKind;
use super::{StoreError, TamperGuard, WorkdirLayout, nofollow_fs};

/// The maximum size of a document that is compared, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Stores one version and returns its path; bytes equal to the newest stored version are not stored again.
///
/// The first version of `plan.md` in an iteration is `plan.md`, the next `plan-2.md` and so on.
pub fn save_version(
    guard: &TamperGuard,
    n: u32,
    name: &str,
    bytes: &[u8],
) -> Result<PathBuf, StoreError> {
    let dir = guard.layout().iteration_folder(n);
    let mut newest: Option<PathBuf> = None;
    let mut n_version = 1;
    loop {
        let path = dir.join(version_file_name(name, n_version));
        if guard.len(&path).is_none() {
            if let Some(newest) = newest
                && nofollow_fs::read_limited(&newest, MAX_BYTES)?.as_deref() == Some(bytes)
            {
                return Ok(newest);
            }
            guard.replace(&path, bytes)?;
            return Ok(path);
        }
        newest = Some(path);
        n_version += 1;
    }
}

/// A stored version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersion {
    /// The iteration that it was stored for.
    pub iteration: u32,
    /// Its number within the iteration, from 1.
    pub number: u32,
    /// Its path below the work directory.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Loads the last `most` stored versions of a document, oldest first. Needs no lock.
///
/// # Errors
/// The folder or a version cannot be read.
pub fn load_last_versions(
    layout: &WorkdirLayout,
    name: &str,
    most: usize,
) -> Result<Vec<DocumentVersion>, StoreError> {
    let mut found = list_versions(layout, name)?;
    load_versions(layout, found.split_off(found.len().saturating_sub(most)))
}

/// Loads the first stored version of a document in an iteration. Needs no lock.
///
/// # Errors
/// It cannot be read.
pub fn load_first_version(
    layout: &WorkdirLayout,
    iteration: u32,
    name: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    nofollow_fs::read_limited(&layout.iteration_folder(iteration).join(name), MAX_BYTES)
}

/// Loads the newest stored version of a document that was stored in this iteration or an earlier one and that is the
/// one sought. Needs no lock.
///
/// # Errors
/// A version cannot be read.
pub fn load_version_until(
    layout: &WorkdirLayout,
    iteration: u32,
    name: &str,
    is_sought: impl Fn(&[u8]) -> bool,
) -> Result<Option<Vec<u8>>, StoreError> {
    let mut found = list_versions(layout, name)?;
    found.retain(|(n, ..)| *n <= iteration);
    while let Some(newest) = found.pop() {
        let loaded = load_versions(layout, vec![newest])?.pop();
        if let Some(version) = loaded.filter(|version| is_sought(&version.bytes)) {
            return Ok(Some(version.bytes));
        }
    }
    Ok(None)
}

/// A version by iteration, number within it, and file name.
type VersionKey = (u32, u32, String);

fn list_versions(layout: &WorkdirLayout, name: &str) -> Result<Vec<VersionKey>, StoreError> {
    let mut found = Vec::new();
    for n in list_iterations(layout)? {
        let names = (1..).map(|n_version| (n_version, version_file_name(name, n_version)));
        for (n_version, kept) in names {
            match nofollow_fs::path_kind(&layout.iteration_folder(n).join(&kept))? {
                PathKind::Missing => break,
                PathKind::File => found.push((n, n_version, kept)),
                // The program did not write this; a version after it may exist.
                PathKind::Directory | PathKind::Symlink | PathKind::Other => {}
            }
        }
    }
    Ok(found)
}

fn load_versions(
    layout: &WorkdirLayout,
    places: Vec<VersionKey>,
) -> Result<Vec<DocumentVersion>, StoreError> {
    let mut versions = Vec::new();
    for (n, n_version, kept) in places {
        if let Some(bytes) =
            nofollow_fs::read_limited(&layout.iteration_folder(n).join(&kept), MAX_BYTES)?
        {
            versions.push(DocumentVersion {
                iteration: n,
                number: n_version,
                name: format!("iterations/{n}/{kept}"),
                bytes,
            });
        }
    }
    Ok(versions)
}

/// Returns the numbers of the stored iterations, in order.
fn list_iterations(layout: &WorkdirLayout) -> Result<Vec<u32>, StoreError> {
    let folder = layout.iterations();
    if nofollow_fs::path_kind(&folder)? != PathKind::Directory {
        return Ok(Vec::new());
    }
    let failed = |error| StoreError::from_io("list", &folder, error);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn version_file_name(name: &str, n_version: u32) -> String {
    if n_version == 1 {
        return name.to_owned();
    }
    let path = Path::new(name);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.extension() {
        Some(extension) => format!("{stem}-{n_version}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{n_version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn every_version_is_kept_once() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let keep = |bytes: &str| {
            let path = save_version(&guard, 2, "plan.md", bytes.as_bytes()).unwrap();
            let below = path.strip_prefix(place.layout.workdir()).unwrap();
            below.display().to_string()
        };
        assert_eq!(keep("a"), "iterations/2/plan.md");
        assert_eq!(keep("a"), "iterations/2/plan.md");
        assert_eq!(keep("b"), "iterations/2/plan-2.md");
        assert_eq!(keep("a"), "iterations/2/plan-3.md");
        assert_eq!(guard.check_and_restore().unwrap(), []);
        let last = load_last_versions(&place.layout, "plan.md", 2).unwrap();
        let names: Vec<&str> = last.iter().map(|version| version.name.as_str()).collect();
        assert_eq!(names, ["iterations/2/plan-2.md", "iterations/2/plan-3.md"]);

        let link = place.layout.iteration_folder(2).join("plan-2.md");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("plan.md", &link).unwrap();
        let left = super::load_last_versions(&place.layout, "plan.md", 9).unwrap();
        let names: Vec<&str> = left.iter().map(|version| version.name.as_str()).collect();
        assert_eq!(names, ["iterations/2/plan.md", "iterations/2/plan-3.md"]);
    }
}
