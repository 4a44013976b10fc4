//! Commits exactly the given paths, with the content of the tree that was tested.
//!
//! The commit is made from a private index that starts at HEAD, so nothing that the user staged gets in.
//! Afterwards the committed paths, and nothing else, are refreshed in the user's index. A failed commit
//! leaves the user's index unchanged, byte for byte. Hooks run as for any commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, PathBuf};

use serde_json::Value;

use super::branch::GitBranches;
use super::error::GitError;
use super::excluded_paths::ExcludedFolders;
use super::git_command::{GitProgram, HookPolicy, last_output};
use super::git_dir_copy::GitDirCopy;
use super::git_trees::GitTrees;
use super::index_update::UserIndex;
use super::private_index::PrivateIndex;
use super::work_sandbox::WorkSandbox;
use super::{CommitId, GitHead, TreeId};
use crate::process::{CommandOutput, SandboxMount, SandboxSpec, StdinSource};

/// A commit that was not made, or not completely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{output}")]
pub struct CommitFailure {
    pub kind: CommitFailureKind,
    /// The last output of git and the hooks.
    pub output: String,
}

/// Classifies why a commit was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitFailureKind {
    /// Nothing differs from the last commit.
    NothingToCommit,
    /// This hook rejected the commit.
    Hook(String),
    /// Git has no identity for commits.
    Identity,
    Signing,
    /// Another git command has a lock.
    Lock,
    /// A merge, cherry-pick or revert is in progress; names its file in git's folder.
    OperationInProgress(&'static str),
    /// The commit did not finish in time.
    TimedOut,
    /// The run is being stopped.
    Cancelled,
    /// The commit was made, but the user's index could not be refreshed; `git reset` repairs it.
    IndexBehind(CommitId),
    Other,
}

impl CommitFailure {
    /// Describes a commit that is valid while the user's index does not contain it.
    pub fn index_behind_message(&self, commit: &CommitId) -> String {
        let short = commit.0.get(..12).unwrap_or(&commit.0);
        format!(
            "commit {short} was made, but your index could not be refreshed ({}): run `git reset` before you commit, \
             or your next commit reverts it",
            self.output.trim()
        )
    }

    pub(super) fn new(kind: CommitFailureKind, output: impl Into<String>) -> Self {
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
            GitError::Failed { output, .. } => classify_output(output),
            GitError::Start(_)
            | GitError::Unreadable { .. }
            | GitError::File { .. }
            | GitError::UnsandboxedFilter { .. }
            | GitError::PathOutsideRoot { .. } => CommitFailureKind::Other,
        };
        Self::new(kind, error.to_string())
    }
}

/// Makes the commits of a run.
#[derive(Debug, Clone, Copy)]
pub struct GitCommits<'a> {
    pub(super) git: &'a GitProgram,
    pub(super) trees: GitTrees<'a>,
    pub(super) excluded: &'a ExcludedFolders,
    /// The sandbox of commits with their hooks.
    pub(super) sandbox: Option<&'a SandboxSpec>,
}

impl GitCommits<'_> {
    /// Commits what the tree `tested` has at `paths`, relative to the root: new, changed, moved and removed
    /// files, modes and links. The work tree is not read, so nothing that was written since gets in and no
    /// filter runs. Paths in `leave_out` and in the program's own folders are not committed.
    ///
    /// # Errors
    /// Nothing was committed, for the given reason; or, with `IndexBehind`, everything was, but the user's
    /// index is not refreshed.
    pub async fn commit_paths(
        self,
        tested: &TreeId,
        paths: &[PathBuf],
        leave_out: &[PathBuf],
        message: &str,
    ) -> Result<CommitId, CommitFailure> {
        self.check_no_operation_in_progress()?;
        let mut wanted = BTreeSet::new();
        for path in paths
            .iter()
            .filter(|path| !leave_out.contains(path) && !self.excluded.contains(path))
        {
            if !path
                .components()
                .all(|part| matches!(part, Component::Normal(_)))
            {
                return Err(GitError::PathOutsideRoot { path: path.clone() }.into());
            }
            wanted.insert(path);
        }
        let branches = GitBranches { git: self.git };
        let base = match branches.head_tree().await? {
            Some(base) => base,
            // Before the first commit the base is the empty tree.
            None => TreeId(self.git.object_command(&["mktree"]).stdout_text().await?),
        };
        let changes = self.trees.changes_between(&base, tested).await?;
        let contents: BTreeMap<PathBuf, Option<String>> = changes
            .into_iter()
            .filter(|change| wanted.contains(&change.path))
            .map(|change| (change.path, change.content))
            .collect();
        if contents.is_empty() {
            return Err(CommitFailure::new(
                CommitFailureKind::NothingToCommit,
                "nothing differs from the last commit",
            ));
        }
        let tree = self.trees.tree_with_contents(&base, &contents).await?;
        self.commit_whole_tree(&tree, message).await
    }

    /// Commits a tree as it is, independent of the work tree. Hooks run as for any commit.
    ///
    /// # Errors
    /// As [`Self::commit_paths`].
    pub async fn commit_whole_tree(
        self,
        tree: &TreeId,
        message: &str,
    ) -> Result<CommitId, CommitFailure> {
        self.check_no_operation_in_progress()?;
        let index = PrivateIndex::empty()?;
        let read = self.git.object_command(&["read-tree"]).arg(&tree.0);
        read.index_file(&index.path()).stdout_text().await?;
        self.commit_index(&index, message).await
    }

    /// Commits the content of a private index and refreshes the user's index for its paths.
    async fn commit_index(
        self,
        index: &PrivateIndex,
        message: &str,
    ) -> Result<CommitId, CommitFailure> {
        let commit = match self.sandbox.cloned() {
            Some(held) => self.commit_in_sandbox(index, message, held).await?,
            None => {
                self.run_commit(index, message, None).await?;
                let head = self.git.object_command(&["rev-parse", "HEAD"]);
                CommitId(head.stdout_text().await?)
            }
        };
        UserIndex { git: self.git }.refresh(&commit).await?;
        Ok(commit)
    }

    fn check_no_operation_in_progress(self) -> Result<(), CommitFailure> {
        for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
            if self.git.git_dir.join(name).exists() {
                let output = format!(
                    "{} exists: finish or abort the git operation in progress first",
                    self.git.git_dir.join(name).display()
                );
                return Err(CommitFailure::new(
                    CommitFailureKind::OperationInProgress(name),
                    output,
                ));
            }
        }
        let lock = self.git.git_dir.join("index.lock");
        if lock.exists() {
            let output = format!(
                "{} exists: another git command is running here, or one crashed",
                lock.display()
            );
            return Err(CommitFailure::new(CommitFailureKind::Lock, output));
        }
        Ok(())
    }

    /// Commits in a copy of git's folder and moves the branch to the resulting commit.
    async fn commit_in_sandbox(
        self,
        index: &PrivateIndex,
        message: &str,
        held: SandboxSpec,
    ) -> Result<CommitId, CommitFailure> {
        let head = GitBranches { git: self.git }.head().await?;
        let copy = GitDirCopy {
            git: self.git,
            beside: index,
        };
        let mut places = copy.create()?;
        places.push((index.folder(), SandboxMount::Writable));
        let held = held.with_mounts(places);
        self.run_commit(index, message, Some(held.clone())).await?;
        let made = match copy.head(&head) {
            Some(made) => made,
            None => {
                // A hook may have planted something in the copy, so git reads it in the sandbox, too.
                let made = self
                    .git
                    .object_command(&["rev-parse", "--verify", "HEAD^{commit}"]);
                CommitId(made.sandbox(Some(held)).stdout_text().await?)
            }
        };
        let about = self.git.object_command(&["log", "-1", "--format=%P%n%s"]);
        let about = about.arg(&made.0).stdout_text().await?;
        let (parents, subject) = about.split_once('\n').unwrap_or((&about, ""));
        // A hook may have moved HEAD: accept only a direct successor of the last commit.
        let parent = parents.split(' ').find(|id| !id.is_empty());
        if parent != head.commit().map(|commit| commit.0.as_str()) {
            let output = "a hook moved HEAD to a commit that does not descend from the last one";
            return Err(CommitFailure::new(CommitFailureKind::Other, output));
        }
        self.move_head(&head, &made, subject).await?;
        Ok(made)
    }

    /// Moves the branch, or a detached HEAD, from its old commit to a new one.
    async fn move_head(self, head: &GitHead, to: &CommitId, subject: &str) -> Result<(), GitError> {
        let initial = match head.commit() {
            Some(_) => "",
            None => " (initial)",
        };
        let call = self.git.object_command(&["update-ref", "-m"]);
        let call = call.arg(format!("commit{initial}: {subject}"));
        let call = match head {
            GitHead::Branch { name, .. } => call.arg(format!("refs/heads/{name}")),
            GitHead::Detached { .. } => call.arg("--no-deref").arg("HEAD"),
        };
        // With the old value git refuses if the branch has moved since; zeros mean that it must not exist yet.
        let nothing = "0".repeat(to.0.len());
        let from = head.commit().map_or(nothing, |commit| commit.0.clone());
        call.arg(&to.0).arg(from).stdout_text().await.map(drop)
    }

    async fn run_commit(
        self,
        index: &PrivateIndex,
        message: &str,
        held: Option<SandboxSpec>,
    ) -> Result<(), CommitFailure> {
        if let (None, WorkSandbox::Unavailable(why)) = (&held, &self.git.sandbox) {
            self.git.check_filters(why).await?;
        }
        let trace = index.sibling_path("trace");
        let finished = self
            .git
            .object_command(&["commit", "--quiet", "--cleanup=whitespace", "--file=-"])
            .index_file(&index.path())
            .env("GIT_TRACE2_EVENT", trace.display().to_string())
            .stdin(StdinSource::Bytes(message.as_bytes().to_vec()))
            .hooks(HookPolicy::Run)
            .sandbox(held)
            .timeout(self.git.settings.commit_timeout)
            .output()
            .await?;
        if finished.is_success() {
            return Ok(());
        }
        Err(explain_failure(
            &finished,
            &std::fs::read_to_string(&trace).unwrap_or_default(),
        ))
    }
}

/// Explains why `git commit` failed: from git's trace if a hook failed, else from the output.
fn explain_failure(finished: &CommandOutput, trace: &str) -> CommitFailure {
    let output = last_output(finished);
    match find_failed_hook(trace) {
        Some((hook, code)) if output.is_empty() => {
            let output = format!("the {hook} hook failed (exit {code}) without a message");
            CommitFailure::new(CommitFailureKind::Hook(hook), output)
        }
        Some((hook, _)) => CommitFailure::new(CommitFailureKind::Hook(hook), output),
        None => CommitFailure::new(classify_output(&output), output),
    }
}

/// Finds the hook that failed in git's event trace, and its exit code.
fn find_failed_hook(trace: &str) -> Option<(String, i64)> {
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

fn classify_output(output: &str) -> CommitFailureKind {
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
        CommitFailureKind::NothingToCommit
    } else {
        CommitFailureKind::Other
    }
}
