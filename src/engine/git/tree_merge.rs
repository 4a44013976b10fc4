//! Two trees that both come from a third become one, path by path; where both changed the same, the path is told.
//!
//! Moved files are a file that went and one that came. Refuses to touch the work tree, and to decide who wins.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::TreeId;
use super::error::GitError;
use super::repository::GitRepository;
use super::tree_snapshot::{TreeChange, TreeChangeKind};
use crate::process::StdinSource;

/// What a path has and what it gets, each as git's mode and object id; `None` where it has nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMergeResult {
    /// In our tree.
    pub before: Option<String>,
    /// In the joined one.
    pub after: Option<String>,
}

/// What our tree takes over of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeMerge {
    /// Ours.
    pub ours: TreeId,
    /// Each path that changes in ours. At a conflict it gets what theirs has.
    pub paths: BTreeMap<PathBuf, PathMergeResult>,
    /// The paths that both changed, so that one of the two is lost if the other is taken.
    pub conflicts: BTreeSet<PathBuf>,
    /// Submodules that differ and are left alone.
    pub skipped_submodules: Vec<PathBuf>,
}

/// A path in the three trees.
struct ThreeWayEntry {
    base: Option<String>,
    ours: Option<String>,
    theirs: Option<String>,
}

impl TreeMerge {
    /// What each path gets.
    pub fn result_contents(&self) -> BTreeMap<PathBuf, Option<String>> {
        let after =
            |(path, taken): (&PathBuf, &PathMergeResult)| (path.clone(), taken.after.clone());
        self.paths.iter().map(after).collect()
    }
}

impl GitRepository {
    /// Joins what changed from `base` to `theirs` with `ours`.
    ///
    /// # Errors
    /// Git fails, for example because a tree is gone.
    pub async fn merge_trees(
        &self,
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

    /// What a path gets; `None` where both changed it and it cannot be both.
    async fn merge_entry(&self, three: &ThreeWayEntry) -> Result<Option<Option<String>>, GitError> {
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

    /// The object of two texts joined by their lines; `None` where they do not fit, or are no texts.
    async fn merge_texts(&self, ids: [&str; 3]) -> Result<Option<String>, GitError> {
        let mut texts = Vec::new();
        for id in ids {
            let blob = self
                .git_object_command(&["cat-file", "blob"])
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
        let write = self.git_object_command(&["hash-object", "-w", "--stdin"]);
        write
            .stdin(StdinSource::Bytes(joined))
            .stdout_text()
            .await
            .map(Some)
    }
}

/// What is left to be done of a change from one tree to another.
#[derive(Debug)]
pub struct RemainingChange {
    /// What is as it was before, and what it is to become.
    pub merge: TreeMerge,
    /// What is neither.
    pub changed_since: Vec<PathBuf>,
}

impl GitRepository {
    /// What each path that differs between two trees has before and after.
    ///
    /// # Errors
    /// Git fails, for example because a tree is gone.
    pub async fn path_changes_between(
        &self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<BTreeMap<PathBuf, PathMergeResult>, GitError> {
        let mut of_before =
            contents_by_path(self.changes_between(after, before).await?, &mut Vec::new());
        let of_after =
            contents_by_path(self.changes_between(before, after).await?, &mut Vec::new());
        let taken = |(path, after): (PathBuf, Option<String>)| {
            let before = of_before.remove(&path).flatten();
            (path, PathMergeResult { before, after })
        };
        Ok(of_after.into_iter().map(taken).collect())
    }

    /// What of a change from `before` to `after` is not done yet in the work tree.
    ///
    /// # Errors
    /// Git fails, for example because a tree is gone.
    pub async fn remaining_change(
        &self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<RemainingChange, GitError> {
        let now = self.current_tree().await?;
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

/// Mode and object of a plain file; a link's text is nothing to be joined.
fn parse_file_content(content: &str) -> Option<(&str, &str)> {
    let (mode, id) = content.split_once(' ')?;
    mode.starts_with("100").then_some((mode, id))
}

/// What only one side changed, or both to the same.
fn one_sided_value<'a>(base: &'a str, ours: &'a str, theirs: &'a str) -> Option<&'a str> {
    match () {
        () if ours == base || ours == theirs => Some(theirs),
        () if theirs == base => Some(ours),
        () => None,
    }
}

/// What ours put where theirs has a folder, or into what theirs has as a file, would have to go.
fn mark_blocking_paths(joined: &mut TreeMerge, of_ours: &BTreeMap<PathBuf, Option<String>>) {
    let comes = |path: &Path| {
        let taken = joined.paths.get(path);
        taken.is_some_and(|taken| taken.after.is_some())
    };
    // Paths are ordered part by part, so that what is below one comes right after it.
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
