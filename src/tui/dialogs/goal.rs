//! Dialog: is this the goal? Nothing is planned before the user says so.

use super::Known;
use crate::domain::event::Event;
use crate::domain::run::State;
use crate::tui::action::Action;
use crate::tui::command::Command;
use crate::tui::keymap::IsWriting;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

/// How many lines of the goal are laid out here.
const N_LINES: usize = 12;

pub(super) fn sheet(state: &State, known: &Known<'_>) -> Sheet {
    let text = text(state, known);
    let title = if known.proposed_goal.is_some() {
        "is this the goal, as the agent understood it?"
    } else {
        "is this the goal?"
    };
    let first: Vec<&str> = text.lines().take(N_LINES).collect();
    let mut sheet =
        Sheet::new(format!("goal {}", state.cycle), title).says(&first.join("\n"), theme::PLAIN);
    if text.lines().count() > N_LINES {
        sheet = sheet.says("…", theme::QUIET);
    }
    sheet.whole = Some(("the goal".to_owned(), text.clone()));
    sheet
        .offers(
            'i',
            &format!(
                "talk about it with the {}: write ({}: with another)",
                state.refiner.name(),
                known.keymap.named("refiner", IsWriting::Yes)
            ),
            Then::Do(Command::Focus),
        )
        .offers(
            'g',
            "confirm it: the planner writes the plan",
            Then::Act(vec![Action::Event(confirmed(&text))]),
        )
        .first(1)
}

/// The goal as it would be confirmed now.
pub fn text(state: &State, known: &Known<'_>) -> String {
    let given = state.goal.as_ref().map(|goal| goal.text.as_str());
    known
        .proposed_goal
        .or(given)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// The event that confirms a text as the goal.
pub fn confirmed(text: &str) -> Event {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let title = first.unwrap_or_default().trim_start_matches('#');
    Event::GoalConfirmed {
        title: one_line(title),
        text: text.to_owned(),
    }
}
