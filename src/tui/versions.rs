//! The user's text and the agent's, told apart: in numbers, as a diff, or side by side; and what each of them
//! changed in the text that was there before.
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
    /// What was there before either of them changed it.
    pub before: String,
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

    /// Both texts, to be looked at; then, where both changed the same one, what each of them changed.
    pub fn pairs(&self) -> Vec<Pair> {
        let named = |whose: &str, text: &str| (format!("{}, {whose}", self.name), shown(text));
        let before = named("before", &self.before);
        let yours = named("yours", &self.yours);
        let agents = named("the agent's", &self.agents);
        let both = Pair {
            old: yours.clone(),
            new: agents.clone(),
        };
        if self.before.is_empty() || self.before == self.yours {
            return vec![both];
        }
        let since = |new| Pair {
            old: before.clone(),
            new,
        };
        vec![both, since(yours), since(agents)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_pairs(before: &str, yours: &str) -> Vec<String> {
        let versions = Versions {
            name: "plan.md".to_owned(),
            before: before.to_owned(),
            yours: yours.to_owned(),
            agents: "c".to_owned(),
        };
        let labels = |pair: Pair| format!("{} | {}", pair.old.0, pair.new.0);
        versions.pairs().into_iter().map(labels).collect()
    }

    #[test]
    fn where_both_changed_a_text_it_is_shown_what_each_of_them_changed() {
        let both = "plan.md, yours | plan.md, the agent's";
        assert_eq!(shown_pairs("a", "a"), [both]);
        assert_eq!(shown_pairs("", "b"), [both]);
        let three = shown_pairs("a", "b");
        assert_eq!(
            three,
            [
                both,
                "plan.md, before | plan.md, yours",
                "plan.md, before | plan.md, the agent's"
            ]
        );
    }
}
