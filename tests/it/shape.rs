//! Checks the form of source files: first line, length, name, and the purity that clippy can see.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::line_of;
use crate::{none, read, sources};

/// Files that may be longer than 550 lines, tests apart, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[
    (
        "src/domain/event.rs",
        "the one closed list of everything that can happen",
    ),
    (
        "src/tui/screen.rs",
        "all that the screen keeps, and the doors by which news come to it",
    ),
];

/// Lines without tests. Names of two words and more make a line of code one and a quarter lines long.
const LONG: usize = 550;

#[test]
fn the_pure_layers_deny_what_clippy_can_find() {
    let denial = "#![deny(clippy::disallowed_methods, clippy::disallowed_types)]";
    let missing: Vec<String> = ["src/domain.rs", "src/permission.rs", "src/text.rs"]
        .iter()
        .filter(|path| !read(path).lines().any(|line| line == denial))
        .map(|path| format!("{path}:1: lacks `{denial}`"))
        .collect();
    none(&missing, "the list of what it denies is in clippy.toml");
}

#[test]
fn every_file_says_first_what_it_is() {
    let silent: Vec<String> = sources::all()
        .iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| format!("{}:1: does not begin with `//! `", source.path))
        .collect();
    none(
        &silent,
        "say in the first line what the file does or has, in one plain sentence",
    );
}

#[test]
fn a_long_file_has_a_reason() {
    let mut complaints = Vec::new();
    for source in sources::all() {
        let n_lines = source.n_lines();
        let is_listed = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        if n_lines > LONG && !is_listed {
            complaints.push(format!("{}: {n_lines} lines without tests", source.path));
        } else if n_lines <= LONG * 4 / 5 && is_listed {
            complaints.push(format!(
                "{}: only {n_lines} lines, it needs no exception",
                source.path
            ));
        }
    }
    none(
        &complaints,
        "divide a long file by idea, or list it with a reason in tests/it/shape.rs",
    );
}

/// How many files may implement a type: with more, any of them may touch any of its fields.
const MOST_FILES_OF_A_TYPE: usize = 8;

#[test]
fn no_type_is_implemented_in_more_files_than_can_be_read_together() {
    let implementation = Regex::new(r"(?m)^impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{").unwrap();
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources::all() {
        for found in implementation.captures_iter(&source.code) {
            let name = found.get(1).unwrap();
            if !source.is_test(line_of(&source.code, name.start())) {
                files.entry(name.as_str()).or_default().insert(&source.path);
            }
        }
    }
    assert!(files.len() > 500, "{} types were found", files.len());
    let many = files
        .iter()
        .filter(|(_, of)| of.len() > MOST_FILES_OF_A_TYPE);
    let many: Vec<String> = many.map(|(name, of)| format!("{name}: {of:?}")).collect();
    none(
        &many,
        "make functions of what needs only its public methods, or an owner of a part",
    );
}

#[test]
fn no_file_is_named_after_nothing() {
    let vague = [
        "util", "utils", "helper", "helpers", "common", "misc", "manager", "mod",
    ];
    let is_vague = |path: &str| {
        let parts = path.trim_end_matches(".rs").split('/');
        parts
            .flat_map(|part| part.split('_'))
            .any(|word| vague.contains(&word))
    };
    let named: Vec<String> = sources::all()
        .iter()
        .map(|source| source.path.clone())
        .filter(|path| is_vague(path))
        .collect();
    none(
        &named,
        "name a file after the idea it holds; `foo.rs` beside `foo/` instead of `foo/mod.rs`",
    );
}
