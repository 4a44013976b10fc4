//! Reads the source files as text: code without comments and strings, and which of its lines are tests.
//!
//! It understands only enough of Rust to find paths and `#[cfg(test)]`; no macro is expanded.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use crate::{files_below, read};

/// One file below `src/`.
pub struct Source {
    /// Its path from the repository's root, with `/`.
    pub path: String,
    /// The text as it is.
    pub text: String,
    /// The text with comments and the content of strings blanked; lines keep their numbers.
    pub code: String,
    /// The lines of tests, from 0. All of them in a file that is compiled for tests only.
    pub test_lines: Vec<Range<usize>>,
}

impl Source {
    /// The top-level module that the file belongs to; `main` and `lib` are their own.
    pub fn layer(&self) -> &str {
        let below = self.path.trim_start_matches("src/");
        below.split(['/', '.']).next().unwrap_or(below)
    }

    /// How many modules deep the file is: 1 for `src/store.rs`, 2 for `src/store/instance_lock.rs`.
    pub fn depth(&self) -> usize {
        self.path.matches('/').count()
    }

    /// Returns whether a line, from 0, is compiled for tests only.
    pub fn is_test(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// Counts the lines that are not compiled for tests only.
    pub fn n_lines(&self) -> usize {
        (0..self.text.lines().count())
            .filter(|line| !self.is_test(*line))
            .count()
    }
}

/// Every Rust file below `src/`, read once.
pub fn all() -> &'static [Source] {
    static ALL: OnceLock<Vec<Source>> = OnceLock::new();
    ALL.get_or_init(load)
}

fn load() -> Vec<Source> {
    let files = files_below("src", &[])
        .into_iter()
        .map(|path| path.to_string_lossy().replace('\\', "/"));
    let mut sources: Vec<Source> = files
        .filter(|path| path.ends_with(".rs"))
        .map(|path| parse(&path, &read(&path)).0)
        .collect();
    let test_files: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| parse(&source.path, &source.text).1)
        .collect();
    for source in &mut sources {
        let stem = source.path.trim_end_matches(".rs");
        if test_files
            .iter()
            .any(|test| stem == test || stem.starts_with(&format!("{test}/")))
        {
            source.test_lines = std::iter::once(0..usize::MAX).collect();
        }
    }
    sources
}

/// Parses a file; the second value names the modules, as paths without `.rs`, that it declares for tests only.
pub fn parse(path: &str, text: &str) -> (Source, Vec<String>) {
    let code = blank(text);
    let mut test_lines = Vec::new();
    let mut test_files = Vec::new();
    let folder = match path.trim_end_matches(".rs") {
        "src/lib" | "src/main" => "src".to_owned(),
        stem => stem.to_owned(),
    };
    const MARK: &str = "#[cfg(test)]";
    let mut from = 0;
    while let Some(at) = code[from..].find(MARK).map(|at| at + from) {
        let end = item_end(&code, at + MARK.len());
        test_lines.push(line_of(&code, at)..line_of(&code, end) + 1);
        let item = code[at + MARK.len()..end].trim();
        let declared = item
            .trim_start_matches("pub ")
            .strip_prefix("mod ")
            .filter(|name| !name.contains('{'));
        test_files.extend(declared.map(|name| format!("{folder}/{}", name.trim())));
        from = end;
    }
    (
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            test_lines,
        },
        test_files,
    )
}

/// The line, from 0, of a position.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count()
}

/// Returns the position of the `;` or the closing brace that ends the item which starts at `from`.
fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            b';' if depth == 0 => return at,
            _ => {}
        }
    }
    code.len()
}

/// Replaces comments and the content of strings and characters by blanks.
pub fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let taken = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest, 1, "\""),
            'r' if !after_word && raw_quote(&rest[1..]).is_some() => {
                let n_hashes = raw_quote(&rest[1..]).unwrap_or(0);
                string(rest, n_hashes + 2, &format!("\"{}", "#".repeat(n_hashes)))
            }
            '\'' => character(rest),
            _ => 0,
        };
        if taken == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.extend(
                rest[..taken]
                    .chars()
                    .map(|c| if c == '\n' { '\n' } else { ' ' }),
            );
            rest = &rest[taken..];
        }
    }
    out
}

fn raw_quote(text: &str) -> Option<usize> {
    let n_hashes = text.len() - text.trim_start_matches('#').len();
    text[n_hashes..].starts_with('"').then_some(n_hashes)
}

/// Returns the length of a string that starts here; `close` ends it, and a backslash escapes only in plain ones.
fn string(text: &str, open: usize, close: &str) -> usize {
    let is_raw = open > 1;
    let mut at = open;
    while at < text.len() {
        if text[at..].starts_with(close) {
            return at + close.len();
        }
        let escape = !is_raw && text[at..].starts_with('\\');
        let n_chars = if escape { 2 } else { 1 };
        at += text[at..]
            .chars()
            .take(n_chars)
            .map(char::len_utf8)
            .sum::<usize>();
    }
    text.len()
}

/// Returns the length of a character literal that starts here; 0 for a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            text[after..]
                .find('\'')
                .map_or(0, |close| after + close + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[test]
fn comments_and_strings_are_no_code() {
    let code = |text: &str| blank(text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code("a // crate::b\nc"), "a c");
    assert_eq!(code("a /* x /* crate::b */ y */ c"), "a c");
    assert_eq!(code(r#"a("crate::b \" c", d)"#), "a( , d)");
    assert_eq!(code(r###"a(r#"say "b" "#, r"\", c)"###), "a( , , c)");
    assert_eq!(
        code(r"f('\'', '\u{1b}', 'x', &'static str)"),
        "f( , , , &'static str)"
    );
}

#[test]
fn what_is_compiled_for_tests_only_is_known() {
    let text = "fn a() {}\n#[cfg(test)]\nmod place;\nfn b() {}\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\nfn d() {}\n";
    let (source, test_files) = parse("src/store/instance_lock.rs", text);
    assert_eq!(test_files, ["src/store/instance_lock/place"]);
    let is_test: Vec<bool> = (0..9).map(|line| source.is_test(line)).collect();
    assert_eq!(
        is_test,
        [false, true, true, false, true, true, true, true, false]
    );
    assert_eq!(
        (source.layer(), source.depth(), source.n_lines()),
        ("store", 2, 3)
    );
}
