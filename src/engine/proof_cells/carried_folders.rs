//! Brings into a clean copy of the repository what no commit holds and tests need: installed packages, and what
//! `test.carry` names.
//!
//! Tests write only to copies. A copy that is not as it was made is made again.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::engine::git::{DEPENDENCY_FOLDERS, MissingContent, MissingContentKind};
use crate::process::SandboxMount;

/// Folders that are not searched for package folders.
const UNSEARCHED_FOLDERS: [&str; 2] = ["target", "dist"];
/// How deep below the root package folders are searched, in folders.
const MAX_SEARCH_DEPTH: usize = 4;
/// How many folders are searched.
const MAX_SEARCHED: usize = 10_000;
/// The size up to which a folder is copied, in bytes; a larger one is mounted read-only.
const MAX_COPY_BYTES: u64 = 2_000_000_000;
/// The number of entries up to which a folder is copied.
const MAX_COPY_ENTRIES: u64 = 300_000;

/// What a clean copy gets besides its tree.
#[derive(Debug, Default)]
pub(super) struct CarriedFolders {
    /// Folders that are mounted in the copy, by their path relative to the root.
    pub(super) mounts: Vec<(PathBuf, SandboxMount)>,
    /// What the user should know, one line each.
    pub(super) doubts: Vec<String>,
    /// A hash over everything that is carried.
    pub(super) fingerprint: String,
    /// Which of the paths the tree has of its own, so that they are not carried.
    pub(super) own_paths: OwnPaths,
}

impl CarriedFolders {
    /// Notes what the copy lacks of its tree. What the user's work tree lacks, too, is no doubt: the user's tests do
    /// without it.
    pub(super) fn note_missing(&mut self, missing: &[MissingContent]) {
        for content in missing {
            let path = content.path.display();
            self.fingerprint = format!("{}\nwithout {path}", self.fingerprint);
            let (what, hint) = match content.kind {
                MissingContentKind::LfsFile => ("file of git LFS", "git lfs pull"),
                MissingContentKind::Submodule => ("submodule", "git submodule update --init"),
            };
            if !content.is_missing_for_user {
                self.doubts.push(format!(
                    "the {what} `{path}` is not in a clean copy: this machine does not have what its commit names (hint: {hint})"
                ));
            }
        }
    }
}

/// Which of the paths that may be carried a tree has of its own.
pub(super) type OwnPaths = BTreeMap<PathBuf, bool>;

/// Where things are carried.
#[derive(Clone, Copy)]
enum CarryPlace<'a> {
    /// Into the copy in `files`; copies of folders lie in `copies`.
    Copy { files: &'a Path, copies: &'a Path },
    /// Nowhere: only their fingerprint is taken.
    Nowhere(&'a OwnPaths),
}

/// Carries everything into the copy in `files`, which holds a tree that was just laid down.
///
/// # Errors
/// The disk fails; the text names the path.
pub(super) fn carry_into_copy(
    root: &Path,
    files: &Path,
    copies: &Path,
    named: &[String],
) -> Result<CarriedFolders, String> {
    carry_paths(root, named, CarryPlace::Copy { files, copies })
}

/// Returns what a copy would get of a tree with these paths of its own, without making one: its fingerprint and its
/// doubts. `None` where a path is not among them.
///
/// # Errors
/// The disk fails; the text names the path.
pub(super) fn fingerprint_carried(
    root: &Path,
    own: &OwnPaths,
    named: &[String],
) -> Result<Option<CarriedFolders>, String> {
    let carried = carry_paths(root, named, CarryPlace::Nowhere(own))?;
    let is_known = carried.own_paths.keys().all(|path| own.contains_key(path));
    Ok(is_known.then_some(carried))
}

fn carry_paths(
    root: &Path,
    named: &[String],
    place: CarryPlace<'_>,
) -> Result<CarriedFolders, String> {
    let mut carried = CarriedFolders::default();
    let mut hash = Sha256::new();
    let mut paths = find_package_folders(root);
    for name in named {
        match to_inner_path(name) {
            Some(path) if !paths.contains(&path) => paths.push(path),
            Some(_) => {}
            None => carried.doubts.push(format!(
                "test.carry names `{name}`, which is not a path inside the repository"
            )),
        }
    }
    for path in paths {
        let source = root.join(&path);
        let Ok(found) = source.symlink_metadata() else {
            let path = path.display();
            carried
                .doubts
                .push(format!("test.carry names `{path}`, which does not exist"));
            continue;
        };
        // What the tree has of its own is not replaced.
        let is_own = match place {
            CarryPlace::Copy { files, .. } => has_content(&files.join(&path)),
            CarryPlace::Nowhere(own) => own.get(&path) == Some(&true),
        };
        carried.own_paths.insert(path.clone(), is_own);
        if is_own {
            continue;
        }
        let name_error = |error: io::Error| format!("cannot carry {}: {error}", path.display());
        hash.update(path.as_os_str().as_bytes());
        if found.is_dir() {
            let size = measure_folder(&source).map_err(name_error)?;
            hash.update(size.fingerprint.as_bytes());
            let is_large = size.n_bytes > MAX_COPY_BYTES || size.n_entries > MAX_COPY_ENTRIES;
            if is_large {
                carried.doubts.push(format!(
                    "{} is too large to copy: tests cannot write there",
                    path.display()
                ));
            }
            if let CarryPlace::Copy { copies, .. } = place {
                let mount = if is_large {
                    SandboxMount::ReadOnly
                } else {
                    let copy = carry_folder(&source, copies, &path, &size).map_err(name_error)?;
                    SandboxMount::BindFrom(copy)
                };
                carried.mounts.push((path, mount));
            }
        } else {
            let content = read_file(&source).map_err(name_error)?;
            hash.update(Sha256::digest(&content));
            if let CarryPlace::Copy { files, .. } = place {
                carry_file(&source, &content, &files.join(&path)).map_err(name_error)?;
            }
        }
    }
    carried.fingerprint = to_hex(&hash.finalize());
    Ok(carried)
}

/// Returns whether a path is there, and is no empty folder.
fn has_content(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|own| !own.is_dir());
    let mut entries = path.read_dir().into_iter().flatten();
    is_file || entries.next().is_some()
}

/// Returns a path of the configuration if it stays inside the repository.
fn to_inner_path(name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let is_own = path.starts_with(".git") || path.starts_with(".agent-collab");
    (path.components().next().is_some() && !is_own).then_some(path)
}

/// Finds folders of installed packages, relative to the root.
fn find_package_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // Folders near the root come first, so that a large folder hides none of them.
    let mut open = VecDeque::from([(PathBuf::new(), 0)]);
    let mut searched = 0;
    while let Some((folder, depth)) = open.pop_front() {
        searched += 1;
        if searched > MAX_SEARCHED {
            break;
        }
        for entry in fs::read_dir(root.join(&folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let path = folder.join(&name);
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let is_named = |names: &[&str]| names.iter().any(|known| name == *known);
            if is_named(&DEPENDENCY_FOLDERS) {
                found.push(path);
            } else if depth < MAX_SEARCH_DEPTH
                && !name.as_bytes().starts_with(b".")
                && !is_named(&UNSEARCHED_FOLDERS)
            {
                open.push_back((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// Returns whether a file or folder is small enough to be tried as what failing tests may need.
pub(super) fn is_small(path: &Path) -> bool {
    const MAX_BYTES: u64 = 20_000_000;
    const MAX_ENTRIES: usize = 2_000;
    let (mut n_entries, mut n_bytes) = (0, 0);
    let mut open = vec![path.to_owned()];
    while let Some(place) = open.pop() {
        n_entries += 1;
        let Ok(found) = place.symlink_metadata() else {
            continue;
        };
        n_bytes += found.len();
        if n_entries > MAX_ENTRIES || n_bytes > MAX_BYTES {
            return false;
        }
        if found.is_dir() {
            let inside = fs::read_dir(&place).into_iter().flatten().flatten();
            open.extend(inside.map(|entry| entry.path()));
        }
    }
    true
}

/// Copies a folder unless the copy of an earlier test run is still as it was made; returns the copy.
fn carry_folder(
    source: &Path,
    copies: &Path,
    path: &Path,
    size: &FolderSize,
) -> io::Result<PathBuf> {
    let name = to_hex(&Sha256::digest(path.as_os_str().as_bytes()));
    let copy = copies.join(&name);
    let note = copies.join(format!("{name}.txt"));
    let expected = |copied: &str| format!("{}\n{copied}\n", size.fingerprint);
    let is_intact = measure_folder(&copy)
        .and_then(|copied| Ok(fs::read_to_string(&note)? == expected(&copied.fingerprint)))
        .unwrap_or(false);
    if !is_intact {
        if let Err(error) = fs::remove_dir_all(&copy)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        fs::create_dir_all(copies)?;
        copy_folder(source, &copy)?;
        fs::write(&note, expected(&measure_folder(&copy)?.fingerprint))?;
    }
    Ok(copy)
}

/// Reads a file that is carried. A link is followed: the user named it.
fn read_file(source: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(source)?.read_to_end(&mut content)?;
    Ok(content)
}

/// Writes one file into the copy of the tree.
fn carry_file(source: &Path, content: &[u8], target: &Path) -> io::Result<()> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(target, content)?;
    fs::set_permissions(target, source.metadata()?.permissions())
}

/// Returns a hash over what a build folder holds, without `tmp` in it, where tests may write.
pub(super) fn fingerprint_build(folder: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        hash.update(name.as_bytes());
        if name != "tmp" && entry.file_type()?.is_dir() {
            hash.update(measure_folder(&entry.path())?.fingerprint);
        }
    }
    Ok(to_hex(&hash.finalize()))
}

/// What a folder holds.
struct FolderSize {
    n_entries: u64,
    n_bytes: u64,
    /// A hash over names, sizes, modes, and the times that the system records.
    fingerprint: String,
}

fn measure_folder(folder: &Path) -> io::Result<FolderSize> {
    let (mut n_entries, mut n_bytes) = (0, 0);
    let mut hash = Sha256::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        let mut entries: Vec<_> = fs::read_dir(&place)?.collect::<io::Result<_>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let found = entry.metadata()?;
            n_entries += 1;
            n_bytes += if found.is_file() { found.len() } else { 0 };
            hash.update(entry.path().as_os_str().as_bytes());
            for number in [found.mode().into(), found.len()] {
                hash.update(number.to_le_bytes());
            }
            // Reading a folder's entries through a mount may touch the folder, never a file in it.
            if found.is_dir() {
                open.push(entry.path());
            } else {
                for number in [
                    found.mtime(),
                    found.mtime_nsec(),
                    found.ctime(),
                    found.ctime_nsec(),
                ] {
                    hash.update(number.to_le_bytes());
                }
            }
        }
        if n_entries > MAX_COPY_ENTRIES {
            break;
        }
    }
    Ok(FolderSize {
        n_entries,
        n_bytes,
        fingerprint: to_hex(&hash.finalize()),
    })
}

/// Copies files, folders and links with their modes and the files' times; sockets and devices are left out.
fn copy_folder(source: &Path, target: &Path) -> io::Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        let found = entry.metadata()?;
        if found.is_dir() {
            copy_folder(&from, &to)?;
        } else if found.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else if found.is_file() {
            let (mut read, mut written) = (File::open(&from)?, File::create(&to)?);
            io::copy(&mut read, &mut written)?;
            written.set_modified(found.modified()?)?;
            written.set_permissions(fs::Permissions::from_mode(found.mode() & 0o777))?;
        }
    }
    Ok(())
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn carry(root: &Path, place: &Path, named: &[&str]) -> CarriedFolders {
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let files = place.join("files");
        fs::create_dir_all(&files).unwrap();
        carry_into_copy(root, &files, &place.join("carried"), &named).unwrap()
    }

    #[test]
    fn packages_and_named_files_are_carried_as_copies() {
        let (root, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(root.path(), "web/node_modules/a/index.js", "1");
        put(root.path(), ".env", "KEY=1");
        symlink("a", root.path().join("web/node_modules/link")).unwrap();
        let first = carry(root.path(), place.path(), &[".env", "../x", "gone"]);
        assert_eq!(
            fs::read_to_string(place.path().join("files/.env")).unwrap(),
            "KEY=1"
        );
        let [(path, SandboxMount::BindFrom(copy))] = &first.mounts[..] else {
            panic!("{:?}", first.mounts);
        };
        assert_eq!(path, Path::new("web/node_modules"));
        assert_eq!(fs::read_link(copy.join("link")).unwrap(), Path::new("a"));
        assert_eq!(first.doubts.len(), 2, "{:?}", first.doubts);
        // A test that writes to the copy does not reach the next test run, nor the user's folder.
        fs::write(copy.join("a/index.js"), "2").unwrap();
        fs::remove_file(place.path().join("files/.env")).unwrap();
        let second = carry(root.path(), place.path(), &[".env"]);
        assert_eq!(fs::read_to_string(copy.join("a/index.js")).unwrap(), "1");
        assert_eq!(second.fingerprint, first.fingerprint);
        fs::remove_file(place.path().join("files/.env")).unwrap();
        // Another state of the user's folder is another environment.
        put(root.path(), "web/node_modules/b/index.js", "3");
        let third = carry(root.path(), place.path(), &[".env"]);
        assert!(copy.join("b/index.js").is_file());
        assert_ne!(third.fingerprint, first.fingerprint);
    }

    #[test]
    fn what_the_tree_has_is_not_replaced() {
        let (root, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(root.path(), "node_modules/a.js", "user's");
        put(root.path(), "data.txt", "user's");
        put(place.path(), "files/node_modules/a.js", "committed");
        put(place.path(), "files/data.txt", "committed");
        let carried = carry(root.path(), place.path(), &["data.txt"]);
        assert_eq!(carried.mounts, Vec::new());
        let kept = fs::read_to_string(place.path().join("files/data.txt")).unwrap();
        assert_eq!(kept, "committed");
    }

    #[test]
    fn only_paths_inside_the_repository_are_carried() {
        for name in [
            "",
            ".",
            "/etc",
            "../x",
            "a/../../x",
            ".git/config",
            ".agent-collab",
        ] {
            assert_eq!(to_inner_path(name), None, "{name}");
        }
        assert_eq!(to_inner_path("./a/b"), Some(PathBuf::from("a/b")));
    }
}
