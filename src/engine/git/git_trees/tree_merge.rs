//! Merges two trees that share a base, path by path; a path that both changed is a conflict.
//!
//! A moved file counts as a removed and an added file. Does not touch the working tree and does not decide who
//! wins. Not `git merge-tree --merge-base`: that needs git 2.40, and it runs the merge drivers that a repository
//! names in its attributes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{GitTrees, TreeChange, TreeChangeKind};
use crate::engine::git::TreeId;
use crate::engine::git::error::GitError;
use crate::process::StdinSource;

/// The old and the new content of a path, as git's mode and object id; `None` where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMergeResult {
    /// The content in our tree.
    pub before: Option<String>,
    /// The content in the merged tree.
    pub after: Option<String>,
}

/// The changes that our tree gets from theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeMerge {
    pub ours: TreeId,
    /// Each path that changes in ours. A conflicting path gets the content of theirs.
    pub paths: BTreeMap<PathBuf, PathMergeResult>,
    /// The paths that both sides changed, so that taking one side loses the other.
    pub conflicts: BTreeSet<PathBuf>,
    /// Submodules that differ; they stay unchanged.
    pub skipped_submodules: Vec<PathBuf>,
}

/// A path in the three trees.
struct ThreeWayEntry {
    base: Option<String>,
    ours: Option<String>,
    theirs: Option<String>,
}

impl TreeMerge {
    /// Returns the new content of each path.
    pub fn result_contents(&self) -> BTreeMap<PathBuf, Option<String>> {
        let after =
            |(path, taken): (&PathBuf, &PathMergeResult)| (path.clone(), taken.after.clone());
        self.paths.iter().map(after).collect()
    }
}

impl GitTrees<'_> {
    /// Merges the changes from `base` to `theirs` into `ours`.
    ///
    /// # Errors
    /// Git fails, for example because a tree no longer exists.
    pub async fn merge_trees(
        self,
        base: &TreeId,
        ours: &TreeId,
        theirs: &TreeId,
    ) -> Result<TreeMerge, GitError> {
        let mut left = Vec::new();
        let mut of_base =
            contents_by_path(self.changes_between(theirs, base).await?, &mut Vec::new());
        let of_theirs = contents_by_path(self.changes_between(base, theirs).await?, &mut left);
        let of_ours = contents_by_path(self.changes_between(base, ours).await?, &mut Vec::new());
        let mut joined = TreeMerge {
            ours: ours.clone(),
            paths: BTreeMap::new(),
            conflicts: BTreeSet::new(),
            skipped_submodules: left,
        };
        for (path, theirs) in of_theirs {
            let base = of_base.remove(&path).flatten();
            let ours = of_ours.get(&path).cloned().unwrap_or_else(|| base.clone());
            if ours == theirs {
                continue;
            }
            let before = ours.clone();
            let three = ThreeWayEntry { base, ours, theirs };
            let after = match self.merge_entry(&three).await? {
                Some(after) => after,
                None => {
                    joined.conflicts.insert(path.clone());
                    three.theirs
                }
            };
            joined.paths.insert(path, PathMergeResult { before, after });
        }
        mark_blocking_paths(&mut joined, &of_ours);
        Ok(joined)
    }

    /// Returns the new content of a path; `None` where both sides changed it and the changes cannot be
    /// combined.
    async fn merge_entry(self, three: &ThreeWayEntry) -> Result<Option<Option<String>>, GitError> {
        let ThreeWayEntry { base, ours, theirs } = three;
        if ours == base {
            return Ok(Some(theirs.clone()));
        }
        let files =
            [base, ours, theirs].map(|content| content.as_deref().and_then(parse_file_content));
        let [Some(base), Some(ours), Some(theirs)] = files else {
            return Ok(None);
        };
        let (Some(mode), id) = (
            one_sided_value(base.0, ours.0, theirs.0),
            one_sided_value(base.1, ours.1, theirs.1),
        ) else {
            return Ok(None);
        };
        let id = match id {
            Some(id) => Some(id.to_owned()),
            None => self.merge_texts([base.1, ours.1, theirs.1]).await?,
        };
        Ok(id.map(|id| Some(format!("{mode} {id}"))))
    }

    /// Merges two texts by lines and returns the object; `None` where they conflict or are not texts.
    async fn merge_texts(self, ids: [&str; 3]) -> Result<Option<String>, GitError> {
        let mut texts = Vec::new();
        for id in ids {
            let blob = self
                .git
                .object_command(&["cat-file", "blob"])
                .arg(id)
                .stdout_bytes()
                .await?;
            if blob.contains(&0) {
                return Ok(None);
            }
            texts.push(blob);
        }
        let [base, ours, theirs] = texts.as_slice() else {
            return Ok(None);
        };
        let Ok(joined) = diffy::merge_bytes(base, ours, theirs) else {
            return Ok(None);
        };
        self.write_blob(joined).await.map(Some)
    }

    /// Stores a file's bytes; returns their object id.
    async fn write_blob(self, bytes: Vec<u8>) -> Result<String, GitError> {
        let write = self.git.object_command(&["hash-object", "-w", "--stdin"]);
        write.stdin(StdinSource::Bytes(bytes)).stdout_text().await
    }

    /// Reads a content, given as git's mode and object id, as text; `None` where it is no UTF-8 text or no file.
    ///
    /// # Errors
    /// Git fails.
    pub async fn read_content_text(self, content: &str) -> Result<Option<String>, GitError> {
        let Some((mode, blob)) = content.split_once(' ') else {
            return Ok(None);
        };
        if !mode.starts_with("100") {
            return Ok(None);
        }
        let read = self.git.object_command(&["cat-file", "blob"]).arg(blob);
        Ok(String::from_utf8(read.stdout_bytes().await?).ok())
    }

    /// Stores a text as a file with the mode of another content; returns it as git's mode and object id.
    ///
    /// # Errors
    /// Git fails.
    pub async fn write_content(self, like: &str, text: String) -> Result<String, GitError> {
        let mode = like.split(' ').next().unwrap_or("100644");
        let blob = self.write_blob(text.into_bytes()).await?;
        Ok(format!("{mode} {blob}"))
    }
}

/// The part of a change from one tree to another that is not done yet.
#[derive(Debug)]
pub struct RemainingChange {
    /// The paths that still have their old content, with the new content.
    pub merge: TreeMerge,
    /// The paths that have neither the old nor the new content.
    pub changed_since: Vec<PathBuf>,
}

impl GitTrees<'_> {
    /// Returns the old and the new content of each path that differs between two trees.
    ///
    /// # Errors
    /// Git fails, for example because a tree no longer exists.
    pub async fn path_changes_between(
        self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<BTreeMap<PathBuf, PathMergeResult>, GitError> {
        let changes = self.changes_between(before, after).await?.into_iter();
        let of_files = changes.filter(|change| change.kind != TreeChangeKind::Submodule);
        let taken = of_files.map(|change| {
            let (before, after) = (change.content_before, change.content);
            (change.path, PathMergeResult { before, after })
        });
        Ok(taken.collect())
    }

    /// Returns what is not done yet in the tree `now` of a change from `before` to `after`.
    ///
    /// # Errors
    /// Git fails, for example because a tree no longer exists.
    pub async fn remaining_change(
        self,
        before: &TreeId,
        after: &TreeId,
        now: TreeId,
    ) -> Result<RemainingChange, GitError> {
        let since = contents_by_path(self.changes_between(before, &now).await?, &mut Vec::new());
        let mut rest = RemainingChange {
            merge: TreeMerge {
                ours: now,
                paths: BTreeMap::new(),
                conflicts: BTreeSet::new(),
                skipped_submodules: Vec::new(),
            },
            changed_since: Vec::new(),
        };
        for (path, taken) in self.path_changes_between(before, after).await? {
            let now = since.get(&path).unwrap_or(&taken.before);
            if *now == taken.before {
                rest.merge.paths.insert(path, taken);
            } else if *now != taken.after {
                rest.changed_since.push(path);
            }
        }
        Ok(rest)
    }
}

fn contents_by_path(
    changes: Vec<TreeChange>,
    left: &mut Vec<PathBuf>,
) -> BTreeMap<PathBuf, Option<String>> {
    let mut found = BTreeMap::new();
    for change in changes {
        match change.kind {
            TreeChangeKind::Submodule => left.push(change.path),
            TreeChangeKind::Added
            | TreeChangeKind::Modified
            | TreeChangeKind::Deleted
            | TreeChangeKind::Retyped => drop(found.insert(change.path, change.content)),
        }
    }
    found
}

/// Returns mode and object of a plain file; the target of a link cannot be merged.
fn parse_file_content(content: &str) -> Option<(&str, &str)> {
    let (mode, id) = content.split_once(' ')?;
    mode.starts_with("100").then_some((mode, id))
}

/// Returns the value that only one side changed, or that both changed to.
fn one_sided_value<'a>(base: &'a str, ours: &'a str, theirs: &'a str) -> Option<&'a str> {
    match () {
        () if ours == base || ours == theirs => Some(theirs),
        () if theirs == base => Some(ours),
        () => None,
    }
}

/// Marks conflicts between files and folders: our paths that would have to be removed because theirs has a
/// folder there, or a file above them.
fn mark_blocking_paths(joined: &mut TreeMerge, of_ours: &BTreeMap<PathBuf, Option<String>>) {
    let comes = |path: &Path| {
        let taken = joined.paths.get(path);
        taken.is_some_and(|taken| taken.after.is_some())
    };
    // Paths are ordered component by component, so that the paths below one follow directly after it.
    let is_above = |path: &PathBuf| {
        let from = joined.paths.range(path.clone()..);
        let mut below = from.take_while(|(other, _)| other.starts_with(path));
        below.any(|(_, taken)| taken.after.is_some())
    };
    let mut in_the_way = Vec::new();
    for (path, content) in of_ours {
        let (Some(content), false) = (content, joined.paths.contains_key(path)) else {
            continue;
        };
        if path.ancestors().skip(1).any(comes) || is_above(path) {
            in_the_way.push((path.clone(), content.clone()));
        }
    }
    for (path, content) in in_the_way {
        joined.conflicts.insert(path.clone());
        let taken = PathMergeResult {
            before: Some(content),
            after: None,
        };
        joined.paths.insert(path, taken);
    }
}
