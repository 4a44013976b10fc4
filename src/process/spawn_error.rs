//! Why a child did not start, with what the user can do about it.
//!
//! Refuses to know how a child ended: that is no error.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A child that did not start.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// No such program on PATH.
    #[error("{program} not found")]
    NotOnPath {
        /// The name as asked for.
        program: String,
    },
    /// The program was named by a path at which there is nothing.
    #[error("no program at {}", path.display())]
    NoSuchFile {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// There is a file, but it may not be run.
    #[error("{} is not an executable file", path.display())]
    NotExecutable {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// The file exists, but what its first line names does not.
    #[error("{} cannot be run: its interpreter or loader is missing", path.display())]
    InterpreterMissing {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// The working directory is missing or no directory.
    #[error("cannot start {program} in {}: no such directory", cwd.display())]
    NoSuchDirectory {
        /// The program.
        program: String,
        /// The directory asked for.
        cwd: PathBuf,
    },
    /// An argument or a variable holds a NUL byte, or all of them together are too long.
    #[error("cannot start {program} in {}: {what}", cwd.display())]
    BadArguments {
        /// The program.
        program: String,
        /// Where it was to run.
        cwd: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The system refused.
    #[error("cannot start {program} in {}: {source}", cwd.display())]
    Refused {
        /// The program.
        program: String,
        /// Where it was to run.
        cwd: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SpawnError {
    /// Says what the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotOnPath { program } => {
                format!("install {program}, or set its full path in the configuration")
            }
            Self::NoSuchFile { .. } => {
                "correct the path in the configuration, or install the program there".to_owned()
            }
            Self::NotExecutable { path } => format!("run: chmod +x {}", path.display()),
            Self::InterpreterMissing { .. } => {
                "install the program that the file's first line names, or correct that line"
                    .to_owned()
            }
            Self::NoSuchDirectory { .. } => "start in a directory that exists".to_owned(),
            Self::BadArguments { .. } => {
                "shorten or correct its arguments and environment".to_owned()
            }
            Self::Refused { .. } => {
                "check the limits on processes and memory (ulimit -a), then try again".to_owned()
            }
        }
    }
}

/// The child's standard input is closed; what was to be sent is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the child no longer reads its standard input")]
pub struct InputClosedError;
