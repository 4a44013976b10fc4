//! Defines the settings of a discussion: its mode, its limits, and the size of its prompts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{EnumIter, EnumString, IntoStaticStr, VariantNames};

use super::mode_rules::rules_for;

/// The mode of a discussion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumIter, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum DiscussionMode {
    /// Advocates and critics argue. The moderator, who has read the last round, rules.
    #[default]
    Debate,
    /// Every participant speaks in every round, until all agree or no one changes position any more.
    Collaborative,
    /// Every participant answers alone, then votes on the answers. There is no exchange.
    Jury,
}

/// Who reads whom within a round. All participants always speak at once in the first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumIter, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum SpeakingOrder {
    /// All at once, based on the texts of the round before.
    #[default]
    Simultaneous,
    /// One after another, each based on all speeches so far. Advocates and critics take turns.
    Sequential,
}

/// The settings of a discussion, fixed when it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionSettings {
    pub mode: DiscussionMode,
    /// Who reads whom within a round.
    #[serde(default)]
    pub order: SpeakingOrder,
    /// Maximum number of rounds, 1 to 10. The moderator's closing speech is not a round.
    pub rounds: u32,
    /// How many participants speak at a time, at least 1.
    pub concurrency: u32,
    /// How long one speech may take from its start, in milliseconds.
    pub timeout_ms: u64,
    /// How long the whole discussion may take, in milliseconds. After that, only the moderator of a debate may start to
    /// speak.
    pub deadline_ms: u64,
    /// How often a speech is retried that failed before its agent started.
    pub max_retries: u32,
    /// Number of rounds in a row without any change of position after which it stops, at least 2.
    pub stalemate_rounds: u32,
    /// How many participants must have spoken in a round for the discussion to continue, at least 2.
    pub quorum: u32,
    /// Whether to keep the participants' sessions.
    #[serde(default)]
    pub keep_sessions: bool,
    /// Whether the result contains all speeches.
    #[serde(default)]
    pub verbose: bool,
    /// How much a participant's prompt contains.
    #[serde(default)]
    pub budget: BudgetSettings,
    /// Budgets for participants at certain adapters, by the adapter's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adapter_budgets: BTreeMap<String, BudgetSettings>,
}

/// The prompt budget, as written in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetSettings {
    /// How long a speech may be in the prompt of another participant.
    pub profile: SizeProfile,
    /// Tokens of a prompt.
    pub input_tokens: u64,
    /// Tokens reserved for the answer.
    pub min_output_tokens: u64,
    /// Tokens reserved for reasoning.
    pub reasoning_headroom_tokens: u64,
    /// Characters that count as one token, at least 1.
    pub chars_per_token: u64,
}

/// How long a speech may be in the prompt of another participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
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
            deadline_ms: 30 * 60_000,
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
    /// Returns the maximum number of rounds. A jury has one for the answers and one for the vote.
    pub fn max_rounds(&self) -> u32 {
        rules_for(self.mode).max_rounds(self)
    }
}

impl DiscussionMode {
    /// Returns the name used in the configuration.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl SpeakingOrder {
    /// Returns the name used in the configuration.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
