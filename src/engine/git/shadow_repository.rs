//! Opens a private repository for a folder that is in none: it stores trees, but no commits are made.
//!
//! It is never inside the folder, so the user's tools do not see it.

use std::path::Path;

use super::error::GitError;
use super::git_command::GitCommand;
use super::git_settings::GitSettings;
use super::repository::{GitRepository, RepositoryDiscovery};

impl GitRepository {
    /// Creates or opens the private repository in `git_dir` whose work tree is `root`.
    ///
    /// # Errors
    /// The folder cannot be created, or git fails.
    pub async fn open_shadow(
        root: &Path,
        git_dir: &Path,
        mut settings: GitSettings,
    ) -> Result<Self, GitError> {
        std::fs::create_dir_all(git_dir).map_err(|source| GitError::File {
            verb: "create",
            path: git_dir.to_owned(),
            source,
        })?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        settings.env.insert("GIT_DIR".to_owned(), text(git_dir));
        settings.env.insert("GIT_WORK_TREE".to_owned(), text(root));
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "agent-collab"),
            ("GIT_AUTHOR_EMAIL", "agent-collab@localhost"),
            ("GIT_COMMITTER_NAME", "agent-collab"),
            ("GIT_COMMITTER_EMAIL", "agent-collab@localhost"),
        ] {
            settings.env.insert(name.to_owned(), value.to_owned());
        }
        GitCommand::new(&settings, root, &["init", "--quiet", "--template="])
            .stdout_text()
            .await?;
        match Self::discover(root, settings).await? {
            RepositoryDiscovery::Found(repository) => Ok(repository),
            RepositoryDiscovery::NotARepository | RepositoryDiscovery::NoWorkTree => {
                Err(GitError::Unreadable {
                    command: "init".to_owned(),
                    what: format!("git did not create a repository in {}", git_dir.display()),
                })
            }
        }
    }
}
