//! How a discussion goes: its mode, its limits, how much a participant is told.
//!
//! Refuses to know where a value was written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::mode_rules::rules_for;

/// How a discussion goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscussionMode {
    /// Advocates and critics argue; the moderator, who has read the last round, rules.
    #[default]
    Debate,
    /// Everybody speaks in every round, until they agree or do not move any more.
    Collaborative,
    /// Everybody answers alone, then votes on the answers. No talk.
    Jury,
}

/// Who hears whom within a round. The first round is always spoken by everybody at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeakingOrder {
    /// Everybody at once, on the texts of the round before.
    #[default]
    Simultaneous,
    /// One after another, each on all that was said so far; advocates and critics take turns.
    Sequential,
}

/// What a discussion follows, fixed when it is begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionSettings {
    /// How it goes.
    pub mode: DiscussionMode,
    /// Who hears whom within a round.
    #[serde(default)]
    pub order: SpeakingOrder,
    /// Rounds at the most, 1 to 10; the moderator's last word is none.
    pub rounds: u32,
    /// How many participants speak at a time, at least 1.
    pub concurrency: u32,
    /// How long one speech may take from its start, in milliseconds.
    pub timeout_ms: u64,
    /// How long all of it may take, in milliseconds. After it nobody begins to speak but the moderator of a debate.
    pub deadline_ms: u64,
    /// How often a speech is tried again that failed before its agent began.
    pub max_retries: u32,
    /// After how many rounds in a row without any movement it stops, at least 2.
    pub stalemate_rounds: u32,
    /// How many must have spoken in a round for it to go on, at least 2.
    pub quorum: u32,
    /// Whether the participants' sessions stay.
    #[serde(default)]
    pub keep_sessions: bool,
    /// Whether the result holds what was said.
    #[serde(default)]
    pub verbose: bool,
    /// How much a participant is told.
    #[serde(default)]
    pub budget: BudgetSettings,
    /// The same for participants at certain adapters, by the adapter's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adapter_budgets: BTreeMap<String, BudgetSettings>,
}

/// How much a participant is told, as it is written in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetSettings {
    /// How long a speech may be in the prompt of another.
    pub profile: SizeProfile,
    /// Tokens of a prompt.
    pub input_tokens: u64,
    /// Tokens kept free for an answer.
    pub min_output_tokens: u64,
    /// Tokens kept free for thinking.
    pub reasoning_headroom_tokens: u64,
    /// Characters that count as one token, at least 1.
    pub chars_per_token: u64,
}

/// How long a speech may be in the prompt of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeProfile {
    /// 300 characters.
    Small,
    /// 500 characters.
    #[default]
    Balanced,
    /// 800 characters.
    Large,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self {
            profile: SizeProfile::default(),
            input_tokens: 6_000,
            min_output_tokens: 512,
            reasoning_headroom_tokens: 0,
            chars_per_token: 4,
        }
    }
}

impl Default for DiscussionSettings {
    fn default() -> Self {
        Self {
            mode: DiscussionMode::default(),
            order: SpeakingOrder::default(),
            rounds: 3,
            concurrency: 2,
            timeout_ms: 10 * 60_000,
            deadline_ms: 60 * 60_000,
            max_retries: 3,
            stalemate_rounds: 2,
            quorum: 2,
            keep_sessions: false,
            verbose: true,
            budget: BudgetSettings::default(),
            adapter_budgets: BTreeMap::new(),
        }
    }
}

impl DiscussionSettings {
    /// How many rounds there are at the most; in a jury one for the answers and one for the vote.
    pub fn max_rounds(&self) -> u32 {
        rules_for(self.mode).max_rounds(self)
    }
}

impl DiscussionMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Debate, Self::Collaborative, Self::Jury];

    /// Names it as the configuration does.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debate => "debate",
            Self::Collaborative => "collaborative",
            Self::Jury => "jury",
        }
    }

    /// Reads it by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

impl SpeakingOrder {
    /// Names it as the configuration does.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Simultaneous => "simultaneous",
            Self::Sequential => "sequential",
        }
    }

    /// Reads it by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Simultaneous, Self::Sequential];
        all.into_iter().find(|order| order.as_str() == name)
    }
}

impl SizeProfile {
    /// Names it as the configuration does.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Balanced => "balanced",
            Self::Large => "large",
        }
    }

    /// Reads it by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Small, Self::Balanced, Self::Large];
        all.into_iter().find(|profile| profile.as_str() == name)
    }
}
