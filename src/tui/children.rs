//! The children of the run as a dialog: each is opened to be read, and one that runs is stopped.
//!
//! Refuses to know what was said in them: who holds the screen reads that.

use super::action::Action;
use super::keymap::IsWriting;
use super::page::Page;
use super::pager::Pager;
use super::sheet::{Sheet, StopKind, Then};
use super::wrap::one_line;
use super::{Screen, hints, theme};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::domain::task::ChildSession;

/// Whether more is to come of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Its agent is at work.
    Runs,
    /// It is not.
    Over,
}

impl Screen {
    /// Lists the children of the run.
    pub(super) fn list_children(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let children = state.map_or(&[][..], |state| state.children.as_slice());
        if children.is_empty() {
            return self
                .refuse("no agent was given a task in this run; /task AGENT TEXT gives one");
        }
        self.ask(sheet(children))
    }

    /// Shows what was said and done in a child's session; the one that is open stays where it was read.
    pub fn on_child(&mut self, session: &SessionId, (title, text): (&str, &str), stands: Stands) {
        self.dirty = true;
        match &mut self.pager {
            Some(pager) if pager.session() == Some(session) => pager.retell(title, text),
            _ => {
                let page = match stands {
                    Stands::Runs => Page::following(),
                    Stands::Over => Page::default(),
                };
                self.pager = Some(Pager::talk(session, (title, text), page));
                self.writing = IsWriting::No;
            }
        }
    }

    /// The child's session that is open.
    pub fn open_child(&self) -> Option<&SessionId> {
        self.pager.as_ref().and_then(Pager::session)
    }

    /// Takes a piece of what a child says, where its session is open.
    pub(super) fn hear_child(&mut self, session: &SessionId, piece: &str) {
        let pager = self.pager.as_mut();
        if let Some(pager) = pager.filter(|pager| pager.session() == Some(session)) {
            pager.hear(piece);
        }
    }

    /// Takes an event in: what a child was saying is said.
    pub(super) fn note_child(&mut self, event: &Event) {
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
            pager.end_piece();
        }
    }
}

fn sheet(children: &[ChildSession]) -> Sheet {
    let mut sheet = Sheet::list("sessions", "sessions of tasks").says(
        "Enter opens the chosen one; Esc goes back.",
        hints::marked(theme::QUIET),
    );
    // As Status lists them: the digit is mostly the task's own number.
    for (child, key) in children
        .iter()
        .zip(('1'..='9').chain(std::iter::repeat('·')))
    {
        let patch = child.patch.as_ref();
        let patch = patch.map(|patch| format!("; {}", patch.state.label()));
        let label = format!(
            "{} {}: {}{}",
            one_line(&child.order.short_name()),
            child.status_label(),
            one_line(&child.order.description),
            patch.unwrap_or_default()
        );
        let session = child.session_id().clone();
        let open = Then::ActAndBack(vec![Action::ShowChild(session)]);
        sheet = sheet.offers(key, &label, open);
    }
    let running = children.iter().filter(|child| child.is_running());
    let running: Vec<&ChildSession> = running.collect();
    match running.as_slice() {
        [] => {}
        [only] => {
            let (label, stop) = stopping(only);
            sheet = sheet.offers('s', &label, stop);
        }
        several => {
            let which = Then::Confirm(Box::new(stop_one(several)));
            sheet = sheet.offers('s', "stop one …", which);
        }
    }
    sheet.offers('b', "back", Then::Back)
}

/// Which of those that run shall be stopped? Enter stops none.
fn stop_one(running: &[&ChildSession]) -> Sheet {
    let mut sheet = Sheet::new("sessions to stop", "stop which task?")
        .until_answered(StopKind::Task)
        .says("What it found so far stays in its session.", theme::QUIET);
    for (child, key) in running
        .iter()
        .zip(('1'..='9').chain(std::iter::repeat('·')))
    {
        let (label, stop) = stopping(child);
        let about = one_line(&child.order.description);
        sheet = sheet.offers(key, &format!("{label}: {about}"), stop);
    }
    sheet = sheet.offers('b', "back", Then::Back);
    let last = sheet.choices.len().saturating_sub(1);
    sheet.first(last)
}

fn stopping(child: &ChildSession) -> (String, Then) {
    let label = format!("stop {}", one_line(&child.order.short_name()));
    let stop = Then::ActAndBack(vec![Action::StopChild(child.session_id().clone())]);
    (label, stop)
}
