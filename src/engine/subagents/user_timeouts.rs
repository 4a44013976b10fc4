//! Limits how long a child waits for the user, for an answer to a question or for a decision about a call.
//!
//! Both wait in the common queue, labelled with the child's path, and only for a part of the task's time: a
//! child that gets no answer decides for itself and still has time left for it.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::{ChildEvent, SubagentTasks, qualified_request_id};
use crate::adapter::AdapterCommand;
use crate::domain::event::{ApprovalDecider, Event};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::question::AgentQuestion;
use crate::domain::question::QuestionAnswer;
use crate::engine::call_decision::{DecisionRecord as Answered, deny_with_reason};
use crate::engine::{Engine, EngineError};

/// One wait may take this fraction of the task's time.
const TASK_TIME_DIVISOR: u32 = 3;

/// The deadlines of children that wait for the user.
#[derive(Debug, Default)]
pub(super) struct UserTimeouts(BTreeMap<RequestId, Instant>);

impl UserTimeouts {
    /// Returns the earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<(Instant, RequestId)> {
        let all = self.0.iter().map(|(request, at)| (*at, request.clone()));
        all.min_by_key(|(at, _)| *at)
    }

    pub(super) fn cancel(&mut self, request: &RequestId) {
        self.0.remove(request);
    }
}

impl SubagentTasks {
    /// Turns the end of a wait into an event of the child.
    pub(super) fn on_user_timeout(&mut self, request: RequestId) -> (SessionId, ChildEvent) {
        self.user_timeouts.cancel(&request);
        let session = request.as_str().split_once('/');
        let session = SessionId::new(session.map_or("", |(session, _)| session));
        (session, ChildEvent::RequestExpired(request))
    }
}

impl Engine {
    /// Returns how long the child of a request waits for the user: a part of its own time limit, also for a
    /// speech.
    fn user_timeout(&self, request: &RequestId) -> Duration {
        let whose = self.subagent_tasks.task_of_request(request);
        whose.map_or(Duration::ZERO, |(at_task, _)| {
            at_task.time_limit / TASK_TIME_DIVISOR
        })
    }

    /// Starts the timeout for a request of a child.
    pub(super) fn start_user_timeout(&mut self, request: &RequestId) {
        let until = Instant::now() + self.user_timeout(request);
        self.subagent_tasks
            .user_timeouts
            .0
            .insert(request.clone(), until);
    }

    /// Queues a question of a child's agent for the user. If the task is over, or the agent may not ask, it
    /// is told to decide for itself.
    pub(super) fn on_child_question(
        &mut self,
        session: &SessionId,
        own: &RequestId,
        questions: &[AgentQuestion],
    ) -> Result<(), EngineError> {
        let at_task = self.subagent_tasks.active_tasks.get(session);
        let order = at_task
            .filter(|at_task| at_task.stop_reason.is_none())
            .map(|at_task| &at_task.order);
        let order = order.filter(|order| {
            let rules = self.setup.permissions.rules(&order.agent);
            rules.find_hiding_rule("question").is_none()
        });
        let Some(turn) = order.map(|order| order.turn.clone()) else {
            self.send_child_command(session, AdapterCommand::AnswerQuestions(own.clone(), None));
            return Ok(());
        };
        let request = qualified_request_id(session, own);
        self.start_user_timeout(&request);
        let questions = self.remember_questions(&request, questions);
        self.apply_event(Event::AgentAsked {
            turn,
            request,
            questions,
            child: Some(self.session_display_path(session)),
        })
    }

    /// Lets agents decide their questions themselves when no user is present; does nothing if there are no
    /// questions.
    ///
    /// # Errors
    /// The record of the run cannot be written.
    pub fn dismiss_questions(&mut self) -> Result<(), EngineError> {
        while let Some(id) = self.state().asked.first().map(|question| question.id) {
            let answer = QuestionAnswer::Dismiss;
            self.apply_event(Event::QuestionAnswered { id, answer })?;
        }
        Ok(())
    }

    /// Handles a request without an answer in time: the agent decides itself, and a call is denied.
    pub(super) fn on_child_request_expired(
        &mut self,
        request: RequestId,
    ) -> Result<(), EngineError> {
        let state = self.state();
        let is_asked = |open: &RequestId| *open == request;
        let mut asked = state
            .asked
            .iter()
            .filter_map(|asked| asked.kind.request_id());
        if asked.any(is_asked) {
            if let Some((at_task, own)) = self.subagent_tasks.task_of_request(&request) {
                let session = at_task.order.session.clone();
                self.send_child_command(&session, AdapterCommand::AnswerQuestions(own, None));
            }
            return self.on_request_withdrawn(request);
        }
        let mut calls = state.approvals.iter().map(|approval| &approval.request);
        if !calls.any(is_asked) {
            return Ok(());
        }
        let reason = format!(
            "no answer within {} s",
            self.user_timeout(&request).as_secs()
        );
        let answered = Answered {
            decision: deny_with_reason(&reason),
            by: ApprovalDecider::Policy,
            reason,
        };
        self.record_and_send_decision(request, answered, Vec::new())
    }
}

#[cfg(test)]
mod tests;
