//! The dialog that lists the run's child sessions, opens one to read, and stops one that runs.
//!
//! The caller loads what was said in them.

use super::action::Action;
use super::dialog::{ChoiceAction, ChoiceDialog, StopKind};
use super::keymap::ComposerFocus;
use super::pager::TextPager;
use super::scroll_view::ScrollView;
use super::text_wrap::to_one_line;
use super::{Screen, clickable_keys, theme};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::domain::task::ChildSession;

/// Whether a conversation can still grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationStatus {
    /// Its agent is working.
    Running,
    Ended,
}

impl Screen {
    /// Lists the child sessions of the run.
    pub(super) fn list_children(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let children = state.map_or(&[][..], |state| state.children.as_slice());
        if children.is_empty() {
            return self.show_toast("No tasks in this run yet. Give one with /task AGENT TEXT.");
        }
        self.open_dialog(child_list_dialog(children))
    }

    /// Shows a child's session. If it is open already, the scroll position stays.
    pub fn show_child_session(
        &mut self,
        session: &SessionId,
        title: &str,
        text: &str,
        stands: ConversationStatus,
    ) {
        self.is_dirty = true;
        match &mut self.pager {
            Some(pager) if pager.session() == Some(session) => {
                pager.update_conversation(title, text)
            }
            _ => {
                let page = match stands {
                    ConversationStatus::Running => ScrollView::following_end(),
                    ConversationStatus::Ended => ScrollView::default(),
                };
                self.pager = Some(TextPager::from_conversation(session, title, text, page));
                self.composer_focus = ComposerFocus::Unfocused;
            }
        }
    }

    /// Returns the id of the child session that is open.
    pub fn open_child_session(&self) -> Option<&SessionId> {
        self.pager.as_ref().and_then(TextPager::session)
    }

    /// Appends a piece of a child's text if its session is open.
    pub(super) fn append_child_text(&mut self, session: &SessionId, piece: &str) {
        let pager = self.pager.as_mut();
        if let Some(pager) = pager.filter(|pager| pager.session() == Some(session)) {
            pager.append_live_text(piece);
        }
    }

    /// Ends the live text of a child once an event has the finished text.
    pub(super) fn finish_child_text(&mut self, event: &Event) {
        let said = match event {
            Event::TaskActivity {
                session,
                news: AgentActivity::Text { .. },
            } => session,
            Event::TaskEnded(result) => &result.task_id,
            _ => return,
        };
        let pager = self.pager.as_mut();
        if let Some(pager) = pager.filter(|pager| pager.session() == Some(said)) {
            pager.end_live_text();
        }
    }
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
