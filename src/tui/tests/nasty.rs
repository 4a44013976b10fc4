//! Replaces the texts of the example run by texts that break screens: wide characters, characters of
//! several code points, right-to-left scripts, endless combining marks, words of three hundred letters, and
//! damaged documents.
//!
//! It works on field names, without knowing where a text is shown.

use std::cell::Cell;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::world::{NOW, settings, story};
use crate::domain::ids::UnixMillis;
use crate::domain::plan;
use crate::domain::run::RunState;
use crate::tui::{DocumentRevision, RunDocumentFiles, Screen, ScreenSettings};

const WIDE: &str = "为计算器加入求和功能并且说明空列表的结果，이것은 넓은 글자입니다。ハ゜";
const SIGNS: &str =
    "👩‍👩‍👧‍👦 🧑🏽‍💻 🇩🇪🇯🇵 ❤️ 1️⃣ ✌🏿 🏳️‍🌈 e\u{301}\u{302}\u{323} n\u{303} Z\u{351}\u{36b}\u{343}a\u{335}\u{31b}";
const RIGHT_TO_LEFT: &str = "مرحبا بالعالم، لا إله السلام (calc.py) שלום עולם، 12 الأول";
const MIXED: &str = "ends with *half **a `mark ~~and \\| a [link](https://example.org/";

thread_local! {
    static IS_NASTY: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function that creates fixtures with nasty texts.
pub fn nastily<T>(make: impl FnOnce() -> T) -> T {
    let before = IS_NASTY.replace(true);
    let made = make();
    IS_NASTY.set(before);
    made
}

/// Returns a text of a fixture unchanged, or its nasty version.
pub fn said(text: &str) -> String {
    if IS_NASTY.get() {
        written(text)
    } else {
        text.to_owned()
    }
}

/// Returns a word of three hundred letters.
fn endless() -> String {
    let part = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrente";
    part.chars().cycle().take(300).collect()
}

/// Returns a nasty line for a text; the same text gives the same line, and different texts start
/// differently.
pub fn line(text: &str) -> String {
    let endless = endless();
    let parts = [WIDE, SIGNS, RIGHT_TO_LEFT, MIXED, &endless];
    let from = text.bytes().map(usize::from).sum::<usize>() % parts.len();
    let parts: Vec<&str> = (0..parts.len())
        .map(|n| parts[(from + n) % parts.len()])
        .collect();
    parts.join(" ")
}

/// Returns a nasty path that ends like another.
fn path(text: &str) -> String {
    let end = text.rsplit('/').next().unwrap_or_default();
    format!("目录/👩‍👩‍👧‍👦/مرحبا لا/e\u{301}{}/{end}", "x".repeat(90))
}

/// Returns a nasty text of several lines: a list, a table, code, a quote, headings.
fn essay(text: &str) -> String {
    let line = line(text);
    let endless = endless();
    format!(
        "# {WIDE}\n\n{line}\n\n- {RIGHT_TO_LEFT}\n  - {SIGNS} {WIDE}\n1. {endless}\n\n| {WIDE} | {SIGNS} | لا |\n\
         |---|:-:|--:|\n| {RIGHT_TO_LEFT} | {SIGNS} | 1 |\n| a | {endless} | {WIDE} |\n\n> {line}\n\n\
         ```python\ndef 求和(数):\n    return \"{SIGNS} {RIGHT_TO_LEFT} {WIDE}{WIDE}\"  # {endless}\n```\n\n{WIDE}{WIDE}"
    )
}

/// Returns a nasty change of one file.
fn patch() -> String {
    format!(
        "@@ -1,3 +1,3 @@ {RIGHT_TO_LEFT}\n {WIDE}{WIDE}\n-{SIGNS} {RIGHT_TO_LEFT}\n+{SIGNS} {RIGHT_TO_LEFT} {WIDE}\n-{}\n+{}x\n",
        endless(),
        endless()
    )
}

/// Fields with a text that an agent, a CLI, git or the user wrote.
const WRITTEN: &[&str] = &[
    "title",
    "text",
    "reason",
    "message",
    "output",
    "output_tail",
    "description",
    "doing",
    "topic",
    "context",
    "conclusion",
    "wording",
    "instead",
    "blocking",
    "why_changed",
    "evidence",
    "summary",
    "found",
    "why",
    "rest",
    "remarks",
    "quote",
    "questions",
    "label",
    "header",
    "targets",
    "command",
    "what",
    "error",
    "told",
    "exact",
    "pattern",
    "proposal",
    "branch",
    "origin",
    "content",
    "version",
    "external_id",
    "model",
    "no_stance",
];
const PATHS: &[&str] = &[
    "path",
    "paths",
    "dirty",
    "changed",
    "made_by_tests",
    "left_out",
    "file",
    "files",
];

/// Returns a copy with nasty texts in these fields.
pub fn nasty<T: Serialize + DeserializeOwned>(of: &T) -> T {
    let mut value = serde_json::to_value(of).unwrap();
    reword(&mut value);
    serde_json::from_value(value).unwrap()
}

fn reword(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                match field {
                    Value::Object(files) if name == "diffs" => {
                        *files = files
                            .keys()
                            .map(|file| (path(file), patch().into()))
                            .collect();
                    }
                    Value::Object(files) if name == "paths" => {
                        let files_of = std::mem::take(files).into_iter();
                        *files = files_of.map(|(file, how)| (path(&file), how)).collect();
                    }
                    field if WRITTEN.contains(&name.as_str()) => put(field, written),
                    field if PATHS.contains(&name.as_str()) => put(field, path),
                    field => reword(field),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(reword),
        _ => {}
    }
}

fn written(text: &str) -> String {
    if text.contains('\n') {
        essay(text)
    } else {
        line(text)
    }
}

/// Replaces a text, or the texts of a list; other values are searched recursively.
fn put(field: &mut Value, words: fn(&str) -> String) {
    // It may be a keyword of a closed list.
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    match field {
        Value::String(text) if is_word(text) => {}
        Value::String(text) => *text = words(text),
        Value::Array(all) => all.iter_mut().for_each(|each| put(each, words)),
        other => reword(other),
    }
}

/// The plan as a nasty text.
pub fn plan_text() -> String {
    let endless = endless();
    format!(
        "---\nversion: 2\n---\n\n# Task: {WIDE} {SIGNS}\n\n{RIGHT_TO_LEFT}\n\n## Steps\n1. [ ] {WIDE}{WIDE}\n\
         2. [ ] {SIGNS} {RIGHT_TO_LEFT}\n   {endless}\n3. [ ] {endless}\n\n{}\n\nTest: `python3 -m pytest -q {RIGHT_TO_LEFT}`\n",
        essay("")
    )
}

/// The run with nasty texts.
pub fn state(of: &RunState) -> RunState {
    let mut state = nasty(of);
    if let Some(file) = &mut state.plan {
        file.plan = plan::parse(&plan_text()).unwrap();
        file.file_sha256 = plan::file_hash(plan_text().as_bytes());
    }
    state
}

/// The documents with nasty texts.
fn documents() -> RunDocumentFiles {
    let earlier = plan_text().replace(WIDE, RIGHT_TO_LEFT);
    RunDocumentFiles {
        plan: Some(plan_text()),
        comments: Some(format!(
            "---\nverdict: CHANGES_REQUIRED\n---\n\n# Review\n\n1. [blocking] {WIDE}\n   {}\n2. [minor] {SIGNS}\n\n{}\n",
            endless(),
            essay("")
        )),
        log: Some(format!(
            "# Log\n\n- 10:00 {RIGHT_TO_LEFT}\n- 10:04 {}\n",
            endless()
        )),
        plan_versions: vec![DocumentRevision {
            iteration: 1,
            version: 1,
            text: earlier,
        }],
        review_versions: Vec::new(),
    }
}

/// A screen that has shown the story with nasty texts.
pub fn screen() -> Screen {
    let mut screen = Screen::new(ScreenSettings {
        repository: format!("~/{}", path("计算器")),
        branch: Some(path("分支")),
        ..settings()
    });
    for (n, event) in story().iter().enumerate() {
        let at = UnixMillis(NOW.0 - 42_000 + i64::try_from(n).unwrap() * 1_000);
        screen.on_event(at, &nasty(event));
    }
    screen.on_documents(documents());
    screen
}

#[test]
fn the_same_text_becomes_the_same_words_and_others_begin_otherwise() {
    assert_eq!(line("a"), line("a"));
    let begin = |text: &str| line(text).chars().next();
    let all: std::collections::BTreeSet<_> = ["a", "b", "c", "d", "e"].map(begin).into();
    assert_eq!(all.len(), 5);
    assert_eq!(said("a"), "a");
    assert_eq!(nastily(|| said("a")), line("a"));
}
