//! Finds the tests that the words of a `Test first:` line name.
//!
//! The words are prose. Only what looks like a path, a function or a quoted name is taken for a test.

use super::test_location::may_hold_test;
use crate::domain::test_report::TestIdentity;

/// The shortest quoted name that is looked for inside longer names.
const MIN_QUOTED_CHARS: usize = 5;

/// What may be the name of a test or of its file in some prose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestMention {
    /// As the plan writes it.
    pub text: String,
    /// The file before `::`; empty where a test is named alone.
    path: String,
    /// The name of the test; empty where its file is named alone.
    name: String,
}

/// Returns what may be names of tests in the words of a plan.
pub(super) fn find_mentions(words: &str) -> Vec<TestMention> {
    let mut mentions: Vec<TestMention> = Vec::new();
    let mut add = |found: Option<TestMention>| mentions.extend(found);
    // Every second part lies between quotation marks.
    for (at, part) in words.split(['`', '"', '\u{201c}', '\u{201d}']).enumerate() {
        let is_quoted = at % 2 == 1;
        if is_quoted && part.trim().contains(' ') {
            let name = part.trim().to_owned();
            add(
                (name.chars().count() >= MIN_QUOTED_CHARS).then(|| TestMention {
                    text: name.clone(),
                    path: String::new(),
                    name,
                }),
            );
            continue;
        }
        for word in part.split(|c: char| c.is_whitespace() || ",;()\u{ff0c}\u{3001}".contains(c)) {
            add(parse_mention(word, is_quoted));
        }
    }
    mentions
}

/// Returns what may be files or folders in the words of a plan, perhaps without the folders above them.
pub fn find_test_files(words: &str) -> Vec<String> {
    let mentions = find_mentions(words).into_iter();
    mentions
        .map(|mention| mention.path)
        .filter(|path| !path.is_empty())
        .collect()
}

fn parse_mention(word: &str, is_quoted: bool) -> Option<TestMention> {
    let word = word
        .trim_start_matches("./")
        .trim_matches([':', '.', '\'', '!', '?']);
    let (path, name) = match word.split_once("::") {
        Some((path, name)) if looks_like_path(path) => (path, name),
        _ if looks_like_path(word) => (word, ""),
        _ => ("", word),
    };
    // A word such as `parser` is prose, `parser_works` and `parserWorks` are names.
    let has_hump = || {
        name.chars()
            .zip(name.chars().skip(1))
            .any(|(one, next)| one.is_lowercase() && next.is_uppercase())
    };
    let is_name =
        is_quoted || !path.is_empty() || name.contains('_') || name.contains("::") || has_hump();
    (!word.is_empty() && is_name).then(|| TestMention {
        text: word.to_owned(),
        path: path.to_owned(),
        name: name.to_owned(),
    })
}

/// Returns whether a word has a folder, or an extension that begins with a letter.
fn looks_like_path(word: &str) -> bool {
    let extension = word.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_extension = (2..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    word.contains('/') || is_extension && extension.starts_with(|c: char| c.is_ascii_alphabetic())
}

impl TestMention {
    /// Returns whether the plan means this test.
    pub fn matches(&self, test: &TestIdentity) -> bool {
        let is_in_file = self.path.is_empty()
            || self.matches_path(&test.file)
            || may_hold_test(&self.path, test);
        is_in_file && (self.name.is_empty() || names_test(&self.name, &test.name))
    }

    /// Returns whether it names a file with its extension, and no glob.
    pub fn names_file(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.contains('.') && !self.path.contains('*')
    }

    /// Returns whether the plan names this file, perhaps without its folders.
    fn matches_path(&self, path: &str) -> bool {
        let before = path.strip_suffix(self.path.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }
}

/// Returns whether a whole name has these words as one of its parts, or, if they are several, contains them.
pub(super) fn names_test(words: &str, name: &str) -> bool {
    let is_boundary = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    name.match_indices(words).any(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + words.len()..]);
        is_boundary(before.chars().next_back()) && is_boundary(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_functions_and_quoted_names_are_mentions() {
        for (words, expected) in [
            ("tests/test_a.py, test_b", "tests/test_a.py + test_b"),
            (
                "tests/a.py::test_x fails on an empty list",
                "tests/a.py::test_x",
            ),
            (
                "`adds two numbers` in sum.test.js.",
                "adds two numbers + sum.test.js",
            ),
            ("a new test of the parser", ""),
            (
                "parserWorks, domain::plan::tests::x and `parser`",
                "parserWorks + domain::plan::tests::x + parser",
            ),
            ("\"a b\"; e.g. v1.2", ""),
            ("", ""),
        ] {
            let texts: Vec<String> = find_mentions(words)
                .into_iter()
                .map(|one| one.text)
                .collect();
            assert_eq!(texts.join(" + "), expected, "{words}");
        }
    }

    #[test]
    fn a_mention_means_the_tests_of_that_name_or_file() {
        let check = |words: &str, file: &str, name: &str| {
            let test = TestIdentity {
                file: file.to_owned(),
                name: name.to_owned(),
            };
            find_mentions(words)
                .iter()
                .any(|mention| mention.matches(&test))
        };
        assert!(check("test_x", "tests/a.py", "test_x"));
        assert!(check("test_x", "tests/a.py", "TestA::test_x[1-2]"));
        assert!(!check("test_x", "tests/a.py", "test_xy"));
        assert!(check("tests/a.py", "tests/a.py", "test_y"));
        assert!(check("a.test.js", "src/a.test.js", "adds"));
        assert!(!check("a.test.js", "src/aa.test.js", "adds"));
        assert!(check("tests/a.py::test_x", "tests/a.py", "test_x"));
        assert!(!check("tests/a.py::test_x", "tests/a.py", "test_y"));
        assert!(!check("tests/a.py::test_x", "tests/b.py", "test_x"));
        assert!(check(
            "`two numbers`",
            "a.test.js",
            "sum > adds two numbers"
        ));
        assert!(check(
            "src/domain/plan.rs",
            "src/lib.rs",
            "domain::plan::tests::x"
        ));
        assert!(check(
            "plan::tests::x",
            "src/lib.rs",
            "domain::plan::tests::x"
        ));
    }
}
