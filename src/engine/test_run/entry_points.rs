//! Which changes of a step decide what a commit or the approved test command will run.
//!
//! Git hooks, and what the command resolves to: npm's scripts, pytest's own settings and conftest.py,
//! cargo's configuration and build scripts, make's and just's recipes, a script that the command
//! names. Refuses to ask about anything else: tests and code run, too, but they are what the step is for.

mod beside;
mod follow;
mod parts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::follow::{FollowedCommand, follow};
use self::parts::{
    Part, cargo_settings, composer_scripts, go_replacements, npm_scripts, pytest_tables, section,
    typescript_settings,
};
use super::command::TestCommand;
use crate::engine::git::before_tests::{self, HOOK_FOLDERS, Reader};
use crate::engine::git::{GitError, PROGRAM, Repository, TreeId};
use crate::store::scoped_read::ScopedReader;

/// A change that asks before anything runs because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensitiveChange {
    /// The path, relative to the root.
    pub path: PathBuf,
    /// What it decides, for people.
    pub why: String,
    /// What happened to it.
    pub how: How,
    /// A mark of what it is afterwards, mode and content both; `None` where it is gone. An allowance
    /// holds for a path and this, and for nothing that comes later.
    pub content: Option<String>,
}

/// A path that differs between two looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The path, relative to the root.
    pub path: PathBuf,
    /// What happened to it.
    pub how: How,
    /// A mark of what it is afterwards; `None` where it is gone.
    pub content: Option<String>,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It is new.
    Created,
    /// Its content or mode is another.
    Changed,
    /// It is gone.
    Removed,
}

type Content<'a> = &'a dyn Fn(&Path) -> Option<Vec<u8>>;

/// Finds the sensitive ones among changed paths; `before` and `after` give a path's content, where it
/// has one, and are asked only for paths that [`needs_content`] names.
fn changed_entry_points(
    followed: &FollowedCommand,
    hooks_folder: Option<&Path>,
    before: Content<'_>,
    after: Content<'_>,
    changed: &[Changed],
) -> Vec<SensitiveChange> {
    let resolved = Resolved::of(followed);
    let mut found = Vec::new();
    for Changed { path, how, content } in changed {
        let why = hook(path, hooks_folder)
            .or_else(|| resolved.file(path))
            .or_else(|| resolved.part(path, before, after))
            .map(str::to_owned)
            .or_else(|| resolved.script(path));
        found.extend(why.map(|why| SensitiveChange {
            path: path.clone(),
            why,
            how: *how,
            content: content.clone(),
        }));
    }
    found
}

/// Tells whether only a part of this file is sensitive, so that its content is needed.
pub fn needs_content(path: &Path) -> bool {
    before_tests::part_of(path).is_some()
}

/// Finds the sensitive changes between two trees.
///
/// # Errors
/// Git fails.
pub async fn sensitive_changes(
    repository: &Repository,
    command: Option<&TestCommand>,
    before: &TreeId,
    after: &TreeId,
) -> Result<Vec<SensitiveChange>, GitError> {
    use crate::engine::git::TreeChangeKind as Kind;
    let mut changed = Vec::new();
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    for change in repository.changes_between(before, after).await? {
        let how = match change.kind {
            Kind::Added => How::Created,
            Kind::Modified | Kind::Retyped | Kind::Submodule => How::Changed,
            Kind::Deleted => How::Removed,
        };
        if needs_content(&change.path) {
            old.insert(
                change.path.clone(),
                repository.file_in(before, &change.path).await?,
            );
            new.insert(
                change.path.clone(),
                repository.file_in(after, &change.path).await?,
            );
        }
        changed.push(Changed {
            path: change.path,
            how,
            content: change.content,
        });
    }
    let hooks_folder = repository.hooks_folder().await?;
    let programs = repository.named_programs().await?;
    let followed = command.map(|command| follow_on_disk(repository, command));
    let (old, new) = (
        |path: &Path| old.get(path).cloned().flatten(),
        |path: &Path| new.get(path).cloned().flatten(),
    );
    let followed = followed.unwrap_or_default();
    let mut found = changed_entry_points(&followed, hooks_folder.as_deref(), &old, &new, &changed);
    for change in changed {
        let is_named = programs.iter().any(|named| change.path.starts_with(named));
        if is_named && found.iter().all(|known| known.path != change.path) {
            found.push(SensitiveChange {
                path: change.path,
                why: PROGRAM.to_owned(),
                how: change.how,
                content: change.content,
            });
        }
    }
    Ok(found)
}

/// Follows a command through the work tree, where it is going to run. What lies outside is not read.
fn follow_on_disk(repository: &Repository, command: &TestCommand) -> FollowedCommand {
    let root = match ScopedReader::open(&repository.root) {
        Ok(root) => root,
        Err(error) => {
            tracing::warn!(%error, "the test command is not followed");
            return follow(command, &|_| None);
        }
    };
    follow(command, &|path| {
        let path = path.to_str()?;
        root.read_file(path, FOLLOWED_BYTES).ok()
    })
}

fn hook(path: &Path, hooks_folder: Option<&Path>) -> Option<&'static str> {
    let folders = HOOK_FOLDERS.map(Path::new);
    let mut folders = folders.into_iter().chain(hooks_folder);
    let in_folder = folders.any(|folder| path.starts_with(folder));
    in_folder.then_some("git hooks come from it")
}

/// What a test command may read before it reaches the tests.
struct Resolved<'a> {
    followed: &'a FollowedCommand,
    /// Whether it may call any runner.
    is_opaque: bool,
}

impl<'a> Resolved<'a> {
    fn of(followed: &'a FollowedCommand) -> Self {
        let programs = followed.commands.iter().filter_map(|words| words.first());
        let mut programs = programs.map(|word| base_name(word));
        let is_known = |program: &str| {
            KNOWN.contains(&program)
                || PACKAGE_RUNNERS.contains(&program)
                || NODE_PROGRAMS.contains(&program)
                || program.starts_with("python")
        };
        // A recipe, a script or a program that nobody knows here may call any runner.
        let is_opaque = programs.any(|program| !is_known(program));
        Self {
            followed,
            is_opaque,
        }
    }

    /// Tells whether the command has a file of theirs read.
    fn has_read(&self, reader: Reader) -> bool {
        let is_it: fn(&str) -> bool = match reader {
            Reader::Git | Reader::Anybody => return true,
            Reader::Npm => |name| PACKAGE_RUNNERS.contains(&name),
            Reader::Node => |name| PACKAGE_RUNNERS.contains(&name) || NODE_PROGRAMS.contains(&name),
            Reader::Jest | Reader::Vitest | Reader::Mocha | Reader::Ava
                if self.followed.is_within_own_words() =>
            {
                |name| NODE_RUNNERS.contains(&name) || PACKAGE_RUNNERS.contains(&name)
            }
            Reader::Jest => |name| name == "jest",
            Reader::Vitest => |name| ["vitest", "vite"].contains(&name),
            Reader::Mocha => |name| name == "mocha",
            Reader::Ava => |name| name == "ava",
            Reader::Php => |name| ["php", "phpunit", "pest", "composer"].contains(&name),
            Reader::Ruby => |name| ["ruby", "rspec", "rake", "bundle", "rails"].contains(&name),
            Reader::Jvm => |name| ["gradle", "gradlew", "mvn", "mvnw"].contains(&name),
            Reader::Dotnet => |name| name == "dotnet",
            Reader::Pytest => |name| ["pytest", "py.test"].contains(&name),
            Reader::Python => {
                |name| name.starts_with("python") || ["pytest", "py.test"].contains(&name)
            }
            Reader::Cargo => |name| name == "cargo",
            Reader::Go => |name| name == "go",
            Reader::Recipes => |_| false,
        };
        let mut words = self.followed.commands.iter().flatten();
        self.is_opaque || words.any(|word| is_it(base_name(word)))
    }

    /// Files that are sensitive as a whole.
    fn file(&self, path: &Path) -> Option<&'static str> {
        let row = before_tests::whole(path).find(|row| self.has_read(row.reader))?;
        Some(row.why)
    }

    /// A file that the command runs: its program, an interpreter's script, or what those call.
    fn script(&self, path: &Path) -> Option<String> {
        if let Some(by) = self.followed.files.get(path) {
            let by = by.as_ref().map(|by| format!(", by {}", by.display()));
            return Some(format!(
                "the test command runs it{}",
                by.unwrap_or_default()
            ));
        }
        let is_named = |word: &str| {
            let word = Path::new(word.strip_prefix("./").unwrap_or(word));
            word.components().count() > 0 && path.ends_with(word)
        };
        // Where a line changes folders in ways that nobody follows, the name is enough.
        let named = self.followed.own_commands().any(|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            script_of(&words).is_some_and(is_named)
        });
        named.then(|| "the test command runs it".to_owned())
    }

    /// Files of which only a part is sensitive.
    fn part(&self, path: &Path, before: Content<'_>, after: Content<'_>) -> Option<&'static str> {
        let (part, why): (fn(&[u8]) -> Part, _) = match path.file_name()?.to_str()? {
            "package.json" => (
                npm_scripts,
                "npm's scripts, or a test runner's settings, changed",
            ),
            "tsconfig.json" => (typescript_settings, "how tests are compiled changed"),
            "composer.json" => (composer_scripts, "composer's scripts changed"),
            "go.mod" => (
                go_replacements,
                "it takes modules, or go itself, from elsewhere",
            ),
            "pyproject.toml" => (pytest_tables, "pytest's settings in it changed"),
            "setup.cfg" => (
                |text| section(text, "tool:pytest"),
                "pytest's settings in it changed",
            ),
            "tox.ini" => (
                |text| section(text, "pytest"),
                "pytest's settings in it changed",
            ),
            "Cargo.toml" => (
                cargo_settings,
                "it decides which tests cargo builds, and how",
            ),
            _ => return None,
        };
        let reader = before_tests::part_of(path)?.reader;
        let part_of =
            |content: Option<Vec<u8>>| content.map_or(Part::Absent, |content| part(&content));
        (self.has_read(reader) && part_of(before(path)) != part_of(after(path))).then_some(why)
    }
}

/// Programs that run the scripts of a package, or another package's program.
const PACKAGE_RUNNERS: [&str; 8] = [
    "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "corepack",
];

/// Programs that run JavaScript, tests among it.
const NODE_PROGRAMS: [&str; 16] = [
    "node",
    "nodejs",
    "deno",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "nyc",
    "c8",
    "tap",
    "karma",
    "playwright",
    "cypress",
    "ts-node",
    "tsx",
    "vite",
];

/// Those of them whose own settings are known here.
const NODE_RUNNERS: [&str; 5] = ["jest", "vitest", "vite", "mocha", "ava"];

/// How much of a file that the test command comes to is read.
const FOLLOWED_BYTES: u64 = 1024 * 1024;

/// Programs whose ways are known here, and words that a shell line may begin with.
const KNOWN: [&str; 19] = [
    "npm", "pnpm", "yarn", "bun", "node", "pytest", "py.test", "cargo", "go", "cd", "env",
    "export", "echo", "true", "false", "exit", "set", "test", "[",
];

const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "node", "bun", "deno", "ruby", "perl", "php", "source",
    ".", "tsx",
];

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The file that a simple command runs as its program, as far as it may be one of the repository's.
fn script_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words
        .iter()
        .copied()
        .skip_while(|word| word.contains('=') || base_name(word) == "env");
    let program = words.next()?;
    let name = base_name(program);
    if !INTERPRETERS.contains(&name) && !name.starts_with("python") {
        return Some(program).filter(|program| program.contains('/'));
    }
    // After these comes code, a module or tests, and no script; a shell's -c gives commands, whose first is one.
    let stops: &[&str] = match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "source" | "." => &[],
        _ if name.starts_with("python") => &["-m", "-c"],
        _ => &["-e", "-p", "--eval", "--print", "--test"],
    };
    let argument = words.find(|word| !word.starts_with('-') || stops.contains(word))?;
    Some(argument).filter(|argument| !argument.starts_with('-'))
}

#[cfg(test)]
mod tests;
