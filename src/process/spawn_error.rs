//! The errors of a child that did not start, with hints for the user.
//!
//! A child that started and failed is not an error here.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Explains why a child did not start.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// There is no such program on PATH.
    #[error("{program} not found")]
    NotOnPath {
        /// The name that was requested.
        program: String,
    },
    /// The program was given by a path at which there is no file.
    #[error("no program at {}", path.display())]
    NoSuchFile { path: PathBuf },
    /// The file exists but is not executable.
    #[error("{} is not an executable file", path.display())]
    NotExecutable { path: PathBuf },
    /// The file exists, but the interpreter in its first line does not.
    #[error("{} cannot be run: its interpreter or loader is missing", path.display())]
    InterpreterMissing { path: PathBuf },
    /// The working directory is missing or not a directory.
    #[error("cannot start {program} in {}: no such directory", cwd.display())]
    NoSuchDirectory { program: String, cwd: PathBuf },
    /// An argument or a variable contains a NUL byte, or all of them together are too long.
    #[error("cannot start {program} in {}: {what}", cwd.display())]
    BadArguments {
        program: String,
        cwd: PathBuf,
        what: &'static str,
    },
    #[error("cannot start {program} in {}: {source}", cwd.display())]
    Refused {
        program: String,
        cwd: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl SpawnError {
    /// Suggests what the user can do about it.
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

/// The child's standard input is closed; the text was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the child no longer reads its standard input")]
pub struct InputClosedError;
