//! Checks the rules of the code base: which layer uses which, what the documents say, how files look.
//!
//! The tests read the repository as text; they do not test behaviour.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "all of this crate is a test, which clippy's own switches for tests do not see"
)]

mod architecture;
mod documents;
mod flows;

mod adapters;
mod arrows;
mod circles;
mod layers;
mod names;
mod shape;
mod sources;
mod walks;

use std::path::{Path, PathBuf};

/// The repository's root.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file of the repository.
fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// Lists all files below a folder of the repository, relative to its root, in order; `except` names folders to leave
/// out.
fn files_below(folder: &str, except: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_symlink() || except.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Fails with every complaint at once, and with what to do.
fn none(complaints: &[String], remedy: &str) {
    assert!(
        complaints.is_empty(),
        "\n{}\nhint: {remedy}\n",
        complaints.join("\n")
    );
}
