//! Passes what one owner asks to the owner whom it concerns. All decisions and answers leave here.

use std::collections::BTreeMap;

use crate::adapter::{AdapterCommand, CallDecision};

use super::Engine;
use super::approvals::caller_context::{AnswerChannel, RequestAddress};
use super::engine_error::EngineError;
use super::owner_request::OwnerRequest;

impl Engine {
    /// Passes a request to the owner whom it concerns.
    #[expect(clippy::too_many_lines, reason = "one arm a request: a list to read")]
    pub(super) fn perform_request(&mut self, request: OwnerRequest) -> Result<(), EngineError> {
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
                self.deliver_decision(address, decision);
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
            OwnerRequest::PerformTool(request) => {
                if let Some((call, perform)) = self.tools.find_performer(&request) {
                    let reply = perform(self, &call)?;
                    self.tools.on_reply(&mut self.run, &request, reply);
                }
            }
            OwnerRequest::ReportCallProgress {
                session,
                discussion,
                line,
            } => self
                .tools
                .report_progress(&session, discussion.as_ref(), &line),
            OwnerRequest::StartUserTimeout(request) => self.subagents.start_user_timeout(request),
            OwnerRequest::StopTasks(sessions) => {
                self.subagents.stop_unawaited_tasks(run, &sessions);
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

    /// Sends the decision about a call back: to a CLI, a tool call, or a task whose changes wait.
    fn deliver_decision(&mut self, address: RequestAddress, decision: CallDecision) {
        let run = &mut self.run;
        match address.channel {
            AnswerChannel::ToolSocket => self.tools.on_decided(run, &address.request, decision),
            AnswerChannel::Patch => {
                self.subagents
                    .queue_patch_decision(run, &address.session, decision);
            }
            AnswerChannel::Cli => self.conversations.send(
                &address.session,
                AdapterCommand::DecideApproval(address.own_id(), decision),
            ),
        }
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
