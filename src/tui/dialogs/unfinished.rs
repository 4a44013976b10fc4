//! Dialog at the start: an unfinished run lies here; shall it go on?

use crate::tui::action::Action;
use crate::tui::sheet::{FromComposer, Sheet, Then};
use crate::tui::theme;

/// Asks about the run that `summary` describes; Enter goes on with it.
pub fn sheet(summary: &str) -> Sheet {
    let (goal, how_far) = summary.split_once('\n').unwrap_or((summary, ""));
    let mut sheet = Sheet::new("unfinished", "continue the unfinished run? [Y/n]")
        .says(goal, theme::STRONG)
        .says(how_far, theme::PLAIN)
        .offers('y', "continue it", Then::ActAndBack(vec![Action::Resume]))
        .offers(
            'n',
            "put it into the history and start anew",
            Then::ActAndBack(vec![Action::Archive]),
        );
    sheet.from_composer = FromComposer::Yes;
    sheet
}
