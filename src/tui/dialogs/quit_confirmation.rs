//! Dialog: quit although work is in progress? It names the work that would end, since when it runs, and
//! what is kept.
//!
//! Returns no dialog when nothing would end.

use crate::domain::phase::Phase;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::task::ChildSession;
use crate::text::pluralize;
use crate::tui::action::{Action, QuitStep};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight, StopKind};
use crate::tui::labels::describe_program_operation;
use crate::tui::labels::{LocalClock, role_title};
use crate::tui::text_wrap::{to_one_line, truncate_to_columns};
use crate::tui::theme;

/// Id of the dialog.
pub const DIALOG_ID: &str = "confirm quit";
/// How many running items are listed.
const MAX_LISTED_WORK: usize = 4;
/// How many columns the subject of one item gets, so that the others stay visible beside it.
const MAX_SUBJECT_COLUMNS: usize = 64;

/// Builds the dialog, or returns `None` when nothing is in progress; `key` is the quit key.
pub fn build_dialog(state: &RunState, clock: LocalClock, key: &str) -> Option<ChoiceDialog> {
    let works = ongoing_work(state, clock);
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
    let who = works.iter().map(|works| works.description.clone());
    let named: Vec<String> = who.chain(tasked).chain(talked).collect();
    let mut sheet = base_dialog(&title)
        .with_weight(DialogWeight::Destructive)
        .with_text(&super::list_names(&named, MAX_LISTED_WORK), theme::CODE);
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
    /// Who works on what, since when.
    description: String,
    what_is_kept: &'static str,
}

fn ongoing_work(state: &RunState, clock: LocalClock) -> Option<OngoingWork> {
    let kept = match (&state.busy, state.phase) {
        (Some(ProgramOperation::Reversing { .. }), _) => "The undo finishes when the run resumes.",
        (_, Phase::Execute) => {
            "The step stops. Its changes stay in the working tree, and you decide about them when the run resumes."
        }
        _ => {
            "The turn stops and is repeated when the run resumes. What was said and written stays."
        }
    };
    if let Some(running) = &state.running {
        let role = running.order.purpose.role();
        let adapter = state.session(role).map_or("", |session| &session.adapter);
        return Some(OngoingWork {
            what_ends: "the turn",
            description: format!(
                "{} ({}) {}, since {}",
                role_title(role),
                to_one_line(adapter),
                running.order.purpose.describe_progress(),
                clock.time_with_minutes(running.started_at)
            ),
            what_is_kept: kept,
        });
    }
    // A held turn has not started: quitting would end nothing.
    let is_at_work = |busy: &&ProgramOperation| !matches!(busy, ProgramOperation::Held { .. });
    let busy = state.busy.as_ref().filter(is_at_work)?;
    Some(OngoingWork {
        what_ends: "what is running",
        description: describe_program_operation(busy, state),
        what_is_kept: kept,
    })
}
