//! Where the user's own files are, by the XDG rules.
//!
//! Refuses to create anything.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The folders of the user's own files, outside every repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirs {
    /// The user's home.
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

    /// Puts all folders below one.
    pub fn under(folder: &Path) -> Self {
        Self {
            home: folder.join("home"),
            config_dir: folder.join("config/agent-collab"),
            state_dir: folder.join("state/agent-collab"),
            cache_dir: folder.join("cache/agent-collab"),
        }
    }

    /// The user's own configuration.
    pub fn global_config(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The user's own prompts.
    pub fn global_prompts(&self) -> PathBuf {
        self.config_dir.join("prompts")
    }

    /// The user's own themes, a file each.
    pub fn global_themes(&self) -> PathBuf {
        self.config_dir.join("themes")
    }

    /// What the user approved, a file a repository.
    pub fn approvals_dir(&self) -> PathBuf {
        self.state_dir.join("approvals")
    }

    /// What the user wrote, a file a repository.
    pub fn input_history_dir(&self) -> PathBuf {
        self.state_dir.join("written")
    }

    /// Which instances of the program there are, a file each.
    pub fn instances_dir(&self) -> PathBuf {
        self.state_dir.join("instances")
    }

    /// Where children that write have their work trees, a folder a repository.
    pub fn worktrees_dir(&self) -> PathBuf {
        self.cache_dir.join("worktrees")
    }

    /// What the user trusts.
    pub fn trust_file(&self) -> PathBuf {
        self.state_dir.join("trust.json")
    }
}
