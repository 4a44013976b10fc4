//! git's configuration of a repository: whether commits are signed, the folder of the hooks, and the files of the repository
//! that it names as programs: filters, diff and merge drivers, aliases.
//!
//! Each word of such a command that could be a file of the repository counts. What that file runs itself is
//! unknown.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use super::git_command::{GitProgram, HookPolicy, path_from_bytes, split_nul};

/// Prefixes of the keys whose values git, or a tool that calls it, runs.
const PROGRAM_KEYS: [&str; 17] = [
    "filter.",
    "diff.",
    "merge.",
    "alias.",
    "gpg.",
    "credential.",
    "difftool.",
    "mergetool.",
    "trailer.",
    "pager.",
    "core.editor",
    "core.pager",
    "core.fsmonitor",
    "core.sshcommand",
    "core.askpass",
    "sequence.editor",
    "interactive.difffilter",
];

/// What git's configuration says about programs.
#[derive(Debug, Default)]
pub struct GitConfiguration {
    /// The files that the configuration is read from.
    pub(super) files: BTreeSet<PathBuf>,
    /// The paths, relative to the root, that it may run a program from: files, or folders of them.
    pub programs: Vec<PathBuf>,
    /// The absolute folder that `core.hooksPath` names: links in it are not resolved.
    pub(super) hooks: Option<PathBuf>,
}

/// Git's configuration, as it holds for a repository.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryConfig<'a> {
    pub(super) git: &'a GitProgram,
}

impl RepositoryConfig<'_> {
    /// Reads which files git takes its configuration from, and which programs and hooks they name.
    ///
    /// # Errors
    /// Git fails.
    pub async fn read(self) -> Result<GitConfiguration, GitError> {
        let list = self
            .git
            .object_command(&["config", "--list", "--show-origin", "-z"]);
        let output = list.hooks(HookPolicy::Run).stdout_bytes().await?;
        let mut found = GitConfiguration::default();
        let mut hooks = None;
        let mut parts = split_nul(&output);
        while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
            if let Some(file) = origin.strip_prefix(b"file:") {
                found
                    .files
                    .insert(self.git.root.join(path_from_bytes(file)));
            }
            let entry = String::from_utf8_lossy(entry);
            let (key, command) = entry.split_once('\n').unwrap_or((&entry, ""));
            if PROGRAM_KEYS.iter().any(|begin| key.starts_with(begin)) {
                let paths = command_words(command).flat_map(|word| self.paths_meant_by(word));
                found.programs.extend(paths);
            }
            if key == "core.hookspath" {
                hooks = Some(command.to_owned());
            }
        }
        found.hooks = match hooks {
            // Only git knows the folders that these stand for.
            Some(named) if named.starts_with(['~', '%']) => self.configured_hooks_path().await?,
            named => named.map(|named| self.git.root.join(named)),
        };
        found.programs.sort();
        found.programs.dedup();
        Ok(found)
    }

    /// Resolves a word below the root: as it is written, and with its links followed.
    fn paths_meant_by(self, word: &str) -> Vec<PathBuf> {
        let path = self.git.root.join(word);
        let real = path.canonicalize().ok();
        let below = |path: &Path| {
            let below = path.strip_prefix(&self.git.root).ok()?;
            let below: PathBuf = below
                .components()
                .filter(|part| *part != Component::CurDir)
                .collect();
            let is_plain = below
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            (is_plain && below.components().next().is_some()).then_some(below)
        };
        let paths = std::iter::once(path).chain(real);
        paths.filter_map(|path| below(&path)).collect()
    }

    /// Returns the folder inside the work tree that `core.hooksPath` names, relative to the root; `None`
    /// where the hooks are elsewhere.
    pub fn hooks_folder_in_tree(self, configuration: &GitConfiguration) -> Option<PathBuf> {
        let git = self.git;
        let folder = configuration.hooks.clone()?;
        let folder = folder.canonicalize().unwrap_or(folder);
        folder.strip_prefix(&git.root).ok().map(Path::to_path_buf)
    }

    /// Returns the absolute folder that git takes hooks from, as it is named: links in it are not resolved.
    pub(super) async fn hooks_path(self) -> Result<PathBuf, GitError> {
        let named = self.configured_hooks_path().await?;
        Ok(named.unwrap_or_else(|| self.git.common_dir.join("hooks")))
    }

    async fn configured_hooks_path(self) -> Result<Option<PathBuf>, GitError> {
        let named = self
            .git
            .object_command(&["config", "--type=path", "--get", "core.hooksPath"])
            .hooks(HookPolicy::Run)
            .stdout_text_if_success()
            .await?;
        Ok(named.map(|named| self.git.root.join(named)))
    }

    /// Returns true if the user's commits are signed.
    pub async fn signs_commits(self) -> bool {
        let git = self.git;
        let asked = git.command(&["config", "--type=bool", "--get", "commit.gpgSign"]);
        matches!(asked.stdout_text_if_success().await, Ok(Some(word)) if word == "true")
    }
}

fn command_words(command: &str) -> impl Iterator<Item = &str> {
    let words = command.split(|c: char| c.is_whitespace() || "\"'`;|&()<>={}$!".contains(c));
    words.filter(|word| !word.is_empty() && !word.starts_with('-'))
}
