//! Finds the repository of a command, its configuration, and the paths of its files.
//!
//! Takes no lock and changes nothing.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::app::startup::{RunTreeReader, StartError, find_project_root, load_config, run_layout};
use crate::config::{LoadedConfig, UserDirs};
use crate::engine::git::{GitRepository, GitSettings};
use crate::store::WorkdirLayout;

use super::ConfigFlagArguments;

/// The context of a command that only reads.
#[derive(Debug)]
pub(super) struct CliContext {
    /// The repository's root, else the directory itself.
    pub root: PathBuf,
    /// The repository, if there is one.
    pub repository: Option<GitRepository>,
    /// The directories with the user's own files.
    pub places: UserDirs,
    /// The configuration in force.
    pub loaded: LoadedConfig,
    pub layout: WorkdirLayout,
}

impl CliContext {
    /// Finds the repository of the current directory and loads its configuration.
    ///
    /// # Errors
    /// The directory or its configuration has problems.
    pub async fn load(choices: &ConfigFlagArguments) -> Result<Self, StartError> {
        let (root, repository) = find_current_root().await?;
        let (places, loaded) = load_config(&root, &choices.to_config_flags()?)?;
        let layout = run_layout(&root, &loaded.config)?;
        Ok(Self {
            root,
            repository,
            places,
            loaded,
            layout,
        })
    }
}

impl From<CliContext> for RunTreeReader {
    fn from(here: CliContext) -> Self {
        Self {
            root: here.root,
            repository: here.repository,
            places: here.places,
        }
    }
}

/// Returns the repository's root and the repository; without one, the directory itself.
///
/// # Errors
/// The directory is gone, or git fails.
pub(super) async fn find_current_root() -> Result<(PathBuf, Option<GitRepository>), StartError> {
    let settings = GitSettings::new("none", CancellationToken::new());
    find_project_root(&super::current_dir()?, settings).await
}
