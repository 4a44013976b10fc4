//! Compares the user's text with the agent's: in numbers, as a diff, or side by side; and both with the text before.

use ratatui::text::Line;

pub use super::text_comparison::ComparisonForm;
use super::text_comparison::{self, ComparisonSide, MIN_COLUMNS_OF_THREE, ThreeWayComparison};
use super::text_wrap::clean_for_display;
pub use crate::text::three_way_merge::ConflictVersions;
use crate::text::{count_changed_lines, count_lines, describe_line_changes, pluralize};

/// Two labelled texts to compare, safe to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPair {
    /// The earlier text, or the user's: label and text.
    pub old: (String, String),
    /// The later text, or the agent's: label and text.
    pub new: (String, String),
}

impl TextPair {
    /// Combines both texts with the text before into a three-way comparison.
    fn three_sides<'a>(&'a self, (label, text): &'a (String, String)) -> ThreeWayComparison<'a> {
        ThreeWayComparison {
            yours: ComparisonSide {
                label: &self.old.0,
                text: &self.old.1,
            },
            before: ComparisonSide { label, text },
            agents: ComparisonSide {
                label: &self.new.0,
                text: &self.new.1,
            },
        }
    }

    /// Lays out the comparison of both texts.
    pub fn lay_out(&self, form: ComparisonForm, columns: usize) -> Vec<Line<'static>> {
        let (old, new) = (&self.old, &self.new);
        text_comparison::lay_out(
            ComparisonSide {
                label: &old.0,
                text: &old.1,
            },
            ComparisonSide {
                label: &new.0,
                text: &new.1,
            },
            form,
            columns,
        )
        .lines
    }
}

/// The comparisons of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentComparison {
    pub pairs: Vec<TextPair>,
    /// The text before, if both sides changed it; it belongs with the first pair.
    pub before: Option<(String, String)>,
}

/// How many texts are compared, and how they are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonLayout {
    /// All three side by side; as a diff if there is no room.
    Three,
    Two(ComparisonForm),
}

impl ComparisonLayout {
    /// Returns whether a window has room for three texts side by side.
    pub fn has_room(columns: usize) -> bool {
        columns >= MIN_COLUMNS_OF_THREE
    }
}

impl DocumentComparison {
    /// Lays out all comparisons of the document.
    pub fn lay_out(&self, layout: ComparisonLayout, columns: usize) -> Vec<Line<'static>> {
        let form = match (layout, &self.before, self.pairs.first()) {
            (ComparisonLayout::Three, Some(before), Some(both))
                if ComparisonLayout::has_room(columns) =>
            {
                return text_comparison::lay_out_three(both.three_sides(before), columns);
            }
            (ComparisonLayout::Three, None, _) if ComparisonLayout::has_room(columns) => {
                ComparisonForm::SideBySide
            }
            (ComparisonLayout::Three, ..) => ComparisonForm::Diff,
            (ComparisonLayout::Two(form), ..) => form,
        };
        let pairs = self.pairs.iter();
        pairs.flat_map(|pair| pair.lay_out(form, columns)).collect()
    }
}

impl ConflictVersions {
    /// Describes in one line how much the agent's text differs.
    pub fn in_words(&self) -> String {
        let (yours, agents) = (
            clean_for_display(&self.yours),
            clean_for_display(&self.agents),
        );
        let (n_more, n_less) = count_changed_lines(&yours, &agents);
        format!(
            "{}: the agent's text has {} and differs from yours by {}",
            self.name,
            pluralize(count_lines(&agents), "line"),
            describe_line_changes(n_more, n_less),
        )
    }

    /// Returns both texts to compare; if both sides changed the same text, also what each of them changed.
    pub fn looked(&self) -> DocumentComparison {
        let named =
            |whose: &str, text: &str| (format!("{}, {whose}", self.name), clean_for_display(text));
        let before = named("before", &self.before);
        let yours = named("yours", &self.yours);
        let agents = named("the agent's", &self.agents);
        let both = TextPair {
            old: yours.clone(),
            new: agents.clone(),
        };
        if self.before.is_empty() || self.before == self.yours {
            return DocumentComparison {
                pairs: vec![both],
                before: None,
            };
        }
        let since = |new| TextPair {
            old: before.clone(),
            new,
        };
        DocumentComparison {
            pairs: vec![both, since(yours), since(agents)],
            before: Some(before.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_pairs(before: &str, yours: &str) -> Vec<String> {
        let versions = ConflictVersions {
            name: "plan.md".to_owned(),
            before: before.to_owned(),
            yours: yours.to_owned(),
            agents: "c".to_owned(),
        };
        let labels = |pair: TextPair| format!("{} | {}", pair.old.0, pair.new.0);
        versions.looked().pairs.into_iter().map(labels).collect()
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
