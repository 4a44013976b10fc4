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
fn npms_scripts_ask_and_the_rest_of_its_manifest_does_not() {
    let old = r#"{"scripts": {"test": "node --test", "lint": "x"}, "version": "1"}"#;
    let reordered = r#"{"version": "2", "dependencies": {"a": "1"}, "scripts": {"lint": "x", "test": "node --test"}}"#;
    let changed = r#"{"scripts": {"test": "rm -rf ~"}}"#;
    check("npm test", &[("package.json", old, reordered)], "");
    check(
        "npm test",
        &[("package.json", old, changed)],
        "package.json changed",
    );
    check(
        "npm test",
        &[("sub/package.json", "-", changed)],
        "sub/package.json created",
    );
    check(
        "npm test",
        &[("package.json", old, "{broken")],
        "package.json changed",
    );
    check(
        "npm test",
        &[(".npmrc", "-", "script-shell=./x")],
        ".npmrc created",
    );
    check("cargo test", &[("package.json", old, changed)], "");
}

#[test]
fn what_asks_where_git_ignores_it_asks_where_git_keeps_it() {
    for (command, path) in [
        ("yarn test", ".yarnrc"),
        ("yarn test", ".yarnrc.yml"),
        ("yarn test", ".pnp.cjs"),
        ("pnpm test", ".pnpmfile.cjs"),
        ("go test ./...", "go.work"),
        ("python3 -m unittest", "sitecustomize.py"),
        ("pytest", "sitecustomize.py"),
    ] {
        check(command, &[(path, "-", "x")], &format!("{path} created"));
    }
    check(
        "cargo test",
        &[(".yarnrc.yml", "-", "x"), ("go.work", "-", "x")],
        "",
    );
}

#[test]
fn pytests_own_settings_ask_and_the_rest_of_shared_files_does_not() {
    let old = "[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n";
    check(
        "pytest",
        &[("pyproject.toml", old, &old.replace("'a'", "'b'"))],
        "",
    );
    check(
        "python3 -m pytest -x",
        &[("pyproject.toml", old, &old.replace("-q", "-p evil"))],
        "pyproject.toml changed",
    );
    check(
        "pytest",
        &[(
            "setup.cfg",
            "[metadata]\nname = a\n",
            "[metadata]\nname = b\n",
        )],
        "",
    );
    check(
        "pytest",
        &[(
            "setup.cfg",
            "[metadata]\n",
            "[metadata]\n[tool:pytest]\naddopts = -p evil\n",
        )],
        "setup.cfg changed",
    );
    check(
        "pytest",
        &[(
            "tox.ini",
            "[tox]\nx=1\n",
            "[tox]\nx=2\n[pytest]\n# nothing\n",
        )],
        "",
    );
    check(
        "pytest",
        &[("tox.ini", "-", "[pytest]\nx=1\n")],
        "tox.ini created",
    );
    check(
        "pytest",
        &[
            ("conftest.py", "-", "def pytest_configure(): pass"),
            ("tests/conftest.py", "pytest_plugins = 1", "-"),
            ("tests/test_a.py", "x", "y"),
        ],
        "conftest.py created, tests/conftest.py removed",
    );
    check(
        "pytest",
        &[("pytest.ini", "x", "y"), ("build.rs", "x", "y")],
        "pytest.ini changed",
    );
}

#[test]
fn cargos_settings_and_build_scripts_ask_and_dependencies_do_not() {
    let old = "[package]\nname = 'a'\n";
    check(
        "cargo test",
        &[(
            "Cargo.toml",
            old,
            "[package]\nname = 'a'\n[dependencies]\nx = '1'\n",
        )],
        "",
    );
    check(
        "cargo test",
        &[(
            "Cargo.toml",
            old,
            "[package]\nname = 'a'\nbuild = 'other.rs'\n",
        )],
        "cargo.toml changed",
    );
    check(
        "cargo test",
        &[
            (".cargo/config.toml", "-", ""),
            ("sub/.cargo/config", "-", ""),
            ("config.toml", "-", ""),
        ],
        ".cargo/config.toml created, sub/.cargo/config created",
    );
    check(
        "cargo test",
        &[
            ("crates/a/build.rs", "x", "y"),
            ("src/build.rs.txt", "x", "y"),
        ],
        "crates/a/build.rs changed",
    );
    check(
        "go test ./...",
        &[("build.rs", "x", "y"), ("Makefile", "x", "y")],
        "",
    );
}

#[test]
fn recipes_and_named_scripts_ask() {
    check(
        "make test",
        &[
            ("Makefile", "x", "y"),
            ("rules.mk", "x", "y"),
            ("conftest.py", "x", "pytest_plugins = 1"),
        ],
        "makefile changed, rules.mk changed, conftest.py changed",
    );
    check(
        "./run_tests.sh",
        &[("run_tests.sh", "x", "y"), ("other.sh", "x", "y")],
        "run_tests.sh changed",
    );
    check(
        "bash -e tests/run.sh all",
        &[("tests/run.sh", "x", "y"), ("all", "x", "y")],
        "tests/run.sh changed",
    );
    check(
        "cd sub && CI=1 ./check.py",
        &[("sub/check.py", "x", "y")],
        "sub/check.py changed",
    );
    check("node --test tests/a.js", &[("tests/a.js", "x", "y")], "");
    check(
        "python3 -m pytest tests/a.py",
        &[("tests/a.py", "x", "y")],
        "",
    );
    check(
        "python3 tests/all.py",
        &[("tests/all.py", "x", "y")],
        "tests/all.py changed",
    );
    check(
        "sh -c \"./x.sh now\"",
        &[("x.sh", "x", "y"), ("now", "x", "y")],
        "x.sh changed",
    );
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
fn a_runners_settings_and_its_shadows_ask_and_new_tests_do_not() {
    for (command, path) in [
        ("npm test", "jest.config.js"),
        ("npm test", "vitest.config.ts"),
        ("npm test", "jest.preset.js"),
        ("npx vitest", "vitest.setup.ts"),
        ("npx mocha", ".mocharc.yml"),
        ("cargo nextest run", ".config/nextest.toml"),
        ("node --test", "babel.config.js"),
        ("python3 -m unittest", "unittest.py"),
        ("python3 -m unittest", "traceback.py"),
        ("pytest", "tests/_pytest/__init__.py"),
        ("bundle exec rspec", ".rspec"),
        ("./gradlew test", "build.gradle.kts"),
    ] {
        check(command, &[(path, "-", "x")], &format!("{path} created"));
    }
    for (command, path) in [
        ("npm test", "test/a.test.js"),
        ("python3 -m unittest", "tests/test_a.py"),
        ("python3 -m unittest", "app/logging.py"),
        ("cargo test", "tests/a.rs"),
        ("cargo test", "jest.config.js"),
    ] {
        check(command, &[(path, "-", "x")], "");
    }
}

#[test]
fn what_switches_tests_off_in_a_manifest_asks() {
    let old = "[package]\nname = 'a'\n";
    for more in [
        "autotests = false\n",
        "[lib]\ntest = false\n",
        "[[test]]\nname = 'b'\nharness = false\n",
        "[features]\ndefault = []\n",
        "[workspace]\nmembers = []\n",
    ] {
        let new = format!("{old}{more}");
        check(
            "cargo test",
            &[("Cargo.toml", old, &new)],
            "cargo.toml changed",
        );
    }
    let new = format!("{old}[[test]]\nname = 'b'\npath = 'tests/b.rs'\n");
    check("cargo test", &[("Cargo.toml", old, &new)], "");
    let new = r#"{"jest": {"testMatch": []}}"#;
    check(
        "npm test",
        &[("package.json", "{}", new)],
        "package.json changed",
    );
    let go = "module a\n";
    let new = "module a\nreplace b => ./c\n";
    check("go test ./...", &[("go.mod", go, new)], "go.mod changed");
    let new = "module a\nrequire b v1.0.0\n";
    check("go test ./...", &[("go.mod", go, new)], "");
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

/// Everything that T27 names, one row an entry: command, path, content before and after (`-` for none).
const LISTED: &[(&str, &str, &str, &str)] = &[
    (
        "cargo test",
        "Cargo.toml",
        PACKAGE,
        "[[test]]\nname = 'a'\nharness = false\n",
    ),
    (
        "cargo test",
        "Cargo.toml",
        "",
        "[package]\nautotests = false\n",
    ),
    (
        "cargo test",
        "Cargo.toml",
        "",
        "[workspace]\nmembers = ['b']\n",
    ),
    (
        "cargo test",
        "Cargo.toml",
        "",
        "[workspace]\ndefault-members = ['b']\n",
    ),
    (
        "cargo test",
        "Cargo.toml",
        PACKAGE,
        "[features]\ndefault = []\n",
    ),
    (
        "cargo test",
        "Cargo.toml",
        PACKAGE,
        "[package]\nname = 'a'\n[features]\ndefault = ['b']\nb = []\n",
    ),
    (
        "cargo test",
        "Cargo.toml",
        "",
        "[profile.test]\ndebug-assertions = false\n",
    ),
    ("cargo test", "build.rs", "x", "y"),
    ("cargo nextest run", ".config/nextest.toml", "-", "x"),
    ("cargo test", ".cargo/config.toml", "-", "x"),
    (
        "go test ./...",
        "a_test.go",
        "package a\n",
        "//go:build never\n\npackage a\n",
    ),
    (
        "go test ./...",
        "a_test.go",
        "-",
        "// +build never\n\npackage a\n",
    ),
    (
        "go test ./...",
        "main_test.go",
        "-",
        "package a\n\nfunc TestMain(m *testing.M) {}\n",
    ),
    (
        "go test ./...",
        "go.mod",
        "module a\n",
        "module a\nreplace b => ./c\n",
    ),
    (
        "pytest",
        "pyproject.toml",
        "",
        "[tool.pytest.ini_options]\ntestpaths = ['x']\n",
    ),
    (
        "pytest",
        "pyproject.toml",
        "",
        "[project.entry-points.pytest11]\na = 'a'\n",
    ),
    (
        "pytest",
        "pyproject.toml",
        "",
        "[tool.poetry.plugins.pytest11]\na = 'a'\n",
    ),
    ("pytest", "setup.cfg", "", "[tool:pytest]\ntestpaths = x\n"),
    ("pytest", "tox.ini", "", "[pytest]\ntestpaths = x\n"),
    (
        "pytest",
        "conftest.py",
        "",
        "def pytest_collection_modifyitems(items):\n    items.clear()\n",
    ),
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
    (
        "npm test",
        "tsconfig.json",
        "{}",
        r#"{"ts-node": {"transpileOnly": true}}"#,
    ),
    (
        "npm test",
        "tsconfig.test.json",
        "{}",
        r#"{"compilerOptions": {"paths": {}}}"#,
    ),
    ("sh ci/test.sh", "ci/test.sh", "x", "y"),
    ("make test", "Makefile", "x", "y"),
];

#[test]
fn each_entry_point_of_the_list_asks() {
    for (command, path, before, after) in LISTED {
        let how = if *before == "-" { "created" } else { "changed" };
        let expected = format!("{} {how}", path.to_lowercase());
        check(command, &[(path, before, after)], &expected);
    }
}

#[test]
fn code_of_go_that_decides_nothing_does_not_ask() {
    for (before, after) in [
        ("-", "package a\n"),
        (
            "package a\n",
            "package a\n\n//go:build is a comment here\nfunc A() {}\n",
        ),
        (
            "//go:build linux\n\npackage a\n",
            "//go:build linux\n\npackage a\n\nfunc A() {}\n",
        ),
    ] {
        check("go test ./...", &[("a.go", before, after)], "");
    }
    check(
        "cargo test",
        &[("a.go", "package a\n", "//go:build never\n\npackage a\n")],
        "",
    );
}
