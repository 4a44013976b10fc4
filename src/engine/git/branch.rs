//! Reads HEAD, finds the default branch, and switches to the branch for a run's commits.
//!
//! Moves nothing but HEAD: uncommitted work stays as it is.

use std::fs;

use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::git_command::GitProgram;
use super::{CommitId, TreeId};

/// Files in git's folder that show an operation in progress. Such an operation must finish before the branch
/// can change.
const OPERATION_MARKERS: [&str; 6] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-apply",
    "rebase-merge",
    "BISECT_LOG",
];

/// What HEAD points to: a branch or a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "head", rename_all = "snake_case")]
pub enum GitHead {
    /// HEAD is on a branch.
    Branch {
        /// The short name of the branch.
        name: String,
        /// The last commit; `None` before the first.
        commit: Option<CommitId>,
    },
    /// HEAD is on no branch.
    Detached {
        /// The commit that is checked out.
        commit: CommitId,
    },
}

impl GitHead {
    /// Returns the short name of the branch, if HEAD is on one.
    pub fn branch_name(&self) -> Option<&str> {
        match self {
            Self::Branch { name, .. } => Some(name),
            Self::Detached { .. } => None,
        }
    }

    /// Returns the last commit, if there is one.
    pub fn commit(&self) -> Option<&CommitId> {
        match self {
            Self::Branch { commit, .. } => commit.as_ref(),
            Self::Detached { commit } => Some(commit),
        }
    }
}

/// What the user chose as the branch of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchChoice {
    /// No choice: a new branch where the current one is the default branch.
    Unsaid,
    /// The current branch, even if it is the default branch.
    Current,
    New,
}

/// The branch that a run's commits go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunBranch {
    /// The branch that was already checked out.
    Stayed(String),
    /// A branch that was created for the run.
    Created(String),
}

impl CommitId {
    /// Reads the text of a branch's file, or of a detached HEAD's. Anybody may have written it, so it has to be an id as git
    /// writes it: 40 lower-case hexadecimal digits, not all 0, and a line end. Longer ones are git's to read.
    pub(super) fn from_branch_file(text: &str) -> Option<Self> {
        let id = text.strip_suffix('\n')?;
        let is_id = id.len() == 40
            && id
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && id.bytes().any(|byte| byte != b'0');
        is_id.then(|| Self(id.to_owned()))
    }
}

/// The most bytes of a branch's file that is read here: an id of 40 digits, and a line end.
const MAX_BRANCH_FILE_BYTES: u64 = 41;

/// The branches of a repository, and HEAD.
#[derive(Debug, Clone, Copy)]
pub struct GitBranches<'a> {
    pub(super) git: &'a GitProgram,
}

impl GitBranches<'_> {
    /// Reads where HEAD is.
    ///
    /// # Errors
    /// Git fails.
    pub async fn head(self) -> Result<GitHead, GitError> {
        let name = self.current_branch().await?;
        let in_file = name
            .as_deref()
            .and_then(|name| self.commit_from_branch_file(name));
        let commit = match in_file {
            Some(commit) => Some(commit),
            None => self
                .git
                .object_command(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
                .stdout_text_if_success()
                .await?
                .map(CommitId),
        };
        match (name, commit) {
            (Some(name), commit) => Ok(GitHead::Branch { name, commit }),
            (None, Some(commit)) => Ok(GitHead::Detached { commit }),
            (None, None) => {
                let (command, what) = (
                    "symbolic-ref HEAD".to_owned(),
                    "HEAD is neither a branch nor a commit".to_owned(),
                );
                Err(GitError::Unreadable { command, what })
            }
        }
    }

    /// Returns the branch that is checked out; `None` on a detached HEAD.
    ///
    /// # Errors
    /// Git fails.
    pub async fn current_branch(self) -> Result<Option<String>, GitError> {
        if let Some(name) = self.branch_from_head_file() {
            return Ok(Some(name));
        }
        self.git
            .object_command(&["symbolic-ref", "--quiet", "--short", "HEAD"])
            .stdout_text_if_success()
            .await
    }

    /// Reads the branch from the HEAD file, which git also reads first, without the cost of starting a
    /// program; `None` where the file contains anything else.
    pub fn branch_from_head_file(self) -> Option<String> {
        let head = fs::read_to_string(self.git.git_dir.join("HEAD")).ok()?;
        let name = head.strip_prefix("ref: refs/heads/")?.strip_suffix('\n')?;
        // With the reftable format, the HEAD file names an invalid branch.
        let is_name =
            !name.is_empty() && !name.starts_with('.') && !name.contains(char::is_control);
        is_name.then(|| name.to_owned())
    }

    /// Reads the commit of a branch from its file, which git also reads first; `None` where git has to say it: the branch is
    /// packed or symbolic, it has no commit yet, or its name or its file is not what git itself writes. That the commit exists is
    /// not checked.
    fn commit_from_branch_file(self, name: &str) -> Option<CommitId> {
        let is_plain_char = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_plain = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric())
                && part.chars().all(is_plain_char)
                && !part.contains("..")
                && !part.ends_with(".lock")
                && !part.ends_with('.')
        };
        let path = self.git.common_dir.join("refs/heads").join(name);
        let is_file = |found: fs::Metadata| found.is_file() && found.len() <= MAX_BRANCH_FILE_BYTES;
        if !name.split('/').all(is_plain) || !fs::symlink_metadata(&path).is_ok_and(is_file) {
            return None;
        }
        let text = fs::read_to_string(path).ok()?;
        CommitId::from_branch_file(&text)
    }

    /// Returns the tree of the last commit; `None` before the first.
    ///
    /// # Errors
    /// Git fails.
    pub async fn head_tree(self) -> Result<Option<TreeId>, GitError> {
        Ok(self
            .git
            .object_command(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"])
            .stdout_text_if_success()
            .await?
            .map(TreeId))
    }

    /// Finds the default branch: the target of `origin/HEAD`, else the first that exists of
    /// `init.defaultBranch`, `main` and `master`; `None` where none does.
    ///
    /// # Errors
    /// Git fails.
    pub async fn default_branch(self) -> Result<Option<String>, GitError> {
        let git = self.git;
        let origin = git
            .object_command(&[
                "symbolic-ref",
                "--quiet",
                "--short",
                "refs/remotes/origin/HEAD",
            ])
            .stdout_text_if_success()
            .await?;
        if let Some(name) = origin
            .as_deref()
            .and_then(|name| name.strip_prefix("origin/"))
        {
            return Ok(Some(name.to_owned()));
        }
        let configured = git
            .object_command(&["config", "--get", "init.defaultBranch"])
            .stdout_text_if_success()
            .await?;
        for name in configured
            .iter()
            .map(String::as_str)
            .chain(["main", "master"])
        {
            if self.has_branch(name).await? {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }

    async fn has_branch(self, name: &str) -> Result<bool, GitError> {
        let call = self
            .git
            .object_command(&["show-ref", "--verify", "--quiet"])
            .arg(format!("refs/heads/{name}"));
        Ok(call.output().await?.is_success())
    }

    /// Switches to the branch for a run's commits: the current one, or `agent-collab/<slug>` (`-2`, `-3`, …
    /// where that name is taken). Before the first commit no branch is created. A detached HEAD always gets a
    /// branch, because its commits would be lost.
    ///
    /// # Errors
    /// Git fails or refuses to switch.
    pub async fn enter_branch(
        self,
        choice: BranchChoice,
        slug: &str,
    ) -> Result<RunBranch, GitError> {
        let stay = match self.head().await? {
            GitHead::Detached { .. } => None,
            GitHead::Branch { name, commit: None } => Some(name),
            GitHead::Branch {
                name,
                commit: Some(_),
            } => match choice {
                BranchChoice::Current => Some(name),
                BranchChoice::New => None,
                BranchChoice::Unsaid if self.default_branch().await?.as_ref() == Some(&name) => {
                    None
                }
                BranchChoice::Unsaid => Some(name),
            },
        };
        if let Some(name) = stay {
            return Ok(RunBranch::Stayed(name));
        }
        let name = self.free_branch_name(slug).await?;
        self.create_and_switch_branch(&name).await?;
        Ok(RunBranch::Created(name))
    }

    /// Finds a free name for a run's branch.
    ///
    /// # Errors
    /// Git fails.
    pub async fn free_branch_name(self, slug: &str) -> Result<String, GitError> {
        // A branch called `agent-collab` rules out branches below that name.
        let parting = if self.has_branch("agent-collab").await? {
            '-'
        } else {
            '/'
        };
        let base = format!("agent-collab{parting}{}", to_ref_component(slug));
        let taken = self
            .git
            .object_command(&[
                "for-each-ref",
                "--format=%(refname:lstrip=2)",
                "refs/heads/",
            ])
            .stdout_text()
            .await?;
        let taken: Vec<&str> = taken.lines().collect();
        // A branch `x/y` also rules out `x`; the file system may ignore case.
        let is_free = |name: &str| {
            !taken.iter().any(|other| {
                other.eq_ignore_ascii_case(name)
                    || other
                        .to_lowercase()
                        .starts_with(&format!("{}/", name.to_lowercase()))
            })
        };
        let mut name = base.clone();
        let mut n = 2u64;
        while !is_free(&name) {
            name = format!("{base}-{n}");
            n += 1;
        }
        Ok(name)
    }

    /// Creates a branch at HEAD and switches to it; uncommitted changes stay as they are.
    ///
    /// # Errors
    /// The name is taken, or git refuses because a merge is in progress.
    pub async fn create_and_switch_branch(self, name: &str) -> Result<(), GitError> {
        let under_way = OPERATION_MARKERS
            .iter()
            .map(|name| self.git.git_dir.join(name));
        if let Some(found) = under_way.into_iter().find(|path| path.exists()) {
            return Err(GitError::Failed {
                command: format!("switch --create {name}"),
                output: format!(
                    "{} exists: finish or abort the git operation in progress first",
                    found.display()
                ),
            });
        }
        // The files do not change, so nothing is checked out and no hook has to run.
        let from = self.current_branch().await?;
        let reference = format!("refs/heads/{name}");
        let head = self.head().await?;
        let Some(commit) = head.commit() else {
            return Err(GitError::Failed {
                command: format!("switch --create {name}"),
                output: "there is no commit yet".to_owned(),
            });
        };
        let create = self
            .git
            .object_command(&["update-ref", "-m", "branch: Created from HEAD"]);
        let create = create
            .arg(&reference)
            .arg(&commit.0)
            .arg("0".repeat(commit.0.len()));
        create.stdout_text().await?;
        let from = from.unwrap_or_else(|| commit.0.clone());
        let moved = format!("checkout: moving from {from} to {name}");
        let switch = self.git.object_command(&["symbolic-ref", "-m"]);
        switch
            .arg(moved)
            .arg("HEAD")
            .arg(&reference)
            .stdout_text()
            .await
            .map(drop)
    }
}

/// Turns a text into a valid component of a reference name.
pub(super) fn to_ref_component(text: &str) -> String {
    let word: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "_-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let word = word.trim_matches('-');
    if word.is_empty() {
        "run".to_owned()
    } else {
        word.to_owned()
    }
}
