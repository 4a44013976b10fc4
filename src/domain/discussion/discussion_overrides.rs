//! Merges discussion settings from several layers: explicit values, the preset, the project's and the user's
//! configuration, the defaults. Each value comes from the first layer that has it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{BudgetSettings, DiscussionMode, DiscussionSettings, SpeakingOrder};

/// The values of one layer; `None` leaves a value to the next layer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiscussionOverrides {
    /// The participants, as `name=agent@adapter`; name and adapter are optional.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    /// See [`DiscussionSettings::mode`].
    #[serde(default)]
    pub mode: Option<DiscussionMode>,
    /// See [`DiscussionSettings::order`].
    #[serde(default)]
    pub order: Option<SpeakingOrder>,
    /// See [`DiscussionSettings::rounds`].
    #[serde(default)]
    pub rounds: Option<u32>,
    /// See [`DiscussionSettings::concurrency`].
    #[serde(default)]
    pub concurrency: Option<u32>,
    /// See [`DiscussionSettings::timeout_ms`].
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// See [`DiscussionSettings::deadline_ms`].
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// See [`DiscussionSettings::max_retries`].
    #[serde(default)]
    pub max_retries: Option<u32>,
    /// See [`DiscussionSettings::stalemate_rounds`].
    #[serde(default)]
    pub stalemate_rounds: Option<u32>,
    /// See [`DiscussionSettings::quorum`].
    #[serde(default)]
    pub quorum: Option<u32>,
    /// See [`DiscussionSettings::keep_sessions`].
    #[serde(default)]
    pub keep_sessions: Option<bool>,
    /// See [`DiscussionSettings::verbose`].
    #[serde(default)]
    pub verbose: Option<bool>,
    /// See [`DiscussionSettings::budget`].
    #[serde(default)]
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
    /// Merges this layer over another one: each value comes from the first layer that has it.
    #[must_use]
    pub fn merge_over(self, below: Self) -> Self {
        Self {
            agents: self.agents.or(below.agents),
            mode: self.mode.or(below.mode),
            order: self.order.or(below.order),
            rounds: self.rounds.or(below.rounds),
            concurrency: self.concurrency.or(below.concurrency),
            timeout_ms: self.timeout_ms.or(below.timeout_ms),
            deadline_ms: self.deadline_ms.or(below.deadline_ms),
            max_retries: self.max_retries.or(below.max_retries),
            stalemate_rounds: self.stalemate_rounds.or(below.stalemate_rounds),
            quorum: self.quorum.or(below.quorum),
            keep_sessions: self.keep_sessions.or(below.keep_sessions),
            verbose: self.verbose.or(below.verbose),
            budget: self.budget.or(below.budget),
        }
    }

    /// Merges several layers into one; the first one wins.
    pub fn merge_layers(layers: impl IntoIterator<Item = Self>) -> Self {
        let mut layers = layers.into_iter();
        let first = layers.next().unwrap_or_default();
        layers.fold(first, Self::merge_over)
    }

    /// Builds the settings of a discussion, with defaults for all missing values.
    ///
    /// # Errors
    ///
    /// Returns the first value that is out of its range.
    pub fn to_settings(&self) -> Result<DiscussionSettings, SettingOutOfRange> {
        let defaults = DiscussionSettings::default();
        let terms = DiscussionSettings {
            mode: self.mode.unwrap_or(defaults.mode),
            order: self.order.unwrap_or(defaults.order),
            rounds: self.rounds.unwrap_or(defaults.rounds),
            concurrency: self.concurrency.unwrap_or(defaults.concurrency),
            timeout_ms: self.timeout_ms.unwrap_or(defaults.timeout_ms),
            deadline_ms: self.deadline_ms.unwrap_or(defaults.deadline_ms),
            max_retries: self.max_retries.unwrap_or(defaults.max_retries),
            stalemate_rounds: self.stalemate_rounds.unwrap_or(defaults.stalemate_rounds),
            quorum: self.quorum.unwrap_or(defaults.quorum),
            keep_sessions: self.keep_sessions.unwrap_or(defaults.keep_sessions),
            verbose: self.verbose.unwrap_or(defaults.verbose),
            budget: self.budget.unwrap_or(defaults.budget),
            adapter_budgets: defaults.adapter_budgets,
        };
        terms.validated()
    }
}

impl DiscussionSettings {
    /// # Errors
    ///
    /// Returns the first value that is out of its range.
    pub fn validated(self) -> Result<Self, SettingOutOfRange> {
        let least_one = "at least 1";
        let least_second = "at least 1000 milliseconds";
        let rows = [
            ("rounds", u64::from(self.rounds), 1..=10, "1 to 10"),
            (
                "concurrency",
                u64::from(self.concurrency),
                1..=64,
                "1 to 64",
            ),
            ("timeout", self.timeout_ms, 1_000..=u64::MAX, least_second),
            ("deadline", self.deadline_ms, 1_000..=u64::MAX, least_second),
            (
                "max_retries",
                u64::from(self.max_retries),
                0..=20,
                "0 to 20",
            ),
            (
                "stalemate_rounds",
                u64::from(self.stalemate_rounds),
                2..=10,
                "2 to 10",
            ),
            ("quorum", u64::from(self.quorum), 2..=64, "2 to 64"),
            (
                "chars_per_token",
                self.budget.chars_per_token,
                1..=u64::MAX,
                least_one,
            ),
        ];
        for (name, value, may_be, range) in rows {
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

    use super::*;

    prop_compose! {
        fn any_wishes()(
            agents in proptest::option::of(proptest::collection::vec("[a-c]", 0..3)),
            mode in proptest::option::of(proptest::sample::select(DiscussionMode::ALL.to_vec())),
            rounds in proptest::option::of(1u32..=10),
            timeout_ms in proptest::option::of(1_000u64..9_000),
            quorum in proptest::option::of(2u32..5),
            keep_sessions in proptest::option::of(any::<bool>()),
            verbose in proptest::option::of(any::<bool>()),
        ) -> DiscussionOverrides {
            DiscussionOverrides { agents, mode, rounds, timeout_ms, quorum, keep_sessions, verbose, ..DiscussionOverrides::default() }
        }
    }

    #[test]
    fn what_is_said_explicitly_beats_preset_project_global_and_default() {
        let explicit = DiscussionOverrides {
            rounds: Some(1),
            ..DiscussionOverrides::default()
        };
        let preset = DiscussionOverrides {
            rounds: Some(2),
            mode: Some(DiscussionMode::Jury),
            ..DiscussionOverrides::default()
        };
        let project = DiscussionOverrides {
            mode: Some(DiscussionMode::Debate),
            quorum: Some(3),
            ..DiscussionOverrides::default()
        };
        let global = DiscussionOverrides {
            quorum: Some(4),
            max_retries: Some(0),
            ..DiscussionOverrides::default()
        };
        let terms = DiscussionOverrides::merge_layers([explicit, preset, project, global])
            .to_settings()
            .unwrap();
        assert_eq!((terms.rounds, terms.mode), (1, DiscussionMode::Jury));
        assert_eq!((terms.quorum, terms.max_retries), (3, 0));
        assert_eq!(terms.timeout_ms, DiscussionSettings::default().timeout_ms);
    }

    #[test]
    fn a_value_out_of_its_range_is_told_with_the_range() {
        let told = |wishes: DiscussionOverrides| wishes.to_settings().unwrap_err().to_string();
        let rounds = DiscussionOverrides {
            rounds: Some(11),
            ..DiscussionOverrides::default()
        };
        assert_eq!(told(rounds), "`rounds` is 11, it must be 1 to 10");
        let timeout = DiscussionOverrides {
            timeout_ms: Some(999),
            ..DiscussionOverrides::default()
        };
        assert_eq!(
            told(timeout),
            "`timeout` is 999, it must be at least 1000 milliseconds"
        );
    }

    proptest! {
        #[test]
        fn merging_is_per_value_associative_and_idempotent(a in any_wishes(), b in any_wishes(), c in any_wishes()) {
            let ab = a.clone().merge_over(b.clone());
            prop_assert_eq!(ab.clone().merge_over(b.clone()), ab.clone());
            prop_assert_eq!(a.clone().merge_over(a.clone()), a.clone());
            prop_assert_eq!(ab.clone().merge_over(c.clone()), a.clone().merge_over(b.clone().merge_over(c.clone())));
            prop_assert_eq!(DiscussionOverrides::merge_layers([a.clone(), b.clone(), c.clone()]), ab.clone().merge_over(c));
            prop_assert_eq!(ab.rounds, a.rounds.or(b.rounds));
            prop_assert_eq!(ab.mode, a.mode.or(b.mode));
            prop_assert_eq!(ab.keep_sessions, a.keep_sessions.or(b.keep_sessions));
        }
    }
}
