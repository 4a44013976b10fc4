//! Extracts the sensitive parts of files that also contain other things.
//!
//! Does not interpret them: two parts are equal or not.

use std::collections::BTreeMap;

use serde_json::Value;

/// The sensitive part of a file, for comparison.
#[derive(Debug, PartialEq)]
pub(super) enum SensitivePart {
    Absent,
    Json(Value),
    Toml(BTreeMap<String, toml::Value>),
    Lines(Vec<String>),
    /// The file cannot be parsed, so any other bytes are a change.
    Unreadable(Vec<u8>),
}

pub(super) fn npm_scripts(content: &[u8]) -> SensitivePart {
    match serde_json::from_slice::<Value>(content) {
        Err(_) => SensitivePart::Unreadable(content.to_vec()),
        Ok(manifest) => json_members(&manifest, &NPM_KEYS),
    }
}

/// Keys of npm's manifest that make other programs run, or select tests.
const NPM_KEYS: [&str; 14] = [
    "scripts",
    "workspaces",
    "packageManager",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "nyc",
    "c8",
    "tap",
    "babel",
    "ts-node",
    "playwright",
    "cypress",
];

/// Returns the TypeScript settings that decide how tests are compiled. Files with comments cannot be parsed
/// here.
pub(super) fn typescript_settings(content: &[u8]) -> SensitivePart {
    let Ok(settings) = serde_json::from_slice::<Value>(content) else {
        return SensitivePart::Unreadable(content.to_vec());
    };
    let mut own = settings.clone();
    if let (Some(own), Some(options)) = (own.as_object_mut(), settings.get("compilerOptions")) {
        let paths = ["paths", "baseUrl", "plugins"].map(|key| options.get(key).cloned());
        own.insert("compilerOptions".to_owned(), serde_json::json!(paths));
        if paths_are_absent(options) {
            own.remove("compilerOptions");
        }
    }
    json_members(&own, &["extends", "ts-node", "compilerOptions"])
}

fn paths_are_absent(options: &Value) -> bool {
    ["paths", "baseUrl", "plugins"]
        .iter()
        .all(|key| options.get(key).is_none())
}

/// Modules that a conftest.py may import as a helper of tests.
const PLAIN_MODULES: [&str; 22] = [
    "__future__",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "functools",
    "io",
    "itertools",
    "json",
    "logging",
    "pathlib",
    "pytest",
    "random",
    "re",
    "string",
    "tempfile",
    "textwrap",
    "typing",
];

/// Returns a conftest.py as a whole where it may change how pytest finds or runs tests: any of its lines may be part of
/// that. One that holds fixtures alone, and imports nothing but plain modules, is a helper of the tests.
pub(super) fn pytest_hooks(content: &[u8]) -> SensitivePart {
    const MARKS: [&str; 8] = [
        "pytest_", "hookimpl", "hookspec", "_pytest", "__", "exec(", "eval(", "autouse",
    ];
    let text = String::from_utf8_lossy(content);
    let is_plain = |line: &str| {
        let line = line.trim_start();
        let modules = line
            .strip_prefix("import ")
            .or_else(|| line.strip_prefix("from "));
        let Some(modules) = modules else {
            return !MARKS.iter().any(|mark| line.contains(mark));
        };
        let names = modules.split(" import ").next().unwrap_or_default();
        let mut names = names.split(',').map(|name| {
            let name = name.split_whitespace().next().unwrap_or_default();
            name.split('.').next().unwrap_or_default().to_owned()
        });
        names.all(|name| PLAIN_MODULES.contains(&name.as_str()))
    };
    if text.lines().all(is_plain) {
        SensitivePart::Absent
    } else {
        SensitivePart::Unreadable(content.to_vec())
    }
}

/// Returns what composer runs by itself.
pub(super) fn composer_scripts(content: &[u8]) -> SensitivePart {
    match serde_json::from_slice::<Value>(content) {
        Err(_) => SensitivePart::Unreadable(content.to_vec()),
        Ok(manifest) => json_members(&manifest, &["scripts"]),
    }
}

/// Returns these keys of a JSON object. Their order does not matter; equality of JSON objects ignores it.
fn json_members(object: &Value, keys: &[&str]) -> SensitivePart {
    let found = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), object.get(key)?.clone())));
    let found: serde_json::Map<String, Value> = found.collect();
    if found.is_empty() {
        SensitivePart::Absent
    } else {
        SensitivePart::Json(Value::Object(found))
    }
}

/// Returns the lines of go's manifest that take modules, or the module itself, from elsewhere; all lines of a
/// block count.
pub(super) fn go_replacements(content: &[u8]) -> SensitivePart {
    let text = String::from_utf8_lossy(content);
    let (mut inside, mut lines) = (false, Vec::new());
    for line in text.lines().map(str::trim) {
        let counts = ["replace", "toolchain", "tool"]
            .iter()
            .any(|word| line.split_ascii_whitespace().next() == Some(*word));
        inside = (inside || counts && line.ends_with('(')) && line != ")";
        if counts || inside {
            lines.push(line.to_owned());
        }
    }
    if lines.is_empty() {
        SensitivePart::Absent
    } else {
        SensitivePart::Lines(lines)
    }
}

/// Returns what of a file of Go decides whether tests are built and run: its build constraints, and the whole file where
/// it has a `TestMain`, which runs the tests.
pub(super) fn go_constraints(content: &[u8]) -> SensitivePart {
    let text = String::from_utf8_lossy(content);
    if text.lines().any(|line| line.starts_with("func TestMain(")) {
        return SensitivePart::Unreadable(content.to_vec());
    }
    // Constraints stand before the package; further below the same words are a comment.
    let head = text.lines().map(str::trim);
    let head = head.take_while(|line| !line.starts_with("package "));
    let tags = head.filter(|line| line.starts_with("//go:build") || line.starts_with("// +build"));
    let tags: Vec<String> = tags.map(str::to_owned).collect();
    if tags.is_empty() {
        SensitivePart::Absent
    } else {
        SensitivePart::Lines(tags)
    }
}

pub(super) fn pytest_tables(content: &[u8]) -> SensitivePart {
    toml_part(content, |file| {
        let tools = file.get("tool").and_then(toml::Value::as_table);
        tools
            .into_iter()
            .flatten()
            .filter(|(name, _)| name.starts_with("pytest"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .chain(pytest_plugins(file))
            .collect()
    })
}

/// Returns the plugins that pytest loads by itself once the project is installed.
fn pytest_plugins(file: &toml::Table) -> Option<(String, toml::Value)> {
    let of_project = || file.get("project")?.get("entry-points")?.get("pytest11");
    let of_poetry = || {
        let poetry = file.get("tool")?.get("poetry")?;
        poetry.get("plugins")?.get("pytest11")
    };
    let plugins = of_project().or_else(of_poetry)?;
    Some(("pytest11".to_owned(), plugins.clone()))
}

/// Returns the parts of cargo's manifest that decide which tests are built and run, and by what.
pub(super) fn cargo_settings(content: &[u8]) -> SensitivePart {
    toml_part(content, |file| {
        let mut found = BTreeMap::new();
        let mut keep = |table: &str, name: &str, value: Option<&toml::Value>| {
            found.extend(value.map(|value| (format!("{table}.{name}"), value.clone())));
        };
        for name in [
            "build",
            "autotests",
            "autobins",
            "autoexamples",
            "autobenches",
            "workspace",
        ] {
            keep(
                "package",
                name,
                file.get("package").and_then(|table| table.get(name)),
            );
        }
        for name in ["members", "exclude", "default-members"] {
            keep(
                "workspace",
                name,
                file.get("workspace").and_then(|table| table.get(name)),
            );
        }
        let features = file.get("features");
        for name in default_features(features) {
            keep("features", name, features.and_then(|table| table.get(name)));
        }
        for name in ["patch", "replace"] {
            keep("", name, file.get(name));
        }
        let profiles = file.get("profile");
        for name in ["test", "dev"] {
            keep("profile", name, profiles.and_then(|table| table.get(name)));
        }
        for name in TARGET_SWITCHES {
            keep("lib", name, file.get("lib").and_then(|lib| lib.get(name)));
        }
        for kind in ["test", "bin", "example", "bench"] {
            let targets = file.get(kind).and_then(toml::Value::as_array);
            for (n, target) in targets.into_iter().flatten().enumerate() {
                // A target that exists and disables nothing is a new test like any other.
                let switched = TARGET_SWITCHES
                    .iter()
                    .filter(|name| target.get(name).is_some());
                let name = target.get("name").and_then(toml::Value::as_str);
                let name = name.map_or_else(|| n.to_string(), str::to_owned);
                for switch in switched {
                    keep(&format!("{kind} {name}"), switch, target.get(switch));
                }
            }
        }
        found
    })
}

/// Lists the default features with those that they turn on.
fn default_features(features: Option<&toml::Value>) -> Vec<&str> {
    let mut found = vec!["default"];
    let mut next = 0;
    while let Some(name) = found.get(next) {
        let turned_on = features.and_then(|table| table.get(*name)?.as_array());
        let names = turned_on.into_iter().flatten();
        for name in names.filter_map(toml::Value::as_str) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        next += 1;
    }
    found
}

/// Keys of a target that decide whether and how its tests run.
const TARGET_SWITCHES: [&str; 4] = ["harness", "test", "doctest", "required-features"];

fn toml_part(
    content: &[u8],
    part: impl Fn(&toml::Table) -> BTreeMap<String, toml::Value>,
) -> SensitivePart {
    let file = std::str::from_utf8(content)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok());
    match file.map(|file| part(&file)) {
        None => SensitivePart::Unreadable(content.to_vec()),
        Some(part) if part.is_empty() => SensitivePart::Absent,
        Some(part) => SensitivePart::Toml(part),
    }
}

/// Returns the lines of a section of an INI file that are neither blank nor a comment.
pub(super) fn ini_section(content: &[u8], name: &str) -> SensitivePart {
    let text = String::from_utf8_lossy(content);
    let header = format!("[{name}]");
    let (mut inside, mut lines) = (false, Vec::new());
    for line in text.lines().map(str::trim_end) {
        if line.starts_with('[') {
            inside = line == header;
        } else if inside && !line.is_empty() && !line.starts_with(['#', ';']) {
            lines.push(line.to_owned());
        }
    }
    if lines.is_empty() {
        SensitivePart::Absent
    } else {
        SensitivePart::Lines(lines)
    }
}
