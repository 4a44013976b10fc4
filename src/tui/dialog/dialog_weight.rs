//! How heavy the decision of a dialog is; it sets the colours of its panel.
//!
//! A choice that destroys something stands only in a destructive panel, where Enter is at first a choice that changes
//! nothing. A key opens that panel and a second key carries the choice out.

use ratatui::style::{Modifier, Style};

use super::{ChoiceAction, DialogChoice};
use crate::tui::theme::{self, Surface};

/// How heavy the decision of a dialog is, from the lightest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DialogWeight {
    /// What happens all the time, such as sending a turn, and lists that the user opened.
    Routine,
    /// A question that decides how the run continues.
    Question,
    /// Something gets access, or a change that was not allowed counts.
    Permission,
    /// Work ends, or files or texts are overwritten.
    Destructive,
}

impl DialogWeight {
    /// Returns the style of the panel's bar.
    pub fn bar_style(self) -> Style {
        match self {
            Self::Routine => theme::EDGE,
            Self::Question | Self::Permission | Self::Destructive => self.accent_style(),
        }
    }

    /// Returns the style of signs and of the title where there is no bar.
    pub fn accent_style(self) -> Style {
        match self {
            Self::Routine => theme::ACCENT,
            Self::Question | Self::Permission => theme::NEEDS_YOU,
            Self::Destructive => theme::BAD.add_modifier(Modifier::BOLD),
        }
    }

    pub fn ground(self) -> Surface {
        match self {
            Self::Routine => Surface::Raised,
            Self::Question | Self::Permission | Self::Destructive => Surface::Ask,
        }
    }

    /// Returns the style of the selected choice: in a destructive panel only the one that destroys has its colour.
    pub fn chosen_style(self, choice: &DialogChoice) -> Style {
        let is_harmless = !matches!(
            choice.action,
            ChoiceAction::Act(_) | ChoiceAction::ActAndClose(_) | ChoiceAction::PutAside(_)
        );
        let accent = match self {
            Self::Destructive if is_harmless => theme::ACCENT,
            _ => self.accent_style(),
        };
        accent.add_modifier(Modifier::REVERSED)
    }
}
