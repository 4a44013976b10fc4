//! Provides the sandbox for git calls that read the work tree, where a filter may be a program that an agent
//! wrote.
//!
//! Without a sandbox, a filter that an agent could change does not run: the call is refused, because a file
//! that is stored without its filter is a different file.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::git_command::{GitProgram, last_output, split_nul};
use crate::process::{SandboxMount, SandboxSpec};

/// The sandbox of calls that read the work tree.
#[derive(Debug, Clone)]
pub(super) enum WorkSandbox {
    /// The sandbox; a call adds the folders that it writes.
    Available(SandboxSpec),
    /// There is no sandbox, with the reason.
    Unavailable(String),
}

/// Folders in git's folder that store content besides the objects: nothing in them runs or configures.
pub(super) const CONTENT_FOLDERS: [&str; 2] = ["lfs", "annex"];
/// Programs that run what their arguments say.
const INTERPRETERS: [&str; 18] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "xargs", "node", "bun", "deno", "npx",
    "perl", "ruby", "php", "make", "npm", "eval",
];

impl GitProgram {
    /// Returns the sandbox of a call that writes these folders; `None` where none is available and none is
    /// needed.
    pub(super) async fn sandbox_for_command(
        &self,
        writes: &[PathBuf],
    ) -> Result<Option<SandboxSpec>, GitError> {
        match &self.sandbox {
            WorkSandbox::Available(held) => {
                let mut places = self.content_mounts()?;
                for folder in writes {
                    places.push((folder.clone(), SandboxMount::Writable));
                    places.push((folder.join(".git"), SandboxMount::ReadOnly));
                }
                Ok(Some(
                    held.clone().without_mounts(writes).with_mounts(places),
                ))
            }
            WorkSandbox::Unavailable(why) => {
                self.check_filters(why).await?;
                Ok(None)
            }
        }
    }

    /// Returns the mounts in which a sandboxed call may write content: objects, and what filters store beside
    /// them.
    pub(super) fn content_mounts(&self) -> Result<Vec<(PathBuf, SandboxMount)>, GitError> {
        let objects = canonical_or_same(&self.common_dir.join("objects"));
        let info = objects.join("info");
        // If it were missing, a call could create it with an `alternates` file in it.
        fs::create_dir_all(&info).map_err(|source| GitError::File {
            verb: "create",
            path: info.clone(),
            source,
        })?;
        let mut places = vec![
            (info, SandboxMount::ReadOnly),
            (objects, SandboxMount::Writable),
        ];
        for name in CONTENT_FOLDERS {
            let folder = self.common_dir.join(name);
            if name == "lfs" && !folder.is_dir() && self.uses_lfs() {
                fs::create_dir(&folder).map_err(|source| GitError::File {
                    verb: "create",
                    path: folder.clone(),
                    source,
                })?;
            }
            if folder.is_dir() {
                places.push((canonical_or_same(&folder), SandboxMount::Writable));
            }
        }
        Ok(places)
    }

    fn uses_lfs(&self) -> bool {
        let attributes = fs::read_to_string(self.root.join(".gitattributes"));
        attributes.is_ok_and(|text| text.contains("filter=lfs"))
    }

    /// Returns an error if a filter could be a program that an agent wrote.
    pub(super) async fn check_filters(&self, why: &str) -> Result<(), GitError> {
        let filters = r"^filter\..*\.(clean|smudge|process)$";
        let list = self.object_command(&["config", "-z", "--get-regexp", filters]);
        let list = list.output_without_work_sandbox().await?;
        let output = list
            .stdout
            .complete_bytes()
            .ok_or_else(|| GitError::Unreadable {
                command: "config".to_owned(),
                what: last_output(&list),
            })?;
        for entry in split_nul(output) {
            let entry = String::from_utf8_lossy(entry);
            let (key, command) = entry.split_once('\n').unwrap_or((&entry, ""));
            if !command.is_empty() && !self.is_trusted_command(command) {
                return Err(GitError::UnsandboxedFilter {
                    key: key.to_owned(),
                    command: command.to_owned(),
                    why: why.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Returns true if the command of a filter is a program of the user's that agents cannot change.
    fn is_trusted_command(&self, command: &str) -> bool {
        // Git runs filters through a shell, where any other character could have a special meaning.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-+./%,:@".contains(c);
        if !command.chars().all(is_plain) {
            return false;
        }
        let mut words = command.split(' ').filter(|word| !word.is_empty());
        let Some(program) = words.next() else {
            return false;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        if INTERPRETERS.contains(&name) || name.starts_with("python") {
            return false;
        }
        let found = if program.starts_with('/') {
            Some(PathBuf::from(program))
        } else if program.contains('/') {
            // A relative path may lead into the working tree, where an agent can change the program.
            None
        } else {
            find_on_path(program)
        };
        let is_outside = |path: &Path| {
            path.canonicalize()
                .is_ok_and(|path| !path.starts_with(&self.root))
        };
        let names_a_file = words.any(|word| {
            let file = self.root.join(word).canonicalize();
            file.is_ok_and(|file| file.starts_with(&self.root))
        });
        found.is_some_and(|path| is_outside(&path)) && !names_a_file
    }
}

fn canonical_or_same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Finds a program on PATH; `None` if a relative folder in PATH could make the name mean another program.
fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    for folder in std::env::split_paths(&path) {
        if !folder.is_absolute() {
            return None;
        }
        let file = folder.join(program);
        if file.is_file() {
            return Some(file);
        }
    }
    None
}
