//! Finds the changes of a step that decide what a commit or the approved test command will run.
//!
//! Covers git hooks and what the command resolves to: npm scripts, pytest's settings and conftest.py, cargo's
//! configuration and build scripts, recipes of make and just, and scripts that the command names. Tests and
//! other code run, too, but the user is not asked about them: they are what the step is for.

pub(super) mod command_follower;
mod sensitive_parts;
mod unversioned_code_diff;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::command_follower::{FollowedCommand, follow_command};
use self::sensitive_parts::{
    SensitivePart, cargo_settings, composer_scripts, go_constraints, go_replacements, ini_section,
    npm_scripts, pytest_hooks, pytest_tables, typescript_settings,
};
use super::test_command_line::TestCommandLine;
use crate::engine::git::sensitive_files::{self, HOOK_FOLDERS, SensitiveFileReader};
use crate::engine::git::{GitConfiguration, GitError, GitRepository, PROGRAM_REASON, TreeId};
use crate::store::scoped_read::ScopedReader;

/// A change that the user must approve before anything runs because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensitiveChange {
    /// The path, relative to the root.
    pub path: PathBuf,
    /// What it decides, for display.
    pub why: String,
    pub how: PathChangeKind,
    /// A fingerprint of the new state, mode and content; `None` if the file is gone. An approval applies to
    /// the path with exactly this content, not to later ones.
    pub content: Option<String>,
}

/// A path that differs between two scans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPath {
    /// The path, relative to the root.
    pub path: PathBuf,
    pub how: PathChangeKind,
    /// A fingerprint of the new state; `None` if the file is gone.
    pub content: Option<String>,
}

/// How a path changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathChangeKind {
    Created,
    /// Its content or mode changed.
    Changed,
    Removed,
}

type FileContentLookup<'a> = &'a dyn Fn(&Path) -> Option<Vec<u8>>;

/// Finds the sensitive changes among changed paths. `before` and `after` return the content of a path, if it
/// has one; they are called only for paths for which [`needs_content`] is true.
fn find_sensitive_changes(
    followed: &FollowedCommand,
    hooks_folder: Option<&Path>,
    before: FileContentLookup<'_>,
    after: FileContentLookup<'_>,
    changed: &[ChangedPath],
) -> Vec<SensitiveChange> {
    let resolved = TestCommandInputs::from_command(followed);
    let mut found = Vec::new();
    for ChangedPath { path, how, content } in changed {
        let why = hook_reason(path, hooks_folder)
            .or_else(|| resolved.file_reason(path))
            .or_else(|| resolved.part_reason(path, before, after))
            .map(str::to_owned)
            .or_else(|| resolved.script_reason(path));
        found.extend(why.map(|why| SensitiveChange {
            path: path.clone(),
            why,
            how: *how,
            content: content.clone(),
        }));
    }
    found
}

/// Returns true if only a part of this file is sensitive, so that its content is needed.
pub fn needs_content(path: &Path) -> bool {
    sensitive_files::partly_sensitive_file(path).is_some()
}

/// Finds the sensitive changes between two trees.
///
/// # Errors
/// Git fails.
pub async fn sensitive_changes_between(
    repository: &GitRepository,
    configuration: &GitConfiguration,
    command: Option<&TestCommandLine>,
    before: &TreeId,
    after: &TreeId,
) -> Result<Vec<SensitiveChange>, GitError> {
    use crate::engine::git::TreeChangeKind as Kind;
    let trees = repository.trees();
    let mut changed = Vec::new();
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    for change in trees.changes_between(before, after).await? {
        let how = match change.kind {
            Kind::Added => PathChangeKind::Created,
            Kind::Modified | Kind::Retyped | Kind::Submodule => PathChangeKind::Changed,
            Kind::Deleted => PathChangeKind::Removed,
        };
        if needs_content(&change.path) {
            old.insert(
                change.path.clone(),
                trees.read_file_in_tree(before, &change.path).await?,
            );
            new.insert(
                change.path.clone(),
                trees.read_file_in_tree(after, &change.path).await?,
            );
        }
        changed.push(ChangedPath {
            path: change.path,
            how,
            content: change.content,
        });
    }
    let hooks_folder = repository.config().hooks_folder_in_tree(configuration);
    let followed = command.map(|command| follow_in_work_tree(repository, command));
    let (old, new) = (
        |path: &Path| old.get(path).cloned().flatten(),
        |path: &Path| new.get(path).cloned().flatten(),
    );
    let followed = followed.unwrap_or_default();
    let mut found =
        find_sensitive_changes(&followed, hooks_folder.as_deref(), &old, &new, &changed);
    for change in changed {
        let is_named = configuration
            .programs
            .iter()
            .any(|named| change.path.starts_with(named));
        if is_named && found.iter().all(|known| known.path != change.path) {
            found.push(SensitiveChange {
                path: change.path,
                why: PROGRAM_REASON.to_owned(),
                how: change.how,
                content: change.content,
            });
        }
    }
    Ok(found)
}

/// Follows a command through the files of the work tree, where it is going to run. Files outside of it are
/// not read.
fn follow_in_work_tree(repository: &GitRepository, command: &TestCommandLine) -> FollowedCommand {
    let root = match ScopedReader::open(repository.root()) {
        Ok(root) => root,
        Err(error) => {
            tracing::warn!(%error, "the test command is not followed");
            return follow_command(command, &|_| None);
        }
    };
    follow_command(command, &|path| {
        let path = path.to_str()?;
        root.read_file(path, MAX_FOLLOWED_BYTES).ok()
    })
}

fn hook_reason(path: &Path, hooks_folder: Option<&Path>) -> Option<&'static str> {
    let folders = HOOK_FOLDERS.map(Path::new);
    let mut folders = folders.into_iter().chain(hooks_folder);
    let in_folder = folders.any(|folder| path.starts_with(folder));
    in_folder.then_some("git hooks come from it")
}

/// What a test command may read before it reaches the tests.
struct TestCommandInputs<'a> {
    followed: &'a FollowedCommand,
    /// Whether it may call any test runner.
    is_opaque: bool,
}

impl<'a> TestCommandInputs<'a> {
    fn from_command(followed: &'a FollowedCommand) -> Self {
        let programs = followed.commands.iter().filter_map(|words| words.first());
        let mut programs = programs.map(|word| base_name(word));
        let is_known = |program: &str| {
            KNOWN_PROGRAMS.contains(&program)
                || PACKAGE_RUNNERS.contains(&program)
                || NODE_PROGRAMS.contains(&program)
                || program.starts_with("python")
        };
        // A recipe, a script or an unknown program may call any test runner.
        let is_opaque = programs.any(|program| !is_known(program));
        Self {
            followed,
            is_opaque,
        }
    }

    /// Returns true if the command may run this reader.
    fn may_read(&self, reader: SensitiveFileReader) -> bool {
        let is_it: fn(&str) -> bool = match reader {
            SensitiveFileReader::Git | SensitiveFileReader::Anybody => return true,
            SensitiveFileReader::Npm => |name| PACKAGE_RUNNERS.contains(&name),
            SensitiveFileReader::Node => {
                |name| PACKAGE_RUNNERS.contains(&name) || NODE_PROGRAMS.contains(&name)
            }
            SensitiveFileReader::Jest
            | SensitiveFileReader::Vitest
            | SensitiveFileReader::Mocha
            | SensitiveFileReader::Ava
                if self.followed.has_only_own_commands() =>
            {
                |name| NODE_RUNNERS.contains(&name) || PACKAGE_RUNNERS.contains(&name)
            }
            SensitiveFileReader::Jest => |name| name == "jest",
            SensitiveFileReader::Vitest => |name| ["vitest", "vite"].contains(&name),
            SensitiveFileReader::Mocha => |name| name == "mocha",
            SensitiveFileReader::Ava => |name| name == "ava",
            SensitiveFileReader::Php => {
                |name| ["php", "phpunit", "pest", "composer"].contains(&name)
            }
            SensitiveFileReader::Ruby => {
                |name| ["ruby", "rspec", "rake", "bundle", "rails"].contains(&name)
            }
            SensitiveFileReader::Jvm => |name| ["gradle", "gradlew", "mvn", "mvnw"].contains(&name),
            SensitiveFileReader::Dotnet => |name| name == "dotnet",
            SensitiveFileReader::Pytest => |name| ["pytest", "py.test"].contains(&name),
            SensitiveFileReader::Python => {
                |name| name.starts_with("python") || ["pytest", "py.test"].contains(&name)
            }
            SensitiveFileReader::Cargo => |name| name == "cargo",
            SensitiveFileReader::Go => |name| name == "go",
            SensitiveFileReader::Recipes => |_| false,
        };
        let mut words = self.followed.commands.iter().flatten();
        self.is_opaque || words.any(|word| is_it(base_name(word)))
    }

    /// Returns why a file that is sensitive as a whole matters.
    fn file_reason(&self, path: &Path) -> Option<&'static str> {
        let row =
            sensitive_files::sensitive_file_rows(path).find(|row| self.may_read(row.reader))?;
        Some(row.why)
    }

    /// Returns why a file matters that the command runs: its program, an interpreter's script, or what those
    /// call.
    fn script_reason(&self, path: &Path) -> Option<String> {
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
        // If a line changes folders in a way that cannot be followed, the file name alone counts.
        let named = self.followed.own_commands().any(|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            script_argument(&words).is_some_and(is_named)
        });
        named.then(|| "the test command runs it".to_owned())
    }

    /// Returns why a change in the sensitive part of a file matters.
    fn part_reason(
        &self,
        path: &Path,
        before: FileContentLookup<'_>,
        after: FileContentLookup<'_>,
    ) -> Option<&'static str> {
        let (part, why): (fn(&[u8]) -> SensitivePart, _) = match path.file_name()?.to_str()? {
            "package.json" => (
                npm_scripts,
                "npm's scripts, or a test runner's settings, changed",
            ),
            name if name.starts_with("tsconfig.") => {
                (typescript_settings, "how tests are compiled changed")
            }
            name if name.ends_with(".go") => (
                go_constraints,
                "its build tags, or its TestMain, decide which tests go runs",
            ),
            "composer.json" => (composer_scripts, "composer's scripts changed"),
            "go.mod" => (
                go_replacements,
                "it gets modules, or go itself, from elsewhere",
            ),
            "conftest.py" => (pytest_hooks, "it changes how pytest finds and runs tests"),
            "pyproject.toml" => (pytest_tables, "pytest's settings in it changed"),
            "setup.cfg" => (
                |text| ini_section(text, "tool:pytest"),
                "pytest's settings in it changed",
            ),
            "tox.ini" => (
                |text| ini_section(text, "pytest"),
                "pytest's settings in it changed",
            ),
            "Cargo.toml" => (
                cargo_settings,
                "it decides which tests cargo builds, and how",
            ),
            _ => return None,
        };
        let reader = sensitive_files::partly_sensitive_file(path)?.reader;
        let part_of = |content: Option<Vec<u8>>| {
            content.map_or(SensitivePart::Absent, |content| part(&content))
        };
        (self.may_read(reader) && part_of(before(path)) != part_of(after(path))).then_some(why)
    }
}

/// Programs that run the scripts of a package, or another package's program.
const PACKAGE_RUNNERS: [&str; 8] = [
    "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "corepack",
];

/// Programs that run JavaScript, including tests.
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

/// The Node test runners whose own settings are known here.
const NODE_RUNNERS: [&str; 5] = ["jest", "vitest", "vite", "mocha", "ava"];

/// The maximum size of a file that is followed, in bytes.
const MAX_FOLLOWED_BYTES: u64 = 1024 * 1024;

/// Programs whose behaviour is known here, and words that a shell line may start with.
const KNOWN_PROGRAMS: [&str; 19] = [
    "npm", "pnpm", "yarn", "bun", "node", "pytest", "py.test", "cargo", "go", "cd", "env",
    "export", "echo", "true", "false", "exit", "set", "test", "[",
];

const INTERPRETERS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "node", "bun", "deno", "ruby", "perl", "php", "source",
    ".", "tsx",
];

pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns the file that a simple command runs as its program, if it may be a file of the repository.
fn script_argument<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words
        .iter()
        .copied()
        .skip_while(|word| word.contains('=') || base_name(word) == "env");
    let program = words.next()?;
    let name = base_name(program);
    if !INTERPRETERS.contains(&name) && !name.starts_with("python") {
        return Some(program).filter(|program| program.contains('/'));
    }
    // After these options comes code, a module or tests, not a script; the `-c` of a shell takes commands,
    // and the first word is one.
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
