//! Commits exactly the paths it is given, as they are in the work tree.
//!
//! The commit is made from an index of our own that starts at HEAD, so nothing that the user staged
//! gets in; afterwards the user's index learns of the committed paths and of nothing else. A commit
//! that fails leaves the user's index byte for byte as it was. Hooks run as for any commit.

use std::collections::BTreeMap;
use std::path::{Component, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::discover::Repository;
use super::error::GitError;
use super::invoke::{Hooks, last_words, nul_parts, path_of};
use super::snapshot::PrivateIndex;
use super::{CommitId, TreeId};
use crate::process::{Finished, Stdin};

/// How long somebody else's lock on the index is waited for once the commit is made.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// A commit that was not made, or not in full.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{output}")]
pub struct CommitFailure {
    /// Why.
    pub kind: CommitFailureKind,
    /// What git and the hooks said last.
    pub output: String,
}

/// Why a commit was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitFailureKind {
    /// Nothing differs from the last commit.
    Nothing,
    /// This hook refused.
    Hook(String),
    /// Git does not know in whose name.
    Identity,
    /// The signature failed.
    Signing,
    /// Another git command holds a lock.
    Lock,
    /// A merge, cherry-pick or revert is under way; its file in git's folder is named.
    UnderWay(&'static str),
    /// It did not end in time.
    TimedOut,
    /// The run is being stopped.
    Cancelled,
    /// The commit was made, but the user's index could not be told; `git reset` mends it.
    IndexBehind(CommitId),
    /// Anything else.
    Other,
}

impl CommitFailure {
    /// What to tell of a commit that stands while the user's index does not know of it.
    pub fn behind(&self, commit: &CommitId) -> String {
        let short = commit.0.get(..12).unwrap_or(&commit.0);
        format!(
            "commit {short} stands, but your index could not be told of it ({}): run `git reset` before you commit, \
             or your next commit takes it back",
            self.output.trim()
        )
    }

    fn new(kind: CommitFailureKind, output: impl Into<String>) -> Self {
        Self {
            kind,
            output: output.into(),
        }
    }
}

impl From<GitError> for CommitFailure {
    fn from(error: GitError) -> Self {
        let kind = match &error {
            GitError::TimedOut { .. } => CommitFailureKind::TimedOut,
            GitError::Cancelled { .. } => CommitFailureKind::Cancelled,
            GitError::Failed { output, .. } => kind_of(output),
            GitError::Start(_)
            | GitError::Unreadable { .. }
            | GitError::File { .. }
            | GitError::OutsidePath { .. } => CommitFailureKind::Other,
        };
        Self::new(kind, error.to_string())
    }
}

impl Repository {
    /// Commits the present content of `paths`, relative to the root: new, changed, moved and removed
    /// files, modes and links. Paths in `leave_out` and in the program's own folders are not committed.
    ///
    /// # Errors
    /// Nothing was committed, for the reason told; or, `IndexBehind`, all was but the user's index.
    pub async fn commit(
        &self,
        paths: &[PathBuf],
        leave_out: &[PathBuf],
        message: &str,
    ) -> Result<CommitId, CommitFailure> {
        self.check_nothing_under_way()?;
        let mut wanted = Vec::new();
        for path in paths
            .iter()
            .filter(|path| !leave_out.contains(path) && !self.is_own(path))
        {
            if !path
                .components()
                .all(|part| matches!(part, Component::Normal(_)))
            {
                return Err(GitError::OutsidePath { path: path.clone() }.into());
            }
            wanted.push(path.clone());
        }
        let base = self.head_tree().await?;
        let index = PrivateIndex::empty()?;
        if let Some(base) = &base {
            self.git(&["read-tree"])
                .arg(&base.0)
                .index(&index.path())
                .text()
                .await?;
        }
        self.update_index(&index.path(), &wanted).await?;
        let tree = TreeId(
            self.git(&["write-tree"])
                .index(&index.path())
                .text()
                .await?,
        );
        if base
            .as_ref()
            .map_or_else(|| wanted.is_empty(), |base| *base == tree)
        {
            return Err(CommitFailure::new(
                CommitFailureKind::Nothing,
                "nothing differs from the last commit",
            ));
        }
        self.commit_index(&index, message).await
    }

    /// Commits what an index of our own holds, and tells the user's index of its paths.
    pub(super) async fn commit_index(
        &self,
        index: &PrivateIndex,
        message: &str,
    ) -> Result<CommitId, CommitFailure> {
        self.run_commit(index, message).await?;
        let commit = CommitId(self.git(&["rev-parse", "HEAD"]).text().await?);
        self.tell_index(&commit).await?;
        Ok(commit)
    }

    pub(super) fn check_nothing_under_way(&self) -> Result<(), CommitFailure> {
        for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
            if self.git_dir.join(name).exists() {
                let output = format!(
                    "{} exists: finish or abort what is under way first",
                    self.git_dir.join(name).display()
                );
                return Err(CommitFailure::new(
                    CommitFailureKind::UnderWay(name),
                    output,
                ));
            }
        }
        let lock = self.git_dir.join("index.lock");
        if lock.exists() {
            let output = format!(
                "{} exists: another git command is running here, or one crashed",
                lock.display()
            );
            return Err(CommitFailure::new(CommitFailureKind::Lock, output));
        }
        Ok(())
    }

    async fn run_commit(&self, index: &PrivateIndex, message: &str) -> Result<(), CommitFailure> {
        let trace = index.beside("trace");
        let finished = self
            .git(&["commit", "--quiet", "--cleanup=whitespace", "--file=-"])
            .index(&index.path())
            .env("GIT_TRACE2_EVENT", trace.display().to_string())
            .stdin(Stdin::Bytes(message.as_bytes().to_vec()))
            .hooks(Hooks::Run)
            .held(self.commits_held.clone())
            .timeout(self.settings.commit_timeout)
            .finish()
            .await?;
        if finished.is_success() {
            return Ok(());
        }
        Err(explain(
            &finished,
            &std::fs::read_to_string(&trace).unwrap_or_default(),
        ))
    }

    /// Tells the user's index of the paths that a commit took: what was staged for others stays.
    ///
    /// # Errors
    /// `IndexBehind`: the commit stands, the index does not know of it.
    pub async fn tell_index(&self, commit: &CommitId) -> Result<(), CommitFailure> {
        let behind = |output: String| {
            CommitFailure::new(CommitFailureKind::IndexBehind(commit.clone()), output)
        };
        let list = self.git(&[
            "diff-tree",
            "-r",
            "-z",
            "--root",
            "--no-commit-id",
            "--name-only",
            "--no-renames",
        ]);
        let output = list
            .arg(&commit.0)
            .bytes()
            .await
            .map_err(|error| behind(error.to_string()))?;
        let paths: Vec<PathBuf> = nul_parts(&output).map(path_of).collect();
        let give_up_at = Instant::now() + LOCK_PATIENCE;
        loop {
            let reset = self
                .git(&[
                    "reset",
                    "--quiet",
                    "--pathspec-from-file=-",
                    "--pathspec-file-nul",
                ])
                .literal_paths();
            match reset.paths(paths.iter().map(PathBuf::as_path)).text().await {
                Ok(_) => return Ok(()),
                Err(GitError::Failed { output, .. })
                    if output.contains(".lock") && Instant::now() < give_up_at =>
                {
                    sleep(Duration::from_millis(50)).await;
                }
                Err(error) => return Err(behind(error.to_string())),
            }
        }
    }
}

/// Says why `git commit` failed, by its own trace where a hook did it, else by what it said.
fn explain(finished: &Finished, trace: &str) -> CommitFailure {
    let output = last_words(finished);
    match failed_hook(trace) {
        Some((hook, code)) if output.is_empty() => {
            let output = format!("the {hook} hook failed (exit {code}) without a message");
            CommitFailure::new(CommitFailureKind::Hook(hook), output)
        }
        Some((hook, _)) => CommitFailure::new(CommitFailureKind::Hook(hook), output),
        None => CommitFailure::new(kind_of(&output), output),
    }
}

/// Finds the hook that ended with a failure in git's event trace, and its exit code.
fn failed_hook(trace: &str) -> Option<(String, i64)> {
    let mut hooks = BTreeMap::new();
    for event in trace
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        let key = (event["sid"].to_string(), event["child_id"].to_string());
        match (event["event"].as_str(), event["hook_name"].as_str()) {
            (Some("child_start"), Some(hook)) => {
                hooks.insert(key, hook.to_owned());
            }
            (Some("child_exit"), _) if event["code"] != 0 => {
                if let Some(hook) = hooks.remove(&key) {
                    return Some((hook, event["code"].as_i64().unwrap_or(-1)));
                }
            }
            _ => {}
        }
    }
    None
}

fn kind_of(output: &str) -> CommitFailureKind {
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    if says(&[
        "tell me who you are",
        "empty ident name",
        "unable to auto-detect email",
        "no email was given",
        "no name was given",
    ]) {
        CommitFailureKind::Identity
    } else if says(&[
        "failed to sign",
        "gpg failed",
        "gpg:",
        "cannot run gpg",
        "signing key",
        "ssh-keygen",
    ]) {
        CommitFailureKind::Signing
    } else if says(&[".lock", "cannot lock ref"]) {
        CommitFailureKind::Lock
    } else if says(&[
        "nothing to commit",
        "nothing added to commit",
        "no changes added to commit",
    ]) {
        CommitFailureKind::Nothing
    } else {
        CommitFailureKind::Other
    }
}
