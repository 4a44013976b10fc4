//! Finds the runner that a test command starts, also through npm scripts, shell scripts and make recipes.
//!
//! A program that is not known here, such as a linter beside the tests, is no runner: its failure shows in the exit
//! status. A command with several kinds of runners has none that could report all tests.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{NamedReporters, ReportingRunner};
use crate::engine::test_runner::entry_points::base_name;
use crate::engine::test_runner::entry_points::command_follower::{FollowedCommand, follow_command};
use crate::engine::test_runner::test_command_line::TestCommandLine;
use crate::store::scoped_read::ScopedReader;

/// The maximum size of a manifest or script that is read, in bytes.
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;

/// Words before a program that only start it.
const STARTERS: [&str; 36] = [
    "env",
    "exec",
    "command",
    "time",
    "nice",
    "timeout",
    "sh",
    "bash",
    "dash",
    "zsh",
    "then",
    "do",
    "!",
    "{",
    "cross-env",
    "cross-env-shell",
    "dotenv",
    "c8",
    "nyc",
    "npx",
    "bunx",
    "pnpx",
    "dlx",
    "npm",
    "pnpm",
    "yarn",
    "poetry",
    "uv",
    "uvx",
    "pipenv",
    "pdm",
    "hatch",
    "rye",
    "coverage",
    "xvfb-run",
    "run",
];

/// Runners whose tests are not known by identity.
const OTHER_RUNNERS: [&str; 26] = [
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "karma",
    "jasmine",
    "playwright",
    "cypress",
    "tox",
    "nox",
    "unittest",
    "nose2",
    "trial",
    "phpunit",
    "rspec",
    "ctest",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "nextest",
    "cargo-nextest",
    "behave",
    "bats",
    "qunit",
];

/// A runner that one simple command starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StartedRunner {
    Pytest,
    NodeTest(NamedReporters),
    CargoTest,
    Other,
}

/// Finds the runner of a command. `None` if its tests cannot be known by identity: it starts another runner, more than
/// one kind, or pytest twice, whose second report would replace the first.
pub fn find_runner(command: &TestCommandLine, root: &Path) -> Option<ReportingRunner> {
    let followed = read_followed(command, root);
    let started: Vec<StartedRunner> = followed
        .commands
        .iter()
        .filter_map(|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            started_runner(&words)
        })
        .collect();
    let kinds: BTreeSet<StartedRunner> = started.iter().copied().collect();
    let mut kinds = kinds.into_iter();
    let kind = kinds.next().filter(|_| kinds.next().is_none())?;
    match kind {
        StartedRunner::Pytest => (started.len() == 1).then(|| ReportingRunner::Pytest {
            folder: find_folder(command, root),
        }),
        StartedRunner::NodeTest(named) => Some(ReportingRunner::NodeTest { named }),
        StartedRunner::CargoTest => Some(ReportingRunner::CargoTest),
        StartedRunner::Other => None,
    }
}

/// Follows a command through the scripts of a repository.
pub(super) fn read_followed(command: &TestCommandLine, root: &Path) -> FollowedCommand {
    let reader = ScopedReader::open(root).ok();
    follow_command(command, &|path| {
        reader
            .as_ref()?
            .read_file(path.to_str()?, MAX_SCRIPT_BYTES)
            .ok()
    })
}

/// Returns the runner that a simple command starts; `None` if it starts none.
pub(super) fn started_runner(words: &[&str]) -> Option<StartedRunner> {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let rest: Vec<&str> = words.clone().collect();
        let name = base_name(word);
        match name {
            "-m" => continue,
            // The value of an option of python.
            "-X" | "-W" => {
                words.next();
                continue;
            }
            // A script has that name, and is followed.
            "npm" | "pnpm" | "yarn" | "bun" if rest.contains(&"run") => return None,
            "pytest" | "py.test" => return Some(started_pytest(&rest)),
            "node" | "nodejs" | "tsx" => return started_node(&rest),
            "cargo" => return started_cargo(&rest),
            "go" | "bun" | "deno" => {
                return rest.contains(&"test").then_some(StartedRunner::Other);
            }
            _ if OTHER_RUNNERS.contains(&name) => return Some(StartedRunner::Other),
            _ => {}
        }
        let is_starter = STARTERS.contains(&name)
            || name.starts_with("python")
            || word.starts_with('-')
            || word.contains('=')
            || word.starts_with(|c: char| c.is_ascii_digit());
        if !is_starter {
            return None;
        }
    }
    None
}

fn started_pytest(rest: &[&str]) -> StartedRunner {
    // Without its junit plugin it rejects the option for the report.
    if rest.iter().any(|word| word.ends_with("no:junitxml")) {
        StartedRunner::Other
    } else {
        StartedRunner::Pytest
    }
}

fn started_node(rest: &[&str]) -> Option<StartedRunner> {
    if !rest.contains(&"--test") {
        return None;
    }
    let count = |option: &str| {
        let is_option = |word: &&&str| word.split('=').next() == Some(option);
        rest.iter().filter(is_option).count()
    };
    Some(
        match (
            count("--test-reporter"),
            count("--test-reporter-destination"),
        ) {
            (0, 0) => StartedRunner::NodeTest(NamedReporters::Nothing),
            (1, 0) => StartedRunner::NodeTest(NamedReporters::WithoutDestination),
            (reporters, places) if reporters == places => {
                StartedRunner::NodeTest(NamedReporters::WithDestinations)
            }
            // node rejects these numbers.
            _ => StartedRunner::Other,
        },
    )
}

fn started_cargo(rest: &[&str]) -> Option<StartedRunner> {
    let is_option = |word: &&&str| word.starts_with(['-', '+']);
    let command = rest.iter().find(|word| !is_option(word)).copied();
    match command {
        Some("test" | "t") => Some(StartedRunner::CargoTest),
        Some("nextest") => Some(StartedRunner::Other),
        // Tools around cargo, such as llvm-cov and miri, and options with a value.
        Some(_) => rest.contains(&"test").then_some(StartedRunner::Other),
        None => None,
    }
}

/// Returns the folder to which a command changes before it starts the runner, relative to the root.
fn find_folder(command: &TestCommandLine, root: &Path) -> PathBuf {
    let mut folder = PathBuf::new();
    for words in command.simple_commands() {
        if let ["cd", target] = words[..] {
            let target = Path::new(target);
            folder = match target.strip_prefix(root) {
                Ok(inside) => normalize(inside),
                Err(_) => normalize(&folder.join(target)),
            };
        }
    }
    folder
}

/// Resolves a path below the root by its text alone; a path that leads elsewhere becomes the root.
pub(super) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => normal.push(name),
            Component::ParentDir if normal.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return PathBuf::new();
            }
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the runner of a command in a repository with these files.
    fn check(line: &str, files: &[(&str, &str)], expected: &str) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = find_runner(&TestCommandLine::parse(line).unwrap(), root.path());
        let found = match found {
            None => "none".to_owned(),
            Some(ReportingRunner::Pytest { folder }) => format!("pytest {}", folder.display()),
            Some(ReportingRunner::NodeTest { named }) => format!("node {named:?}"),
            Some(ReportingRunner::CargoTest) => "cargo".to_owned(),
        };
        assert_eq!(found.trim(), expected, "{line}");
    }

    #[test]
    fn commands_that_start_a_runner_are_known() {
        for line in [
            "pytest -q",
            ".venv/bin/pytest tests/test_a.py",
            "python3 -m pytest",
            "python3.12 -X dev -W error -m pytest -x",
            "env A=1 timeout 60 python -m pytest",
            "A=1 pytest",
            "sh -c 'pytest -q'",
            "uv run pytest",
            "poetry run coverage run -m pytest",
            "ruff check . && pytest",
        ] {
            check(line, &[], "pytest");
        }
        check("cd web && pytest", &[], "pytest web");
        check("cd web/../api; cd ./v1 && pytest", &[], "pytest api/v1");
        check("node --test", &[], "node Nothing");
        check("npx c8 node --import tsx --test test/", &[], "node Nothing");
        check(
            "node --test-reporter=tap --test",
            &[],
            "node WithoutDestination",
        );
        check(
            "node --test --test-reporter spec --test-reporter-destination stdout",
            &[],
            "node WithDestinations",
        );
        for line in [
            "cargo test",
            "cargo +nightly --locked t -p calc",
            "cargo fmt --check && cargo test && cargo test --doc",
            "RUSTFLAGS=-Dwarnings cargo test --workspace",
        ] {
            check(line, &[], "cargo");
        }
    }

    #[test]
    fn scripts_are_followed() {
        let manifest = |script: &str| {
            format!(r#"{{"scripts": {{"test": "{script}", "unit": "cross-env A=1 node --test"}}}}"#)
        };
        for (line, script) in [
            ("npm test", "node --test"),
            ("npm run test", "tsc && node --test dist/"),
            ("yarn test", "npm run unit"),
            ("pnpm run unit", "jest"),
        ] {
            check(line, &[("package.json", &manifest(script))], "node Nothing");
        }
        check(
            "cd web && npm test",
            &[(
                "web/package.json",
                &manifest("node --test --test-reporter=dot"),
            )],
            "node WithoutDestination",
        );
        check(
            "make test",
            &[("Makefile", "test:\n\t@cargo test -q\n")],
            "cargo",
        );
        check(
            "./check.sh",
            &[("check.sh", "#!/bin/sh\nset -e\npytest\n")],
            "pytest",
        );
    }

    #[test]
    fn other_commands_have_no_reporting_runner() {
        for line in [
            "./check",
            "echo pytest",
            "pip install pytest",
            "node test.js",
            "cargo build",
            "cargo nextest run",
            "cargo llvm-cov test",
            "go test ./...",
            "npx jest",
            "python3 -m unittest",
            "python3 manage.py test",
            "pytest && cargo test",
            "pytest a && pytest b",
            "pytest && npx mocha",
            "pytest -p no:junitxml",
            "node --test --test-reporter-destination=x",
        ] {
            check(line, &[], "none");
        }
        let both = r#"{"scripts": {"test": "node --test && jest"}}"#;
        check("npm test", &[("package.json", both)], "none");
    }
}
