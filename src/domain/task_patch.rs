//! Describes what a child changed in its own tree, and the state of these changes in the user's tree.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::describe_line_counts;

/// What a child changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPatch {
    pub state: PatchState,
    /// The tree that the child started with.
    pub base: String,
    /// The tree from after the task.
    pub tree: String,
    /// The first of the files, with their added and removed lines.
    pub files: Vec<PatchedFile>,
    /// How many files there are.
    pub n_files: usize,
    /// How many lines were added in all of them.
    pub added: usize,
    /// How many lines were removed.
    pub removed: usize,
    /// The patch file, below the repository; `None` once it was applied completely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The user's tree before and after, from when it is being written: a program that ends midway finishes the work
    /// with these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<(String, String)>,
    /// Why it is in this state, or what else to know; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The beginning of its text, cleaned; the file has the rest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchedFile {
    /// Its name below the repository, with the old name where it was moved; cleaned.
    pub path: String,
    /// How many lines were added.
    pub added: usize,
    /// How many lines were removed.
    pub removed: usize,
    /// What else happened to it: new, deleted, binary, its mode; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// The state of a child's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchState {
    /// Saved; the user has not decided yet whether to apply them.
    Waiting,
    /// They are being written into the user's tree.
    Applying,
    /// They are in the user's tree.
    Applied,
    /// They are in a file, and not in the user's tree.
    Kept,
}

impl PatchState {
    /// Describes the state for the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Waiting => "changes wait to be applied",
            Self::Applying => "applying changes",
            Self::Applied => "changes applied",
            Self::Kept => "changes kept as a patch",
        }
    }
}

impl TaskPatch {
    /// Returns whether it is saved as a file and can still be applied.
    pub fn is_saved_as_file(&self) -> bool {
        self.state == PatchState::Kept
    }

    /// Returns whether nothing more happens to it by itself.
    pub fn is_settled(&self) -> bool {
        matches!(self.state, PatchState::Applied | PatchState::Kept)
    }

    /// Returns its size: `2 files, +3 −1`.
    pub fn diffstat(&self) -> String {
        let files = match self.n_files {
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
        let lines = describe_line_counts(self.added, self.removed);
        let gap = if lines.is_empty() { "" } else { ", " };
        format!("{files}{gap}{lines}")
    }

    /// Describes its state in one line.
    pub fn describe(&self) -> String {
        let mut text = format!("{} ({})", self.state.label(), self.diffstat());
        if let Some(file) = &self.file {
            text.push_str(&format!(" in {file}"));
        }
        if !self.why.is_empty() {
            text.push_str(&format!(": {}", self.why));
        }
        text
    }
}

impl fmt::Display for PatchedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = describe_line_counts(self.added, self.removed);
        let gap = if lines.is_empty() { "" } else { " " };
        write!(f, "{}{gap}{lines}", self.path)?;
        if self.about.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.about)
        }
    }
}

impl fmt::Display for TaskPatch {
    /// Writes it for an agent: where the changes are, and which files they contain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "patch: {}", self.describe())?;
        for file in &self.files {
            writeln!(f, "  {file}")?;
        }
        match self.n_files.saturating_sub(self.files.len()) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_says_where_it_is_and_of_what() {
        let mut patch = TaskPatch {
            state: PatchState::Kept,
            base: "b".to_owned(),
            tree: "t".to_owned(),
            files: vec![PatchedFile {
                path: "a.rs".to_owned(),
                added: 2,
                removed: 0,
                about: "new".to_owned(),
            }],
            n_files: 3,
            added: 5,
            removed: 1,
            file: Some(".agent-collab/patches/x.patch".to_owned()),
            between: None,
            why: "declined by the user".to_owned(),
            text: String::new(),
        };
        assert_eq!(
            patch.to_string(),
            "patch: changes kept as a patch (3 files, +5 −1) in .agent-collab/patches/x.patch: declined by \
            the user\n  \
             a.rs +2 (new)\n  and 2 more\n"
        );
        (patch.state, patch.file, patch.n_files) = (PatchState::Applied, None, 1);
        patch.why.clear();
        assert_eq!(patch.describe(), "changes applied (1 file, +5 −1)");
        assert!(!patch.is_saved_as_file());
    }
}
