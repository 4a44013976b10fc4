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
const OTHER_RUNNERS: [&str; 24] = [
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
    "cargo-nextest",
    "gotestsum",
    "ginkgo",
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
    Nextest,
    Jest,
    Vitest,
    Mocha,
    GoTest,
    Other,
}

/// Finds the runner of a command. `None` if its tests cannot be known by identity: it starts another runner, more than
/// one kind, or one that writes a single report twice, so that the second report would replace the first.
pub fn find_runner(command: &TestCommandLine, root: &Path) -> Option<ReportingRunner> {
    let followed = read_followed(command, root);
    let n_own = followed.own_commands().count();
    let commands = followed.commands.iter().enumerate();
    let started: Vec<(usize, StartedRunner)> = commands
        .filter_map(|(n, words)| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Some((n, started_runner(&words)?))
        })
        .collect();
    let kinds: BTreeSet<StartedRunner> = started.iter().map(|(_, kind)| *kind).collect();
    let mut kinds = kinds.into_iter();
    let kind = kinds.next().filter(|_| kinds.next().is_none())?;
    let is_single = started.len() == 1;
    let is_in_script = started.iter().any(|(n, _)| *n >= n_own);
    let mut words = followed.commands.iter().flatten();
    match kind {
        StartedRunner::Pytest => is_single.then(|| ReportingRunner::Pytest {
            folder: find_folder(command, root),
        }),
        StartedRunner::NodeTest(named) => Some(ReportingRunner::NodeTest { named }),
        StartedRunner::CargoTest => Some(ReportingRunner::CargoTest),
        StartedRunner::Nextest => {
            let settings = read_script(root, Path::new(".config/nextest.toml")).unwrap_or_default();
            let has_own_report = String::from_utf8_lossy(&settings).contains("junit");
            (is_single && !is_in_script && !has_own_report).then_some(ReportingRunner::Nextest)
        }
        StartedRunner::GoTest => {
            let is_changed =
                is_in_script && followed.commands.iter().any(|words| json_matters(words));
            (!is_changed).then_some(ReportingRunner::GoTest { is_in_script })
        }
        // What makes them report is in that variable.
        StartedRunner::Jest | StartedRunner::Vitest | StartedRunner::Mocha
            if words.any(|word| word.starts_with("NODE_OPTIONS=")) =>
        {
            None
        }
        StartedRunner::Jest => Some(ReportingRunner::Jest),
        StartedRunner::Vitest => Some(ReportingRunner::Vitest),
        StartedRunner::Mocha => Some(ReportingRunner::Mocha),
        StartedRunner::Other => None,
    }
}

/// Follows a command through the scripts of a repository.
pub(super) fn read_followed(command: &TestCommandLine, root: &Path) -> FollowedCommand {
    follow_command(command, &|path| read_script(root, path))
}

/// Reads a file of the repository; `None` where there is none, or where it is too large.
fn read_script(root: &Path, path: &Path) -> Option<Vec<u8>> {
    let reader = ScopedReader::open(root).ok()?;
    reader.read_file(path.to_str()?, MAX_SCRIPT_BYTES).ok()
}

/// Returns whether `-json` in the environment would change what a command of go says or how it ends: `go vet -json`
/// always succeeds.
fn json_matters(words: &[String]) -> bool {
    let mut words = words
        .iter()
        .skip_while(|word| base_name(word) != "go")
        .skip(1);
    words
        .next()
        .is_some_and(|word| ["vet", "list", "env", "mod", "tool"].contains(&word.as_str()))
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
            "jest" | "jest.js" => return Some(StartedRunner::Jest),
            "vitest" | "vitest.mjs" => return Some(started_vitest(&rest)),
            "mocha" | "_mocha" | "mocha.js" => return Some(StartedRunner::Mocha),
            "go" => return started_go(&rest),
            "bun" | "deno" => {
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

fn started_vitest(rest: &[&str]) -> StartedRunner {
    if matches!(rest.first(), Some(&("bench" | "list" | "init"))) {
        StartedRunner::Other
    } else {
        StartedRunner::Vitest
    }
}

fn started_go(rest: &[&str]) -> Option<StartedRunner> {
    match rest.first() {
        Some(&"test") => Some(StartedRunner::GoTest),
        _ => rest.contains(&"test").then_some(StartedRunner::Other),
    }
}

fn started_node(rest: &[&str]) -> Option<StartedRunner> {
    if !rest.contains(&"--test") {
        let script = rest.iter().find(|word| !word.starts_with('-'))?;
        return match base_name(script) {
            "jest" | "jest.js" => Some(StartedRunner::Jest),
            "vitest" | "vitest.mjs" => Some(StartedRunner::Vitest),
            "mocha" | "_mocha" | "mocha.js" => Some(StartedRunner::Mocha),
            _ => None,
        };
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
        Some("nextest") => {
            let runs = matches!(words_after(rest, "nextest").first(), Some(&("run" | "r")));
            Some(if runs {
                StartedRunner::Nextest
            } else {
                StartedRunner::Other
            })
        }
        // Tools around cargo, such as llvm-cov and miri, and options with a value.
        Some(_) => rest.contains(&"test").then_some(StartedRunner::Other),
        None => None,
    }
}

fn words_after<'a>(words: &'a [&'a str], word: &str) -> &'a [&'a str] {
    let at = words.iter().position(|found| *found == word);
    at.and_then(|at| words.get(at + 1..)).unwrap_or_default()
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
            Some(runner) => format!("{runner:?}"),
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
    fn runners_of_other_languages_are_known() {
        let jest = r#"{"scripts": {"test": "tsc && jest --ci", "unit": "cross-env A=1 vitest"}}"#;
        let settings = |text: &'static str| vec![(".config/nextest.toml", text)];
        let makefile = |recipe: &'static str| vec![("Makefile", recipe)];
        let (script, own) = (
            "GoTest { is_in_script: true }",
            "GoTest { is_in_script: false }",
        );
        for (line, files, expected) in [
            ("npx jest", vec![], "Jest"),
            ("yarn jest a.test.ts", vec![], "Jest"),
            ("npm test", vec![("package.json", jest)], "Jest"),
            ("sh -c 'bunx jest'", vec![], "Jest"),
            ("jest a && jest b", vec![], "Jest"),
            (
                "node --expose-gc node_modules/jest/bin/jest.js",
                vec![],
                "Jest",
            ),
            ("node_modules/.bin/vitest run", vec![], "Vitest"),
            ("pnpm run unit", vec![("package.json", jest)], "Vitest"),
            ("pnpm exec vitest --coverage", vec![], "Vitest"),
            ("npx c8 mocha -r ts-node/register", vec![], "Mocha"),
            ("node node_modules/.bin/mocha", vec![], "Mocha"),
            (
                "NODE_OPTIONS=--experimental-vm-modules npx jest",
                vec![],
                "none",
            ),
            ("npx vitest bench", vec![], "none"),
            ("npx vitest && npx jest", vec![], "none"),
            ("npx react-scripts test", vec![], "none"),
            ("cargo nextest run", vec![], "Nextest"),
            (
                "cargo +nightly nextest r -P ci",
                settings("[profile.ci]\nretries = 1\n"),
                "Nextest",
            ),
            (
                "cargo nextest run",
                settings("[profile.default.junit]\n"),
                "none",
            ),
            ("cargo nextest list", vec![], "none"),
            ("cargo nextest run && cargo test --doc", vec![], "none"),
            ("make", makefile("test:\n\tcargo nextest run\n"), "none"),
            ("go test ./...", vec![], own),
            ("go vet ./... && go test ./...", vec![], own),
            (
                "make",
                makefile("test:\n\tgo build ./...\n\tgo test ./...\n"),
                script,
            ),
            (
                "make",
                makefile("test:\n\tgo vet ./...\n\tgo test ./...\n"),
                "none",
            ),
            ("go tool test2json", vec![], "none"),
            ("gotestsum ./...", vec![], "none"),
        ] {
            check(line, &files, expected);
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
            ("pnpm run unit", "true"),
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
            "cargo llvm-cov test",
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
