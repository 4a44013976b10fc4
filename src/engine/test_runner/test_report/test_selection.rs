//! Narrows a test command to some test files or to single tests, where its runner takes them as arguments.
//!
//! Only commands are narrowed of which it is sure what further arguments mean: a runner without arguments of its own,
//! named by the command itself or by the one npm script that it runs.

use std::collections::BTreeSet;
use std::path::Path;

use super::WHOLE_FILE;
use super::runner_search::{StartedRunner, read_followed, started_runner};
use crate::domain::test_report::TestIdentity;
use crate::engine::test_runner::test_command_line::TestCommandLine;

/// How many tests are named in a command.
const MAX_NAMED_TESTS: usize = 20;
/// The words that only start a runner.
const PROGRAM_WORDS: [&str; 10] = [
    "pytest", "py.test", "node", "nodejs", "cargo", "test", "t", "jest", "vitest", "run",
];
/// Options of cargo that select targets or packages themselves.
const NARROWING_OPTIONS: [&str; 8] = [
    "--",
    "--lib",
    "--bins",
    "--doc",
    "--tests",
    "--all-targets",
    "--workspace",
    "--all",
];

/// How the files are given to the command.
enum FileArguments {
    /// As its last words.
    Appended,
    /// As its last words, behind `--`.
    BehindDashes,
    /// As the targets of cargo that contain them.
    CargoTargets,
}

/// Returns the command for these files only, by their paths from `root`; `None` where it cannot be narrowed to them.
pub fn select_test_files(
    command: &TestCommandLine,
    root: &Path,
    files: &[String],
) -> Option<TestCommandLine> {
    if files.is_empty() || !files.iter().all(|file| is_plain(file)) {
        return None;
    }
    let narrowed = NarrowedCommand::find(command, root)?;
    match narrowed.files {
        FileArguments::CargoTargets => narrowed.with(cargo_targets(root, files)?),
        FileArguments::Appended | FileArguments::BehindDashes => narrowed.with(files.to_vec()),
    }
}

/// Returns the command for these tests only; `None` where it cannot be narrowed to them. Tests that share the name of one
/// of them, or the end of it, may run, too.
pub fn select_tests(
    command: &TestCommandLine,
    root: &Path,
    tests: &BTreeSet<TestIdentity>,
) -> Option<TestCommandLine> {
    if tests.is_empty() || tests.len() > MAX_NAMED_TESTS {
        return None;
    }
    if tests.iter().any(|test| test.name == WHOLE_FILE) {
        return None;
    }
    let narrowed = NarrowedCommand::find(command, root)?;
    let mut files: Vec<String> = tests.iter().map(|test| test.file.clone()).collect();
    files.dedup();
    let names = tests.iter().map(|test| test.name.as_str());
    let words: Vec<String> = match narrowed.runner {
        // Those of documentation have names that are not theirs in cargo.
        StartedRunner::CargoTest if tests.iter().any(|test| test.name.contains(' ')) => {
            return None;
        }
        StartedRunner::CargoTest => {
            let exact = ["--", "--exact"].into_iter().chain(names);
            exact.map(str::to_owned).collect()
        }
        _ if !files.iter().all(|file| is_plain(file)) => return None,
        StartedRunner::Pytest => {
            let named = tests.iter();
            named
                .map(|test| format!("{}::{}", test.file, test.name))
                .collect()
        }
        StartedRunner::NodeTest(_) => {
            // Newer versions of node match the names of the suites around a test, too.
            let pattern = |name: &str| {
                let own = name.rsplit(" > ").next().unwrap_or(name);
                format!("--test-name-pattern=(^| ){}$", regex::escape(own))
            };
            names.map(pattern).chain(files).collect()
        }
        StartedRunner::Jest
        | StartedRunner::Vitest
        | StartedRunner::Nextest
        | StartedRunner::Mocha
        | StartedRunner::GoTest
        | StartedRunner::Other => return None,
    };
    narrowed.with(words)
}

/// Returns whether a path is one word that no runner takes for an option.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('-') && !path.contains(char::is_whitespace)
}

/// A command that starts one runner, which takes further arguments.
struct NarrowedCommand<'a> {
    own: &'a [String],
    runner: StartedRunner,
    files: FileArguments,
}

impl<'a> NarrowedCommand<'a> {
    fn find(command: &'a TestCommandLine, root: &Path) -> Option<Self> {
        let TestCommandLine::Words(own) = command else {
            return None;
        };
        let followed = read_followed(command, root);
        let mut runners = followed.commands.iter().filter_map(|words| {
            let plain: Vec<&str> = words.iter().map(String::as_str).collect();
            Some((words, started_runner(&plain)?))
        });
        let (words, runner) = runners.next().filter(|_| runners.next().is_none())?;
        let files = file_arguments(own, words, runner).filter(|_| takes_files(words))?;
        Some(Self { own, runner, files })
    }

    /// Returns the command with more arguments.
    fn with(&self, added: Vec<String>) -> Option<TestCommandLine> {
        let dashes = match self.files {
            FileArguments::BehindDashes => Some("--".to_owned()),
            FileArguments::Appended | FileArguments::CargoTargets => None,
        };
        let words = self.own.iter().cloned().chain(dashes).chain(added);
        Some(TestCommandLine::Words(words.collect()))
    }
}

/// Returns how the command takes files; `words` are those of its runner, perhaps in a script. `None` where it takes none.
fn file_arguments(
    own: &[String],
    words: &[String],
    runner: StartedRunner,
) -> Option<FileArguments> {
    let own_words: Vec<&str> = own.iter().map(String::as_str).collect();
    match (words == own, runner) {
        // These take packages or expressions, or add files to those of their configuration.
        (
            _,
            StartedRunner::Other
            | StartedRunner::Nextest
            | StartedRunner::GoTest
            | StartedRunner::Mocha,
        ) => None,
        (true, StartedRunner::CargoTest) => Some(FileArguments::CargoTargets),
        (false, StartedRunner::CargoTest) => None,
        (true, _) => Some(FileArguments::Appended),
        (false, _) => match own_words.as_slice() {
            ["npm", "test" | "t"] | ["npm", "run", _] => Some(FileArguments::BehindDashes),
            ["pnpm" | "yarn", "test"] | ["pnpm" | "yarn", "run", _] => {
                Some(FileArguments::Appended)
            }
            _ => None,
        },
    }
}

/// Returns whether a runner has only options that leave open which tests it runs.
fn takes_files(words: &[String]) -> bool {
    words.iter().all(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        PROGRAM_WORDS.contains(&name)
            || name.starts_with("python")
            || word.starts_with('-') && !NARROWING_OPTIONS.contains(&word.as_str())
    })
}

/// Returns the options that select the targets with these files; `None` where one may be in a target of another package.
fn cargo_targets(root: &Path, files: &[String]) -> Option<Vec<String>> {
    let mut options = Vec::new();
    for file in files {
        let found = if let Some(name) = file.strip_prefix("tests/") {
            let name = match name.split_once('/') {
                Some((folder, _)) if root.join(format!("tests/{folder}/main.rs")).is_file() => {
                    folder
                }
                // A module that several test targets may share.
                Some(_) => return None,
                None => name.strip_suffix(".rs")?,
            };
            vec!["--test".to_owned(), name.to_owned()]
        } else if file.starts_with("src/") {
            let kinds = [("src/lib.rs", "--lib"), ("src/main.rs", "--bins")];
            let kinds = kinds.iter().filter(|(path, _)| root.join(path).is_file());
            kinds.map(|(_, option)| (*option).to_owned()).collect()
        } else {
            return None;
        };
        if !found.is_empty() && !options.ends_with(&found) {
            options.extend(found);
        }
    }
    (!options.is_empty()).then_some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, script: &str, files: &[&str], expected: &str) {
        let root = tempfile::tempdir().unwrap();
        let package = format!("{{\"scripts\": {{\"test\": {script:?}}}}}");
        for (path, text) in [
            ("package.json", package.as_str()),
            ("src/lib.rs", ""),
            ("tests/deep/main.rs", ""),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let command = TestCommandLine::parse(line).unwrap();
        let found = select_test_files(&command, root.path(), &files);
        let found = found.map_or("none".to_owned(), |command| command.to_string());
        assert_eq!(found, expected, "{line} {script} {files:?}");
    }

    #[test]
    fn a_command_takes_files_where_its_runner_has_no_arguments() {
        let node = "node --test";
        let one = &["test/a.test.js"][..];
        check("npm test", node, one, "npm test -- test/a.test.js");
        check("yarn test", node, one, "yarn test test/a.test.js");
        check("node --test", node, one, "node --test test/a.test.js");
        check("npm test", "node --test test/", one, "none");
        check(
            "npm test",
            "eslint . && node --test && node --test e2e",
            one,
            "none",
        );
        check("npm test", "jest", one, "npm test -- test/a.test.js");
        check("npm test", "vitest run", one, "npm test -- test/a.test.js");
        check("npm test", "mocha", one, "none");
        check("npm test", node, &[], "none");
        check("npm test", node, &["a b.test.js"], "none");
        check("npm test", node, &["--watch"], "none");
        check(
            "pytest -q",
            node,
            &["tests/test_a.py"],
            "pytest -q tests/test_a.py",
        );
        check(
            "python3 -m pytest",
            node,
            &["t.py"],
            "python3 -m pytest t.py",
        );
        check("pytest tests/unit", node, &["t.py"], "none");
        check("sh -c pytest", node, &["t.py"], "none");
    }

    #[test]
    fn a_command_takes_names_of_tests() {
        let root = tempfile::tempdir().unwrap();
        let package = r#"{"scripts": {"test": "node --test"}}"#;
        std::fs::write(root.path().join("package.json"), package).unwrap();
        let py = ("t/test_a.py", "TestA::test_x[1-2]");
        let js = ("t/a.test.js", "sums > adds (two)");
        let rs = ("src/lib.rs", "a::tests::x");
        for (line, tests, expected) in [
            (
                "pytest -q",
                &[py][..],
                "pytest -q t/test_a.py::TestA::test_x[1-2]",
            ),
            (
                "npm test",
                &[js],
                r"npm test -- --test-name-pattern=(^| )adds \(two\)$ t/a.test.js",
            ),
            (
                "node --test",
                &[js, ("t/a.test.js", "x")],
                r"node --test --test-name-pattern=(^| )adds \(two\)$ --test-name-pattern=(^| )x$ t/a.test.js",
            ),
            ("cargo test", &[rs], "cargo test -- --exact a::tests::x"),
            ("cargo test", &[("src/a.rs", "a::f (doctest)")], "none"),
            ("cargo test a", &[rs], "none"),
            ("node --test", &[("t/a.test.js", WHOLE_FILE)], "none"),
            ("go test ./...", &[("m", "TestX")], "none"),
            ("pytest", &[], "none"),
        ] {
            let tests = tests.iter().map(|(file, name)| TestIdentity {
                file: (*file).to_owned(),
                name: (*name).to_owned(),
            });
            let command = TestCommandLine::parse(line).unwrap();
            let found = select_tests(&command, root.path(), &tests.collect());
            let found = found.map_or("none".to_owned(), |command| command.to_string());
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn cargo_takes_the_targets_of_files() {
        let cargo =
            |files: &[&str], expected: &str| check("cargo test --offline", "", files, expected);
        cargo(&["tests/sums.rs"], "cargo test --offline --test sums");
        cargo(
            &["src/a.rs", "src/b.rs", "tests/deep/x.rs"],
            "cargo test --offline --lib --test deep",
        );
        cargo(&["tests/common/mod.rs"], "none");
        cargo(&["crates/a/tests/x.rs"], "none");
        check("cargo test adds", "", &["tests/sums.rs"], "none");
        check("cargo test --workspace", "", &["tests/sums.rs"], "none");
    }
}
