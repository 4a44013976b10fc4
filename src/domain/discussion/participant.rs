//! Who takes part in a discussion, and on which side.
//!
//! Refuses to know which agents and adapters there are.

use serde::{Deserialize, Serialize};

/// One participant. Names are unique within a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionParticipant {
    /// Its name in this discussion.
    pub name: String,
    /// The agent, by the name of its profile.
    pub agent: String,
    /// The adapter, by its name in the configuration.
    pub adapter: String,
    /// The model to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it is told of its part besides, cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The side it is on.
    #[serde(default)]
    pub side: DebateSide,
}

/// The side a participant is on; in a debate each side that is there must be heard in every round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DebateSide {
    /// Speaks for a proposal.
    Advocate,
    /// Looks for what is wrong with it.
    Critic,
    /// Rules in a debate, after the last round that was spoken; takes no part in its rounds.
    Moderator,
    /// None.
    #[default]
    Open,
}

impl DebateSide {
    /// The side that an agent of this name is on.
    pub fn from_agent_name(agent: &str) -> Self {
        match agent {
            "advocate" => Self::Advocate,
            "critic" => Self::Critic,
            "moderator" => Self::Moderator,
            _ => Self::Open,
        }
    }

    /// Names it as events do.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Advocate => "advocate",
            Self::Critic => "critic",
            Self::Moderator => "moderator",
            Self::Open => "open",
        }
    }
}
