//! Overrides discussion settings, layer by layer: the configuration, a preset, the arguments of a request.

use serde::Deserialize;
use thiserror::Error;

use super::{BudgetSettings, DiscussionMode, DiscussionSettings, SpeakingOrder};

/// The values of one layer, also as `[discuss]` and `[discuss.preset.<name>]` of the configuration have them; `None`
/// leaves a value as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct DiscussionOverrides {
    /// The participants, as `name=agent@adapter`; name and adapter are optional.
    pub agents: Option<Vec<String>>,
    /// What every participant is told in addition to the topic.
    pub context: Option<String>,
    /// See [`DiscussionSettings::mode`].
    pub mode: Option<DiscussionMode>,
    /// See [`DiscussionSettings::order`].
    pub order: Option<SpeakingOrder>,
    /// See [`DiscussionSettings::rounds`].
    pub rounds: Option<u32>,
    /// See [`DiscussionSettings::concurrency`].
    pub concurrency: Option<u32>,
    /// See [`DiscussionSettings::timeout_ms`].
    #[serde(rename = "timeout")]
    pub timeout_ms: Option<u64>,
    /// See [`DiscussionSettings::deadline_ms`].
    #[serde(rename = "deadline")]
    pub deadline_ms: Option<u64>,
    /// See [`DiscussionSettings::max_retries`].
    pub max_retries: Option<u32>,
    /// See [`DiscussionSettings::stalemate_rounds`].
    pub stalemate_rounds: Option<u32>,
    /// See [`DiscussionSettings::keep_sessions`].
    pub keep_sessions: Option<bool>,
    /// See [`DiscussionSettings::verbose`].
    pub verbose: Option<bool>,
    /// See [`DiscussionSettings::budget`].
    pub budget: Option<BudgetSettings>,
}

/// A setting that is out of its range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` is {value}, it must be {range}")]
pub struct SettingOutOfRange {
    pub name: &'static str,
    pub value: u64,
    /// The allowed range, as text.
    pub range: &'static str,
}

impl DiscussionOverrides {
    /// Returns the settings with the values of this layer in place of theirs.
    #[must_use]
    pub fn apply_to(&self, settings: DiscussionSettings) -> DiscussionSettings {
        DiscussionSettings {
            mode: self.mode.unwrap_or(settings.mode),
            order: self.order.unwrap_or(settings.order),
            rounds: self.rounds.unwrap_or(settings.rounds),
            concurrency: self.concurrency.unwrap_or(settings.concurrency),
            timeout_ms: self.timeout_ms.unwrap_or(settings.timeout_ms),
            deadline_ms: self.deadline_ms.unwrap_or(settings.deadline_ms),
            max_retries: self.max_retries.unwrap_or(settings.max_retries),
            stalemate_rounds: self.stalemate_rounds.unwrap_or(settings.stalemate_rounds),
            keep_sessions: self.keep_sessions.unwrap_or(settings.keep_sessions),
            verbose: self.verbose.unwrap_or(settings.verbose),
            budget: self.budget.unwrap_or(settings.budget),
            ..settings
        }
    }
}

impl DiscussionSettings {
    /// # Errors
    ///
    /// Returns the first value that is out of its range.
    pub fn validated(self) -> Result<Self, SettingOutOfRange> {
        let ranges = [
            ("rounds", u64::from(self.rounds), 1..=10, "1 to 10"),
            ("concurrency", self.concurrency.into(), 1..=64, "1 to 64"),
            (
                "timeout",
                self.timeout_ms,
                1_000..=u64::MAX,
                "at least 1000 milliseconds",
            ),
            (
                "deadline",
                self.deadline_ms,
                1_000..=u64::MAX,
                "at least 1000 milliseconds",
            ),
            ("max_retries", self.max_retries.into(), 0..=20, "0 to 20"),
            (
                "stalemate_rounds",
                self.stalemate_rounds.into(),
                2..=10,
                "2 to 10",
            ),
            ("quorum", self.quorum.into(), 2..=64, "2 to 64"),
            (
                "chars_per_token",
                self.budget.chars_per_token,
                1..=u64::MAX,
                "at least 1",
            ),
        ];
        for (name, value, may_be, range) in ranges {
            if !may_be.contains(&value) {
                return Err(SettingOutOfRange { name, value, range });
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use strum::IntoEnumIterator;

    use super::*;

    prop_compose! {
        fn any_overrides()(
            mode in proptest::option::of(proptest::sample::select(DiscussionMode::iter().collect::<Vec<_>>())),
            rounds in proptest::option::of(1u32..=10),
            timeout_ms in proptest::option::of(1_000u64..9_000),
            keep_sessions in proptest::option::of(any::<bool>()),
            verbose in proptest::option::of(any::<bool>()),
        ) -> DiscussionOverrides {
            DiscussionOverrides { mode, rounds, timeout_ms, keep_sessions, verbose, ..DiscussionOverrides::default() }
        }
    }

    #[test]
    fn what_is_said_explicitly_beats_preset_configuration_and_default() {
        let explicit = DiscussionOverrides {
            rounds: Some(1),
            ..DiscussionOverrides::default()
        };
        let preset = DiscussionOverrides {
            rounds: Some(2),
            mode: Some(DiscussionMode::Jury),
            ..DiscussionOverrides::default()
        };
        let configured = DiscussionOverrides {
            mode: Some(DiscussionMode::Debate),
            max_retries: Some(0),
            ..DiscussionOverrides::default()
        };
        let layers = [configured, preset, explicit];
        let terms = layers
            .iter()
            .fold(DiscussionSettings::default(), |terms, layer| {
                layer.apply_to(terms)
            });
        assert_eq!((terms.rounds, terms.mode), (1, DiscussionMode::Jury));
        assert_eq!(terms.max_retries, 0);
        assert_eq!(terms.timeout_ms, DiscussionSettings::default().timeout_ms);
    }

    #[test]
    fn a_value_out_of_its_range_is_told_with_the_range() {
        let told = |terms: DiscussionSettings| terms.validated().unwrap_err().to_string();
        let rounds = DiscussionSettings {
            rounds: 11,
            ..DiscussionSettings::default()
        };
        assert_eq!(told(rounds), "`rounds` is 11, it must be 1 to 10");
        let timeout = DiscussionSettings {
            timeout_ms: 999,
            ..DiscussionSettings::default()
        };
        assert_eq!(
            told(timeout),
            "`timeout` is 999, it must be at least 1000 milliseconds"
        );
    }

    proptest! {
        #[test]
        fn overriding_is_per_value_and_idempotent(a in any_overrides(), b in any_overrides()) {
            let default = DiscussionSettings::default();
            let below = b.apply_to(default.clone());
            let terms = a.apply_to(below.clone());
            prop_assert_eq!(a.apply_to(terms.clone()), terms.clone());
            prop_assert_eq!(DiscussionOverrides::default().apply_to(terms.clone()), terms.clone());
            prop_assert_eq!(terms.rounds, a.rounds.or(b.rounds).unwrap_or(default.rounds));
            prop_assert_eq!(terms.mode, a.mode.or(b.mode).unwrap_or(default.mode));
            prop_assert_eq!(terms.keep_sessions, a.keep_sessions.unwrap_or(below.keep_sessions));
        }
    }
}
