//! The sensitive parts of files that hold other things, too.
//!
//! Refuses to say what they mean: two parts are equal or not.

use std::collections::BTreeMap;

use serde_json::Value;

/// The sensitive part of a file, for comparison.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Absent,
    Json(Value),
    Toml(BTreeMap<String, toml::Value>),
    Lines(Vec<String>),
    /// The file cannot be read, so any other bytes are a change.
    Unreadable(Vec<u8>),
}

pub(super) fn npm_scripts(content: &[u8]) -> Part {
    match serde_json::from_slice::<Value>(content) {
        Err(_) => Part::Unreadable(content.to_vec()),
        Ok(manifest) => match manifest.get("scripts") {
            None => Part::Absent,
            // The order of scripts means nothing; equality of JSON objects ignores it.
            Some(scripts) => Part::Json(scripts.clone()),
        },
    }
}

pub(super) fn pytest_tables(content: &[u8]) -> Part {
    toml_part(content, |file| {
        let tools = file.get("tool").and_then(toml::Value::as_table);
        tools
            .into_iter()
            .flatten()
            .filter(|(name, _)| name.starts_with("pytest"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    })
}

pub(super) fn build_script(content: &[u8]) -> Part {
    toml_part(content, |file| {
        let build = file.get("package").and_then(|package| package.get("build"));
        build
            .into_iter()
            .map(|build| ("build".to_owned(), build.clone()))
            .collect()
    })
}

fn toml_part(content: &[u8], part: impl Fn(&toml::Table) -> BTreeMap<String, toml::Value>) -> Part {
    let file = std::str::from_utf8(content)
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok());
    match file.map(|file| part(&file)) {
        None => Part::Unreadable(content.to_vec()),
        Some(part) if part.is_empty() => Part::Absent,
        Some(part) => Part::Toml(part),
    }
}

/// The lines of a section of an INI file that are neither blank nor a comment.
pub(super) fn section(content: &[u8], name: &str) -> Part {
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
        Part::Absent
    } else {
        Part::Lines(lines)
    }
}
