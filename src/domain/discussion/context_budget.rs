//! Derives how much of a discussion fits into a participant's prompt from the budget settings.

use serde::{Deserialize, Serialize};

use super::{BudgetSettings, DiscussionSettings, SizeProfile};

/// The smallest context of a participant, in characters, whatever the settings say.
pub const MIN_CONTEXT_CHARS: u64 = 2_000;
/// How full a prompt may get with rounds in full before older rounds are summarized, in percent.
const COMPACT_AT_PERCENT: u64 = 80;

/// How much of the discussion a participant's prompt contains, in characters (Unicode scalar values).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextBudget {
    /// The settings from which it is derived.
    pub settings: BudgetSettings,
    /// Prompt tokens that are left for the discussion.
    pub available_tokens: u64,
    /// The maximum for the discussion in a prompt: topic, files, speeches.
    pub context_chars: u64,
    /// The maximum for one speech of another participant. The moderator's prompt has more where there is room.
    pub message_chars: u64,
    /// Size from which older rounds are summarized.
    pub compact_at_chars: u64,
    /// How many of the last rounds are never summarized.
    pub keep_rounds: u32,
}

impl BudgetSettings {
    /// Derives the budget from the settings.
    pub fn to_budget(self) -> ContextBudget {
        let kept_free = self
            .min_output_tokens
            .saturating_add(self.reasoning_headroom_tokens);
        let available_tokens = self.input_tokens.saturating_sub(kept_free);
        let context_chars = available_tokens
            .saturating_mul(self.chars_per_token.max(1))
            .max(MIN_CONTEXT_CHARS);
        ContextBudget {
            settings: self,
            available_tokens,
            context_chars,
            message_chars: self.profile.message_chars(),
            compact_at_chars: context_chars.saturating_mul(COMPACT_AT_PERCENT) / 100,
            keep_rounds: 1,
        }
    }
}

impl SizeProfile {
    /// Returns the maximum for one speech of another participant, in characters.
    pub fn message_chars(self) -> u64 {
        match self {
            Self::Small => 300,
            Self::Balanced => 500,
            Self::Large => 800,
        }
    }
}

impl DiscussionSettings {
    /// Returns the budget of a participant at this adapter.
    pub fn budget_for_adapter(&self, adapter: &str) -> ContextBudget {
        let own = self.adapter_budgets.get(adapter);
        own.copied().unwrap_or(self.budget).to_budget()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_values_that_follow_are_those_of_the_defaults() {
        let budget = BudgetSettings::default().to_budget();
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
        assert_eq!(tiny.to_budget().available_tokens, 0);
        assert_eq!(tiny.to_budget().context_chars, MIN_CONTEXT_CHARS);
    }

    #[test]
    fn an_adapter_may_have_a_budget_of_its_own() {
        let small = BudgetSettings {
            profile: SizeProfile::Small,
            ..BudgetSettings::default()
        };
        let terms = DiscussionSettings {
            adapter_budgets: [("claude".to_owned(), small)].into(),
            ..DiscussionSettings::default()
        };
        assert_eq!(terms.budget_for_adapter("claude").message_chars, 300);
        assert_eq!(terms.budget_for_adapter("codex").message_chars, 500);
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
            let budget = settings.to_budget();
            prop_assert!(budget.context_chars >= MIN_CONTEXT_CHARS);
            prop_assert!(budget.compact_at_chars <= budget.context_chars);
        }
    }
}
