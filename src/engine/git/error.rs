//! The errors of git, with hints for the user.

use std::path::PathBuf;

use thiserror::Error;

use crate::process::SpawnError;

/// A git command that failed.
#[derive(Debug, Error)]
pub enum GitError {
    /// The program did not start.
    #[error("cannot run git: {0}")]
    Start(#[source] SpawnError),
    /// The command exited with a failure.
    #[error("`git {command}` failed: {output}")]
    Failed {
        /// The sub-command and its arguments, for display.
        command: String,
        /// The end of its output.
        output: String,
    },
    /// It did not finish in time and was stopped.
    #[error("`git {command}` did not end within {seconds} seconds")]
    TimedOut {
        command: String,
        /// The limit, in seconds.
        seconds: u64,
    },
    /// It was stopped because the run is being stopped.
    #[error("`git {command}` was stopped")]
    Cancelled {
        /// The sub-command that was running.
        command: String,
    },
    /// The output cannot be parsed, or is longer than the limit.
    #[error("cannot read the output of `git {command}`: {what}")]
    Unreadable {
        command: String,
        /// What is wrong with it.
        what: String,
    },
    /// A file in the work tree or in git's folder could not be read, written or removed.
    #[error("cannot {verb} {}: {source}", path.display())]
    File {
        /// The operation that failed: `read`, `write`, `remove`.
        verb: &'static str,
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A filter could be a program that an agent wrote, and no sandbox is available.
    #[error(
        "git's configuration runs `{command}` on files ({key}); an agent could change that program, and there is no sandbox here: {why}"
    )]
    UnsandboxedFilter {
        /// The key in the configuration.
        key: String,
        /// The command that it runs.
        command: String,
        /// Why no sandbox is available.
        why: String,
    },
    /// A path to commit is not a plain path below the root.
    #[error("{} is not a path inside the repository", path.display())]
    PathOutsideRoot {
        /// The path as the caller gave it.
        path: PathBuf,
    },
}

impl GitError {
    /// Suggests what the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            // The git program cannot be set in the configuration.
            Self::Start(SpawnError::NotOnPath { .. }) => {
                "install git 2.30 or newer and add its folder to PATH".to_owned()
            }
            Self::Start(source) => source.hint(),
            Self::Failed { output, .. } if output.contains("dubious ownership") => {
                "the repository belongs to another user; run: git config --global --add safe.directory <path>".to_owned()
            }
            Self::Failed { output, .. } if is_encoding_error(output) => {
                "a .gitattributes names a working-tree-encoding that does not fit these files; correct it, and try again".to_owned()
            }
            Self::UnsandboxedFilter { .. } => {
                "install bubblewrap (`apt install bubblewrap`), or remove the filter from git's configuration for the run".to_owned()
            }
            Self::Failed { output, .. } if output.contains(".lock") => {
                "another git command is running here, or a crashed one left its lock file; remove that file if none is running".to_owned()
            }
            Self::Failed { .. } => "run the command by hand to see more".to_owned(),
            Self::TimedOut { .. } => "check whether a hook or a signing program waits for input".to_owned(),
            Self::Cancelled { .. } => "resume the run to continue".to_owned(),
            Self::Unreadable { .. } => "update git to 2.30 or newer".to_owned(),
            Self::File { .. } => "check the permissions and the free space".to_owned(),
            Self::PathOutsideRoot { .. } => "use paths relative to the repository's root".to_owned(),
        }
    }
}

/// Returns true if git reported that an attribute names an encoding that it does not support.
pub(super) fn is_encoding_error(output: &str) -> bool {
    [
        "failed to encode",
        "working-tree-encoding",
        "is not a valid working-tree-encoding",
        "and back is not the same",
    ]
    .iter()
    .any(|said| output.contains(said))
}
