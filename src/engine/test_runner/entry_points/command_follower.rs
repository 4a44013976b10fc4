//! Follows a test command into the files that it runs: npm scripts, make recipes, shell scripts, and what
//! they call.
//!
//! Runs and expands nothing: what is behind a variable is not found, and a loop is followed once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::{PACKAGE_RUNNERS, base_name, script_argument};
use crate::engine::test_runner::test_command_line::TestCommandLine;

/// The maximum number of files that are read for one command.
const MAX_FOLLOWED_FILES: usize = 64;
/// The maximum number of lines of a file that are followed.
const MAX_FOLLOWED_LINES: usize = 4_000;
/// The names of recipe files.
const RECIPE_FILES: [&str; 6] = [
    "GNUmakefile",
    "makefile",
    "Makefile",
    "justfile",
    "Justfile",
    ".justfile",
];
/// Options whose value is a file that runs, or decides what runs, before the tests.
const FILE_OPTIONS: [&str; 19] = [
    "--config",
    "-c",
    "--require",
    "-r",
    "--import",
    "--loader",
    "--experimental-loader",
    "--preload",
    "--globalSetup",
    "--setupFiles",
    "--setupFilesAfterEnv",
    "--testRunner",
    "--runner",
    "--rcfile",
    // Of mocha, vitest, nextest and go.
    "--file",
    "--workspace",
    "--config-file",
    "-overlay",
    "-modfile",
];

/// What a test command runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::engine::test_runner) struct FollowedCommand {
    /// The words of each simple command, starting with the test command itself.
    pub commands: Vec<Vec<String>>,
    /// Files that run, each with the file that names it; `None` if the test command names it.
    pub files: BTreeMap<PathBuf, Option<PathBuf>>,
    /// How many of the commands are in the test command itself.
    n_own: usize,
}

impl FollowedCommand {
    /// Returns the simple commands of the test command itself.
    pub(in crate::engine::test_runner) fn own_commands(
        &self,
    ) -> impl Iterator<Item = &Vec<String>> {
        self.commands.iter().take(self.n_own)
    }

    /// Returns true if no other command was found.
    pub(super) fn has_only_own_commands(&self) -> bool {
        self.commands.len() == self.n_own
    }
}

/// Reads a file of the repository by its path from the root; `None` if there is none.
pub(in crate::engine::test_runner) type FollowedFileLookup<'a> =
    &'a dyn Fn(&Path) -> Option<Vec<u8>>;

/// Follows a command through the files that `read` returns.
pub(in crate::engine::test_runner) fn follow_command(
    command: &TestCommandLine,
    read: FollowedFileLookup<'_>,
) -> FollowedCommand {
    let mut follower = CommandFollower {
        read,
        command: FollowedCommand::default(),
        queue: VecDeque::new(),
        seen: BTreeSet::new(),
    };
    let origin = CommandOrigin {
        folder: PathBuf::new(),
        file: None,
    };
    follower.add_line(command, &origin);
    follower.command.n_own = follower.command.commands.len();
    while let Some(stop) = follower.queue.pop_front() {
        if follower.seen.len() > MAX_FOLLOWED_FILES {
            break;
        }
        follower.visit(&stop);
    }
    follower.command
}

/// Where a command line comes from.
#[derive(Debug, Clone)]
struct CommandOrigin {
    /// The folder in which it runs.
    folder: PathBuf,
    /// The file that contains it.
    file: Option<PathBuf>,
}

/// A file that is still to be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum FollowTarget {
    /// Scripts of the npm manifest in a folder: one script with its `pre` and `post` scripts.
    Script { folder: PathBuf, name: String },
    /// The recipes in a folder.
    Recipes { folder: PathBuf },
    /// A shell script, and the folder in which it runs.
    Shell { path: PathBuf, folder: PathBuf },
}

struct CommandFollower<'a> {
    read: FollowedFileLookup<'a>,
    command: FollowedCommand,
    queue: VecDeque<FollowTarget>,
    seen: BTreeSet<FollowTarget>,
}

impl CommandFollower<'_> {
    fn visit(&mut self, stop: &FollowTarget) {
        match stop {
            FollowTarget::Script { folder, name } => self.visit_scripts(folder, name),
            FollowTarget::Recipes { folder } => {
                for name in RECIPE_FILES {
                    self.visit_lines(&folder.join(name), folder, |line| {
                        line.starts_with([' ', '\t'])
                    });
                }
            }
            FollowTarget::Shell { path, folder } => self.visit_lines(path, folder, |_| true),
        }
    }

    fn visit_scripts(&mut self, folder: &Path, name: &str) {
        let path = folder.join("package.json");
        let Some(manifest) = (self.read)(&path) else {
            return;
        };
        let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
        let origin = CommandOrigin {
            folder: folder.to_owned(),
            file: Some(path),
        };
        for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            let line = manifest["scripts"][&name].as_str();
            if let Some(command) = line.and_then(TestCommandLine::parse) {
                self.add_line(&command, &origin);
            }
        }
    }

    fn visit_lines(&mut self, path: &Path, folder: &Path, counts: impl Fn(&str) -> bool) {
        let Some(content) = (self.read)(path) else {
            return;
        };
        let text = String::from_utf8_lossy(&content);
        let origin = CommandOrigin {
            folder: folder.to_owned(),
            file: Some(path.to_owned()),
        };
        for line in text
            .lines()
            .take(MAX_FOLLOWED_LINES)
            .filter(|line| counts(line))
        {
            let line = line.trim().trim_start_matches(['@', '-', '+']);
            if line.starts_with('#') {
                continue;
            }
            if let Some(command) = TestCommandLine::parse(line) {
                self.add_line(&command, &origin);
            }
        }
    }

    fn add_line(&mut self, command: &TestCommandLine, origin: &CommandOrigin) {
        let mut origin = origin.clone();
        for words in command.simple_commands() {
            if let ["cd", folder] = words[..] {
                origin.folder = resolve_below_root(&origin.folder, folder).unwrap_or_default();
                continue;
            }
            self.add_words(&words, &origin);
            let words = words.iter().map(|word| (*word).to_owned());
            self.command.commands.push(words.collect());
        }
    }

    fn add_words(&mut self, words: &[&str], origin: &CommandOrigin) {
        if let Some(script) = script_argument(words) {
            self.add_script(script, words, origin);
        }
        self.add_option_files(words, origin);
        // The words before only start it: `env`, `cross-env`, `npx`, `time`.
        for (n, word) in words.iter().enumerate() {
            let rest = &words[n + 1..];
            match base_name(word) {
                "make" | "gmake" | "just" => {
                    let folder = option_value(rest, &["-C", "--directory", "-d"]).unwrap_or("");
                    if let Some(folder) = resolve_below_root(&origin.folder, folder) {
                        self.enqueue(FollowTarget::Recipes { folder });
                    }
                }
                "-m" => self.add_module(rest.first().copied(), origin),
                name if PACKAGE_RUNNERS.contains(&name) => self.add_package_script(rest, origin),
                "run-s" | "run-p" | "npm-run-all" | "concurrently" => {
                    for name in rest.iter().filter(|word| !word.starts_with('-')) {
                        let name = name.strip_prefix("npm:").unwrap_or(name).to_owned();
                        let folder = origin.folder.clone();
                        self.enqueue(FollowTarget::Script { folder, name });
                    }
                }
                _ => {}
            }
        }
    }

    fn add_package_script(&mut self, rest: &[&str], origin: &CommandOrigin) {
        let folder = option_value(rest, &["--prefix", "-C", "--cwd", "--dir"]).unwrap_or("");
        let Some(folder) = resolve_below_root(&origin.folder, folder) else {
            return;
        };
        // `run` names a script, and other words may; npm's own commands are not script names.
        for name in rest.iter().filter(|word| !word.starts_with('-')) {
            let name = match *name {
                "t" | "tst" => "test",
                name => name,
            };
            let (folder, name) = (folder.clone(), name.to_owned());
            self.enqueue(FollowTarget::Script { folder, name });
        }
    }

    fn add_script(&mut self, script: &str, words: &[&str], origin: &CommandOrigin) {
        let Some(path) = resolve_below_root(&origin.folder, script) else {
            return;
        };
        let is_source = matches!(words.first(), Some(&("source" | ".")));
        let is_shell = is_source
            || words.first().is_some_and(|word| {
                ["sh", "bash", "dash", "zsh", "ksh"].contains(&base_name(word))
            })
            || self.is_shell_script(&path);
        if is_shell {
            let folder = origin.folder.clone();
            self.enqueue(FollowTarget::Shell {
                path: path.clone(),
                folder,
            });
        }
        self.add_file(path, origin);
    }

    fn is_shell_script(&self, path: &Path) -> bool {
        let content = (self.read)(path).unwrap_or_default();
        let first = content.split(|byte| *byte == b'\n').next();
        let first = String::from_utf8_lossy(first.unwrap_or_default());
        first.starts_with("#!") && first.trim_end().ends_with("sh")
            || path.extension().is_some_and(|end| end == "sh")
    }

    /// `python -m a.b` runs a file or a package of the repository, if there is one.
    fn add_module(&mut self, module: Option<&str>, origin: &CommandOrigin) {
        let Some(module) = module else {
            return;
        };
        let module = module.replace('.', "/");
        for file in [format!("{module}.py"), format!("{module}/__main__.py")] {
            if let Some(path) = resolve_below_root(&origin.folder, &file) {
                self.add_file(path, origin);
            }
        }
    }

    fn add_option_files(&mut self, words: &[&str], origin: &CommandOrigin) {
        for (n, word) in words.iter().enumerate() {
            let value = match word.split_once('=') {
                Some((option, value)) if FILE_OPTIONS.contains(&option) => Some(value),
                None if FILE_OPTIONS.contains(word) => words.get(n + 1).copied(),
                Some(_) | None => None,
            };
            let file = value.filter(|value| value.contains(['/', '.']));
            let path = file.and_then(|file| resolve_below_root(&origin.folder, file));
            if let Some(path) = path.filter(|path| (self.read)(path).is_some()) {
                self.add_file(path, origin);
            }
        }
    }

    fn add_file(&mut self, path: PathBuf, origin: &CommandOrigin) {
        self.command
            .files
            .entry(path)
            .or_insert_with(|| origin.file.clone());
    }

    fn enqueue(&mut self, stop: FollowTarget) {
        if self.seen.insert(stop.clone()) {
            self.queue.push_back(stop);
        }
    }
}

/// Returns the word after one of these options.
fn option_value<'a>(words: &[&'a str], options: &[&str]) -> Option<&'a str> {
    let at = words.iter().position(|word| options.contains(word))?;
    words.get(at + 1).copied()
}

/// Resolves a path from the root by its text alone; `None` if it leads out of the repository.
fn resolve_below_root(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => found.push(name),
            Component::ParentDir => {
                if !found.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows a command through these files and checks the files that it runs.
    fn check(command: &str, files: &[(&str, &str)], expected: &str) {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| text.as_bytes().to_vec())
        };
        let followed = follow_command(&TestCommandLine::parse(command).unwrap(), &read);
        let told: Vec<String> = followed
            .files
            .iter()
            .map(|(path, by)| match by {
                None => path.display().to_string(),
                Some(by) => format!("{} by {}", path.display(), by.display()),
            })
            .collect();
        assert_eq!(told.join(", "), expected);
    }

    #[test]
    fn npms_scripts_are_followed_with_what_runs_around_them() {
        let manifest = r#"{"scripts": {
            "pretest": "node tools/before.js", "test": "npm run unit && CI=1 npm test", "unit": "bash ./unit.sh",
            "lint": "node lint.js"
        }}"#;
        check(
            "npm test",
            &[
                ("package.json", manifest),
                ("unit.sh", "./deep.py x\n# ./not.py\n"),
            ],
            "deep.py by unit.sh, tools/before.js by package.json, unit.sh by package.json",
        );
        check(
            "cd web && yarn unit",
            &[("web/package.json", manifest)],
            "web/unit.sh by web/package.json",
        );
        check("npm test", &[], "");
    }

    #[test]
    fn recipes_and_modules_and_options_are_followed() {
        let recipes =
            "test: all\n\t@./tests/run.sh\n\t-cd sub && python3 check.py\nall:\n\t$(MAKE) x\n";
        check(
            "make -C build test",
            &[
                ("build/Makefile", recipes),
                ("build/tests/run.sh", "#!/bin/sh\nsource lib.sh\n"),
            ],
            "build/lib.sh by build/tests/run.sh, build/sub/check.py by build/Makefile, \
             build/tests/run.sh by build/Makefile",
        );
        check(
            "python3 -m tools.check",
            &[],
            "tools/check/__main__.py, tools/check.py",
        );
        check(
            "npx mocha --require ./test/setup.js --config=m.json a.test.js",
            &[("test/setup.js", ""), ("m.json", "")],
            "m.json, test/setup.js",
        );
        check("../outside.sh", &[], "");
    }
}
