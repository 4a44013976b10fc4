//! Runs the `git` program: never prompting, never paging, never leaving a process running.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::GitError;
use super::git_settings::GitSettings;
use super::work_sandbox::WorkSandbox;
use crate::process::{
    CommandEndCause, CommandLimits, CommandOutput, PRIVATE_TMPDIR, ProcessMark, SandboxMount,
    SandboxSpec, SpawnSpec, StdinSource,
};

/// The maximum output that is kept of one call, in bytes.
const MAX_OUTPUT_BYTES: usize = 256 * 1024 * 1024;
/// The time limit of every call but a commit: a first snapshot of a large tree takes minutes on a slow disk.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// Settings for every call: plain output, no helper that stays behind or uses the terminal.
const BASE_CONFIG: [&str; 6] = [
    "core.quotePath=false",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
];

/// Settings for every call without hooks: git starts and enters nothing on its own.
const NO_HOOKS_CONFIG: [&str; 4] = [
    "core.hooksPath=/dev/null",
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "log.showSignature=false",
];

/// Variables of a surrounding git command or hook that would point git elsewhere, or at our terminal.
const REMOVED_VARIABLES: [&str; 15] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_ATTR_SOURCE",
    "GIT_TRACE",
    "GIT_SEQUENCE_EDITOR",
    "GPG_TTY",
];

const SET_VARIABLES: [(&str, &str); 10] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS", "true"),
    ("SSH_ASKPASS_REQUIRE", "force"),
    ("GCM_INTERACTIVE", "never"),
    ("GIT_EDITOR", "true"),
    ("EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("TERM", "dumb"),
];

/// The git program for one work tree, with its settings and its sandbox.
#[derive(Debug, Clone)]
pub(super) struct GitProgram {
    /// The work tree's real root.
    pub(super) root: PathBuf,
    /// Git's folder of this work tree.
    pub(super) git_dir: PathBuf,
    /// The git folder that all work trees of the repository share; equal to `git_dir` if there is only one.
    pub(super) common_dir: PathBuf,
    pub(super) settings: GitSettings,
    /// The sandbox of calls that read the work tree.
    pub(super) sandbox: WorkSandbox,
}

/// A git call that is being built.
pub(super) struct GitCommand<'a> {
    settings: &'a GitSettings,
    folder: &'a Path,
    args: Vec<String>,
    /// Settings of this call alone, as `name=value`.
    config: Vec<&'static str>,
    env: Vec<(String, String)>,
    limits: CommandLimits,
    hooks: HookPolicy,
    sandbox: Option<SandboxSpec>,
    /// The program for the work tree that it reads, in which case it runs in a sandbox.
    work_tree: Option<&'a GitProgram>,
    /// The folders that it writes when it runs in a sandbox.
    writable_folders: Vec<PathBuf>,
}

/// Whether git may run hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookPolicy {
    Run,
    Disabled,
}

impl GitProgram {
    /// Builds a call in the root, without hooks. It reads the work tree, so that a filter may run: it runs in
    /// a sandbox.
    pub(super) fn command(&self, args: &[&str]) -> GitCommand<'_> {
        let mut call = GitCommand::new(&self.settings, &self.root, args);
        call.work_tree = Some(self);
        call
    }

    /// Builds a call that reads objects, references, an index or the configuration and no file of the work
    /// tree. It runs no program that the configuration names, so it runs without a sandbox. A call that
    /// writes an index with entries for files of the work tree is not of this kind: git reads files again
    /// that changed when the index did.
    pub(super) fn object_command(&self, args: &[&str]) -> GitCommand<'_> {
        GitCommand::new(&self.settings, &self.root, args)
    }

    /// Builds a call that reads nothing in place of the objects.
    pub(super) fn plain_object_command(&self, args: &[&str]) -> GitCommand<'_> {
        self.object_command(args)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .config("core.commitGraph=false")
    }
}

impl<'a> GitCommand<'a> {
    pub(super) fn new(settings: &'a GitSettings, folder: &'a Path, args: &[&str]) -> Self {
        Self {
            settings,
            folder,
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            config: Vec::new(),
            env: Vec::new(),
            limits: CommandLimits {
                timeout: DEFAULT_TIMEOUT,
                output_cap: MAX_OUTPUT_BYTES,
                stdin: StdinSource::Null,
            },
            hooks: HookPolicy::Disabled,
            sandbox: None,
            work_tree: None,
            writable_folders: Vec::new(),
        }
    }

    pub(super) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Sets `name=value` for this call, over the user's settings.
    pub(super) fn config(mut self, setting: &'static str) -> Self {
        self.config.push(setting);
        self
    }

    /// Runs in this folder instead of the root.
    pub(super) fn in_folder(self, folder: &'a Path) -> Self {
        Self { folder, ..self }
    }

    /// Uses another index than the user's.
    pub(super) fn index_file(self, index: &Path) -> Self {
        let call = match index.parent() {
            Some(folder) => self.writable_folder(folder),
            None => self,
        };
        let index = index.display().to_string();
        call.env("GIT_INDEX_FILE", index)
    }

    /// Allows writes to this folder, but not to a `.git` in it.
    pub(super) fn writable_folder(mut self, folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        self.writable_folders.push(folder);
        self
    }

    /// Takes paths literally: `*` and `:(…)` have no special meaning.
    pub(super) fn literal_paths(self) -> Self {
        self.env("GIT_LITERAL_PATHSPECS", "1")
    }

    /// Sends paths on standard input, each followed by a NUL byte.
    pub(super) fn stdin_paths<'p>(mut self, paths: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut bytes = Vec::new();
        for path in paths {
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.push(0);
        }
        self.limits.stdin = StdinSource::Bytes(bytes);
        self
    }

    pub(super) fn stdin(mut self, stdin: StdinSource) -> Self {
        self.limits.stdin = stdin;
        self
    }

    pub(super) fn hooks(mut self, hooks: HookPolicy) -> Self {
        self.hooks = hooks;
        self
    }

    /// Runs in this sandbox, if there is one.
    pub(super) fn sandbox(mut self, held: Option<SandboxSpec>) -> Self {
        self.sandbox = held;
        self
    }

    pub(super) fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    /// Keeps at most this many bytes of the output.
    pub(super) fn max_output(mut self, cap: usize) -> Self {
        self.limits.output_cap = cap;
        self
    }

    fn spawn_spec(&self) -> SpawnSpec {
        let marker = ProcessMark::new(&self.settings.run, "git");
        let mut spec = SpawnSpec::new(self.settings.program.clone(), self.folder, marker);
        spec.sandbox = match self.work_tree {
            // The writable folders were added when the sandbox was built.
            Some(_) => self.sandbox.clone(),
            None => self
                .sandbox
                .clone()
                .map(|held| self.mount_index_folder(held)),
        };
        if self.work_tree.is_some() && spec.sandbox.is_some() {
            spec = spec.env("TMPDIR", PRIVATE_TMPDIR);
        }
        spec.env_remove = REMOVED_VARIABLES.map(str::to_owned).into();
        for (name, value) in SET_VARIABLES {
            spec = spec.env(name, value);
        }
        spec.env.extend(self.settings.env.clone());
        spec.env.extend(self.env.iter().cloned());
        for setting in BASE_CONFIG.iter().chain(&self.config) {
            spec = spec.args(["-c", *setting]);
        }
        // Flags are inherited by git commands that hooks run, which would not expect them.
        if self.hooks == HookPolicy::Disabled {
            for setting in NO_HOOKS_CONFIG {
                spec = spec.args(["-c", setting]);
            }
            spec = spec.args(["--no-optional-locks"]);
            // The missing objects of a partial clone would be fetched by a program that the configuration
            // names.
            spec = spec.env("GIT_NO_LAZY_FETCH", "1");
        }
        spec.args(["--no-pager"]).args(self.args.clone())
    }

    /// Mounts the folder of a private index: it is a temporary folder, and a sandboxed call has temporary
    /// folders of its own.
    fn mount_index_folder(&self, held: SandboxSpec) -> SandboxSpec {
        let mut set = self.env.iter();
        let index = set.find(|(name, _)| name == "GIT_INDEX_FILE");
        let folder = index.and_then(|(_, index)| Path::new(index).parent()?.canonicalize().ok());
        held.with_mounts(folder.map(|folder| (folder, SandboxMount::Writable)))
    }

    fn display_name(&self) -> String {
        self.args
            .iter()
            .take(3)
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Runs the call; an exit code other than 0 is not an error here.
    pub(super) async fn output(mut self) -> Result<CommandOutput, GitError> {
        if let Some(git) = self.work_tree {
            self.sandbox = git.sandbox_for_command(&self.writable_folders).await?;
        }
        self.output_without_work_sandbox().await
    }

    /// Runs the call without the work tree's sandbox, in an explicit sandbox only.
    pub(super) async fn output_without_work_sandbox(self) -> Result<CommandOutput, GitError> {
        let command = self.display_name();
        let children = &self.settings.spawner;
        let finished = children
            .run_to_end(&self.spawn_spec(), &self.limits, &self.settings.cancel)
            .await
            .map_err(GitError::Start)?;
        match finished.end_cause {
            CommandEndCause::ByItself => Ok(finished),
            CommandEndCause::TimedOut => Err(GitError::TimedOut {
                command,
                seconds: self.limits.timeout.as_secs(),
            }),
            CommandEndCause::Cancelled => Err(GitError::Cancelled { command }),
        }
    }

    /// Runs the call and returns its whole output.
    pub(super) async fn stdout_bytes(self) -> Result<Vec<u8>, GitError> {
        let command = self.display_name();
        let finished = self.output().await?;
        if !finished.is_success() {
            return Err(GitError::Failed {
                command,
                output: last_output(&finished),
            });
        }
        finished
            .stdout
            .into_complete_bytes()
            .ok_or(GitError::Unreadable {
                command,
                what: "it is too long".to_owned(),
            })
    }

    /// Runs the call and returns its whole output as text without the last line end.
    pub(super) async fn stdout_text(self) -> Result<String, GitError> {
        let command = self.display_name();
        let mut text =
            String::from_utf8(self.stdout_bytes().await?).map_err(|_| GitError::Unreadable {
                command,
                what: "it is not UTF-8".to_owned(),
            })?;
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// Runs the call and returns its output if it succeeds, `None` if it fails.
    pub(super) async fn stdout_text_if_success(self) -> Result<Option<String>, GitError> {
        let finished = self.output().await?;
        Ok(finished
            .is_success()
            .then(|| finished.stdout.to_text().trim_end_matches('\n').to_owned()))
    }
}

/// Returns the last output of git, standard error first.
pub(super) fn last_output(finished: &CommandOutput) -> String {
    let (out, err) = (finished.stdout.to_text(), finished.stderr.to_text());
    let said = format!("{}\n{}", out.trim(), err.trim());
    let said = said.trim();
    let start = said
        .char_indices()
        .rev()
        .nth(8 * 1024)
        .map_or(0, |(at, _)| at);
    said[start..].to_owned()
}

/// Converts the bytes that git printed into a path.
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Splits a NUL-terminated list.
pub(super) fn split_nul(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
}
