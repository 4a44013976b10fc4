//! The stages of a step, in the order in which it passes them.

use serde::{Deserialize, Serialize};

/// The stage of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStage {
    /// The tree is being stored, then the agent works.
    Code,
    /// The program finds out what changed.
    Audit,
    /// The program runs the tests.
    Test,
    /// The program runs old and new tests on old and new code.
    Prove,
    /// The agent fixes failing tests.
    Fix,
    Commit,
    /// The program writes log.md and ticks the box.
    Record,
}

impl StepStage {
    /// Describes the stage in the past tense, for a step that was cut off.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Code => "the agent worked on the step",
            Self::Audit => "the step's changes were being checked",
            Self::Test => "the step's tests ran",
            Self::Prove => "the step was being proven",
            Self::Fix => "the agent was fixing the step",
            Self::Commit => "the step was being committed",
            Self::Record => "the step was being recorded",
        }
    }
}
