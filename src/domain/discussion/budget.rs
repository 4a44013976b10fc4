//! How much a participant is told: what follows from the settings of a budget.
//!
//! Refuses to know what it is filled with.

use serde::{Deserialize, Serialize};

use super::{BudgetSettings, SizeProfile, Terms};

/// The least that a participant is told, in characters, whatever the settings say.
pub const FLOOR: u64 = 2_000;
/// How full a prompt may get with rounds in full before the older ones are summed up, in percent.
const COMPACT_AT: u64 = 80;

/// How much a participant is told, in characters (Unicode scalar values).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The settings that it follows from.
    pub settings: BudgetSettings,
    /// Tokens of a prompt that are left for the discussion.
    pub available_tokens: u64,
    /// The most that a prompt holds of the discussion: topic, files, speeches.
    pub context_chars: u64,
    /// The most that a prompt holds of one speech of another participant; the moderator's holds more where there is room.
    pub message_chars: u64,
    /// From how much on older rounds are summed up.
    pub compact_at_chars: u64,
    /// How many of the last rounds are never summed up.
    pub keep_rounds: u32,
}

impl BudgetSettings {
    /// What follows from the settings.
    pub fn derived(self) -> Budget {
        let kept_free = self
            .min_output_tokens
            .saturating_add(self.reasoning_headroom_tokens);
        let available_tokens = self.input_tokens.saturating_sub(kept_free);
        let context_chars = available_tokens
            .saturating_mul(self.chars_per_token.max(1))
            .max(FLOOR);
        Budget {
            settings: self,
            available_tokens,
            context_chars,
            message_chars: self.profile.message_chars(),
            compact_at_chars: context_chars.saturating_mul(COMPACT_AT) / 100,
            keep_rounds: 1,
        }
    }
}

impl SizeProfile {
    /// The most that a prompt holds of one speech of another, in characters.
    pub fn message_chars(self) -> u64 {
        match self {
            Self::Small => 300,
            Self::Balanced => 500,
            Self::Large => 800,
        }
    }
}

impl Terms {
    /// How much a participant at this adapter is told.
    pub fn budget_at(&self, adapter: &str) -> Budget {
        let own = self.adapter_budgets.get(adapter);
        own.copied().unwrap_or(self.budget).derived()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_values_that_follow_are_those_of_the_defaults() {
        let budget = BudgetSettings::default().derived();
        assert_eq!(budget.available_tokens, 5_488);
        assert_eq!(budget.context_chars, 21_952);
        assert_eq!(budget.message_chars, 500);
        assert_eq!(budget.compact_at_chars, 17_561);
        assert_eq!(budget.keep_rounds, 1);
    }

    #[test]
    fn a_prompt_is_never_smaller_than_the_floor() {
        let tiny = BudgetSettings {
            input_tokens: 256,
            min_output_tokens: 512,
            ..BudgetSettings::default()
        };
        assert_eq!(tiny.derived().available_tokens, 0);
        assert_eq!(tiny.derived().context_chars, FLOOR);
    }

    #[test]
    fn an_adapter_may_have_a_budget_of_its_own() {
        let small = BudgetSettings {
            profile: SizeProfile::Small,
            ..BudgetSettings::default()
        };
        let terms = Terms {
            adapter_budgets: [("claude".to_owned(), small)].into(),
            ..Terms::default()
        };
        assert_eq!(terms.budget_at("claude").message_chars, 300);
        assert_eq!(terms.budget_at("codex").message_chars, 500);
    }

    proptest! {
        #[test]
        fn no_setting_overflows(input: u64, output: u64, headroom: u64, chars: u64) {
            let settings = BudgetSettings {
                input_tokens: input,
                min_output_tokens: output,
                reasoning_headroom_tokens: headroom,
                chars_per_token: chars,
                ..BudgetSettings::default()
            };
            let budget = settings.derived();
            prop_assert!(budget.context_chars >= FLOOR);
            prop_assert!(budget.compact_at_chars <= budget.context_chars);
        }
    }
}
