//! The settings of the git program.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::process::ChildSpawner;

/// The settings for git calls.
#[derive(Debug, Clone)]
pub struct GitSettings {
    /// The program, as a name on PATH or a path.
    pub program: String,
    /// Environment variables for every call.
    pub env: BTreeMap<String, String>,
    /// The run that the calls belong to, for their process marks.
    pub run: String,
    /// The time limit of a commit with its hooks and its signature.
    pub commit_timeout: Duration,
    /// Stops a running call.
    pub cancel: CancellationToken,
    pub spawner: ChildSpawner,
}

impl GitSettings {
    /// Returns settings for the user's git, with ten minutes for a commit.
    pub fn new(run: impl Into<String>, cancel: CancellationToken) -> Self {
        Self {
            program: "git".to_owned(),
            env: BTreeMap::new(),
            run: run.into(),
            commit_timeout: Duration::from_secs(600),
            cancel,
            spawner: ChildSpawner::default(),
        }
    }

    /// Returns the same settings with this spawner.
    #[must_use]
    pub fn with_spawner(self, children: &ChildSpawner) -> Self {
        let children = children.clone();
        Self {
            spawner: children,
            ..self
        }
    }
}
