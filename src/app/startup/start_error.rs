//! The error of a start: what is wrong, what to do, and the exit code.

use thiserror::Error;

use crate::store::StoreError;

/// The reason why a run did not start.
#[derive(Debug, Error)]
#[error("{problem}")]
pub struct StartError {
    /// What is wrong; may have several lines.
    pub problem: String,
    /// What to do; may be empty.
    pub hint: String,
    pub code: u8,
}

impl StartError {
    /// Creates an error with exit code 1.
    pub fn new(problem: impl ToString, hint: impl Into<String>) -> Self {
        Self {
            problem: problem.to_string(),
            hint: hint.into(),
            code: 1,
        }
    }
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::new(&error, error.hint())
    }
}
