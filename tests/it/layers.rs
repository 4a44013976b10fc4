//! The table of layers, and the tests that fail when a file breaks it.
//!
//! The table is data; ARCHITECTURE.md prints it. A new arrow or crate is a line here, with its reason
//! in the commit.

use std::collections::BTreeSet;

use regex::Regex;

use crate::sources::{self, Source, line_of};
use crate::{none, read};

/// One top-level module.
pub struct Layer {
    pub name: &'static str,
    /// The other modules that it may use.
    pub uses: &'static [&'static str],
    /// The crates that its code, tests apart, may use.
    pub crates: Crates,
    /// What of the standard library its code, tests apart, may use.
    pub std: Std,
}

/// The crates that a layer may use.
pub enum Crates {
    /// These and no others.
    Only(&'static [&'static str]),
    /// All that the package depends on but these.
    AllBut(&'static [&'static str]),
}

/// What of the standard library a layer may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Std {
    /// No files, environment, processes, network, threads or clock.
    Pure,
    /// Everything.
    All,
}

const PURE: Crates = Crates::Only(&[
    "regex",
    "serde",
    "serde_json",
    "sha2",
    "similar",
    "thiserror",
    "unicode_segmentation",
    "unicode_width",
]);
/// A screen belongs to `tui` and `app`, a command line to `cli` and `app`.
const NO_FRONT: Crates = Crates::AllBut(&["clap", "clap_complete", "crossterm", "ratatui"]);
const ABSTRACT: &[&str] = &["domain", "permission", "text"];

/// All layers from the inside out.
pub const LAYERS: &[Layer] = &[
    Layer {
        name: "text",
        uses: &[],
        crates: PURE,
        std: Std::Pure,
    },
    Layer {
        name: "permission",
        uses: &["text"],
        crates: PURE,
        std: Std::Pure,
    },
    Layer {
        name: "domain",
        uses: &["permission", "text"],
        crates: PURE,
        std: Std::Pure,
    },
    Layer {
        name: "adapter",
        uses: ABSTRACT,
        // uuid only formats ids from bytes that it is handed.
        crates: Crates::Only(&[
            "serde",
            "serde_json",
            "sha2",
            "similar",
            "thiserror",
            "uuid",
        ]),
        std: Std::Pure,
    },
    Layer {
        name: "process",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "store",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "config",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "prompts",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "scripted",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "engine",
        uses: &[
            "domain",
            "permission",
            "text",
            "adapter",
            "process",
            "store",
            "config",
            "prompts",
        ],
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "app",
        uses: &[
            "domain",
            "permission",
            "text",
            "adapter",
            "process",
            "store",
            "config",
            "prompts",
            "engine",
        ],
        crates: Crates::AllBut(&[]),
        std: Std::All,
    },
    Layer {
        name: "cli",
        uses: &[
            "domain",
            "permission",
            "text",
            "adapter",
            "process",
            "store",
            "config",
            "prompts",
            "scripted",
            "engine",
            "app",
        ],
        crates: Crates::AllBut(&[]),
        std: Std::All,
    },
    Layer {
        name: "main",
        uses: &["cli"],
        crates: Crates::AllBut(&[]),
        std: Std::All,
    },
];

/// Files that may be longer than 500 lines, tests apart, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[
    (
        "src/domain/event.rs",
        "the one closed list of everything that can happen",
    ),
    (
        "src/scripted/claude.rs",
        "the whole loop of one process; frames, calls and interrupts are in its folder",
    ),
];

const LONG: usize = 500;

/// The layer table as ARCHITECTURE.md prints it.
pub fn as_markdown() -> String {
    let list = |names: &[&str]| match names {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    let mut lines = vec![
        "| layer | may use | crates | standard library |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    for layer in LAYERS {
        let crates = match &layer.crates {
            Crates::Only(names) => format!("only {}", names.join(", ")),
            Crates::AllBut([]) => "all".to_owned(),
            Crates::AllBut(names) => format!("all but {}", names.join(", ")),
        };
        let std = match layer.std {
            Std::Pure => "no files, environment, processes, threads, clock",
            Std::All => "all",
        };
        lines.push(format!(
            "| {} | {} | {crates} | {std} |",
            layer.name,
            list(layer.uses)
        ));
    }
    lines.join("\n")
}

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

/// The top-level modules that a file names, each with its position: by `crate::`, `agent_collab::`, or enough `super::`.
fn modules(source: &Source) -> Vec<(usize, String)> {
    let path = regex(r"(?:^|[^\w:])((?:crate|agent_collab)|super(?:::super)*)::(\{|\w+)");
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
    let path = regex(r"(?:^|[^\w:])(?:::)?(?:use\s+(\w+)\s*(?:;|as\b)|(\w+)::)");
    let named = path
        .captures_iter(&source.code)
        .filter_map(|captures| captures.get(1).or(captures.get(2)));
    let known = named.filter(|name| dependencies.contains(name.as_str()));
    known
        .map(|name| (name.start(), name.as_str().to_owned()))
        .collect()
}

/// What of the standard library a pure file must not name, each with its position.
fn impure(source: &Source) -> Vec<(usize, String)> {
    const PARTS: &str = "fs|env|process|net|thread|os|io|sync::mpsc|time::Instant|time::SystemTime";
    let single = regex(&format!(r"\bstd::(?:{PARTS})\b"));
    let many = regex(r"\bstd::(?:time::)?\{([^;]*)\}");
    let inside = regex(r"\b(fs|env|process|net|thread|os|io|mpsc|Instant|SystemTime)\b");
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

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
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

#[test]
fn every_module_of_the_library_is_a_layer() {
    let lib = sources::blank(&read("src/lib.rs"));
    let declared: Vec<String> = regex(r"\bmod (\w+);")
        .captures_iter(&lib)
        .map(|captures| captures[1].to_owned())
        .collect();
    let of_table = LAYERS
        .iter()
        .map(|layer| layer.name)
        .filter(|name| *name != "main");
    let (declared, of_table): (BTreeSet<&str>, BTreeSet<&str>) = (
        declared.iter().map(String::as_str).collect(),
        of_table.collect(),
    );
    assert_eq!(
        declared, of_table,
        "src/lib.rs and the table in tests/it/layers.rs differ"
    );
}

#[test]
fn a_layer_uses_only_layers_further_in() {
    for (at, layer) in LAYERS.iter().enumerate() {
        for used in layer.uses {
            let inner = LAYERS[..at].iter().any(|inner| inner.name == *used);
            assert!(inner, "{} uses {used}, which is not further in", layer.name);
        }
    }
}

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
        "say in the first line what the file is, in the next what it refuses to know",
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
        "divide a long file by idea, or list it with a reason in tests/it/layers.rs",
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
        "src/store/lock.rs",
        "//! x|use crate::domain::ids;|use crate::text;",
        "",
    );
    check(
        "src/store/lock.rs",
        "//! x|use crate::engine::Engine;",
        "src/store/lock.rs:2: store must not use the module engine",
    );
    check(
        "src/store/lock.rs",
        "fn f() { crate::config::load() }",
        "src/store/lock.rs:1: store must not use the module config",
    );
    check(
        "src/store/lock.rs",
        "use crate::{domain::{ids, run}, app::x};",
        "src/store/lock.rs:1: store must not use the module app",
    );
    check(
        "src/store/lock.rs",
        "use super::super::config;",
        "src/store/lock.rs:1: store must not use the module config",
    );
    check("src/store/lock.rs", "use super::config;", "");
    check(
        "src/store/lock.rs",
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
        "src/store/lock.rs",
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
