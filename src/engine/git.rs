//! The repository, through the `git` program.
//!
//! Snapshots keep the whole tree under `refs/agent-collab/`; commits take exactly the paths they are
//! given. The user's index, work tree and other branches are never touched by a snapshot, and what
//! the user staged for other paths survives a commit. Nothing here prompts, pushes, fetches or
//! rewrites history, and nothing in the program's own folders (`.agent-collab/` and the ones of
//! [`Repository::with_own`]) is ever counted, stored or committed.
//!
//! Refuses to decide: which branch, which paths and what to ask is the run's business.

pub mod before_tests;
mod branch;
mod commit;
mod commit_folder;
mod dependencies;
mod discover;
mod error;
mod gitlinks;
mod ident;
mod ignored;
mod index_update;
mod invoke;
mod joining;
mod own;
mod programs;
mod putting;
mod restore;
mod reverse;
mod runnable;
mod shadow;
mod snapshot;
mod status;
mod work_sandbox;
mod worktree;

pub use branch::{BranchChoice, Entered, Head};
pub use commit::{CommitFailure, CommitFailureKind};
pub use dependencies::dependency_folder_of;
pub use discover::{Discovery, GitSettings, Repository};
pub use error::GitError;
pub(super) use gitlinks::submodule_git_places;
pub use ident::{Identity, MissingIdentity, Person};
pub use joining::{Joined, Rest, Taken};
pub use putting::{LeftOfPut, NotPut};
pub use restore::Restored;
pub use reverse::{Back, Contents};
pub use runnable::{Kind, Mark, PROGRAM, Runnable};
pub use snapshot::{Snapshot, TreeChange, TreeChangeKind};
pub use status::{Change, Status};

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
