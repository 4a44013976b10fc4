//! The children of the run as a dialog: each is opened to be read, and one that runs is stopped.
//!
//! Refuses to know what was said in them: who holds the screen reads that.

use super::action::Action;
use super::keymap::IsWriting;
use super::pager::{Form, Pager};
use super::sheet::{Sheet, Then};
use super::wrap::one_line;
use super::{Screen, theme};
use crate::domain::run::State;
use crate::domain::task::Child;

impl Screen {
    /// Gives a task to an agent, by its name.
    pub(super) fn give_task(
        &mut self,
        (agent, prompt): (String, String),
        state: Option<&State>,
    ) -> Vec<Action> {
        match state {
            Some(_) => vec![Action::GiveTask { agent, prompt }],
            None => self.refuse("there is no run yet: write the goal first"),
        }
    }

    /// Lists the children of the run.
    pub(super) fn list_children(&mut self, state: Option<&State>) -> Vec<Action> {
        let children = state.map_or(&[][..], |state| state.children.as_slice());
        if children.is_empty() {
            return self
                .refuse("no agent was given a task in this run; /task AGENT TEXT gives one");
        }
        self.ask(sheet(children))
    }

    /// Shows what was said in a child's session.
    pub fn on_child(&mut self, title: &str, text: &str) {
        self.dirty = true;
        self.pager = Some(Pager::new(title, text, Form::Markdown));
        self.writing = IsWriting::No;
    }
}

fn sheet(children: &[Child]) -> Sheet {
    let mut sheet = Sheet::new("sessions", "sessions of tasks")
        .says("Enter opens the chosen one; Esc goes back.", theme::QUIET);
    let newest = children.iter().rev();
    for (child, key) in newest.zip(('1'..='9').chain(std::iter::repeat('·'))) {
        let patch = child.patch.as_ref();
        let patch = patch.map(|patch| format!("; {}", patch.state.in_words()));
        let label = format!(
            "{} {}: {}{}",
            one_line(&child.order.name()),
            child.stands(),
            one_line(&child.order.description),
            patch.unwrap_or_default()
        );
        let session = child.id().clone();
        let open = Then::ActAndBack(vec![Action::ShowChild(session)]);
        sheet = sheet.offers(key, &label, open);
    }
    let running = children.iter().rev().filter(|child| child.is_running());
    let running: Vec<&Child> = running.collect();
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
fn stop_one(running: &[&Child]) -> Sheet {
    let mut sheet = Sheet::new("sessions to stop", "stop which task?")
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

fn stopping(child: &Child) -> (String, Then) {
    let label = format!("stop {}", one_line(&child.order.name()));
    let stop = Then::ActAndBack(vec![Action::StopChild(child.id().clone())]);
    (label, stop)
}
