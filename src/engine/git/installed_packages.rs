//! Fingerprints installed packages: one mark for each package, made of the names, sizes and times of all
//! files in it.
//!
//! Reads no file content: a writer cannot hide the change time that the system records.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

/// Folders in which tools install packages.
pub const DEPENDENCY_FOLDERS: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// How many files and folders are scanned in one of these folders.
const MAX_ENTRIES: usize = 200_000;

/// Names that tools write while they only use the installed packages.
const RUNTIME_CACHE_NAMES: [&str; 10] = [
    "__pycache__",
    ".cache",
    ".vite",
    ".vite-temp",
    ".vitest",
    ".pytest_cache",
    ".package-lock.json",
    ".yarn-integrity",
    ".modules.yaml",
    ".pnpm-workspace-state.json",
];

/// The packages of one folder.
#[derive(Debug, Default)]
pub(super) struct InstalledPackages {
    /// One mark for each package, by its path in the folder.
    pub marks: BTreeMap<PathBuf, String>,
    /// How many more files and folders may be scanned; 0 if the limit was reached.
    pub n_remaining: usize,
}

/// Returns the package folder that contains a path, or that the path is.
pub fn dependency_folder_of(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        found.push(part);
        if matches!(part, Component::Normal(name) if is_dependency_folder(Path::new(name))) {
            return Some(found);
        }
    }
    None
}

/// Returns true if a path has the name of a package folder.
pub(super) fn is_dependency_folder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    DEPENDENCY_FOLDERS.iter().any(|folder| name == *folder)
}

/// Fingerprints everything that is installed in a folder, which may be a link itself; links in it are not
/// followed.
pub(super) fn installed_packages(folder: &Path) -> InstalledPackages {
    let mut hashes: BTreeMap<PathBuf, Sha256> = BTreeMap::new();
    let mut n_left = MAX_ENTRIES;
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for name in sorted_names(&folder.join(&below)) {
            if RUNTIME_CACHE_NAMES.iter().any(|made| name == *made) {
                continue;
            }
            let Some(left) = n_left.checked_sub(1) else {
                break;
            };
            n_left = left;
            let path = below.join(name);
            let hash = hashes.entry(package_path(&path)).or_default();
            if hash_entry(hash, folder, &path) == PackageEntryKind::Folder {
                waiting.push(path);
            }
        }
    }
    let hex = |hash: Sha256| {
        let bytes = hash.finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let marks = hashes.into_iter().map(|(name, hash)| (name, hex(hash)));
    InstalledPackages {
        marks: marks.collect(),
        n_remaining: n_left,
    }
}

/// Returns the sorted entries of a folder. A folder that is missing or unreadable is so for the tests, too.
fn sorted_names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

/// Whether a recorded entry has entries of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackageEntryKind {
    Folder,
    Other,
}

fn hash_entry(hash: &mut Sha256, folder: &Path, path: &Path) -> PackageEntryKind {
    hash.update(path.as_os_str().as_bytes());
    let Ok(found) = fs::symlink_metadata(folder.join(path)) else {
        hash.update(b"\0gone\0");
        return PackageEntryKind::Other;
    };
    hash.update([0]);
    hash.update(found.mode().to_le_bytes());
    if found.is_dir() {
        // The times of a folder change when tools write into it during use; its entries are recorded on their
        // own.
        return PackageEntryKind::Folder;
    }
    if let Ok(target) = fs::read_link(folder.join(path)) {
        hash.update(target.as_os_str().as_bytes());
    }
    hash.update(found.size().to_le_bytes());
    for time in [
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
    ] {
        hash.update(time.to_le_bytes());
    }
    PackageEntryKind::Other
}

/// Returns the package that a path in such a folder belongs to.
fn package_path(path: &Path) -> PathBuf {
    let parts: Vec<_> = path.iter().collect();
    let depth = match parts.iter().position(|part| *part == "site-packages") {
        Some(at) => at + 2,
        None if parts
            .first()
            .is_some_and(|first| first.as_bytes().starts_with(b"@") || *first == ".pnpm") =>
        {
            2
        }
        None => 1,
    };
    parts.into_iter().take(depth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Checks the packages whose marks differ after an action.
    fn check(act: impl FnOnce(&Path), expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("node_modules");
        for path in [
            "a/index.js",
            "@b/c/index.js",
            ".bin/jest",
            "lib/python3.11/site-packages/pytest/a.py",
        ] {
            put(&root, path, "1");
        }
        let before = installed_packages(&root).marks;
        assert_eq!(before, installed_packages(&root).marks, "a look is steady");
        act(&root);
        let now = installed_packages(&root).marks;
        let names = before.keys().chain(now.keys());
        let names: std::collections::BTreeSet<_> = names.collect();
        let other = names
            .into_iter()
            .filter(|name| before.get(*name) != now.get(*name));
        let told: Vec<_> = other.map(|name| name.display().to_string()).collect();
        assert_eq!(told.join(", "), expected);
    }

    #[test]
    fn a_change_shows_in_the_mark_of_its_package_alone() {
        check(|root| put(root, "@b/c/index.js", "22"), "@b/c");
        check(|root| put(root, "new/index.js", "1"), "new");
        check(
            |root| put(root, "lib/python3.11/site-packages/pytest/a.py", "2"),
            "lib/python3.11/site-packages/pytest",
        );
        check(|root| fs::remove_dir_all(root.join("a")).unwrap(), "a");
        check(|root| put(root, "a/.cache/x", "1"), "");
        check(|root| put(root, "a/__pycache__/x.pyc", "1"), "");
    }

    #[test]
    fn a_file_of_the_same_size_and_time_is_seen() {
        check(
            |root| {
                let path = root.join(".bin/jest");
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                fs::write(&path, "2").unwrap();
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(time).unwrap();
            },
            ".bin",
        );
    }

    #[test]
    fn the_folder_of_a_path_is_its_outermost() {
        let check = |path: &str, expected: Option<&str>| {
            let folder = dependency_folder_of(Path::new(path));
            assert_eq!(folder, expected.map(PathBuf::from), "{path}");
        };
        check("node_modules/a/node_modules/b", Some("node_modules"));
        check("web/.venv/bin", Some("web/.venv"));
        check("src/a.js", None);
    }
}
