//! What a child waits for the user with: a question of its agent's, or a call that the user is to decide.
//!
//! Both wait in the one queue, with the child's path, and for a part of the task's time only: a child that nobody
//! answers decides for itself and has time left for it. Refuses to know who answers.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::{ChildEvent, SubagentTasks, qualified_request_id};
use crate::adapter::AdapterCommand;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::question::AgentQuestion;
use crate::domain::question::QuestionAnswer;
use crate::engine::call_decision::{DecisionRecord as Answered, deny_with_reason};
use crate::engine::{Engine, EngineError};

/// Which part of a task's time one wait may take.
const TASK_TIME_DIVISOR: u32 = 3;

/// Until when children wait for the user.
#[derive(Debug, Default)]
pub(super) struct UserTimeouts(BTreeMap<RequestId, Instant>);

impl UserTimeouts {
    /// The wait that is over first.
    pub(super) fn next_deadline(&self) -> Option<(Instant, RequestId)> {
        let all = self.0.iter().map(|(request, at)| (*at, request.clone()));
        all.min_by_key(|(at, _)| *at)
    }

    pub(super) fn cancel(&mut self, request: &RequestId) {
        self.0.remove(request);
    }
}

impl SubagentTasks {
    /// Takes the end of a wait as something that the child told.
    pub(super) fn on_user_timeout(&mut self, request: RequestId) -> (SessionId, ChildEvent) {
        self.user_timeouts.cancel(&request);
        let session = request.as_str().split_once('/');
        let session = SessionId::new(session.map_or("", |(session, _)| session));
        (session, ChildEvent::RequestExpired(request))
    }
}

impl Engine {
    /// How long the child of a request waits for the user: part of what its own work may take, a speech's too.
    fn user_timeout(&self, request: &RequestId) -> Duration {
        let whose = self.subagent_tasks.task_of_request(request);
        whose.map_or(Duration::ZERO, |(at_task, _)| {
            at_task.time_limit / TASK_TIME_DIVISOR
        })
    }

    /// Lets a child wait for the user from now on.
    pub(super) fn start_user_timeout(&mut self, request: &RequestId) {
        let until = Instant::now() + self.user_timeout(request);
        self.subagent_tasks
            .user_timeouts
            .0
            .insert(request.clone(), until);
    }

    /// Puts a question of a child's agent into the queue. One whose task is over, or whose agent may not ask, is told to
    /// decide itself.
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

    /// Has agents decide what they ask, where nobody is there; does nothing where nobody asks.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn dismiss_questions(&mut self) -> Result<(), EngineError> {
        while let Some(id) = self.state().asked.first().map(|question| question.id) {
            let answer = QuestionAnswer::Dismiss;
            self.apply_event(Event::QuestionAnswered { id, answer })?;
        }
        Ok(())
    }

    /// Nobody answered in time: the agent decides itself, the call does not go ahead.
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
            "nobody answered for {} s",
            self.user_timeout(&request).as_secs()
        );
        let answered = Answered {
            decision: deny_with_reason(&reason),
            by: "policy",
            reason,
        };
        self.record_and_send_decision(request, answered, Vec::new())
    }
}

#[cfg(test)]
mod tests;
