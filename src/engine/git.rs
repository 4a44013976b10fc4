//! Accesses the repository through the `git` program.
//!
//! Snapshots store the whole tree under `refs/agent-collab/`; commits include exactly the given paths. A snapshot
//! never touches the user's index, work tree or other branches, and what the user staged for other paths survives a
//! commit. Nothing here prompts, pushes, fetches or rewrites history. Nothing in the program's own folders
//! (`.agent-collab/` and the ones of [`GitRepository::with_excluded_folder`]) is ever counted, stored or committed.
//!
//! [`GitRepository`] hands out views of what belongs to it, each with a job of its own: its branches, history and notes, the
//! trees that it stores, the work tree and its status, its configuration, its commits. They share one `GitProgram`.
//!
//! Which branch, which paths and what to ask is decided by the run.

mod author;
mod branch;
mod clean_tree;
mod commit;
mod commit_history;
mod commit_notes;
mod config_programs;
mod error;
mod excluded_paths;
mod git_command;
mod git_dir_copy;
mod git_settings;
mod git_status;
mod git_trees;
mod ignored_files;
mod index_update;
mod installed_packages;
mod linked_worktrees;
mod private_index;
mod repository;
pub mod sensitive_files;
mod shadow_repository;
mod submodules;
mod tree_cache;
mod unversioned_code;
mod work_sandbox;
mod work_tree;

pub use author::{CommitIdentity, GitPerson, MissingIdentity};
pub use branch::{BranchChoice, GitBranches, GitHead, RunBranch};
pub use clean_tree::{CleanTreeFolder, CleanTrees, MissingContent, MissingContentKind};
pub use commit::{CommitFailure, CommitFailureKind, GitCommits};
pub use commit_history::{
    CommitHistory, CommitRecord, CommitTree, ReceiptTrailer, ReceiptTrailers, is_object_id,
};
pub use commit_notes::{GitNotes, NOTES_REF};
pub use config_programs::{GitConfiguration, RepositoryConfig};
pub use error::GitError;
pub use git_settings::GitSettings;
pub use git_status::{FileStatus, StatusChange, WorkTreeStatus};
pub use git_trees::revert::{RevertContents, RevertSpan};
pub use git_trees::tree_merge::{PathMergeResult, RemainingChange, TreeMerge};
pub use git_trees::{GitTrees, TreeChange, TreeChangeKind};
pub use index_update::UserIndex;
pub use installed_packages::{DEPENDENCY_FOLDERS, dependency_folder_of};
pub use repository::{GitRepository, RepositoryDiscovery};
pub(super) use submodules::submodule_mounts;
pub use unversioned_code::{
    PROGRAM_REASON, UnversionedCode, UnversionedCodeEntry, UnversionedCodeKind,
    UnversionedCodeSources,
};
pub use work_tree::GitWorkTree;
pub use work_tree::tree_restore::TreeRestoreReport;
pub use work_tree::tree_snapshot::TreeSnapshot;
pub use work_tree::tree_writer::{DisplacedFile, TreeWriteError};

use serde::{Deserialize, Serialize};

/// The full hexadecimal id of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

/// The full hexadecimal id of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

#[cfg(test)]
mod tests;
