//! What is told of an event by what came before it: how a task is called, that the user interrupted, who releases turns.
//!
//! Refuses to tell what participants of discussions say: that is on their board.

use std::collections::BTreeSet;

use super::block::{Block, Content, Tone, Who};
use super::card::ToolEnd;
use super::{Transcript, retell, waiting, wide};
use crate::domain::event::{Approval, Event};
use crate::domain::ids::SessionId;
use crate::domain::phase::Gate;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::tui::wrap::one_line;

/// What became of a call that waited when its turn was interrupted.
const NOT_RUN: &str = "not run: you interrupted the turn";

/// How the run stands, as far as it was told.
#[derive(Debug, Default)]
pub(super) struct Stand {
    /// That the user interrupted the turn.
    is_interrupted: bool,
    /// That turns follow each other.
    is_auto: bool,
    /// Tasks that were given and have not begun.
    queue: Queue,
}

impl Stand {
    /// Takes an event in; tells whether the gate is manual from here on without the user having said just that.
    fn on_event(&mut self, event: &Event) -> bool {
        match event {
            Event::RunCreated(created) => self.is_auto = created.gate == Gate::Auto,
            Event::GateChanged { gate } | Event::RunResumed { gate } => {
                self.is_auto = *gate == Gate::Auto;
            }
            Event::InterruptRequested => self.is_interrupted = true,
            Event::TurnStarted { .. } => self.is_interrupted = false,
            // A run that is stopped, or asks for the release of a turn, has a manual gate.
            Event::RunStopped
            | Event::QuestionAnswered {
                answer: QuestionAnswer::Stop,
                ..
            } => return std::mem::take(&mut self.is_auto),
            Event::QuestionAsked { question } => {
                let is_gate = matches!(question.kind, QuestionKind::Gate { .. });
                return is_gate && std::mem::take(&mut self.is_auto);
            }
            _ => {}
        }
        false
    }
}

/// Tasks that were given and have not begun; those who speak in a discussion are none.
#[derive(Debug, Default)]
struct Queue {
    given: Option<SessionId>,
    waiting: BTreeSet<SessionId>,
}

impl Queue {
    /// Takes an event in; tells whether it is the begin of a task that waited.
    fn on_event(&mut self, event: &Event) -> bool {
        let given = self.given.take();
        match event {
            Event::TaskStarted(order) if order.speaks.is_none() => {
                self.waiting.insert(order.session.clone());
                self.given = Some(order.session.clone());
            }
            Event::TaskDispatched { session } => {
                return self.waiting.remove(session) && given.as_ref() != Some(session);
            }
            _ => {}
        }
        false
    }
}

impl Transcript {
    /// Notes how a task is called.
    pub(super) fn note_task(&mut self, event: &Event) {
        if let Event::TaskStarted(order) = event {
            let name = one_line(&order.short_name());
            self.tasks.insert(order.session.clone(), name);
        }
    }

    /// That a task begins which waited for a place; of one that had a place at once it is said that it was given.
    fn begins(&self, session: &SessionId) -> Vec<Block> {
        match self.tasks.get(session) {
            Some(name) => retell::notice(&format!("{name} begins")),
            None => Vec::new(),
        }
    }

    /// Tells an event with what is known from those before it.
    pub(super) fn tell(&mut self, event: &Event) {
        let is_manual_now = self.stand.on_event(event);
        let waited = self.stand.queue.on_event(event);
        let told = match event {
            Event::TaskDispatched { session } if waited => self.begins(session),
            Event::ApprovalExpired { approval, .. } if self.stand.is_interrupted => {
                self.not_run(approval)
            }
            Event::TaskEnded(result) => {
                let known = self.tasks.get(&result.task_id);
                let name = known.map_or(result.display_name(), String::as_str);
                retell::task_ended(result, name)
            }
            _ => retell::event(event),
        };
        let again = match event {
            Event::RunResumed { .. } => self.ends_with(&told),
            Event::QuestionAsked { .. } => {
                self.was_just_asked(&told) || self.has_just_failed(&told)
            }
            _ => false,
        };
        if !again {
            self.push_all(wide::about(wide::role_of(event), told));
        }
        if is_manual_now {
            self.push_all(retell::notice("the gate is manual now"));
        }
    }

    /// A call that waited when the user interrupted: its card says so, or a line where it has none.
    fn not_run(&mut self, approval: &Approval) -> Vec<Block> {
        let end = ToolEnd::not_run(NOT_RUN);
        match self.card_of(&approval.request) {
            Some(card) => {
                let n_more = card.end_tool(end);
                self.n_bytes += n_more;
                Vec::new()
            }
            None => retell::notice(&format!("{NOT_RUN}: {}", waiting::in_words(approval))),
        }
    }

    /// Tells whether the stream ends with the same.
    fn ends_with(&self, told: &[Block]) -> bool {
        let last = self.blocks.back();
        last.is_some_and(|last| told.iter().any(|block| block.content == last.content))
    }

    /// Tells whether the same was asked and no agent has said or done anything since.
    fn was_just_asked(&self, told: &[Block]) -> bool {
        let since = self.blocks.iter().rev();
        let mut since = since.take_while(|block| !matches!(block.who, Who::Agent(_)));
        let is_question = |block: &&Block| {
            let tone = match &block.content {
                Content::Fact { tone, .. } => Some(*tone),
                _ => None,
            };
            tone == Some(Tone::Asked)
        };
        let asked = since.find(is_question);
        asked.is_some_and(|asked| told.iter().any(|block| block.content == asked.content))
    }

    /// Tells whether the stream ends with the failure that is asked about, in the same words.
    fn has_just_failed(&self, asked: &[Block]) -> bool {
        let fact = |block: &Block| match &block.content {
            Content::Fact { text, tone, .. } => Some((text.clone(), *tone)),
            _ => None,
        };
        let failed = self.blocks.back().and_then(fact);
        failed.is_some_and(|(failed, tone)| {
            let mut asked = asked.iter().filter_map(fact);
            tone == Tone::Bad && asked.any(|(text, _)| text == failed)
        })
    }
}
