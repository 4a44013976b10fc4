//! Resolves the paths of a call on the disk, for the decision about it.

use std::path::{Path, PathBuf};

use crate::permission::{AgentToolCall, ResolvedPath, lexical_path};

/// Resolves the paths of a call on the disk.
pub fn resolve_call_paths(root: &Path, call: &AgentToolCall) -> Vec<ResolvedPath> {
    let paths = match call {
        AgentToolCall::Edit { paths, .. } | AgentToolCall::Read { paths, .. } => paths.as_slice(),
        AgentToolCall::Command { .. } | AgentToolCall::Tool { .. } => &[],
    };
    paths
        .iter()
        .map(|named| resolve_path(root, named))
        .collect()
}

/// Resolves a path by its name and on the disk; links are followed as far as the path exists.
pub fn resolve_path(root: &Path, named: &Path) -> ResolvedPath {
    let lexical = lexical_path::lexical_absolute(root, named);
    let real = real_path(&lexical);
    ResolvedPath { lexical, real }
}

/// Follows links in the longest part of a path that exists, and appends the rest as given.
fn real_path(lexical: &Path) -> PathBuf {
    let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
    let mut at = lexical;
    loop {
        match at.canonicalize() {
            Ok(real) => {
                return missing
                    .iter()
                    .rev()
                    .fold(real, |path, name| path.join(name));
            }
            Err(_) if is_dangling_link(at) => return PathBuf::from("/proc/self/unresolvable-link"),
            Err(_) => {}
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                at = parent;
            }
            _ => return lexical.to_path_buf(),
        }
    }
}

/// Returns whether a path is a dangling link: its target may be created anywhere later, so a write could land
/// anywhere.
fn is_dangling_link(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.file_type().is_symlink())
}

/// Resolves an entry of a git tree: links above it are followed, a link that is the entry itself is not.
pub(super) fn resolve_tree_entry(root: &Path, path: &Path) -> ResolvedPath {
    let real = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve_path(root, parent).real.join(name),
        _ => resolve_path(root, path).real,
    };
    ResolvedPath {
        lexical: path.to_owned(),
        real,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_through_links_as_far_as_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("in")).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.join("dangling")).unwrap();
        let check = |named: &str| {
            let found = resolve_path(&root, Path::new(named));
            (found.lexical, found.real)
        };
        assert_eq!(
            check("in/../in/new.txt"),
            (root.join("in/new.txt"), root.join("in/new.txt"))
        );
        assert_eq!(
            check("out/new.txt"),
            (root.join("out/new.txt"), PathBuf::from("/etc/new.txt"))
        );
        assert!(!check("dangling").1.starts_with(&root));
    }
}
