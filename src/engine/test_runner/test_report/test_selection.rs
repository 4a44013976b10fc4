//! Narrows a test command to some test files, where its runner takes them as arguments.
//!
//! Only commands are narrowed of which it is sure what further arguments mean: a runner without arguments of its own,
//! named by the command itself or by the one npm script that it runs.

use std::path::Path;

use super::runner_search::{StartedRunner, read_followed, started_runner};
use crate::engine::test_runner::test_command_line::TestCommandLine;

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
    let TestCommandLine::Words(own) = command else {
        return None;
    };
    let is_plain = |path: &String| !path.starts_with('-') && !path.contains(char::is_whitespace);
    if files.is_empty() || !files.iter().all(is_plain) {
        return None;
    }
    let followed = read_followed(command, root);
    let mut runners = followed.commands.iter().filter_map(|words| {
        let plain: Vec<&str> = words.iter().map(String::as_str).collect();
        Some((words, started_runner(&plain)?))
    });
    let (words, runner) = runners.next().filter(|_| runners.next().is_none())?;
    if !takes_files(words) {
        return None;
    }
    let added: Vec<String> = match file_arguments(own, words, runner)? {
        FileArguments::Appended => files.to_vec(),
        FileArguments::BehindDashes => std::iter::once("--".to_owned())
            .chain(files.to_vec())
            .collect(),
        FileArguments::CargoTargets => cargo_targets(root, files)?,
    };
    let line = own.iter().chain(&added).map(String::as_str);
    TestCommandLine::parse(&line.collect::<Vec<_>>().join(" "))
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
