//! Says whether a repository's instructions for agents, in AGENTS.md and CLAUDE.md, are sent to them.

use serde::{Deserialize, Serialize};

/// The user's choice about a repository's instructions for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionsChoice {
    Use,
    Ignore,
}
