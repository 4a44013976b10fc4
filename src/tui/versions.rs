//! The user's text and the agent's, told apart: in numbers, as a diff, or side by side.
//!
//! Refuses to know which question they belong to.

use ratatui::text::Line;

pub use super::compare::Form;
use super::compare::{self, Side};
use super::wrap::shown;
use crate::text::n_of;

/// One document in two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// The document's name.
    pub name: String,
    /// What lies on disk.
    pub yours: String,
    /// What the agent wrote.
    pub agents: String,
}

/// Two texts that are looked at, each with what it is; drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The earlier one, or the user's.
    pub old: (String, String),
    /// The other one.
    pub new: (String, String),
}

impl Pair {
    /// The lines of both texts.
    pub fn lay_out(&self, form: Form, columns: usize) -> Vec<Line<'static>> {
        let (old, new) = (&self.old, &self.new);
        compare::lay_out(
            Side {
                label: &old.0,
                text: &old.1,
            },
            Side {
                label: &new.0,
                text: &new.1,
            },
            form,
            columns,
        )
    }
}

impl Versions {
    /// How much the agent's text differs, in one line.
    pub fn in_words(&self) -> String {
        let (yours, agents) = (shown(&self.yours), shown(&self.agents));
        let (n_more, n_less) = compare::counts(&yours, &agents);
        format!(
            "{}: the agent's text has {} and differs from yours by +{n_more} −{n_less}",
            self.name,
            n_of(agents.lines().count(), "line"),
        )
    }

    /// Both texts, to be looked at.
    pub fn pair(&self) -> Pair {
        Pair {
            old: (format!("{}, yours", self.name), shown(&self.yours)),
            new: (format!("{}, the agent's", self.name), shown(&self.agents)),
        }
    }
}
