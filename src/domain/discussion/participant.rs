//! Defines the participants of a discussion and the sides they take.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

/// One participant. Names are unique within a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionParticipant {
    /// Its name in this discussion.
    pub name: String,
    /// The agent, by the name of its profile.
    pub agent: String,
    /// The adapter, by its name in the configuration.
    pub adapter: String,
    /// The model to request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Additional instructions about its part, cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default)]
    pub side: DebateSide,
}

/// The side of a participant. In a debate, each side that takes part must be heard in every round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DebateSide {
    /// Speaks for a proposal.
    Advocate,
    /// Looks for what is wrong with it.
    Critic,
    /// Rules in a debate after the last round. Does not take part in its rounds.
    Moderator,
    /// No side.
    #[default]
    Open,
}

impl DebateSide {
    /// Returns the side of an agent with this name.
    pub fn from_agent_name(agent: &str) -> Self {
        agent.parse().unwrap_or_default()
    }

    /// Returns the name used in events.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
