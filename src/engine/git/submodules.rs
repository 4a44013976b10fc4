//! Lists the submodules that an index names, without git: the sandbox needs them before any git call.
//!
//! An index that cannot be read has no submodules.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::process::SandboxMount;

const GITLINK_MODE: u32 = 0o160_000;
/// The lengths of an object id, in bytes: SHA-1 and SHA-256.
const ID_BYTES: [usize; 2] = [20, 32];

/// Returns the files that lead git into each submodule of a work tree, mounted read-only.
pub(in crate::engine) fn submodule_mounts(root: &Path) -> Vec<(PathBuf, SandboxMount)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(tree) = open.pop() {
        for submodule in list_submodules(&tree) {
            let submodule = tree.join(submodule);
            let place = submodule.join(".git");
            let is_own = place
                .symlink_metadata()
                .is_ok_and(|found| !found.is_symlink());
            if is_own && seen.insert(place.clone()) {
                found.push((place, SandboxMount::ReadOnly));
                open.push(submodule);
            }
        }
    }
    found
}

/// Lists the submodules of a work tree, relative to its root.
fn list_submodules(root: &Path) -> Vec<PathBuf> {
    let Some(git_dir) = git_dir_of(root) else {
        return Vec::new();
    };
    let shared = fs::read_dir(&git_dir).into_iter().flatten().flatten();
    let shared = shared.map(|entry| entry.path());
    let shared = shared.filter(|path| {
        let name = path.file_name().unwrap_or_default();
        name.as_bytes().starts_with(b"sharedindex.")
    });
    let mut found = Vec::new();
    for file in std::iter::once(git_dir.join("index")).chain(shared) {
        found.extend(list_index_submodules(&file));
    }
    found
}

/// Lists the submodules that one index file names, relative to the root.
pub(super) fn list_index_submodules(index: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(index).unwrap_or_default();
    let mut lengths = ID_BYTES.iter();
    let read = lengths.find_map(|n| parse_index_submodules(&bytes, *n));
    read.unwrap_or_default()
}

fn git_dir_of(root: &Path) -> Option<PathBuf> {
    let place = root.join(".git");
    if place.is_dir() {
        return Some(place);
    }
    let pointer = fs::read(&place).ok()?;
    let path = pointer.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(root.join(std::ffi::OsStr::from_bytes(path)))
}

/// Parses the submodules from an index with this length of object ids; `None` where it is not such an index.
fn parse_index_submodules(bytes: &[u8], id_bytes: usize) -> Option<Vec<PathBuf>> {
    let number = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(four.try_into().ok()?))
    };
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, n_entries) = (number(4)?, number(8)?);
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    let mut found = Vec::new();
    for _ in 0..n_entries {
        let mode = number(at + 24)?;
        let flags_at = at + 40 + id_bytes;
        let flags = bytes.get(flags_at..flags_at + 2)?;
        let is_extended = version >= 3 && flags.first()? & 0x40 != 0;
        let mut name_at = flags_at + if is_extended { 4 } else { 2 };
        if version == 4 {
            let n_dropped = read_variable_length_int(bytes, &mut name_at)?;
            name.truncate(name.len().checked_sub(n_dropped)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(name_at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(rest.get(..length)?);
        let told = usize::from(u16::from_be_bytes(flags.try_into().ok()?) & 0xfff);
        if told != name.len().min(0xfff) {
            return None;
        }
        let end = name_at + length;
        at = match version {
            4 => end + 1,
            // Entries are padded with one to eight zeros.
            _ => at + ((end - at) / 8 + 1) * 8,
        };
        if mode & 0o170_000 == GITLINK_MODE {
            found.push(PathBuf::from(std::ffi::OsStr::from_bytes(&name)));
        }
    }
    Some(found)
}

/// Reads how many bytes of the previous name an entry of version 4 drops.
fn read_variable_length_int(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0usize;
    let mut is_first = true;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if !is_first {
            value = value.checked_add(1)?;
        }
        is_first = false;
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
}
