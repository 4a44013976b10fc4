//! Whether what a repository asks of agents, in AGENTS.md and CLAUDE.md, is sent to them.

use serde::{Deserialize, Serialize};

/// What the user said of a repository's instructions for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionsChoice {
    /// Agents are sent them.
    Use,
    /// They are not.
    Ignore,
}
