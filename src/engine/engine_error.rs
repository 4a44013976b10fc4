//! How the engine ends: with the run, halted, or with an error.

use thiserror::Error;

use crate::process::SpawnError;
use crate::store::StoreError;

/// An error after which the engine cannot continue.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Reading or writing a file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

/// How the run ended in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineOutcome {
    Finished,
    /// The program cannot continue the run, for this reason.
    Halted(String),
}
