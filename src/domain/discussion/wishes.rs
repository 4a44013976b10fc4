//! What is asked for of a discussion, layer over layer: what was said explicitly, the preset, the project's and the
//! user's configuration, the defaults. Each value is taken from the first layer that has it.
//!
//! Refuses to know where the layers come from.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{BudgetSettings, Mode, Order, Terms};

/// What one layer says; `None` leaves it to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Wishes {
    /// Who takes part, as `name=agent@adapter`, name or adapter left out at will.
    #[serde(default)]
    pub agents: Option<Vec<String>>,
    /// See [`Terms::mode`].
    #[serde(default)]
    pub mode: Option<Mode>,
    /// See [`Terms::order`].
    #[serde(default)]
    pub order: Option<Order>,
    /// See [`Terms::rounds`].
    #[serde(default)]
    pub rounds: Option<u32>,
    /// See [`Terms::concurrency`].
    #[serde(default)]
    pub concurrency: Option<u32>,
    /// See [`Terms::timeout_ms`].
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// See [`Terms::deadline_ms`].
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// See [`Terms::max_retries`].
    #[serde(default)]
    pub max_retries: Option<u32>,
    /// See [`Terms::stalemate_rounds`].
    #[serde(default)]
    pub stalemate_rounds: Option<u32>,
    /// See [`Terms::quorum`].
    #[serde(default)]
    pub quorum: Option<u32>,
    /// See [`Terms::keep_sessions`].
    #[serde(default)]
    pub keep_sessions: Option<bool>,
    /// See [`Terms::verbose`].
    #[serde(default)]
    pub verbose: Option<bool>,
    /// See [`Terms::budget`].
    #[serde(default)]
    pub budget: Option<BudgetSettings>,
}

/// A value that a discussion cannot follow.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` is {value}, it must be {range}")]
pub struct OutOfRange {
    /// The value's name.
    pub name: &'static str,
    /// What it is.
    pub value: u64,
    /// What it may be, in words.
    pub range: &'static str,
}

impl Wishes {
    /// This layer, and beneath it another one: each value from the first that has it.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
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

    /// Several layers as one; the first one wins.
    pub fn merged(layers: impl IntoIterator<Item = Self>) -> Self {
        let mut layers = layers.into_iter();
        let first = layers.next().unwrap_or_default();
        layers.fold(first, Self::over)
    }

    /// What a discussion follows that is begun with this; the defaults for all that nobody said.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn terms(&self) -> Result<Terms, OutOfRange> {
        let defaults = Terms::default();
        let terms = Terms {
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
        terms.checked()
    }
}

impl Terms {
    /// # Errors
    /// The first value that is out of its range.
    pub fn checked(self) -> Result<Self, OutOfRange> {
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
                return Err(OutOfRange { name, value, range });
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
            mode in proptest::option::of(proptest::sample::select(Mode::ALL.to_vec())),
            rounds in proptest::option::of(1u32..=10),
            timeout_ms in proptest::option::of(1_000u64..9_000),
            quorum in proptest::option::of(2u32..5),
            keep_sessions in proptest::option::of(any::<bool>()),
            verbose in proptest::option::of(any::<bool>()),
        ) -> Wishes {
            Wishes { agents, mode, rounds, timeout_ms, quorum, keep_sessions, verbose, ..Wishes::default() }
        }
    }

    #[test]
    fn what_is_said_explicitly_beats_preset_project_global_and_default() {
        let explicit = Wishes {
            rounds: Some(1),
            ..Wishes::default()
        };
        let preset = Wishes {
            rounds: Some(2),
            mode: Some(Mode::Jury),
            ..Wishes::default()
        };
        let project = Wishes {
            mode: Some(Mode::Debate),
            quorum: Some(3),
            ..Wishes::default()
        };
        let global = Wishes {
            quorum: Some(4),
            max_retries: Some(0),
            ..Wishes::default()
        };
        let terms = Wishes::merged([explicit, preset, project, global])
            .terms()
            .unwrap();
        assert_eq!((terms.rounds, terms.mode), (1, Mode::Jury));
        assert_eq!((terms.quorum, terms.max_retries), (3, 0));
        assert_eq!(terms.timeout_ms, Terms::default().timeout_ms);
    }

    #[test]
    fn a_value_out_of_its_range_is_told_with_the_range() {
        let told = |wishes: Wishes| wishes.terms().unwrap_err().to_string();
        let rounds = Wishes {
            rounds: Some(11),
            ..Wishes::default()
        };
        assert_eq!(told(rounds), "`rounds` is 11, it must be 1 to 10");
        let timeout = Wishes {
            timeout_ms: Some(999),
            ..Wishes::default()
        };
        assert_eq!(
            told(timeout),
            "`timeout` is 999, it must be at least 1000 milliseconds"
        );
    }

    proptest! {
        #[test]
        fn merging_is_per_value_associative_and_idempotent(a in any_wishes(), b in any_wishes(), c in any_wishes()) {
            let ab = a.clone().over(b.clone());
            prop_assert_eq!(ab.clone().over(b.clone()), ab.clone());
            prop_assert_eq!(a.clone().over(a.clone()), a.clone());
            prop_assert_eq!(ab.clone().over(c.clone()), a.clone().over(b.clone().over(c.clone())));
            prop_assert_eq!(Wishes::merged([a.clone(), b.clone(), c.clone()]), ab.clone().over(c));
            prop_assert_eq!(ab.rounds, a.rounds.or(b.rounds));
            prop_assert_eq!(ab.mode, a.mode.or(b.mode));
            prop_assert_eq!(ab.keep_sessions, a.keep_sessions.or(b.keep_sessions));
        }
    }
}
