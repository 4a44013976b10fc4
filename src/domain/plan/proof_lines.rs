//! Parses what a step of the plan says about its proof: the lines `Test first:`, `Proof:`, `Keeps behaviour`,
//! `No test:`, `Test from here:`, `Changes tests:` and `Files:` (TRUTH.md T23, T28).
//!
//! As tolerant as the reader of the `Test:` line: list items, bold, backticks and any case count.

use serde::{Deserialize, Serialize};

use super::CodeFenceTracker;
use crate::domain::path_glob::PathGlob;
use crate::domain::step_proof::find_test_files;

/// What a step says about its proof and its files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepProofPlan {
    pub claim: ProofClaim,
    pub changes_tests: Vec<ExpectedTestChange>,
    /// The paths and globs of `Files:`; empty where the step has no such line, so that it may write anywhere.
    pub files: Vec<String>,
    /// The command of `Test from here:`, which tests this step and those after it in a repository without tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_from_here: Option<String>,
    /// What the user should know about how the lines were understood, one sentence each.
    pub notes: Vec<String>,
}

/// How a step is to be proven, from the strictest to the mildest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "claim", content = "text", rename_all = "snake_case")]
pub enum ProofClaim {
    /// New or changed tests, which fail without the change; the words that name them, perhaps empty.
    TestFirst(String),
    /// A command that fails before the change and passes after it.
    Command(String),
    /// The same tests pass before and after.
    KeepsBehaviour,
    /// Nothing can test it; the reason, never empty.
    NoTest(String),
    /// The step says nothing, which asks for any new or changed test.
    #[default]
    Unnamed,
}

/// An existing test that a step says it must change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedTestChange {
    /// A path or glob.
    pub path: String,
    /// The test in that file that the plan names after `::`; empty where it names the whole file.
    pub test: String,
    /// Perhaps empty.
    pub why: String,
}

/// The lock files that a change of a manifest changes, too.
const LOCK_FILES: &[(&str, &str)] = &[
    ("Cargo.lock", "Cargo.toml"),
    ("package-lock.json", "package.json"),
    ("npm-shrinkwrap.json", "package.json"),
    ("yarn.lock", "package.json"),
    ("pnpm-lock.yaml", "package.json"),
    ("bun.lock", "package.json"),
    ("bun.lockb", "package.json"),
    ("deno.lock", "deno.json"),
    ("go.sum", "go.mod"),
    ("go.work.sum", "go.work"),
    ("poetry.lock", "pyproject.toml"),
    ("uv.lock", "pyproject.toml"),
    ("pdm.lock", "pyproject.toml"),
    ("pylock.toml", "pyproject.toml"),
    ("Pipfile.lock", "Pipfile"),
    ("Gemfile.lock", "Gemfile"),
    ("composer.lock", "composer.json"),
    ("mix.lock", "mix.exs"),
    ("pubspec.lock", "pubspec.yaml"),
    ("Package.resolved", "Package.swift"),
    ("flake.lock", "flake.nix"),
];

impl ProofClaim {
    /// Returns whether it names tests or a command, which could pass before the step.
    pub fn names_proof(&self) -> bool {
        match self {
            Self::TestFirst(words) => !words.is_empty(),
            Self::Command(_) => true,
            Self::KeepsBehaviour | Self::NoTest(_) | Self::Unnamed => false,
        }
    }
}

impl StepProofPlan {
    /// Returns what may be test files or folders in the words that name the step's proof, perhaps without the folders
    /// above them.
    pub fn named_test_files(&self) -> Vec<String> {
        match &self.claim {
            ProofClaim::TestFirst(words) | ProofClaim::Command(words) => find_test_files(words),
            ProofClaim::Unnamed | ProofClaim::KeepsBehaviour | ProofClaim::NoTest(_) => Vec::new(),
        }
    }

    /// Returns whether the step names this path itself, under `Files:` or `Changes tests:`; a glob or a folder around it
    /// does not count.
    pub fn names_path(&self, path: &str) -> bool {
        let tests = self.changes_tests.iter().map(|change| &change.path);
        self.files.iter().chain(tests).any(|named| named == path)
    }

    /// Returns whether the step says nothing about its proof and its files.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Parses the block of a step, as [`super::step_block`] returns it. Its first line is the step's title.
    pub fn parse(block: &str) -> Self {
        let mut plan = Self::default();
        let mut claims = Vec::new();
        for line in collect_lines(block) {
            match line.label {
                LineLabel::TestFirst => claims.push(ProofClaim::TestFirst(line.items.join(", "))),
                LineLabel::Proof => {
                    let command = line.items.first().map(|item| parse_command(item));
                    match command.filter(|command| !command.is_empty()) {
                        Some(command) => claims.push(ProofClaim::Command(command)),
                        None => plan.note("`Proof:` names no command, so it does not count"),
                    }
                }
                LineLabel::TestFromHere => {
                    let command = line.items.first().map(|item| parse_command(item));
                    match command.filter(|command| !command.is_empty()) {
                        Some(command) => plan.test_from_here = Some(command),
                        None => {
                            plan.note("`Test from here:` names no command, so it does not count")
                        }
                    }
                }
                LineLabel::KeepsBehaviour => claims.push(ProofClaim::KeepsBehaviour),
                LineLabel::NoTest => match parse_reason(&line.items.join(" ")) {
                    Some(reason) => claims.push(ProofClaim::NoTest(reason)),
                    None => plan.note("`No test:` gives no reason, so it does not count"),
                },
                LineLabel::ChangesTests => {
                    let changes = line.items.iter().flat_map(|item| parse_test_changes(item));
                    plan.changes_tests.extend(changes);
                }
                LineLabel::Files => {
                    plan.files
                        .extend(line.items.iter().flat_map(|item| parse_paths(item)));
                }
            }
        }
        plan.choose_claim(claims);
        plan
    }

    fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    fn choose_claim(&mut self, claims: Vec<ProofClaim>) {
        let mut labels = claims.iter().map(ProofClaim::label);
        let first = labels.next();
        let is_mixed = labels.any(|label| Some(label) != first);
        let mut claims = claims.into_iter();
        let Some(mut strictest) = claims.next() else {
            return;
        };
        for claim in claims {
            match (&mut strictest, claim) {
                (ProofClaim::TestFirst(all), ProofClaim::TestFirst(more)) => {
                    let both = [all.as_str(), more.as_str()]
                        .into_iter()
                        .filter(|words| !words.is_empty());
                    *all = both.collect::<Vec<_>>().join(", ");
                }
                (ProofClaim::Command(first), ProofClaim::Command(other)) if *first != other => {
                    self.notes
                        .push(format!("of two `Proof:` lines only `{first}` counts"));
                }
                (kept, claim) if claim.strictness() < kept.strictness() => *kept = claim,
                (_, _) => {}
            }
        }
        if is_mixed {
            let label = strictest.label();
            self.notes.push(format!(
                "the step says in several ways how it is proven: `{label}` counts"
            ));
        }
        self.claim = strictest;
    }

    /// Returns whether the step may write a path, relative to the repository's root: one that `Files:` names, one in a
    /// folder that it names, or the lock file of a manifest that it names. Everything, where the step has no such line.
    pub fn matches_files(&self, path: &str) -> bool {
        let is_named = |file: &String| PathGlob::with_contents(file).matches(path);
        self.files.is_empty() || self.files.iter().any(is_named) || self.names_manifest_of(path)
    }

    /// Returns whether `Files:` names the manifest of a lock file, beside it or, as in a workspace, further below.
    fn names_manifest_of(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let manifests = LOCK_FILES.iter().filter(|(lock, _)| *lock == name);
        manifests.into_iter().any(|(_, manifest)| {
            let beside = join_path(folder, manifest);
            self.files.iter().any(|file| {
                let (place, named) = file.rsplit_once('/').unwrap_or(("", file));
                let is_below = folder.is_empty() || place.starts_with(&format!("{folder}/"));
                named == *manifest && (is_below || PathGlob::new(file).matches(&beside))
            })
        })
    }

    /// Returns whether `Changes tests:` names a path as a whole or one of its tests.
    pub fn expects_change_of(&self, path: &str) -> bool {
        self.changes_tests
            .iter()
            .any(|change| change.matches_path(path))
    }
}

impl ExpectedTestChange {
    /// Returns whether the plan means this path, or a folder above it.
    pub fn matches_path(&self, path: &str) -> bool {
        PathGlob::with_contents(&self.path).matches(path)
    }
}

impl ProofClaim {
    /// Returns the words of the form that make this claim.
    pub fn label(&self) -> &'static str {
        match self {
            Self::TestFirst(_) | Self::Unnamed => "Test first",
            Self::Command(_) => "Proof",
            Self::KeepsBehaviour => "Keeps behaviour",
            Self::NoTest(_) => "No test",
        }
    }

    /// Returns its place in the order of strictness; the strictest has 0.
    fn strictness(&self) -> u8 {
        match self {
            Self::TestFirst(_) => 0,
            Self::Command(_) => 1,
            Self::KeepsBehaviour => 2,
            Self::NoTest(_) => 3,
            Self::Unnamed => 4,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineLabel {
    TestFirst,
    Proof,
    KeepsBehaviour,
    NoTest,
    TestFromHere,
    ChangesTests,
    Files,
}

/// The labels in lower case, with a blank between words.
const LABELS: &[(&str, LineLabel)] = &[
    ("test first", LineLabel::TestFirst),
    ("tests first", LineLabel::TestFirst),
    ("proof", LineLabel::Proof),
    ("keeps behaviour", LineLabel::KeepsBehaviour),
    ("keeps behavior", LineLabel::KeepsBehaviour),
    ("no test", LineLabel::NoTest),
    ("no tests", LineLabel::NoTest),
    ("test from here", LineLabel::TestFromHere),
    ("tests from here", LineLabel::TestFromHere),
    ("changes tests", LineLabel::ChangesTests),
    ("changes test", LineLabel::ChangesTests),
    ("files", LineLabel::Files),
    ("file", LineLabel::Files),
];

/// One labelled line of a step with what continues it.
struct ProofLine {
    label: LineLabel,
    /// The text after the colon, or the items of the list below it; never empty texts.
    items: Vec<String>,
    /// Whether the items of a list may follow, because nothing follows the colon.
    is_list: bool,
}

/// Returns whether a line of a step says something about its proof or its files.
pub fn is_proof_line(line: &str) -> bool {
    parse_proof_line(line).is_some()
}

fn collect_lines(block: &str) -> Vec<ProofLine> {
    let mut fence = CodeFenceTracker::default();
    let mut found: Vec<ProofLine> = Vec::new();
    let mut is_open = false;
    for line in block.lines().skip(1) {
        if fence.consume_line(line) {
            is_open = false;
        } else if let Some(parsed) = parse_proof_line(line) {
            found.push(parsed);
            is_open = true;
        } else if is_open && let Some(last) = found.last_mut() {
            is_open = last.continue_with(line);
        }
    }
    found
}

impl ProofLine {
    /// Adds the next line if it belongs to this one; returns whether it does.
    fn continue_with(&mut self, line: &str) -> bool {
        let line = line.trim();
        let item = strip_list_mark(line).trim();
        if self.is_list {
            if item.len() < line.len() && !item.is_empty() {
                self.items.push(item.to_owned());
                return true;
            }
            return false;
        }
        match self.items.last_mut() {
            Some(last) if last.ends_with([',', '\u{ff0c}', '\u{3001}']) && !line.is_empty() => {
                last.push(' ');
                last.push_str(item);
                true
            }
            Some(_) | None => false,
        }
    }
}

fn strip_list_mark(line: &str) -> &str {
    ["- ", "* ", "+ ", "\u{2022} "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
}

fn parse_proof_line(line: &str) -> Option<ProofLine> {
    let line = strip_list_mark(line.trim()).trim();
    let mark = ["**", "__", "*", "_", "`"]
        .iter()
        .find(|mark| line.starts_with(**mark));
    let mark = mark.copied().unwrap_or_default();
    let inner = &line[mark.len()..];
    let colon = inner.find([':', '\u{ff1a}']);
    let head = colon.map_or(inner, |at| &inner[..at]);
    let after = colon.map_or("", |at| inner[at..].trim_start_matches([':', '\u{ff1a}']));
    if let Some(label) = parse_label(head) {
        let value = strip_closing_mark(head, after, mark).trim();
        let is_list = value.is_empty();
        let items = if is_list {
            Vec::new()
        } else {
            vec![value.to_owned()]
        };
        return Some(ProofLine {
            label,
            items,
            is_list,
        });
    }
    // The one label without a colon may have a remark behind it.
    let end = inner
        .find(['(', ',', ';', '.', '\u{2014}', '\u{2013}'])
        .or(inner.find(" -"));
    let label = parse_label(&inner[..end.unwrap_or(inner.len())])?;
    (label == LineLabel::KeepsBehaviour).then(|| ProofLine {
        label,
        items: Vec::new(),
        is_list: false,
    })
}

/// Removes the end of bold or code that begins before the label.
fn strip_closing_mark<'a>(head: &str, value: &'a str, mark: &str) -> &'a str {
    let value = value.trim();
    if mark.is_empty() || head.trim_end().ends_with(mark) {
        return value;
    }
    let closed = value
        .strip_prefix(mark)
        .or_else(|| value.strip_suffix(mark));
    closed.unwrap_or(value)
}

fn parse_label(head: &str) -> Option<LineLabel> {
    let plain = head
        .replace(['*', '_', '`'], "")
        .replace('-', " ")
        .to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let words = words.join(" ");
    let found = LABELS.iter().find(|(label, _)| *label == words)?;
    Some(found.1)
}

/// Returns the command of a `Proof:` line: what is in backticks, or the whole value.
fn parse_command(value: &str) -> String {
    let in_backticks = value
        .strip_prefix('`')
        .and_then(|rest| rest.split('`').next());
    in_backticks.unwrap_or(value).trim().to_owned()
}

fn parse_reason(value: &str) -> Option<String> {
    let reason = value.trim().trim_matches('`').trim();
    let is_placeholder = reason.starts_with('<') && reason.ends_with('>');
    (reason.contains(char::is_alphanumeric) && !is_placeholder).then(|| reason.to_owned())
}

/// Parses the value of a `Changes tests:` line: paths, then a dash or a colon and the reason.
fn parse_test_changes(value: &str) -> Vec<ExpectedTestChange> {
    let separators = ["\u{2014}", "\u{2013}", " -- ", " - ", ": ", "\u{ff1a}"];
    let found = separators
        .iter()
        .filter_map(|separator| Some((value.find(separator)?, separator.len())))
        .min();
    let (paths, why) = match found {
        Some((at, length)) => (
            &value[..at],
            value[at + length..].trim_start_matches(['-', ' ']),
        ),
        None => (value, ""),
    };
    let change = |named: String| {
        let (path, test) = named.split_once("::").unwrap_or((&named, ""));
        ExpectedTestChange {
            path: path.to_owned(),
            test: test.to_owned(),
            why: why.trim().to_owned(),
        }
    };
    parse_paths(paths).into_iter().map(change).collect()
}

/// Splits a list of paths at its commas; drops backticks, and remarks behind a path.
fn parse_paths(list: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut depth = 0_usize;
    let is_end = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, ',' | ';' | '\u{ff0c}' | '\u{3001}')
    };
    for part in list.split(is_end).flat_map(|part| part.split(" and ")) {
        let part = part.trim();
        let remarks = [" (", "\u{2014}", "\u{2013}", " - ", " -- "];
        let end = remarks.iter().filter_map(|mark| part.find(mark)).min();
        let path = part[..end.unwrap_or(part.len())].trim();
        let path = path
            .strip_prefix("and ")
            .unwrap_or(path)
            .trim_matches(['`', '"', '\'', ' ']);
        let path = path.trim_start_matches("./").trim_end_matches('.');
        if !path.is_empty() {
            paths.push(path.to_owned());
        }
    }
    paths
}

fn join_path(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a plan out in one line: the claim, then changed tests, files and notes where there are some.
    fn parse(lines: &str) -> String {
        let plan = StepProofPlan::parse(&format!("Title\n{lines}"));
        let mut out = match &plan.claim {
            ProofClaim::TestFirst(words) => format!("test first {words}"),
            ProofClaim::Command(command) => format!("command {command}"),
            ProofClaim::KeepsBehaviour => "keeps".to_owned(),
            ProofClaim::NoTest(reason) => format!("no test {reason}"),
            ProofClaim::Unnamed => "unnamed".to_owned(),
        };
        for change in &plan.changes_tests {
            out.push_str(&format!(
                " | {} [{}] {}",
                change.path, change.test, change.why
            ));
        }
        if let Some(command) = &plan.test_from_here {
            out.push_str(&format!(" | from here {command}"));
        }
        for (mark, texts) in [("files", &plan.files), ("note", &plan.notes)] {
            if !texts.is_empty() {
                out.push_str(&format!(" | {mark} {}", texts.join(" + ")));
            }
        }
        out
    }

    #[test]
    fn a_line_says_how_a_step_is_proven() {
        for (lines, expected) in [
            (
                "   Test first: tests/a.py, tests/b.py",
                "test first tests/a.py, tests/b.py",
            ),
            ("- **Test first:** `tests/a.py`", "test first `tests/a.py`"),
            ("* **test first**: a", "test first a"),
            ("TEST-FIRST\u{ff1a}a", "test first a"),
            ("Test first:", "test first "),
            (
                "Test first:\n  - tests/a.py\n  - tests/b.py\nMore.",
                "test first tests/a.py, tests/b.py",
            ),
            ("Test first: a,\n  b\n  c", "test first a, b"),
            ("Proof: `cargo run -- x` prints 3", "command cargo run -- x"),
            ("`Proof: make check`", "command make check"),
            (
                "Proof: sh run.sh | grep 'a: b'",
                "command sh run.sh | grep 'a: b'",
            ),
            (
                "Proof:",
                "unnamed | note `Proof:` names no command, so it does not count",
            ),
            ("Keeps behaviour", "keeps"),
            ("  - *keeps behavior*", "keeps"),
            ("Keeps behaviour (only moves code).", "keeps"),
            ("Keeps behaviour \u{2014} see below: nothing else", "keeps"),
            ("Keeps behaviour of the flag", "unnamed"),
            ("No test: documentation only", "no test documentation only"),
            (
                "No test:",
                "unnamed | note `No test:` gives no reason, so it does not count",
            ),
            (
                "No test: <reason>",
                "unnamed | note `No test:` gives no reason, so it does not count",
            ),
            (
                "No test: -",
                "unnamed | note `No test:` gives no reason, so it does not count",
            ),
            (
                "Test from here: `pytest -q`\nTest first: a",
                "test first a | from here pytest -q",
            ),
            (
                "- **Tests from here:** npm test",
                "unnamed | from here npm test",
            ),
            (
                "Test from here:",
                "unnamed | note `Test from here:` names no command, so it does not count",
            ),
            ("Details of the test first: none", "unnamed"),
            ("", "unnamed"),
            ("```\nKeeps behaviour\n```\nProof: a", "command a"),
        ] {
            assert_eq!(parse(lines), expected, "{lines}");
        }
        let title = StepProofPlan::parse("No test: a title");
        assert_eq!(title.claim, ProofClaim::Unnamed);
    }

    #[test]
    fn the_strictest_of_several_claims_counts() {
        for (lines, expected) in [
            (
                "No test: a\nKeeps behaviour",
                "keeps | note the step says in several ways how it is proven: `Keeps behaviour` counts",
            ),
            (
                "Keeps behaviour\nProof: a",
                "command a | note the step says in several ways how it is proven: `Proof` counts",
            ),
            (
                "Proof: a\nTest first: b",
                "test first b | note the step says in several ways how it is proven: `Test first` counts",
            ),
            ("Test first: a\nTest first: b", "test first a, b"),
            ("Test first:\nTest first: b", "test first b"),
            ("Proof: a\nProof: a", "command a"),
            (
                "Proof: a\nProof: b",
                "command a | note of two `Proof:` lines only `a` counts",
            ),
            ("No test: a\nNo test: b", "no test a"),
        ] {
            assert_eq!(parse(lines), expected, "{lines}");
        }
    }

    #[test]
    fn tests_that_must_change_are_named_with_their_reason() {
        for (line, expected) in [
            ("tests/a.py \u{2014} renamed", " | tests/a.py [] renamed"),
            (
                "tests/a.py\u{2014}renamed: twice",
                " | tests/a.py [] renamed: twice",
            ),
            (
                "`tests/a-b.py` - renamed - twice",
                " | tests/a-b.py [] renamed - twice",
            ),
            ("tests/a-b.py -- renamed", " | tests/a-b.py [] renamed"),
            ("tests/a.py: renamed", " | tests/a.py [] renamed"),
            (
                "tests/a.py, tests/b/** \u{2013} both",
                " | tests/a.py [] both | tests/b/** [] both",
            ),
            (
                "tests/a.py and tests/b.py: both",
                " | tests/a.py [] both | tests/b.py [] both",
            ),
            (
                "tests/a.py::test_x \u{2014} now 2",
                " | tests/a.py [test_x] now 2",
            ),
            ("tests/a.py", " | tests/a.py [] "),
            ("", ""),
        ] {
            assert_eq!(
                parse(&format!("Changes tests: {line}")),
                format!("unnamed{expected}"),
                "{line}"
            );
        }
        let list = "Changes tests:\n- a.py: one\n- b.py: two\n\nChanges tests: c.py: three";
        assert_eq!(
            parse(list),
            "unnamed | a.py [] one | b.py [] two | c.py [] three"
        );
    }

    #[test]
    fn files_are_paths_and_globs() {
        for (line, expected) in [
            ("src/a.rs, src/b/**, ./c", "src/a.rs + src/b/** + c"),
            ("`src/a.rs`, `b/` (new)", "src/a.rs + b/"),
            ("src/*.{ts,tsx}\u{3001}a and b.", "src/*.{ts,tsx} + a + b"),
            (
                "app/(shop)/page.tsx \u{2014} the page",
                "app/(shop)/page.tsx",
            ),
            ("**/*.rs", "**/*.rs"),
        ] {
            assert_eq!(
                parse(&format!("Files: {line}")),
                format!("unnamed | files {expected}"),
                "{line}"
            );
        }
        assert_eq!(parse("**Files:** src/**"), "unnamed | files src/**");
        assert_eq!(parse("**Files: src/a**"), "unnamed | files src/a");
        assert_eq!(parse("Files:\n  * a\n  * b"), "unnamed | files a + b");
    }

    #[test]
    fn files_cover_their_folders_and_lock_files() {
        let check = |files: &str, yes: &[&str], no: &[&str]| {
            let plan = StepProofPlan::parse(&format!("Title\nFiles: {files}"));
            for path in yes {
                assert!(plan.matches_files(path), "{files} covers {path}");
            }
            for path in no {
                assert!(!plan.matches_files(path), "{files} does not cover {path}");
            }
        };
        check("", &["anything/at.all"], &[]);
        check(
            "src/a.rs",
            &["src/a.rs"],
            &["src/a.rs.bak", "src/b.rs", "a.rs"],
        );
        check(
            "src/domain, docs/",
            &["src/domain/a/b.rs", "docs/a.md"],
            &["src/domain.rs", "src/a.rs"],
        );
        check("src/*.rs", &["src/a.rs"], &["src/a/b.rs"]);
        check(
            "Cargo.toml",
            &["Cargo.lock"],
            &["package-lock.json", "src/a.rs"],
        );
        check(
            "crates/a/Cargo.toml",
            &["Cargo.lock", "crates/a/Cargo.lock"],
            &["crates/b/Cargo.lock"],
        );
        check(
            "**/package.json",
            &["yarn.lock", "web/pnpm-lock.yaml"],
            &["Cargo.lock"],
        );
        check(
            "web/package.json",
            &["web/yarn.lock", "package-lock.json"],
            &["api/yarn.lock"],
        );
        check("web/src/**", &["web/src/a"], &["web/yarn.lock"]);
    }

    proptest::proptest! {
        #[test]
        fn the_order_of_the_lines_makes_no_difference(mut lines in proptest::collection::vec(proptest::sample::select(vec!["Proof: a", "Keeps behaviour", "No test: b", "No test:", "Files: c"]), 0..5)) {
            let first = StepProofPlan::parse(&format!("Title\n{}", lines.join("\n")));
            lines.reverse();
            let second = StepProofPlan::parse(&format!("Title\n{}", lines.join("\n")));
            proptest::prop_assert_eq!(first.claim, second.claim);
        }

        #[test]
        fn every_block_can_be_parsed(block in "(Title\n)?([-* ]{0,3}(Test first|Test from here|Proof|Files|No test|Changes tests)[:*\u{ff1a} ]{1,3}[a-c:,*`{} \u{2014}/-]{0,12}\n){0,4}") {
            let plan = StepProofPlan::parse(&block);
            let _ = plan.matches_files("a/b") || plan.expects_change_of("a");
        }
    }
}
