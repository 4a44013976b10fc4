//! Lists files that run, or decide what runs, before the first test or in the user's next session. One table
//! serves files that git ignores and files that it tracks, so that both scans know the same files.
//!
//! Decides by path alone and reads no file.

mod agent_and_editor_files;
mod test_runner_files;

use std::path::Path;

/// Folders whose files tools install as git hooks.
pub const HOOK_FOLDERS: [&str; 2] = [".githooks", ".husky"];

/// The program that reads a file before the tests begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensitiveFileReader {
    /// Git and tools that install its hooks, whatever the tests are.
    Git,
    /// Agents, editors and shells that the user starts here later, whatever the tests are.
    Anybody,
    /// npm and its replacements.
    Npm,
    /// Any program that runs JavaScript.
    Node,
    Jest,
    Vitest,
    Mocha,
    Ava,
    Pytest,
    Python,
    Cargo,
    Go,
    Php,
    Ruby,
    Jvm,
    Dotnet,
    /// A program that reads recipes, such as make.
    Recipes,
}

/// The paths that a row matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SensitiveFilePattern {
    /// A file with exactly this name.
    Exactly(&'static str),
    /// A file whose name ends with this text.
    Ending(&'static str),
    /// A file with the second name in a folder with the first name.
    InFolder(&'static str, &'static str),
    /// A file whose name starts with this text.
    Starting(&'static str),
    /// Everything, at any depth, in a folder with this name, or in these folders nested in each other.
    Below(&'static str),
    /// A Python module with this name: a file, or a folder that is a package.
    Module(&'static str),
}

/// A file that is sensitive as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SensitiveFile {
    pattern: SensitiveFilePattern,
    /// The program that reads it.
    pub reader: SensitiveFileReader,
    /// What the file decides, for display.
    pub why: &'static str,
}

/// A file of which only a part is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartlySensitiveFile {
    pattern: SensitiveFilePattern,
    /// The program that reads that part.
    pub reader: SensitiveFileReader,
    /// Where the file counts if git ignores it.
    ignored_scope: IgnoredFileScope,
}

/// Where an ignored, partly sensitive file counts; then it counts as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IgnoredFileScope {
    Anywhere,
    /// Built packages contain these files, too; only the ones of the work tree itself decide what its tests
    /// are.
    RootOnly,
    /// Tools generate such files, and the tests of the work tree see them like any other code.
    Nowhere,
}

const HOOKS: &str = "git hooks come from it";
const ATTRIBUTES: &str = "it decides which filters git runs, and how files are stored and shown";
const NPM: &str = "npm reads it before the tests";
const YARN: &str = "yarn reads it before the tests, and it can make yarn run another program";
const PYTEST: &str = "pytest's settings";
const CARGO: &str = "cargo's settings";
const WHICH_CARGO: &str = "it decides which cargo runs";
const RECIPES: &str = "the test command may run its recipes";

#[rustfmt::skip]
const SENSITIVE_FILES: [SensitiveFile; 38] = [
    exactly(".gitattributes", SensitiveFileReader::Git, ATTRIBUTES),
    exactly(".pre-commit-config.yaml", SensitiveFileReader::Git, HOOKS),
    exactly(".pre-commit-config.yml", SensitiveFileReader::Git, HOOKS),
    exactly("lefthook.yml", SensitiveFileReader::Git, HOOKS),
    exactly("lefthook.yaml", SensitiveFileReader::Git, HOOKS),
    exactly(".lefthook.yml", SensitiveFileReader::Git, HOOKS),
    exactly(".lefthook.yaml", SensitiveFileReader::Git, HOOKS),
    exactly(".npmrc", SensitiveFileReader::Npm, NPM),
    exactly(".yarnrc", SensitiveFileReader::Npm, YARN),
    exactly(".yarnrc.yml", SensitiveFileReader::Npm, YARN),
    exactly(".pnp.cjs", SensitiveFileReader::Npm, "yarn runs it before the tests"),
    exactly(".pnpmfile.cjs", SensitiveFileReader::Npm, "pnpm runs it before the tests"),
    exactly("pytest.ini", SensitiveFileReader::Pytest, PYTEST),
    exactly(".pytest.ini", SensitiveFileReader::Pytest, PYTEST),
    exactly("pytest.toml", SensitiveFileReader::Pytest, PYTEST),
    exactly(".pytest.toml", SensitiveFileReader::Pytest, PYTEST),
    exactly("sitecustomize.py", SensitiveFileReader::Python, "python runs it before anything else"),
    exactly("build.rs", SensitiveFileReader::Cargo, "cargo runs it before the tests"),
    exactly("rust-toolchain", SensitiveFileReader::Cargo, WHICH_CARGO),
    exactly("rust-toolchain.toml", SensitiveFileReader::Cargo, WHICH_CARGO),
    inside(".cargo", "config", SensitiveFileReader::Cargo, CARGO),
    inside(".cargo", "config.toml", SensitiveFileReader::Cargo, CARGO),
    inside(".config", "nextest.toml", SensitiveFileReader::Cargo, "nextest's settings"),
    exactly("go.work", SensitiveFileReader::Go, "it decides where go gets its modules"),
    exactly("Makefile", SensitiveFileReader::Recipes, RECIPES),
    exactly("makefile", SensitiveFileReader::Recipes, RECIPES),
    exactly("GNUmakefile", SensitiveFileReader::Recipes, RECIPES),
    exactly("justfile", SensitiveFileReader::Recipes, RECIPES),
    exactly("Justfile", SensitiveFileReader::Recipes, RECIPES),
    exactly(".justfile", SensitiveFileReader::Recipes, RECIPES),
    exactly("Taskfile.yml", SensitiveFileReader::Recipes, RECIPES),
    exactly("Taskfile.yaml", SensitiveFileReader::Recipes, RECIPES),
    exactly("noxfile.py", SensitiveFileReader::Recipes, RECIPES),
    exactly("Rakefile", SensitiveFileReader::Recipes, RECIPES),
    exactly("rakefile", SensitiveFileReader::Recipes, RECIPES),
    exactly("Rakefile.rb", SensitiveFileReader::Recipes, RECIPES),
    ending(".mk", SensitiveFileReader::Recipes, RECIPES),
    ending(".just", SensitiveFileReader::Recipes, RECIPES),
];

const PARTLY_SENSITIVE_FILES: [PartlySensitiveFile; 10] = [
    in_part(
        "conftest.py",
        SensitiveFileReader::Pytest,
        IgnoredFileScope::Anywhere,
    ),
    in_part(
        "package.json",
        SensitiveFileReader::Node,
        IgnoredFileScope::RootOnly,
    ),
    PartlySensitiveFile {
        pattern: SensitiveFilePattern::Starting("tsconfig."),
        reader: SensitiveFileReader::Node,
        ignored_scope: IgnoredFileScope::RootOnly,
    },
    PartlySensitiveFile {
        pattern: SensitiveFilePattern::Ending(".go"),
        reader: SensitiveFileReader::Go,
        ignored_scope: IgnoredFileScope::Nowhere,
    },
    in_part(
        "composer.json",
        SensitiveFileReader::Php,
        IgnoredFileScope::RootOnly,
    ),
    in_part(
        "go.mod",
        SensitiveFileReader::Go,
        IgnoredFileScope::RootOnly,
    ),
    in_part(
        "Cargo.toml",
        SensitiveFileReader::Cargo,
        IgnoredFileScope::RootOnly,
    ),
    in_part(
        "pyproject.toml",
        SensitiveFileReader::Pytest,
        IgnoredFileScope::Anywhere,
    ),
    in_part(
        "setup.cfg",
        SensitiveFileReader::Pytest,
        IgnoredFileScope::Anywhere,
    ),
    in_part(
        "tox.ini",
        SensitiveFileReader::Pytest,
        IgnoredFileScope::Anywhere,
    ),
];

const fn exactly(
    name: &'static str,
    reader: SensitiveFileReader,
    why: &'static str,
) -> SensitiveFile {
    let named = SensitiveFilePattern::Exactly(name);
    SensitiveFile {
        pattern: named,
        reader,
        why,
    }
}

const fn ending(
    end: &'static str,
    reader: SensitiveFileReader,
    why: &'static str,
) -> SensitiveFile {
    let named = SensitiveFilePattern::Ending(end);
    SensitiveFile {
        pattern: named,
        reader,
        why,
    }
}

const fn starting(
    start: &'static str,
    reader: SensitiveFileReader,
    why: &'static str,
) -> SensitiveFile {
    let named = SensitiveFilePattern::Starting(start);
    SensitiveFile {
        pattern: named,
        reader,
        why,
    }
}

const fn below(
    folder: &'static str,
    reader: SensitiveFileReader,
    why: &'static str,
) -> SensitiveFile {
    let named = SensitiveFilePattern::Below(folder);
    SensitiveFile {
        pattern: named,
        reader,
        why,
    }
}

const fn module(
    name: &'static str,
    reader: SensitiveFileReader,
    why: &'static str,
) -> SensitiveFile {
    let named = SensitiveFilePattern::Module(name);
    SensitiveFile {
        pattern: named,
        reader,
        why,
    }
}

const fn inside(
    folder: &'static str,
    name: &'static str,
    reader: SensitiveFileReader,
    why: &'static str,
) -> SensitiveFile {
    let named = SensitiveFilePattern::InFolder(folder, name);
    SensitiveFile {
        pattern: named,
        reader,
        why,
    }
}

const fn in_part(
    name: &'static str,
    reader: SensitiveFileReader,
    ignored: IgnoredFileScope,
) -> PartlySensitiveFile {
    PartlySensitiveFile {
        pattern: SensitiveFilePattern::Exactly(name),
        reader,
        ignored_scope: ignored,
    }
}

/// Returns every row that matches a path, relative to the root.
pub fn sensitive_file_rows(path: &Path) -> impl Iterator<Item = &'static SensitiveFile> {
    let rows = SENSITIVE_FILES
        .iter()
        .chain(agent_and_editor_files::AGENT_AND_EDITOR_FILES)
        .chain(test_runner_files::TEST_RUNNER_FILES);
    let rows = rows.filter(move |row| row.pattern.matches(path));
    rows.chain(standard_module(path))
}

/// Returns the row for a file or package in the root that has the name of a module of Python's standard
/// library.
fn standard_module(path: &Path) -> Option<&'static SensitiveFile> {
    const ROW: &SensitiveFile = &test_runner_files::STANDARD_MODULE;
    let first = Path::new(path.iter().next()?);
    let rest = path.strip_prefix(first).ok()?;
    let name = match rest.to_str()? {
        "" => first.to_str()?.strip_suffix(".py")?,
        "__init__.py" => first.to_str()?,
        _ => return None,
    };
    test_runner_files::is_standard(name).then_some(ROW)
}

impl SensitiveFilePattern {
    fn matches(self, path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            // No row can match this name; a folder above it still may.
            return matches!(self, Self::Below(folder) if lies_below(path, folder));
        };
        let lies_in = |folder: &str| path.parent().is_some_and(|parent| parent.ends_with(folder));
        match self {
            Self::Exactly(wanted) => name == wanted,
            Self::Ending(end) => name.ends_with(end),
            Self::InFolder(folder, wanted) => name == wanted && lies_in(folder),
            Self::Starting(start) => name.starts_with(start),
            Self::Below(folder) => lies_below(path, folder),
            Self::Module(module) => {
                name.strip_suffix(".py") == Some(module)
                    || lies_in(module) && ["__init__.py", "__main__.py"].contains(&name)
            }
        }
    }
}

fn lies_below(path: &Path, folder: &str) -> bool {
    path.ancestors()
        .skip(1)
        .any(|above| above.ends_with(folder))
}

/// Returns the row of a partly sensitive file, by its path from the root.
pub fn partly_sensitive_file(path: &Path) -> Option<&'static PartlySensitiveFile> {
    PARTLY_SENSITIVE_FILES
        .iter()
        .find(|row| row.pattern.matches(path))
}

/// Returns true if an ignored file may decide what runs before the tests, by its path from the root.
pub fn is_sensitive_when_ignored(path: &Path) -> bool {
    let is_at_root = path
        .parent()
        .is_some_and(|folder| folder.as_os_str().is_empty());
    let counts = |row: &PartlySensitiveFile| match row.ignored_scope {
        IgnoredFileScope::Anywhere => true,
        IgnoredFileScope::RootOnly => is_at_root,
        IgnoredFileScope::Nowhere => false,
    };
    sensitive_file_rows(path).next().is_some() || partly_sensitive_file(path).is_some_and(counts)
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator;

    use super::*;
    use crate::adapter::adapter_entry;
    use crate::domain::adapter_kind::AdapterKind;

    #[test]
    fn the_files_that_steer_an_agent_are_sensitive() {
        for kind in AdapterKind::iter() {
            for file in adapter_entry(kind).traits.rule_files {
                let is_listed = sensitive_file_rows(Path::new(file)).next().is_some();
                assert!(is_listed, "{file}");
            }
        }
    }

    #[test]
    fn what_decides_as_a_whole_and_what_in_part() {
        let check = |path: &str, reader: Option<SensitiveFileReader>, ignored: bool| {
            let path = Path::new(path);
            let found = sensitive_file_rows(path).next().map(|row| row.reader);
            assert_eq!(
                found.or(partly_sensitive_file(path).map(|row| row.reader)),
                reader,
                "{}",
                path.display()
            );
            assert_eq!(
                is_sensitive_when_ignored(path),
                ignored,
                "{}",
                path.display()
            );
        };
        check(".yarnrc.yml", Some(SensitiveFileReader::Npm), true);
        check("a/conftest.py", Some(SensitiveFileReader::Pytest), true);
        check(
            "a/.cargo/config.toml",
            Some(SensitiveFileReader::Cargo),
            true,
        );
        check("config.toml", None, false);
        check("mk/rules.mk", Some(SensitiveFileReader::Recipes), true);
        check("package.json", Some(SensitiveFileReader::Node), true);
        check("dist/package.json", Some(SensitiveFileReader::Node), false);
        check("a/tox.ini", Some(SensitiveFileReader::Pytest), true);
        check("src/main.rs", None, false);
        check("tsconfig.test.json", Some(SensitiveFileReader::Node), true);
        check("a/b_test.go", Some(SensitiveFileReader::Go), false);
        check("zz_generated.go", Some(SensitiveFileReader::Go), false);
        check(
            ".config/nextest.toml",
            Some(SensitiveFileReader::Cargo),
            true,
        );
    }

    #[test]
    fn what_agents_editors_and_shells_obey_later_is_in_the_table() {
        let check = |path: &str, why: &str| {
            let rows = sensitive_file_rows(Path::new(path))
                .filter(|row| row.reader == SensitiveFileReader::Anybody);
            let told: Vec<&str> = rows.map(|row| row.why).collect();
            assert_eq!(told.first().copied().unwrap_or("-"), why, "{path}");
        };
        let claude = "claude follows it in your next session";
        check(".claude/settings.json", claude);
        check(".claude/settings.local.json", claude);
        check("a/.claude/skills/b/SKILL.md", claude);
        check("a/CLAUDE.md", claude);
        let agents = "agents follow it in your next session";
        check("AGENTS.md", agents);
        check("docs/AGENTS.md", agents);
        check(".agents/skills/x.md", agents);
        check(
            ".codex/config.toml",
            "codex follows it in your next session",
        );
        check(
            ".mcp.json",
            "agents start its programs in your next session",
        );
        let editor = "your editor follows it, and may run programs from it";
        check(".vscode/tasks.json", editor);
        check(".idea/runConfigurations/a.xml", editor);
        check(
            ".devcontainer/Dockerfile",
            "your editor builds and starts a container from it",
        );
        let shell = "your shell runs it, or finds programs through it, when you enter the folder";
        check(".envrc", shell);
        check(".tool-versions", shell);
        for path in [
            ".vscode/extensions.json",
            ".github/workflows/ci.yml",
            "src/claude/settings.json",
            "docs/agents.rst",
        ] {
            check(path, "-");
        }
    }

    #[test]
    fn modules_that_take_a_runners_place_are_in_the_table() {
        let asks = |path: &str| {
            sensitive_file_rows(Path::new(path))
                .any(|row| row.reader == SensitiveFileReader::Python)
        };
        for path in [
            "unittest.py",
            "tests/pytest.py",
            "unittest/__init__.py",
            "src/_pytest/__init__.py",
            "usercustomize.py",
            "traceback.py",
            "json/__init__.py",
        ] {
            assert!(asks(path), "{path}");
        }
        for path in [
            "unittest/cases.cc",
            "tests/test_pytest.py",
            "src/json.py",
            "app/logging.py",
            "json/schema.py",
        ] {
            assert!(!asks(path), "{path}");
        }
    }
}
