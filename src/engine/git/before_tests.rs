//! Files that run, or decide what runs, before the first test or in the user's next session: one table for files that
//! git ignores and for those it keeps, so that neither look knows less than the other.
//!
//! Refuses to look at any: names are all it knows.

mod runners;
mod sessions;

use std::path::Path;

/// Folders whose files tools install as git hooks.
pub const HOOK_FOLDERS: [&str; 2] = [".githooks", ".husky"];

/// Who reads a file before the tests begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Git, with what installs its hooks: whatever the tests are.
    Git,
    /// Agents, editors and shells that the user starts here later: whatever the tests are.
    Anybody,
    /// npm, and what stands in for it.
    Npm,
    /// Any program that runs JavaScript.
    Node,
    /// jest.
    Jest,
    /// vitest.
    Vitest,
    /// mocha.
    Mocha,
    /// ava.
    Ava,
    /// pytest.
    Pytest,
    /// Any Python.
    Python,
    /// cargo.
    Cargo,
    /// go.
    Go,
    /// Any PHP.
    Php,
    /// Any Ruby.
    Ruby,
    /// gradle, maven.
    Jvm,
    /// dotnet.
    Dotnet,
    /// A program that reads recipes, such as make.
    Recipes,
}

/// Which paths are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// A file of this name.
    Exactly(&'static str),
    /// A file whose name ends so.
    Ending(&'static str),
    /// A file of this name in a folder of that name.
    In(&'static str, &'static str),
    /// A file whose name begins so.
    Starting(&'static str),
    /// All that lies, however deep, in a folder of this name, or of these names one in the other.
    Below(&'static str),
    /// A python module of this name: a file, or a folder that is a package.
    Module(&'static str),
}

/// A file that decides as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeforeTests {
    named: Named,
    /// Who reads it.
    pub reader: Reader,
    /// What it decides, for people.
    pub why: &'static str,
}

/// A file of which only a part decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InPart {
    name: &'static str,
    /// Who reads that part.
    pub reader: Reader,
    /// Where one that git ignores counts.
    ignored: Ignored,
}

/// Where an ignored file of which a part decides counts, as a whole then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Anywhere,
    /// Built packages hold these, too; only the work tree's own decide what its tests are.
    AtTheRoot,
}

const HOOKS: &str = "git hooks come from it";
const ATTRIBUTES: &str = "it decides which filters git runs, and how files are stored and shown";
const NPM: &str = "npm reads it before the tests";
const YARN: &str = "yarn reads it before the tests, and may run another program by it";
const PYTEST: &str = "pytest's settings";
const CARGO: &str = "cargo's settings";
const WHICH_CARGO: &str = "it decides which cargo runs";
const RECIPES: &str = "the test command may run its recipes";

#[rustfmt::skip]
const WHOLE: [BeforeTests; 38] = [
    exactly(".gitattributes", Reader::Git, ATTRIBUTES),
    exactly(".pre-commit-config.yaml", Reader::Git, HOOKS),
    exactly(".pre-commit-config.yml", Reader::Git, HOOKS),
    exactly("lefthook.yml", Reader::Git, HOOKS),
    exactly("lefthook.yaml", Reader::Git, HOOKS),
    exactly(".lefthook.yml", Reader::Git, HOOKS),
    exactly(".lefthook.yaml", Reader::Git, HOOKS),
    exactly(".npmrc", Reader::Npm, NPM),
    exactly(".yarnrc", Reader::Npm, YARN),
    exactly(".yarnrc.yml", Reader::Npm, YARN),
    exactly(".pnp.cjs", Reader::Npm, "yarn runs it before the tests"),
    exactly(".pnpmfile.cjs", Reader::Npm, "pnpm runs it before the tests"),
    exactly("conftest.py", Reader::Pytest, "pytest runs it before the tests"),
    exactly("pytest.ini", Reader::Pytest, PYTEST),
    exactly(".pytest.ini", Reader::Pytest, PYTEST),
    exactly("pytest.toml", Reader::Pytest, PYTEST),
    exactly(".pytest.toml", Reader::Pytest, PYTEST),
    exactly("sitecustomize.py", Reader::Python, "python runs it before anything else"),
    exactly("build.rs", Reader::Cargo, "cargo runs it before the tests"),
    exactly("rust-toolchain", Reader::Cargo, WHICH_CARGO),
    exactly("rust-toolchain.toml", Reader::Cargo, WHICH_CARGO),
    inside(".cargo", "config", Reader::Cargo, CARGO),
    inside(".cargo", "config.toml", Reader::Cargo, CARGO),
    exactly("go.work", Reader::Go, "it decides which modules go takes from where"),
    exactly("Makefile", Reader::Recipes, RECIPES),
    exactly("makefile", Reader::Recipes, RECIPES),
    exactly("GNUmakefile", Reader::Recipes, RECIPES),
    exactly("justfile", Reader::Recipes, RECIPES),
    exactly("Justfile", Reader::Recipes, RECIPES),
    exactly(".justfile", Reader::Recipes, RECIPES),
    exactly("Taskfile.yml", Reader::Recipes, RECIPES),
    exactly("Taskfile.yaml", Reader::Recipes, RECIPES),
    exactly("noxfile.py", Reader::Recipes, RECIPES),
    exactly("Rakefile", Reader::Recipes, RECIPES),
    exactly("rakefile", Reader::Recipes, RECIPES),
    exactly("Rakefile.rb", Reader::Recipes, RECIPES),
    ending(".mk", Reader::Recipes, RECIPES),
    ending(".just", Reader::Recipes, RECIPES),
];

const IN_PART: [InPart; 8] = [
    in_part("package.json", Reader::Node, Ignored::AtTheRoot),
    in_part("tsconfig.json", Reader::Node, Ignored::AtTheRoot),
    in_part("composer.json", Reader::Php, Ignored::AtTheRoot),
    in_part("go.mod", Reader::Go, Ignored::AtTheRoot),
    in_part("Cargo.toml", Reader::Cargo, Ignored::AtTheRoot),
    in_part("pyproject.toml", Reader::Pytest, Ignored::Anywhere),
    in_part("setup.cfg", Reader::Pytest, Ignored::Anywhere),
    in_part("tox.ini", Reader::Pytest, Ignored::Anywhere),
];

const fn exactly(name: &'static str, reader: Reader, why: &'static str) -> BeforeTests {
    let named = Named::Exactly(name);
    BeforeTests { named, reader, why }
}

const fn ending(end: &'static str, reader: Reader, why: &'static str) -> BeforeTests {
    let named = Named::Ending(end);
    BeforeTests { named, reader, why }
}

const fn starting(start: &'static str, reader: Reader, why: &'static str) -> BeforeTests {
    let named = Named::Starting(start);
    BeforeTests { named, reader, why }
}

const fn below(folder: &'static str, reader: Reader, why: &'static str) -> BeforeTests {
    let named = Named::Below(folder);
    BeforeTests { named, reader, why }
}

const fn module(name: &'static str, reader: Reader, why: &'static str) -> BeforeTests {
    let named = Named::Module(name);
    BeforeTests { named, reader, why }
}

const fn inside(
    folder: &'static str,
    name: &'static str,
    reader: Reader,
    why: &'static str,
) -> BeforeTests {
    let named = Named::In(folder, name);
    BeforeTests { named, reader, why }
}

const fn in_part(name: &'static str, reader: Reader, ignored: Ignored) -> InPart {
    InPart {
        name,
        reader,
        ignored,
    }
}

/// What is known of a file that decides as a whole, by its path from the root: each row that is about it.
pub fn whole(path: &Path) -> impl Iterator<Item = &'static BeforeTests> {
    let rows = WHOLE
        .iter()
        .chain(sessions::SESSIONS)
        .chain(runners::RUNNERS);
    let rows = rows.filter(move |row| row.named.means(path));
    rows.chain(standard_module(path))
}

/// A file or package in the root that has the name of a module of python's own.
fn standard_module(path: &Path) -> Option<&'static BeforeTests> {
    const ROW: &BeforeTests = &runners::STANDARD_MODULE;
    let first = Path::new(path.iter().next()?);
    let rest = path.strip_prefix(first).ok()?;
    let name = match rest.to_str()? {
        "" => first.to_str()?.strip_suffix(".py")?,
        "__init__.py" => first.to_str()?,
        _ => return None,
    };
    runners::is_standard(name).then_some(ROW)
}

impl Named {
    fn means(self, path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            // A name that no row can have; a folder on its way may have one all the same.
            return matches!(self, Self::Below(folder) if lies_below(path, folder));
        };
        let lies_in = |folder: &str| path.parent().is_some_and(|parent| parent.ends_with(folder));
        match self {
            Self::Exactly(wanted) => name == wanted,
            Self::Ending(end) => name.ends_with(end),
            Self::In(folder, wanted) => name == wanted && lies_in(folder),
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

/// What is known of a file of which a part decides, by its path from the root.
pub fn part_of(path: &Path) -> Option<&'static InPart> {
    let name = path.file_name()?.to_str()?;
    IN_PART.iter().find(|row| row.name == name)
}

/// Tells whether a file that git ignores may decide what runs before the tests, by its path from the root.
pub fn may_decide_ignored(path: &Path) -> bool {
    let is_at_root = path
        .parent()
        .is_some_and(|folder| folder.as_os_str().is_empty());
    let counts = |row: &InPart| row.ignored == Ignored::Anywhere || is_at_root;
    whole(path).next().is_some() || part_of(path).is_some_and(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_as_a_whole_and_what_in_part() {
        let check = |path: &str, reader: Option<Reader>, ignored: bool| {
            let path = Path::new(path);
            let found = whole(path).next().map(|row| row.reader);
            assert_eq!(
                found.or(part_of(path).map(|row| row.reader)),
                reader,
                "{}",
                path.display()
            );
            assert_eq!(may_decide_ignored(path), ignored, "{}", path.display());
        };
        check(".yarnrc.yml", Some(Reader::Npm), true);
        check("a/conftest.py", Some(Reader::Pytest), true);
        check("a/.cargo/config.toml", Some(Reader::Cargo), true);
        check("config.toml", None, false);
        check("mk/rules.mk", Some(Reader::Recipes), true);
        check("package.json", Some(Reader::Node), true);
        check("dist/package.json", Some(Reader::Node), false);
        check("a/tox.ini", Some(Reader::Pytest), true);
        check("src/main.rs", None, false);
    }

    #[test]
    fn what_agents_editors_and_shells_obey_later_is_in_the_table() {
        let check = |path: &str, why: &str| {
            let rows = whole(Path::new(path)).filter(|row| row.reader == Reader::Anybody);
            let told: Vec<&str> = rows.map(|row| row.why).collect();
            assert_eq!(told.first().copied().unwrap_or("-"), why, "{path}");
        };
        let claude = "claude obeys it in your next session";
        check(".claude/settings.json", claude);
        check(".claude/settings.local.json", claude);
        check("a/.claude/skills/b/SKILL.md", claude);
        check("a/CLAUDE.md", claude);
        let agents = "agents obey it in your next session";
        check("AGENTS.md", agents);
        check("docs/AGENTS.md", agents);
        check(".agents/skills/x.md", agents);
        check(".codex/config.toml", "codex obeys it in your next session");
        check(
            ".mcp.json",
            "agents start its programs in your next session",
        );
        let editor = "your editor obeys it, and may run programs by it";
        check(".vscode/tasks.json", editor);
        check(".idea/runConfigurations/a.xml", editor);
        check(
            ".devcontainer/Dockerfile",
            "your editor builds and starts a container by it",
        );
        let shell = "your shell runs it, or takes programs by it, when you enter the folder";
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
        let asks = |path: &str| whole(Path::new(path)).any(|row| row.reader == Reader::Python);
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
