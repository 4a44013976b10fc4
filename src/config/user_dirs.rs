//! Finds the user's own folders by the XDG rules; it creates none of them.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The folders of the user's own files, outside every repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirs {
    /// The user's home folder.
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME/agent-collab`, by default `~/.config/agent-collab`.
    pub config_dir: PathBuf,
    /// `$XDG_STATE_HOME/agent-collab`, by default `~/.local/state/agent-collab`.
    pub state_dir: PathBuf,
    /// `$XDG_CACHE_HOME/agent-collab`, by default `~/.cache/agent-collab`.
    pub cache_dir: PathBuf,
}

/// The user has no home directory.
#[derive(Debug, thiserror::Error)]
#[error("unknown home directory; set HOME")]
pub struct NoHomeDirectory;

impl UserDirs {
    /// Finds the folders from the environment.
    pub fn from_env() -> Result<Self, NoHomeDirectory> {
        let xdg = etcetera::base_strategy::Xdg::new().map_err(|_| NoHomeDirectory)?;
        let state = xdg
            .state_dir()
            .unwrap_or_else(|| xdg.home_dir().join(".local/state"));
        Ok(Self {
            home: xdg.home_dir().to_owned(),
            config_dir: xdg.config_dir().join("agent-collab"),
            state_dir: state.join("agent-collab"),
            cache_dir: xdg.cache_dir().join("agent-collab"),
        })
    }

    /// Builds all folders below a single one.
    pub fn under(folder: &Path) -> Self {
        Self {
            home: folder.join("home"),
            config_dir: folder.join("config/agent-collab"),
            state_dir: folder.join("state/agent-collab"),
            cache_dir: folder.join("cache/agent-collab"),
        }
    }

    /// Returns the path of the user's own configuration file.
    pub fn global_config(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// Returns the folder of the user's own prompts.
    pub fn global_prompts(&self) -> PathBuf {
        self.config_dir.join("prompts")
    }

    /// Returns the folder of the user's own themes, one file per theme.
    pub fn global_themes(&self) -> PathBuf {
        self.config_dir.join("themes")
    }

    /// Returns the folder of the user's stored approvals, one file per repository.
    pub fn approvals_dir(&self) -> PathBuf {
        self.state_dir.join("approvals")
    }

    /// Returns the folder of the user's input history, one file per repository.
    pub fn input_history_dir(&self) -> PathBuf {
        self.state_dir.join("written")
    }

    /// Returns the folder that lists the running instances of the program, one file per instance.
    pub fn instances_dir(&self) -> PathBuf {
        self.state_dir.join("instances")
    }

    /// Returns the folder with the work trees of writing children, one folder per repository.
    pub fn worktrees_dir(&self) -> PathBuf {
        self.cache_dir.join("worktrees")
    }

    /// Returns the path of the file with the trusted repositories.
    pub fn trust_file(&self) -> PathBuf {
        self.state_dir.join("trust.json")
    }
}
