//! Reads commits: their trees, parents and trailers, and which ones HEAD has.
//!
//! What is compared with receipts is read as it is: what a replace reference, a graft or a commit-graph says in its place does
//! not count.

use std::collections::BTreeSet;

use super::branch::GitBranches;
use super::error::GitError;
use super::git_command::{GitProgram, split_nul};
use super::git_trees::revert::RevertSpan;
use super::{CommitId, TreeId};
use crate::domain::plan_execution::CommitSize;
use crate::process::StdinSource;

/// Separates the fields of a commit in git's output.
const FIELD_SEPARATOR: char = '\u{1f}';

/// A commit and its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitTree {
    pub commit: CommitId,
    pub tree: TreeId,
}

/// A commit as git has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRecord {
    pub id: CommitId,
    pub tree: TreeId,
    pub parents: Vec<CommitId>,
    /// The first line of its message.
    pub subject: String,
    pub trailers: ReceiptTrailers,
}

/// A trailer of a commit that belongs to receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum ReceiptTrailer {
    /// The number of the step.
    #[strum(serialize = "Agent-Collab-Step")]
    Step,
    /// The hash of the last receipt before the commit.
    #[strum(serialize = "Agent-Collab-Receipt")]
    Receipt,
    /// The hash of the approved plan.
    #[strum(serialize = "Agent-Collab-Plan")]
    Plan,
}

impl ReceiptTrailer {
    /// Formats the trailer with its value, as it stands in a commit's message.
    pub fn line(self, value: impl std::fmt::Display) -> String {
        format!("{self}: {value}")
    }
}

/// The values of each [`ReceiptTrailer`] of a commit, each as often as it is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceiptTrailers {
    pub steps: Vec<String>,
    pub receipts: Vec<String>,
    pub plans: Vec<String>,
}

/// The commits that a repository has.
#[derive(Debug, Clone, Copy)]
pub struct CommitHistory<'a> {
    pub(super) git: &'a GitProgram,
}

impl CommitHistory<'_> {
    /// Finds the commits that some revisions name, in order; `None` for what is no commit here.
    ///
    /// # Errors
    /// Git fails.
    pub async fn resolve_commits(
        self,
        revisions: &[String],
    ) -> Result<Vec<Option<CommitTree>>, GitError> {
        let is_plain = |revision: &&String| !revision.contains(['\n', '\0']);
        let mut lines = String::new();
        for revision in revisions.iter().filter(is_plain) {
            lines.push_str(&format!("{revision}^{{commit}}\n{revision}^{{tree}}\n"));
        }
        let output = self
            .git
            .plain_object_command(&["cat-file", "--batch-check=%(objecttype) %(objectname)"])
            .stdin(StdinSource::Bytes(lines.into_bytes()))
            .stdout_text()
            .await?;
        let mut answers = output.lines();
        let found = revisions.iter().map(|revision| {
            if !is_plain(&revision) {
                return None;
            }
            let (commit, tree) = (answers.next(), answers.next());
            let id = |answer: Option<&str>, kind| {
                let id = answer?.strip_prefix(kind)?;
                is_object_id(id).then(|| id.to_owned())
            };
            Some(CommitTree {
                commit: CommitId(id(commit, "commit ")?),
                tree: TreeId(id(tree, "tree ")?),
            })
        });
        Ok(found.collect())
    }

    /// Lists the commits that lead to `tips` and not to `base`, each after its parents.
    ///
    /// # Errors
    /// Git fails, or does not know one of them.
    pub async fn list_commits(
        self,
        tips: &[CommitId],
        base: Option<&CommitId>,
    ) -> Result<Vec<CommitRecord>, GitError> {
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let trailer = |key| format!("%x1f%(trailers:key={key},valueonly,unfold,separator=%x2C)");
        let trailers = [
            ReceiptTrailer::Step,
            ReceiptTrailer::Receipt,
            ReceiptTrailer::Plan,
        ];
        let trailers = trailers.map(trailer).concat();
        let mut call = self
            .git
            .plain_object_command(&["log", "-z", "--topo-order", "--reverse"])
            .config("trailer.separators=:")
            .arg(format!("--format=%H%x1f%T%x1f%P{trailers}%x1f%s"));
        for tip in tips {
            call = call.arg(&tip.0);
        }
        if let Some(base) = base {
            call = call.arg(format!("^{}", base.0));
        }
        let output = call.stdout_bytes().await?;
        let records = split_nul(&output).map(|line| {
            parse_record(&String::from_utf8_lossy(line)).ok_or_else(|| GitError::Unreadable {
                command: "log".to_owned(),
                what: "a commit lacks fields".to_owned(),
            })
        });
        records.collect()
    }

    /// Counts what a commit changes, compared with its only parent, or with nothing where it has none.
    ///
    /// # Errors
    /// Git fails, or its output is not understood.
    pub async fn commit_size(self, commit: &CommitId) -> Result<CommitSize, GitError> {
        let args = [
            "diff-tree",
            "--numstat",
            "-z",
            "--root",
            "--no-commit-id",
            "-r",
        ];
        let output = self
            .git
            .plain_object_command(&args)
            .arg("--no-ext-diff")
            .arg("--no-renames")
            .arg(&commit.0)
            .stdout_bytes()
            .await?;
        parse_numstat(&output).ok_or_else(|| GitError::Unreadable {
            command: "diff-tree".to_owned(),
            what: "a line lacks its numbers".to_owned(),
        })
    }

    /// Returns whether a commit is HEAD or in its history; false where it does not exist.
    ///
    /// # Errors
    /// Git fails.
    pub async fn contains_commit(self, commit: &CommitId) -> Result<bool, GitError> {
        let outside = self
            .git
            .object_command(&["rev-list", "--max-count=1"])
            .arg(format!("{}^{{commit}}", commit.0))
            .arg("^HEAD")
            .stdout_text_if_success()
            .await?;
        Ok(outside.is_some_and(|outside| outside.is_empty()))
    }

    /// Lists the commits after `base` (`None`: all), oldest first, with their subjects.
    ///
    /// # Errors
    /// Git fails.
    pub async fn commits_since(
        self,
        base: Option<&CommitId>,
    ) -> Result<Vec<(CommitId, String)>, GitError> {
        let branches = GitBranches { git: self.git };
        if branches.head().await?.commit().is_none() {
            return Ok(Vec::new());
        }
        let range = base.map_or("HEAD".to_owned(), |base| format!("{}..HEAD", base.0));
        let output = self
            .git
            .object_command(&["log", "-z", "--reverse", "--format=%H %s"])
            .arg(range)
            .stdout_bytes()
            .await?;
        let commits = split_nul(&output).filter_map(|line| {
            let line = String::from_utf8_lossy(line);
            let (id, subject) = line.split_once(' ')?;
            Some((CommitId(id.to_owned()), subject.to_owned()))
        });
        Ok(commits.collect())
    }

    /// Returns the trees before and after a commit; the first commit starts from the empty tree.
    ///
    /// # Errors
    /// Git fails, or does not know the commit.
    pub async fn trees_around_commit(self, commit: &CommitId) -> Result<RevertSpan, GitError> {
        let to = self.git.object_command(&["rev-parse", "--verify"]);
        let to = to
            .arg(format!("{}^{{tree}}", commit.0))
            .stdout_text()
            .await?;
        let from = self
            .git
            .object_command(&["rev-parse", "--verify", "--quiet"])
            .arg(format!("{}^1^{{tree}}", commit.0))
            .stdout_text_if_success()
            .await?;
        let from = match from {
            Some(from) => from,
            None => self.git.object_command(&["mktree"]).stdout_text().await?,
        };
        Ok(RevertSpan {
            unchanged_paths: BTreeSet::new(),
            from: TreeId(from),
            to: TreeId(to),
        })
    }

    /// Returns true if a commit is an ancestor of HEAD.
    ///
    /// # Errors
    /// Git cannot be run.
    pub async fn is_ancestor_of_head(self, commit: &CommitId) -> Result<bool, GitError> {
        let call = self
            .git
            .object_command(&["merge-base", "--is-ancestor"])
            .arg(&commit.0);
        Ok(call.arg("HEAD").output().await?.is_success())
    }

    /// Returns the first line of a commit message.
    ///
    /// # Errors
    /// Git fails, or does not know the commit.
    pub async fn commit_subject(self, commit: &CommitId) -> Result<String, GitError> {
        let call = self
            .git
            .object_command(&["log", "-1", "--format=%s"])
            .arg(&commit.0);
        call.stdout_text().await
    }
}

/// Returns whether a text is the full id of an object.
pub fn is_object_id(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    [40, 64].contains(&text.len()) && text.bytes().all(is_hex)
}

/// Sums the entries of `--numstat -z`; a binary file has no line counts.
fn parse_numstat(output: &[u8]) -> Option<CommitSize> {
    let count = |field: &[u8]| match field {
        b"-" => Some(0),
        number => std::str::from_utf8(number).ok()?.parse::<u32>().ok(),
    };
    let mut size = CommitSize::default();
    for entry in split_nul(output) {
        let mut fields = entry.split(|byte| *byte == b'\t');
        let (added, removed) = (count(fields.next()?)?, count(fields.next()?)?);
        size.files = size.files.saturating_add(1);
        size.added = size.added.saturating_add(added);
        size.removed = size.removed.saturating_add(removed);
    }
    Some(size)
}

fn parse_record(line: &str) -> Option<CommitRecord> {
    let mut fields = line.splitn(7, FIELD_SEPARATOR);
    let mut next = || fields.next();
    let (id, tree, parents) = (next()?, next()?, next()?);
    let values = |list: &str| -> Vec<String> {
        let values = list.split(',').map(str::trim);
        values
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
            .collect()
    };
    Some(CommitRecord {
        id: CommitId(id.to_owned()),
        tree: TreeId(tree.to_owned()),
        parents: parents
            .split_whitespace()
            .map(|parent| CommitId(parent.to_owned()))
            .collect(),
        trailers: ReceiptTrailers {
            steps: values(next()?),
            receipts: values(next()?),
            plans: values(next()?),
        },
        subject: next()?.to_owned(),
    })
}
