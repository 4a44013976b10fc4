//! The repository, through the `git` program.
//!
//! Snapshots keep the whole tree under `refs/agent-collab/`; commits take exactly the paths they are
//! given. The user's index, work tree and other branches are never touched by a snapshot, and what
//! the user staged for other paths survives a commit. Nothing here prompts, pushes, fetches or
//! rewrites history, and nothing under `.agent-collab/` is ever counted, stored or committed.
//!
//! Refuses to decide: which branch, which paths and what to ask is the run's business.

mod branch;
mod commit;
mod discover;
mod error;
mod ident;
mod invoke;
mod restore;
mod shadow;
mod snapshot;
mod status;

pub use branch::{BranchChoice, Entered, Head};
pub use commit::{CommitFailure, CommitFailureKind};
pub use discover::{Discovery, GitSettings, Repository};
pub use error::GitError;
pub use ident::{Identity, MissingIdentity, Person};
pub use restore::Restored;
pub use snapshot::{Snapshot, TreeChange, TreeChangeKind};
pub use status::{Change, Status};

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The folder that this program keeps in a repository.
const OWN_FOLDER: &str = ".agent-collab";

/// The full hexadecimal id of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

/// The full hexadecimal id of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeId(pub String);

/// Tells whether a path, relative to the root, is the program's own.
pub fn is_own(path: &Path) -> bool {
    path.components()
        .find(|part| !matches!(part, std::path::Component::CurDir))
        .is_some_and(|part| part.as_os_str() == OWN_FOLDER)
}

#[cfg(test)]
mod tests;
