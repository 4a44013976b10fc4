//! Dialog: is this the goal? No planning starts before the user confirms.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::style::Style;
use similar::{ChangeTag, TextDiff};

use super::DialogContext;
use crate::domain::event::Event;
use crate::domain::run::RunState;
use crate::tui::action::Action;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, EmptyComposerEnter};
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// How many lines of the goal the dialog shows.
const MAX_GOAL_LINES: usize = 12;
/// From this share of common lines on, a goal counts as a change of the previous one, not as a different
/// goal.
const MIN_SIMILARITY: f32 = 0.3;

pub(super) fn build_dialog(state: &RunState, known: &DialogContext<'_>) -> ChoiceDialog {
    let text = goal_text(state, known);
    let title = "Is this the goal?";
    // Another goal is another question, which nobody has read yet.
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let id = format!("goal {} {:x}", state.cycle, hasher.finish());
    let mut sheet = ChoiceDialog::new(id, title);
    let before = known.goal_before.map_or(text.as_str(), str::trim);
    let lines = goal_change_lines(before, &text);
    let is_new = lines.iter().all(|(_, style)| *style == theme::PLAIN);
    let first = lines.iter().position(|(line, _)| !line.trim().is_empty());
    for (n, (line, style)) in lines.iter().enumerate() {
        // The line break keeps a blank line visible.
        let text = format!("{line}\n");
        // A new goal stands right above in the chat, as the planner or the user wrote it.
        sheet = if !is_new {
            sheet.with_text(&text, *style)
        } else if Some(n) == first {
            let title = line.trim_start_matches('#').trim();
            sheet.with_text_of_tabs(&[TabKind::Chat], title, theme::STRONG)
        } else {
            sheet.with_text_of_tabs(&[TabKind::Chat], &text, *style)
        };
    }
    sheet.full_text = Some(("The goal".to_owned(), text.clone()));
    // The user may still be writing with the agent; nothing is sent before the goal is confirmed.
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutAndLeaves;
    sheet
        .with_choice(
            'i',
            &format!("Change it with the {}…", state.refiner.name()),
            ChoiceAction::RunCommand(ScreenCommand::FocusComposer),
        )
        .with_choice(
            'g',
            "Confirm and write the plan",
            ChoiceAction::Act(vec![Action::Event(confirm_goal(&text))]),
        )
        .with_choice(
            'v',
            "Read the goal",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_first_choice(1)
}

/// Returns the goal's first lines; if the goal changed since it was last shown, the first lines that show
/// a change.
fn goal_change_lines(before: &str, now: &str) -> Vec<(String, Style)> {
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let mut diff = TextDiff::from_slices(&before, &now);
    // A different goal is shown from its beginning, without change marks.
    if diff.ratio() < MIN_SIMILARITY {
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
    // Starts one line earlier for context.
    let from = match first.filter(|first| *first >= MAX_GOAL_LINES) {
        Some(first) => first - 1,
        None => 0,
    };
    let cut = || std::iter::once(("…".to_owned(), theme::QUIET));
    let is_more = lines.len() > from + MAX_GOAL_LINES;
    let shown = lines.into_iter().skip(from).take(MAX_GOAL_LINES);
    let above = cut().take(usize::from(from > 0));
    let below = cut().take(usize::from(is_more));
    above.chain(shown).chain(below).collect()
}

/// Returns the goal text that a confirmation would confirm now.
pub fn goal_text(state: &RunState, known: &DialogContext<'_>) -> String {
    let given = state.goal.as_ref().map(|goal| goal.text.as_str());
    known
        .proposed_goal
        .or(given)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Returns the event that confirms a text as the goal.
pub fn confirm_goal(text: &str) -> Event {
    Event::GoalConfirmed {
        title: goal_title(text),
        text: text.to_owned(),
    }
}

/// Returns the heading of a goal, in one line.
pub fn goal_title(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    to_one_line(first.unwrap_or_default().trim_start_matches('#'))
}
