//! Dialog: is this the goal? Nothing is planned before the user says so.

use ratatui::style::Style;
use similar::{ChangeTag, TextDiff};

use super::Known;
use crate::domain::event::Event;
use crate::domain::run::RunState;
use crate::tui::action::Action;
use crate::tui::command::Command;
use crate::tui::keymap::IsWriting;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

/// How many lines of the goal are laid out here.
const N_LINES: usize = 12;
/// From which share of common lines on a goal is the one before with changes.
const LIKE: f32 = 0.3;

pub(super) fn sheet(state: &RunState, known: &Known<'_>) -> Sheet {
    let text = text(state, known);
    let title = if known.proposed_goal.is_some() {
        "is this the goal, as the agent understood it?"
    } else {
        "is this the goal?"
    };
    let mut sheet = Sheet::new(format!("goal {}", state.cycle), title);
    let before = known.goal_before.map_or(text.as_str(), str::trim);
    for (line, style) in with_changes(before, &text) {
        // A blank line is one too.
        sheet = sheet.says(&format!("{line}\n"), style);
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

/// The goal's first lines; where it changed since it was put before, the first that shows that.
fn with_changes(before: &str, now: &str) -> Vec<(String, Style)> {
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let mut diff = TextDiff::from_slices(&before, &now);
    // A goal that is another one is read from its beginning.
    if diff.ratio() < LIKE {
        diff = TextDiff::from_slices(&now, &now);
    }
    let is_changed = diff.ratio() < 1.0;
    let marked = diff.iter_all_changes().map(|change| {
        let text = change.value().trim_end();
        match change.tag() {
            ChangeTag::Delete => (format!("− {text}"), theme::BAD),
            ChangeTag::Insert => (format!("+ {text}"), theme::GOOD),
            ChangeTag::Equal if is_changed => (format!("  {text}"), theme::PLAIN),
            ChangeTag::Equal => (text.to_owned(), theme::PLAIN),
        }
    });
    let lines: Vec<(String, Style)> = marked.collect();
    let first = lines.iter().position(|(_, style)| *style != theme::PLAIN);
    // A line before it says where it is.
    let from = match first.filter(|first| *first >= N_LINES) {
        Some(first) => first - 1,
        None => 0,
    };
    let cut = || std::iter::once(("…".to_owned(), theme::QUIET));
    let is_more = lines.len() > from + N_LINES;
    let shown = lines.into_iter().skip(from).take(N_LINES);
    let above = cut().take(usize::from(from > 0));
    let below = cut().take(usize::from(is_more));
    above.chain(shown).chain(below).collect()
}

/// The goal as it would be confirmed now.
pub fn text(state: &RunState, known: &Known<'_>) -> String {
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
