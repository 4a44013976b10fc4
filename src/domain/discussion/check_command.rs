//! A command that would settle a question: who wants it run and why, and what came of it.
//!
//! Refuses to know whether it may run.

use serde::{Deserialize, Serialize};

/// A command that would settle a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOrder {
    /// The command, one line, as for a shell.
    pub command: String,
    /// What it settles.
    #[serde(default)]
    pub why: String,
}

/// A command that was put to the decision, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// Its number in the discussion, from 1: `check 1`.
    pub n: u32,
    /// After which round it ran.
    pub round: u32,
    /// Who wanted it, by name; whoever wanted the same shares it.
    pub asked_by: Vec<String>,
    /// The command and what it settles.
    pub order: CheckOrder,
    /// What came of it.
    pub end: CheckOutcome,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It ran.
    Ran {
        /// Its exit code; `None` when a signal ended it.
        exit_code: Option<i32>,
        /// The end of its output, cleaned.
        output: String,
    },
    /// It may not run.
    Refused {
        /// Why.
        reason: String,
    },
    /// It took too long, or could not be started.
    Failed {
        /// What happened.
        reason: String,
    },
}
