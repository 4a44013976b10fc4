//! Routes what follows an event: it is recorded, the run steps with it, its effects are performed, and what one owner asks
//! of another reaches that one. All decisions and answers to agents go out here.

use std::collections::{BTreeMap, VecDeque};

use super::engine_error::{EngineError, EngineOutcome};
use crate::adapter::{AdapterCommand, CallDecision};
use crate::domain::effect::Effect;
use crate::domain::event::Event;

use super::approvals::caller_context::{AnswerChannel, RequestAddress};
use super::owner_request::OwnerRequest;
use super::run_context::{FollowUp, RecordedStep};
use super::subagents::TaskStart;
use super::{Engine, TaskRequest};

impl Engine {
    /// Applies an event: records it, steps the run, and performs the effects.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn apply_event(&mut self, event: Event) -> Result<(), EngineError> {
        let step = self.run.record_step(event)?;
        self.finish_step(step)
    }

    /// Applies events in order.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn apply_events(
        &mut self,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<(), EngineError> {
        events
            .into_iter()
            .try_for_each(|event| self.apply_event(event))
    }

    /// Performs effects that were queued, then applies the events of before and those that follow from the effects.
    pub(super) fn perform_queued(
        &mut self,
        mut events: Vec<Event>,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<(), EngineError> {
        for effect in effects {
            events.extend(self.perform_or_queue(effect)?);
            self.settle()?;
        }
        self.apply_events(events)
    }

    /// Performs an effect, or queues it behind a write to the documents that waits.
    pub(super) fn perform_or_queue(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        // After a halt only effects that end something are performed; events are still recorded.
        let halted = matches!(self.run.outcome, Some(EngineOutcome::Halted(_)));
        let ends_something = matches!(
            effect,
            Effect::InterruptTurn(_)
                | Effect::StopTests
                | Effect::StopChildren(_)
                | Effect::ExpireApprovals { .. }
        );
        if halted && !ends_something {
            return Ok(Vec::new());
        }
        match self.documents.queue_behind_write(&self.run, effect) {
            Some(effect) => self.perform_effect(effect),
            None => Ok(Vec::new()),
        }
    }

    /// Performs what a recorded event causes, and the events that follow from that, in order.
    fn finish_step(&mut self, step: RecordedStep) -> Result<(), EngineError> {
        let mut queue = VecDeque::new();
        let mut next = Some(step);
        while let Some(step) = next {
            self.documents.clear_committed(self.run.state());
            self.settle()?;
            let is_new_phase = step.phase_before != step.phase_after;
            if is_new_phase {
                self.subagents.continue_waiting_patches(&mut self.run);
                queue.push_back(self.run.phase_change_from(step.phase_before));
            }
            if is_new_phase || step.is_resume {
                // Recorded before any code compares the file: otherwise the status would look like an edit of the
                // user.
                for marked in self.documents.write_plan_status(&mut self.run) {
                    self.run.record_step(marked)?;
                }
            }
            for effect in step.effects {
                queue.extend(self.perform_or_queue(effect)?);
                self.settle()?;
            }
            next = match queue.pop_front() {
                Some(event) => Some(self.run.record_step(event)?),
                None => None,
            };
        }
        Ok(())
    }

    /// Performs what the owners left to do, until nothing is left.
    pub(super) fn settle(&mut self) -> Result<(), EngineError> {
        for follow_up in std::mem::take(&mut self.run.follow_ups) {
            match follow_up {
                FollowUp::Step(step) => self.finish_step(step)?,
                FollowUp::Request(request) => self.perform_request(request)?,
            }
        }
        Ok(())
    }

    /// Passes a request to the owner whom it concerns.
    #[expect(clippy::too_many_lines, reason = "one arm a request: a list to read")]
    fn perform_request(&mut self, request: OwnerRequest) -> Result<(), EngineError> {
        let run = &mut self.run;
        match request {
            OwnerRequest::SendToSession(session, command) => {
                self.conversations.send(&session, command);
            }
            OwnerRequest::InterruptTurn => self.conversations.interrupt_turn(),
            OwnerRequest::AddConversation(commands, turn) => {
                self.conversations.add_child(commands, *turn);
            }
            OwnerRequest::CloseTurn(session, reason) => {
                if let Some(turn) = self.conversations.turn_mut(&session) {
                    turn.close(reason);
                }
            }
            OwnerRequest::RemoveConversation(session) => self.conversations.remove_child(&session),
            OwnerRequest::SetAgentWaits {
                session,
                request,
                waits,
            } => self.conversations.set_agent_waits(&session, request, waits),
            OwnerRequest::ResetLoopDetector(session) => {
                if let Some(turn) = self.conversations.turn_mut(&session) {
                    turn.loop_detector.reset();
                }
            }
            OwnerRequest::DeliverDecision(address, decision) => {
                self.deliver_decision(address, decision)?;
            }
            OwnerRequest::DeliverAnswers(address, answers) => {
                self.deliver_answers(address, answers)?;
            }
            OwnerRequest::DecideToolCall(session, asking) => {
                let turn = self.conversations.turn_mut(&session);
                let channel = AnswerChannel::ToolSocket;
                self.approvals
                    .on_request(run, &session, turn, *asking, channel)?;
            }
            OwnerRequest::DecidePatch(caller, asking, decision) => {
                self.approvals
                    .on_patch_request(run, &caller, *asking, *decision)?;
            }
            OwnerRequest::AskToolQuestion(session, request, question) => {
                if let Some(turn) = self.conversations.turn_mut(&session) {
                    let channel = AnswerChannel::ToolSocket;
                    self.approvals
                        .on_questions(run, turn, request, &[question], channel)?;
                }
            }
            OwnerRequest::WithdrawRequest(request) => self.approvals.on_withdrawn(run, request)?,
            OwnerRequest::ForgetRequest(request) => self.approvals.forget(&request),
            OwnerRequest::ReportCallProgress {
                session,
                discussion,
                line,
            } => self
                .tools
                .report_progress(&session, discussion.as_ref(), &line),
            OwnerRequest::StartTasks {
                call,
                wait_mode,
                tasks,
            } => {
                let starts = self.start_tasks(tasks)?;
                self.tools
                    .on_tasks_started(&mut self.run, &call, wait_mode, starts);
            }
            OwnerRequest::DeleteChild(call, child) => {
                let deleted = self.delete_child(&child)?;
                self.tools
                    .on_child_deleted(&mut self.run, &call, &child, deleted);
            }
            OwnerRequest::StartDiscussion(call, asked) => {
                let started = self.start_discussion(&asked)?;
                self.tools
                    .on_discussion_started(&mut self.run, &call, asked.wait_mode, started);
            }
            OwnerRequest::SetStepResult(call, result) => {
                let is_kept = self.conversations.set_step_result(result);
                self.tools.on_step_result(run, &call, is_kept);
            }
            OwnerRequest::StartUserTimeout(request) => self.subagents.start_user_timeout(request),
            OwnerRequest::StopTasks(sessions) => {
                self.subagents.stop_unawaited_tasks(run, &sessions);
            }
            OwnerRequest::StopSpeeches {
                discussion,
                mut sessions,
                code,
            } => {
                let why = "the discussion no longer waits for it";
                let subagents = &mut self.subagents;
                sessions.retain(|session| !subagents.stop_child_task(run, session, why));
                if !sessions.is_empty() {
                    self.discussions.on_speeches_lost(
                        run,
                        subagents,
                        &discussion,
                        &sessions,
                        code,
                    )?;
                }
            }
            OwnerRequest::StopDiscussion(id, reason) => {
                self.discussions
                    .stop(run, &mut self.subagents, &id, reason)?;
            }
            OwnerRequest::EndSpeech(speaks, result) => {
                self.discussions
                    .on_speech_finished(run, &mut self.subagents, &speaks, *result)?;
            }
        }
        self.settle()
    }

    /// Starts the tasks of a tool call, one after another.
    fn start_tasks(&mut self, tasks: Vec<TaskRequest>) -> Result<Vec<TaskStart>, EngineError> {
        let starts = tasks.into_iter().map(|task| {
            let agent = task.agent.clone();
            let result = self.start_task(task)?;
            Ok(TaskStart { agent, result })
        });
        starts.collect()
    }

    /// Sends the decision about a call back: to a CLI, a tool call, or a task whose changes wait.
    fn deliver_decision(
        &mut self,
        address: RequestAddress,
        decision: CallDecision,
    ) -> Result<(), EngineError> {
        let run = &mut self.run;
        match address.channel {
            AnswerChannel::ToolSocket => {
                self.tools
                    .on_decided(run, &self.conversations, &address.request, decision)?;
            }
            AnswerChannel::Patch => {
                self.subagents
                    .queue_patch_decision(run, &address.session, decision);
            }
            AnswerChannel::Cli => self.conversations.send(
                &address.session,
                AdapterCommand::DecideApproval(address.own_id(), decision),
            ),
        }
        Ok(())
    }

    /// Sends the user's answers back to where the questions were asked.
    fn deliver_answers(
        &mut self,
        address: RequestAddress,
        answers: Option<BTreeMap<String, String>>,
    ) -> Result<(), EngineError> {
        match address.channel {
            AnswerChannel::ToolSocket => {
                self.tools
                    .on_answered(&mut self.run, &address.request, answers)
            }
            AnswerChannel::Cli | AnswerChannel::Patch => {
                let command = AdapterCommand::AnswerQuestions(address.own_id(), answers);
                self.conversations.send(&address.session, command);
                Ok(())
            }
        }
    }
}
