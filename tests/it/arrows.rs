//! Finds what each source file uses, and fails where the table of layers forbids it.
//!
//! Reads paths as text: `crate::…`, enough `super::`, the names of dependencies, parts of `std`.

use std::collections::BTreeSet;

use regex::Regex;

use crate::layers::{Crates, LAYERS, Std};
use crate::sources::{self, Source, line_of};
use crate::{none, read};

/// Everything in one file that the table forbids, each with file and line.
fn broken(source: &Source, dependencies: &BTreeSet<String>) -> Vec<String> {
    let name = source.layer();
    if name == "lib" {
        return Vec::new();
    }
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        return vec![format!(
            "{}:1: `{name}` is no layer of the table",
            source.path
        )];
    };
    let mut complaints = Vec::new();
    let mut complain = |at: usize, what: String| {
        let line = line_of(&source.code, at) + 1;
        complaints.push(format!(
            "{}:{line}: {name} must not use {what}",
            source.path
        ));
    };
    for (at, module) in modules(source) {
        // `crate::Error` and the like would be items of lib.rs, which has none.
        if module != name && !layer.uses.contains(&module.as_str()) {
            complain(at, format!("the module {module}"));
        }
    }
    let is_product = |at: usize| !source.is_test(line_of(&source.code, at));
    for (at, dependency) in dependencies_of(source, dependencies) {
        let is_fine = match &layer.crates {
            Crates::Only(names) => names.contains(&dependency.as_str()),
            Crates::AllBut(names) => !names.contains(&dependency.as_str()),
        };
        if !is_fine && is_product(at) {
            complain(at, format!("the crate {dependency}"));
        }
    }
    if layer.std == Std::Pure {
        for (at, path) in impure(source) {
            if is_product(at) {
                complain(at, path);
            }
        }
    }
    complaints
}

/// Returns the top-level modules that a file names with `crate::`, `agent_collab::` or enough `super::`, each with its
/// position.
fn modules(source: &Source) -> Vec<(usize, String)> {
    let path = pattern(r"(?:^|[^\w:])((?:crate|agent_collab)|super(?:::super)*)::(\{|\w+)");
    let mut found = Vec::new();
    for captures in path.captures_iter(&source.code) {
        let (start, head) = (captures.get(1).unwrap(), captures.get(2).unwrap());
        let n_supers = start.as_str().matches("super").count();
        // One `super` more is needed inside the inline module of a file's tests.
        let inline = usize::from(
            source.is_test(line_of(&source.code, start.start())) && !is_test_file(source),
        );
        if n_supers > 0 && n_supers < source.depth() + inline {
            continue;
        }
        match head.as_str() {
            "{" => found.extend(
                group(&source.code[head.end()..])
                    .into_iter()
                    .map(|name| (start.start(), name)),
            ),
            name => found.push((start.start(), name.to_owned())),
        }
    }
    found
}

fn is_test_file(source: &Source) -> bool {
    source
        .test_lines
        .first()
        .is_some_and(|lines| *lines == (0..usize::MAX))
}

/// The first names of a group such as `a::b, c::{d, e}}`, up to its end.
fn group(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut names = vec![String::new()];
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(String::new()),
            c if depth == 0 => names.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    let first = |name: &String| {
        name.trim()
            .split([':', ' '])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    names
        .iter()
        .map(first)
        .filter(|name| !name.is_empty())
        .collect()
}

/// The crates that a file names, each with its position.
fn dependencies_of(source: &Source, dependencies: &BTreeSet<String>) -> Vec<(usize, String)> {
    let path = pattern(r"(?:^|[^\w:])(?:::)?(?:use\s+(\w+)\s*(?:;|as\b)|(\w+)::)");
    let named = path
        .captures_iter(&source.code)
        .filter_map(|captures| captures.get(1).or(captures.get(2)));
    let known = named.filter(|name| dependencies.contains(name.as_str()));
    known
        .map(|name| (name.start(), name.as_str().to_owned()))
        .collect()
}

/// Returns the names of the standard library that a pure file must not use, each with its position.
fn impure(source: &Source) -> Vec<(usize, String)> {
    const PARTS: &str = "fs|env|process|net|thread|os|io|sync::mpsc|time::Instant|time::SystemTime";
    let single = pattern(&format!(r"\bstd::(?:{PARTS})\b"));
    let many = pattern(r"\bstd::(?:time::)?\{([^;]*)\}");
    let inside = pattern(r"\b(fs|env|process|net|thread|os|io|mpsc|Instant|SystemTime)\b");
    let singles = single
        .find_iter(&source.code)
        .map(|found| (found.start(), found.as_str().to_owned()));
    let groups = many.captures_iter(&source.code).flat_map(|captures| {
        let names = captures.get(1).unwrap();
        inside
            .find_iter(names.as_str())
            .map(|found| {
                (
                    names.start() + found.start(),
                    format!("std's {}", found.as_str()),
                )
            })
            .collect::<Vec<_>>()
    });
    singles.chain(groups).collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// The names of all dependencies as code spells them.
fn dependencies() -> BTreeSet<String> {
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let tables = ["dependencies", "dev-dependencies"]
        .iter()
        .filter_map(|name| manifest.get(*name)?.as_table());
    tables
        .flat_map(|table| table.keys().map(|name| name.replace('-', "_")))
        .collect()
}

#[test]
fn no_file_uses_what_its_layer_must_not() {
    let dependencies = dependencies();
    let complaints: Vec<String> = sources::all()
        .iter()
        .flat_map(|source| broken(source, &dependencies))
        .collect();
    none(
        &complaints,
        "move the code to the layer that may, or hand the value in; the table is in tests/it/layers.rs",
    );
}

/// Checks what is complained about in a file; lines are separated by `|`.
fn check(path: &str, text: &str, wanted: &str) {
    let dependencies: BTreeSet<String> = ["tokio", "serde"]
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let (source, _) = sources::parse(path, &text.replace('|', "\n"));
    assert_eq!(broken(&source, &dependencies).join("|"), wanted, "{text}");
}

#[test]
fn an_arrow_that_the_table_lacks_is_named_with_its_line() {
    check(
        "src/store/instance_lock.rs",
        "//! x|use crate::domain::ids;|use crate::text;",
        "",
    );
    check(
        "src/store/instance_lock.rs",
        "//! x|use crate::engine::Engine;",
        "src/store/instance_lock.rs:2: store must not use the module engine",
    );
    check(
        "src/store/instance_lock.rs",
        "fn f() { crate::config::load() }",
        "src/store/instance_lock.rs:1: store must not use the module config",
    );
    check(
        "src/store/instance_lock.rs",
        "use crate::{domain::{ids, run}, app::x};",
        "src/store/instance_lock.rs:1: store must not use the module app",
    );
    check(
        "src/store/instance_lock.rs",
        "use super::super::config;",
        "src/store/instance_lock.rs:1: store must not use the module config",
    );
    check("src/store/instance_lock.rs", "use super::config;", "");
    check(
        "src/store/instance_lock.rs",
        "#[cfg(test)]|mod tests {|    use super::super::config;|}",
        "",
    );
    check(
        "src/store.rs",
        "use super::config::load;",
        "src/store.rs:1: store must not use the module config",
    );
    check(
        "src/main.rs",
        "fn main() { agent_collab::app::run() }",
        "src/main.rs:1: main must not use the module app",
    );
    check(
        "src/thing.rs",
        "",
        "src/thing.rs:1: `thing` is no layer of the table",
    );
    check(
        "src/store/instance_lock.rs",
        "// crate::engine|let x = \"crate::engine\";",
        "",
    );
}

#[test]
fn a_pure_file_names_no_file_clock_or_runtime_outside_its_tests() {
    check(
        "src/domain/run.rs",
        "use serde::Serialize;|use std::time::Duration;",
        "",
    );
    check(
        "src/domain/run.rs",
        "use tokio::sync;",
        "src/domain/run.rs:1: domain must not use the crate tokio",
    );
    check(
        "src/domain/run.rs",
        "use std::fs;",
        "src/domain/run.rs:1: domain must not use std::fs",
    );
    check(
        "src/domain/run.rs",
        "use std::{fmt, env};",
        "src/domain/run.rs:1: domain must not use std's env",
    );
    check(
        "src/text.rs",
        "use std::time::{Duration, Instant};",
        "src/text.rs:1: text must not use std's Instant",
    );
    check(
        "src/text.rs",
        "#[cfg(test)]|mod tests {|    use std::fs;|    use tokio::time;|}",
        "",
    );
    check(
        "src/adapter/codex.rs",
        "let x = std::process::id();",
        "src/adapter/codex.rs:1: adapter must not use std::process",
    );
}
