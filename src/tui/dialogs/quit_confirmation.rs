//! Dialog: quit although work is in progress? It names the tasks and discussions that would end, and what is kept. What
//! the agent does in its turn is in the footer.
//!
//! Returns no dialog when nothing would end.

use crate::domain::phase::Phase;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::task::ChildSession;
use crate::text::pluralize;
use crate::tui::action::{Action, QuitStep};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight, StopKind};
use crate::tui::text_wrap::{to_one_line, truncate_to_columns};
use crate::tui::theme;

/// Id of the dialog.
pub const DIALOG_ID: &str = "confirm quit";
/// How many running items are listed.
const MAX_LISTED_WORK: usize = 4;
/// How many columns the subject of one item gets, so that the others stay visible beside it.
const MAX_SUBJECT_COLUMNS: usize = 64;

/// Builds the dialog, or returns `None` when nothing is in progress; `key` is the quit key.
pub fn build_dialog(state: &RunState, key: &str) -> Option<ChoiceDialog> {
    let works = ongoing_work(state);
    let is_task = |child: &&ChildSession| child.is_running() && child.order.speaks.is_none();
    let tasks: Vec<&ChildSession> = state.children.iter().filter(is_task).collect();
    let talks = state.discussions.iter().filter(|each| each.is_running());
    let talks: Vec<&str> = talks.map(|each| each.order.topic.as_str()).collect();
    let counts = [(tasks.len(), "task"), (talks.len(), "discussion")];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let counts = counts.map(|(n, what)| pluralize(n, what));
    let ends: Vec<String> = works
        .iter()
        .map(|works| works.what_ends.to_owned())
        .chain(counts)
        .collect();
    let title = match ends.as_slice() {
        [] => return None,
        [only] => format!("Quit and end {only}?"),
        several => format!("Quit? Ends {}", several.join(" and ")),
    };
    let tasked = tasks.iter().map(|child| {
        let about =
            truncate_to_columns(&to_one_line(&child.order.description), MAX_SUBJECT_COLUMNS);
        format!("{}: {about}", child.order.short_name())
    });
    let talked = talks.iter().map(|topic| {
        format!(
            "discussion: {}",
            truncate_to_columns(&to_one_line(topic), MAX_SUBJECT_COLUMNS)
        )
    });
    let named: Vec<String> = tasked.chain(talked).collect();
    let mut sheet = base_dialog(&title).with_weight(DialogWeight::Destructive);
    for name in named.iter().take(MAX_LISTED_WORK) {
        sheet = sheet.with_text(name, theme::PLAIN);
    }
    if let Some(n_more) = named.len().checked_sub(MAX_LISTED_WORK).filter(|n| *n > 0) {
        sheet = sheet.with_text(&format!("… and {n_more} more"), theme::PLAIN);
    }
    let kept = [
        works.map(|works| works.what_is_kept),
        (!tasks.is_empty())
            .then_some("A task stops where it is. Its session is saved and can be resumed."),
        (!talks.is_empty())
            .then_some("A discussion keeps its finished rounds. Continue it with /discuss-on."),
        Some("The run is saved and can be resumed."),
    ];
    for text in kept.into_iter().flatten() {
        sheet = sheet.with_text(text, theme::PLAIN);
    }
    Some(add_choices(sheet, key))
}

/// Builds the dialog for when all work that it listed has ended meanwhile.
pub fn build_idle_dialog(key: &str) -> ChoiceDialog {
    let text = "Everything has finished meanwhile and is saved.";
    add_choices(base_dialog("Quit?").with_text(text, theme::PLAIN), key)
}

fn base_dialog(title: &str) -> ChoiceDialog {
    ChoiceDialog::new(DIALOG_ID, title).until_answered(StopKind::Quit)
}

fn add_choices(sheet: ChoiceDialog, key: &str) -> ChoiceDialog {
    let leave = ChoiceAction::ActAndClose(vec![Action::Quit(QuitStep::Ask)]);
    sheet
        .with_choice('y', &format!("Quit ({key} again: at once)"), leave)
        .with_choice('n', "Stay", ChoiceAction::Close)
        .with_first_choice(1)
}

/// What the workflow is doing.
struct OngoingWork {
    /// What would end; follows the word "end" or "ends".
    what_ends: &'static str,
    what_is_kept: &'static str,
}

fn ongoing_work(state: &RunState) -> Option<OngoingWork> {
    let kept = match (&state.busy, state.phase) {
        (Some(ProgramOperation::Reversing { .. }), _) => "The undo finishes when the run resumes.",
        (_, Phase::Execute) => {
            "The step stops. Its changes stay in the working tree, and you decide about them when the run resumes."
        }
        _ => {
            "The turn stops and is repeated when the run resumes. What was said and written stays."
        }
    };
    // A held turn has not started: quitting would end nothing.
    let is_at_work = |busy: &&ProgramOperation| !matches!(busy, ProgramOperation::Held { .. });
    let what_ends = if state.running.is_some() {
        "the turn"
    } else {
        state.busy.as_ref().filter(is_at_work)?;
        "what is running"
    };
    Some(OngoingWork {
        what_ends,
        what_is_kept: kept,
    })
}
