//! Files that run, or decide what runs, before the first test: one table for files that git ignores and for those it
//! keeps, so that neither look knows less than the other.
//!
//! Refuses to look at any: names are all it knows.

use std::path::Path;

/// Folders whose files tools install as git hooks.
pub const HOOK_FOLDERS: [&str; 2] = [".githooks", ".husky"];

/// Who reads a file before the tests begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Git, with what installs its hooks: whatever the tests are.
    Git,
    /// npm, and what stands in for it.
    Npm,
    /// pytest.
    Pytest,
    /// Any Python.
    Python,
    /// cargo.
    Cargo,
    /// go.
    Go,
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
const NPM: &str = "npm reads it before the tests";
const YARN: &str = "yarn reads it before the tests, and may run another program by it";
const PYTEST: &str = "pytest's settings";
const CARGO: &str = "cargo's settings";
const WHICH_CARGO: &str = "it decides which cargo runs";
const RECIPES: &str = "the test command may run its recipes";

#[rustfmt::skip]
const WHOLE: [BeforeTests; 37] = [
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

const IN_PART: [InPart; 5] = [
    in_part("package.json", Reader::Npm, Ignored::AtTheRoot),
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

/// What is known of a file that decides as a whole, by its path from the root.
pub fn whole(path: &Path) -> Option<&'static BeforeTests> {
    let name = path.file_name()?.to_str()?;
    let lies_in = |folder: &str| path.parent().is_some_and(|parent| parent.ends_with(folder));
    WHOLE.iter().find(|row| match row.named {
        Named::Exactly(wanted) => name == wanted,
        Named::Ending(end) => name.ends_with(end),
        Named::In(folder, wanted) => name == wanted && lies_in(folder),
    })
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
    whole(path).is_some() || part_of(path).is_some_and(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_as_a_whole_and_what_in_part() {
        let check = |path: &str, reader: Option<Reader>, ignored: bool| {
            let path = Path::new(path);
            let found = whole(path).map(|row| row.reader);
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
        check("package.json", Some(Reader::Npm), true);
        check("dist/package.json", Some(Reader::Npm), false);
        check("a/tox.ini", Some(Reader::Pytest), true);
        check("src/main.rs", None, false);
    }
}
