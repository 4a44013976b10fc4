//! The dialog that lists the run's child sessions, opens one to read, and stops one that runs.
//!
//! The caller loads what was said in them.

use super::action::Action;
use super::dialog::{ChoiceAction, ChoiceDialog, DialogWeight, StopKind};
use super::text_wrap::to_one_line;
use super::{clickable_keys, theme};
use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::domain::task::ChildSession;

/// Returns the title of a child's session: its name, its task and its status.
pub fn child_title(state: &RunState, session: &SessionId) -> Option<String> {
    let mut children = state.children.iter();
    let child = children.find(|child| child.session_id() == session)?;
    let (name, title) = (child.order.short_name(), child.order.title());
    Some(format!("{name}: {title} · {}", child.status_label()))
}

/// Builds the dialog that lists child sessions.
pub fn child_list_dialog(children: &[ChildSession]) -> ChoiceDialog {
    let mut sheet = ChoiceDialog::list("sessions", "Task sessions").with_text(
        "Enter opens a session, Esc goes back.",
        clickable_keys::mark_hint(theme::QUIET),
    );
    // Same order as in Status, so that the digit is usually the task's own number.
    for (child, key) in children
        .iter()
        .zip(('1'..='9').chain(std::iter::repeat('·')))
    {
        let patch = child.patch.as_ref();
        let patch = patch.map(|patch| format!("; {}", patch.state.label()));
        let label = format!(
            "{} {}: {}{}",
            to_one_line(&child.order.short_name()),
            child.status_label(),
            to_one_line(&child.order.description),
            patch.unwrap_or_default()
        );
        let session = child.session_id().clone();
        let open = ChoiceAction::ActAndClose(vec![Action::ShowChild(session)]);
        sheet = sheet.with_choice(key, &label, open);
    }
    let running = children.iter().filter(|child| child.is_running());
    let running: Vec<&ChildSession> = running.collect();
    match running.as_slice() {
        [] => {}
        several => {
            let label = match several {
                [only] => stop_child_choice(only).0,
                _ => "Stop one".to_owned(),
            };
            let which = ChoiceAction::Confirm(Box::new(stop_child_dialog(several)));
            sheet = sheet.with_choice('s', &format!("{label}…"), which);
        }
    }
    sheet.with_choice('b', "Back", ChoiceAction::Close)
}

/// Asks which running task to stop. Enter stops none.
fn stop_child_dialog(running: &[&ChildSession]) -> ChoiceDialog {
    let title = match running {
        [_] => "Stop this task?",
        _ => "Stop which task?",
    };
    let mut sheet = ChoiceDialog::new("sessions to stop", title)
        .with_weight(DialogWeight::Destructive)
        .until_answered(StopKind::Task)
        .with_text("Its results so far stay in its session.", theme::QUIET);
    for (child, key) in running
        .iter()
        .zip(('1'..='9').chain(std::iter::repeat('·')))
    {
        let (label, stop) = stop_child_choice(child);
        let about = to_one_line(&child.order.description);
        sheet = sheet.with_choice(key, &format!("{label}: {about}"), stop);
    }
    sheet = sheet.with_choice('b', "Back", ChoiceAction::Close);
    let last = sheet.choices.len().saturating_sub(1);
    sheet.with_first_choice(last)
}

fn stop_child_choice(child: &ChildSession) -> (String, ChoiceAction) {
    let label = format!("Stop {}", to_one_line(&child.order.short_name()));
    let stop = ChoiceAction::ActAndClose(vec![Action::StopChild(child.session_id().clone())]);
    (label, stop)
}
