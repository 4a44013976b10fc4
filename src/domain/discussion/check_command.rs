//! Describes a check: a command that would settle a question, who asked for it, and its result.

use serde::{Deserialize, Serialize};

/// A command that would settle a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOrder {
    /// The command, one line, as for a shell.
    pub command: String,
    /// What it would settle.
    #[serde(default)]
    pub why: String,
}

/// A requested command and its result: run, refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// Its number in the discussion, from 1: `check 1`.
    pub n: u32,
    /// The round after which it ran.
    pub round: u32,
    /// The names of all participants that asked for this command.
    pub asked_by: Vec<String>,
    /// The command and what it would settle.
    pub order: CheckOrder,
    pub end: CheckOutcome,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CheckOutcome {
    Ran {
        /// Its exit code; `None` when a signal ended it.
        exit_code: Option<i32>,
        /// The end of its output, cleaned.
        output: String,
    },
    /// The command may not run.
    Refused { reason: String },
    /// It took too long, or could not be started.
    Failed { reason: String },
}
