//! Tests which changes of a step change what the test command runs.

use super::*;

/// Checks changes `path: before => after` (`-` for none) under a command; returns the paths that need
/// approval.
fn check(command: &str, changes: &[(&str, &str, &str)], expected: &str) {
    let command = TestCommandLine::parse(command);
    let content = |text: &str| (text != "-").then(|| text.as_bytes().to_vec());
    let before = |path: &Path| {
        changes
            .iter()
            .find(|c| Path::new(c.0) == path)
            .and_then(|c| content(c.1))
    };
    let after = |path: &Path| {
        changes
            .iter()
            .find(|c| Path::new(c.0) == path)
            .and_then(|c| content(c.2))
    };
    let how = |(path, before, after): &(&str, &str, &str)| {
        let how = if *before == "-" {
            PathChangeKind::Created
        } else if *after == "-" {
            PathChangeKind::Removed
        } else {
            PathChangeKind::Changed
        };
        ChangedPath {
            path: PathBuf::from(path),
            how,
            content: None,
        }
    };
    let changed: Vec<_> = changes.iter().map(how).collect();
    let followed = command
        .as_ref()
        .map(|command| follow_command(command, &after));
    let found = find_sensitive_changes(
        &followed.unwrap_or_default(),
        Some(Path::new("tools/hooks")),
        &before,
        &after,
        &changed,
    );
    let told: Vec<String> = found
        .iter()
        .map(|change| format!("{} {:?}", change.path.display(), change.how).to_lowercase())
        .collect();
    assert_eq!(told.join(", "), expected);
}

#[test]
fn git_hooks_ask_whatever_the_command() {
    let paths = [
        ".githooks/pre-commit",
        ".husky/pre-push",
        "tools/hooks/x",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "src/hooks/x",
    ];
    let changes = paths.map(|path| (path, "-", "x"));
    let expected = ".githooks/pre-commit created, .husky/pre-push created, tools/hooks/x created, \
                    .pre-commit-config.yaml created, lefthook.yml created";
    check("", &changes, expected);
}

#[test]
fn of_several_changed_files_only_those_that_run_ask() {
    for (command, changes, expected) in [
        (
            "make test",
            &[
                ("Makefile", "x", "y"),
                ("rules.mk", "x", "y"),
                ("conftest.py", "x", "pytest_plugins = 1"),
            ][..],
            "makefile changed, rules.mk changed, conftest.py changed",
        ),
        (
            "./run_tests.sh",
            &[("run_tests.sh", "x", "y"), ("other.sh", "x", "y")],
            "run_tests.sh changed",
        ),
        (
            "bash -e tests/run.sh all",
            &[("tests/run.sh", "x", "y"), ("all", "x", "y")],
            "tests/run.sh changed",
        ),
        (
            "sh -c \"./x.sh now\"",
            &[("x.sh", "x", "y"), ("now", "x", "y")],
            "x.sh changed",
        ),
        (
            "pytest",
            &[
                ("conftest.py", "-", "def pytest_configure(): pass"),
                ("tests/conftest.py", "pytest_plugins = 1", "-"),
                ("tests/test_a.py", "x", "y"),
            ],
            "conftest.py created, tests/conftest.py removed",
        ),
    ] {
        check(command, changes, expected);
    }
}

#[test]
fn what_agents_and_editors_obey_later_asks_whatever_the_command() {
    let paths = [
        ".claude/settings.json",
        ".mcp.json",
        ".vscode/tasks.json",
        ".envrc",
        "CLAUDE.md",
        "docs/AGENTS.md",
        "README.md",
    ];
    let changes = paths.map(|path| (path, "-", "x"));
    let expected = ".claude/settings.json created, .mcp.json created, .vscode/tasks.json created, .envrc created, \
                    claude.md created, docs/agents.md created";
    for command in ["", "cargo test"] {
        check(command, &changes, expected);
    }
}

#[test]
fn what_npms_scripts_come_to_asks() {
    let manifest = r#"{"scripts": {"test": "node scripts/test.js && ./more.sh"}}"#;
    check(
        "npm test",
        &[
            ("package.json", manifest, manifest),
            ("scripts/test.js", "x", "y"),
            ("more.sh", "x", "y"),
            ("scripts/other.js", "x", "y"),
        ],
        "scripts/test.js changed, more.sh changed",
    );
    // The runner is known then, and it does not read the settings of another one.
    let manifest = r#"{"scripts": {"test": "jest --ci"}}"#;
    check(
        "npm test",
        &[
            ("package.json", manifest, manifest),
            ("vite.config.ts", "x", "y"),
            ("jest.config.ts", "x", "y"),
        ],
        "jest.config.ts changed",
    );
}

const PACKAGE: &str = "[package]\nname = 'a'\n[features]\ndefault = ['b']\nb = ['c']\n";
const SCRIPTS: &str = r#"{"scripts": {"test": "node --test", "lint": "x"}, "version": "1"}"#;
const PYPROJECT: &str = "[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n";

/// A row each: command, path, content before and after (`-` for none).
type ChangeRow = (&'static str, &'static str, &'static str, &'static str);

/// What asks: among it everything that T27 names.
#[rustfmt::skip]
const ASKING: &[ChangeRow] = &[
    ("cargo test", "Cargo.toml", PACKAGE, "[[test]]\nname = 'a'\nharness = false\n"),
    ("cargo test", "Cargo.toml", "", "[package]\nautotests = false\n"),
    ("cargo test", "Cargo.toml", "", "[workspace]\nmembers = ['b']\n"),
    ("cargo test", "Cargo.toml", "", "[workspace]\ndefault-members = ['b']\n"),
    ("cargo test", "Cargo.toml", PACKAGE, "[features]\ndefault = []\n"),
    ("cargo test", "Cargo.toml", PACKAGE, "[package]\nname = 'a'\n[features]\ndefault = ['b']\nb = []\n"),
    ("cargo test", "Cargo.toml", "", "[profile.test]\ndebug-assertions = false\n"),
    ("cargo test", "build.rs", "x", "y"),
    ("cargo nextest run", ".config/nextest.toml", "-", "x"),
    ("cargo test", ".cargo/config.toml", "-", "x"),
    ("go test ./...", "a_test.go", "package a\n", "//go:build never\n\npackage a\n"),
    ("go test ./...", "a_test.go", "-", "// +build never\n\npackage a\n"),
    ("go test ./...", "main_test.go", "-", "package a\n\nfunc TestMain(m *testing.M) {}\n"),
    ("go test ./...", "go.mod", "module a\n", "module a\nreplace b => ./c\n"),
    ("pytest", "pyproject.toml", "", "[tool.pytest.ini_options]\ntestpaths = ['x']\n"),
    ("pytest", "pyproject.toml", "", "[project.entry-points.pytest11]\na = 'a'\n"),
    ("pytest", "pyproject.toml", "", "[tool.poetry.plugins.pytest11]\na = 'a'\n"),
    ("pytest", "setup.cfg", "", "[tool:pytest]\ntestpaths = x\n"),
    ("pytest", "tox.ini", "", "[pytest]\ntestpaths = x\n"),
    ("pytest", "conftest.py", "", "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
    ("pytest", "conftest.py", "", "pytest_plugins = ['a']\n"),
    ("pytest", "conftest.py", "", "from helpers import *\n"),
    ("pytest", "tests/conftest.py", "", "from . import plugin\n"),
    ("pytest", "pytest.py", "-", "x"),
    ("pytest", "pytest_asyncio.py", "-", "x"),
    ("python3 -m pytest", "_pytest/__init__.py", "-", "x"),
    ("python3 -m unittest", "unittest/__init__.py", "-", "x"),
    ("pytest", ".venv/bin/pytest", "x", "y"),
    ("npm test", "node_modules/.bin/jest", "x", "y"),
    ("npx vitest", "test/node_modules/vitest/index.js", "-", "x"),
    ("npm test", "package.json", "{}", r#"{"workspaces": ["a"]}"#),
    ("npm test", "package.json", "{}", r#"{"nyc": {}}"#),
    ("npm test", "package.json", "{}", r#"{"babel": {}}"#),
    ("npm test", "package.json", "{}", r#"{"ts-node": {}}"#),
    ("npm test", ".nycrc.json", "-", "{}"),
    ("npm test", ".babelrc", "-", "{}"),
    ("npm test", "babel.config.js", "-", "x"),
    ("npm test", "tsconfig.json", "{}", r#"{"ts-node": {"transpileOnly": true}}"#),
    ("npm test", "tsconfig.test.json", "{}", r#"{"compilerOptions": {"paths": {}}}"#),
    ("sh ci/test.sh", "ci/test.sh", "x", "y"),
    ("make test", "Makefile", "x", "y"),
    ("npm test", "package.json", SCRIPTS, r#"{"scripts": {"test": "rm -rf ~"}}"#),
    ("npm test", "sub/package.json", "-", SCRIPTS),
    ("npm test", "package.json", SCRIPTS, "{broken"),
    ("npm test", "package.json", "{}", r#"{"jest": {"testMatch": []}}"#),
    ("npm test", ".npmrc", "-", "script-shell=./x"),
    ("npm test", "jest.config.js", "-", "x"),
    ("npm test", "vitest.config.ts", "-", "x"),
    ("npm test", "jest.preset.js", "-", "x"),
    ("npx vitest", "vitest.setup.ts", "-", "x"),
    ("npx mocha", ".mocharc.yml", "-", "x"),
    ("node --test", "babel.config.js", "-", "x"),
    ("yarn test", ".yarnrc", "-", "x"),
    ("yarn test", ".yarnrc.yml", "-", "x"),
    ("yarn test", ".pnp.cjs", "-", "x"),
    ("pnpm test", ".pnpmfile.cjs", "-", "x"),
    ("go test ./...", "go.work", "-", "x"),
    ("python3 -m unittest", "sitecustomize.py", "-", "x"),
    ("python3 -m unittest", "unittest.py", "-", "x"),
    ("python3 -m unittest", "traceback.py", "-", "x"),
    ("python3 tests/all.py", "tests/all.py", "x", "y"),
    ("cd sub && CI=1 ./check.py", "sub/check.py", "x", "y"),
    ("pytest", "sitecustomize.py", "-", "x"),
    ("pytest", "tests/_pytest/__init__.py", "-", "x"),
    ("python3 -m pytest -x", "pyproject.toml", PYPROJECT, "[tool.pytest.ini_options]\naddopts = '-p evil'\n"),
    ("pytest", "setup.cfg", "[metadata]\n", "[metadata]\n[tool:pytest]\naddopts = -p evil\n"),
    ("pytest", "tox.ini", "-", "[pytest]\nx=1\n"),
    ("pytest", "pytest.ini", "x", "y"),
    ("bundle exec rspec", ".rspec", "-", "x"),
    ("./gradlew test", "build.gradle.kts", "-", "x"),
    ("cargo test", "Cargo.toml", "[package]\n", "[package]\nbuild = 'other.rs'\n"),
    ("cargo test", "Cargo.toml", "[package]\n", "[package]\n[lib]\ntest = false\n"),
    ("cargo test", "Cargo.toml", "[package]\n", "[package]\n[workspace]\nmembers = []\n"),
    ("cargo test", "sub/.cargo/config", "-", ""),
    ("cargo test", "crates/a/build.rs", "x", "y"),
];

/// What looks like it and does not ask.
#[rustfmt::skip]
const QUIET: &[ChangeRow] = &[
    ("npm test", "package.json", SCRIPTS, r#"{"version": "2", "dependencies": {"a": "1"}, "scripts": {"lint": "x", "test": "node --test"}}"#),
    ("npm test", "test/a.test.js", "-", "x"),
    ("cargo test", "package.json", SCRIPTS, "{}"),
    ("cargo test", ".yarnrc.yml", "-", "x"),
    ("cargo test", "go.work", "-", "x"),
    ("cargo test", "config.toml", "-", ""),
    ("cargo test", "src/build.rs.txt", "x", "y"),
    ("cargo test", "jest.config.js", "-", "x"),
    ("cargo test", "tests/a.rs", "-", "x"),
    ("cargo test", "Cargo.toml", "[package]\nname = 'a'\n", "[package]\nname = 'a'\n[dependencies]\nx = '1'\n"),
    ("cargo test", "Cargo.toml", "[package]\n", "[package]\n[[test]]\nname = 'b'\npath = 'tests/b.rs'\n"),
    ("cargo test", "a.go", "package a\n", "//go:build never\n\npackage a\n"),
    ("go test ./...", "build.rs", "x", "y"),
    ("go test ./...", "Makefile", "x", "y"),
    ("go test ./...", "go.mod", "module a\n", "module a\nrequire b v1.0.0\n"),
    ("go test ./...", "a.go", "-", "package a\n"),
    ("go test ./...", "a.go", "package a\n", "package a\n\n//go:build is a comment here\nfunc A() {}\n"),
    ("go test ./...", "a.go", "//go:build linux\n\npackage a\n", "//go:build linux\n\npackage a\n\nfunc A() {}\n"),
    ("pytest", "pyproject.toml", PYPROJECT, "[project]\nname = 'b'\n[tool.pytest.ini_options]\naddopts = '-q'\n"),
    ("pytest", "setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n"),
    ("pytest", "tox.ini", "[tox]\nx=1\n", "[tox]\nx=2\n[pytest]\n# nothing\n"),
    ("pytest", "build.rs", "x", "y"),
    ("python3 -m pytest tests/a.py", "tests/a.py", "x", "y"),
    ("python3 -m unittest", "tests/test_a.py", "-", "x"),
    ("python3 -m unittest", "app/logging.py", "-", "x"),
    ("node --test tests/a.js", "tests/a.js", "x", "y"),
];

#[test]
fn what_the_command_runs_asks_and_the_rest_does_not() {
    for (command, path, before, after) in ASKING {
        let how = if *before == "-" { "created" } else { "changed" };
        let expected = format!("{} {how}", path.to_lowercase());
        check(command, &[(path, before, after)], &expected);
    }
    for (command, path, before, after) in QUIET {
        check(command, &[(path, before, after)], "");
    }
}
