//! What earlier events say about the run, for blocks that depend on it: an interrupt, the gate, tasks that wait.

use std::collections::BTreeSet;

use crate::domain::event::Event;
use crate::domain::event_wording::RejectedFindings;
use crate::domain::ids::SessionId;
use crate::domain::phase::Gate;
use crate::domain::question::{QuestionAnswer, QuestionKind};

/// What earlier events say about the run.
#[derive(Debug, Default)]
pub(super) struct TranscriptRunContext {
    /// Whether the user interrupted the turn.
    pub(super) is_interrupted: bool,
    /// Who lets turns start, as far as the events here say.
    pub(super) gate: Option<Gate>,
    pub(super) waiting_tasks: TaskWaitList,
    /// The goal as it was last given or proposed.
    goal: Option<String>,
    /// What the planner rejects of the last review.
    pub(super) rejected: RejectedFindings,
}

impl TranscriptRunContext {
    /// Applies an event; returns whether the gate became manual without the user asking for exactly that.
    pub(super) fn on_event(&mut self, event: &Event) -> bool {
        self.rejected.on_event(event);
        match event {
            Event::RunCreated(created) => self.gate = Some(created.gate),
            Event::GateChanged { gate } | Event::RunResumed { gate } => self.gate = Some(*gate),
            Event::InterruptRequested => self.is_interrupted = true,
            Event::TurnStarted { .. } => self.is_interrupted = false,
            // A stopped run, or one that asks before it sends a turn, has a manual gate.
            Event::RunStopped
            | Event::QuestionAnswered {
                answer: QuestionAnswer::Stop,
                ..
            } => return self.set_manual(),
            Event::QuestionAsked { question } => {
                let is_gate = matches!(question.kind, QuestionKind::Gate { .. });
                return is_gate && self.set_manual();
            }
            _ => {}
        }
        false
    }

    /// Notes the goal that the user gave or an agent proposed.
    pub(super) fn note_goal(&mut self, event: &Event) {
        match event {
            Event::RunCreated(_) => self.goal = None,
            Event::GoalGiven { text } => self.goal = Some(text.clone()),
            Event::Agent { news, .. } => self.goal = news.proposed_goal().or(self.goal.take()),
            _ => {}
        }
    }

    /// Returns whether a confirmed goal is another text than the one that the chat has.
    pub(super) fn is_other_goal(&self, confirmed: &str) -> bool {
        let known = self.goal.as_deref().map(str::trim);
        known.is_some_and(|known| known != confirmed.trim())
    }

    /// Notes that the gate is manual; returns whether it was automatic.
    fn set_manual(&mut self) -> bool {
        self.gate.replace(Gate::Manual) == Some(Gate::Auto)
    }
}

/// Tasks that were dispatched and have not started; participants of discussions are not included.
#[derive(Debug, Default)]
pub(super) struct TaskWaitList {
    last_dispatched: Option<SessionId>,
    waiting: BTreeSet<SessionId>,
}

impl TaskWaitList {
    /// Applies an event; returns whether a task started that had to wait.
    pub(super) fn on_event(&mut self, event: &Event) -> bool {
        let given = self.last_dispatched.take();
        match event {
            Event::TaskStarted(order) if order.speaks.is_none() => {
                self.waiting.insert(order.session.clone());
                self.last_dispatched = Some(order.session.clone());
            }
            Event::TaskDispatched { session } => {
                return self.waiting.remove(session) && given.as_ref() != Some(session);
            }
            _ => {}
        }
        false
    }
}
