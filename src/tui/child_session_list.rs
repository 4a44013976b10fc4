//! The dialog that lists the run's child sessions, opens one to read, and stops one that runs.
//!
//! The caller loads what was said in them.

use super::action::Action;
use super::dialog::{ChoiceAction, ChoiceDialog, StopKind};
use super::pager::TextPager;
use super::text_wrap::to_one_line;
use super::transcript::ChildSessionView;
use super::{Screen, clickable_keys, theme};
use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::domain::task::ChildSession;

impl Screen {
    /// Lists the child sessions of the run.
    pub(super) fn list_children(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let children = state.map_or(&[][..], |state| state.children.as_slice());
        if children.is_empty() {
            return self.show_toast("No tasks in this run yet. Give one with /task AGENT TEXT.");
        }
        self.open_dialog(child_list_dialog(children))
    }

    /// Creates the view of a child's session, to be filled and shown.
    pub fn new_child_view(&self, session: &SessionId) -> Box<ChildSessionView> {
        Box::new(ChildSessionView::new(session, &self.tabs.chat.transcript))
    }

    /// Shows a child's session.
    pub fn show_child_session(&mut self, child: Box<ChildSessionView>) {
        self.is_dirty = true;
        self.overlays.close_search(&mut self.tabs);
        self.open_pager(TextPager::from_child(child));
    }

    /// Returns the id of the child session that is open.
    pub fn open_child_session(&self) -> Option<&SessionId> {
        self.overlays.pager.as_ref().and_then(TextPager::session)
    }

    /// Returns the child session that is open, to be updated.
    pub fn open_child_mut(&mut self) -> Option<&mut ChildSessionView> {
        self.overlays.pager.as_mut().and_then(TextPager::child_mut)
    }

    /// Appends a piece of a child's text if its session is open.
    pub(super) fn append_child_text(&mut self, session: &SessionId, piece: &str) {
        let child = self.open_child_mut();
        if let Some(child) = child.filter(|child| child.session() == session) {
            child.append_text(piece);
        }
    }
}

/// Returns the title of a child's session: its name, its task and its status.
pub fn child_title(state: &RunState, session: &SessionId) -> Option<String> {
    let mut children = state.children.iter();
    let child = children.find(|child| child.session_id() == session)?;
    let (name, title) = (child.order.short_name(), child.order.title());
    Some(format!("{name}: {title} · {}", child.status_label()))
}

fn child_list_dialog(children: &[ChildSession]) -> ChoiceDialog {
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
        [only] => {
            let (label, stop) = stop_child_choice(only);
            sheet = sheet.with_choice('s', &label, stop);
        }
        several => {
            let which = ChoiceAction::Confirm(Box::new(stop_child_dialog(several)));
            sheet = sheet.with_choice('s', "Stop one…", which);
        }
    }
    sheet.with_choice('b', "Back", ChoiceAction::Close)
}

/// Asks which running task to stop. Enter stops none.
fn stop_child_dialog(running: &[&ChildSession]) -> ChoiceDialog {
    let mut sheet = ChoiceDialog::new("sessions to stop", "Stop which task?")
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
