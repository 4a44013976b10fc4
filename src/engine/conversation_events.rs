//! Turns the events of a conversation, a role's or a child's, into events of the run.

use std::collections::BTreeMap;

use super::engine_error::EngineError;
use super::engine_input::EngineInput;
use super::warnings::error_with_hint;
use crate::adapter::{AdapterEvent, CliTurnOutcome};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::plan_thread::ThreadChanges;
use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use crate::domain::turn::{Role, TurnOrder, TurnOutcome, TurnPurpose};
use crate::store::TamperedFile;

use super::agent_conversation::ConversationEvent;
use super::approvals::caller_context::{AnswerChannel, RequestAddress};
use super::blocked_calls::blocked_call_event;
use super::documents::{self, PendingDocument};
use super::owner_request::OwnerRequest;
use super::role_messages::{MessageWriter, append_message};
use super::run_context::RunContext;
use super::subagents::child_session_files::save_child;
use super::turn_calls::TurnCalls;
use super::{Engine, agent_activity};

impl Engine {
    pub(super) fn on_conversation_event(
        &mut self,
        session: &SessionId,
        event: ConversationEvent,
    ) -> Result<(), EngineError> {
        match event {
            ConversationEvent::Started(process) => {
                // The start of a task is reported when it gets its slot.
                if self.conversations.role(session).is_none() {
                    return Ok(());
                }
                self.tools.expect_process(session, process.pid);
                let Some((order, prompt_sha256, reports)) = self.conversations.take_turn_start()
                else {
                    return Ok(());
                };
                self.apply_event(Event::TurnStarted {
                    turn: order.turn,
                    prompt_sha256,
                    process: Some(process),
                })?;
                self.record_given_threads(&order.purpose)?;
                let reported = |session| Event::TaskReported { session };
                self.run.record_all(reports.into_iter().map(reported))
            }
            ConversationEvent::Adapter(event) => self.on_adapter_event(session, event),
            ConversationEvent::Silent(since, why) => self.record_activity(
                session,
                AgentActivity::Silent {
                    seconds: since.as_secs(),
                    verdict: Some(why),
                },
            ),
            ConversationEvent::RawStreamFailed(error) => {
                self.run.warn_once("save the raw stream", error)
            }
            ConversationEvent::Closed => Ok(()),
        }
    }

    /// Records that the prompt of a step contained what the user said in threads.
    fn record_given_threads(&mut self, purpose: &TurnPurpose) -> Result<(), EngineError> {
        if !matches!(purpose, TurnPurpose::Step { .. } | TurnPurpose::Fix { .. }) {
            return Ok(());
        }
        let unanswered = self.state().threads.unanswered();
        let given_with_step: Vec<u32> = unanswered.map(|thread| thread.n).collect();
        if given_with_step.is_empty() {
            return Ok(());
        }
        self.apply_event(Event::ThreadsChanged(ThreadChanges {
            given_with_step,
            ..ThreadChanges::default()
        }))
    }

    fn on_adapter_event(
        &mut self,
        session: &SessionId,
        event: AdapterEvent,
    ) -> Result<(), EngineError> {
        self.conversations.note_call(&self.run, session, &event);
        if let Some(activity) = agent_activity::to_activity(&event) {
            return self.record_activity(session, activity);
        }
        let role = self.conversations.role(session);
        let run = &mut self.run;
        match (event, role) {
            (AdapterEvent::ApprovalRequested(asking), _) => {
                let turn = self.conversations.turn_mut(session);
                let channel = AnswerChannel::Cli;
                self.approvals
                    .on_request(run, session, turn, *asking, channel)
            }
            (AdapterEvent::QuestionAsked { request, questions }, _) => {
                match self.conversations.turn_mut(session) {
                    Some(turn) => {
                        let channel = AnswerChannel::Cli;
                        self.approvals
                            .on_questions(run, turn, request, &questions, channel)
                    }
                    // Nobody is asked, and the CLI waits for an answer.
                    None => {
                        let address = RequestAddress {
                            request,
                            session: session.clone(),
                            channel: AnswerChannel::Cli,
                        };
                        run.request(OwnerRequest::DeliverAnswers(address, None));
                        Ok(())
                    }
                }
            }
            (AdapterEvent::RequestWithdrawn { request }, _) => {
                match self.conversations.turn_mut(session) {
                    Some(turn) => {
                        let request = turn.caller.qualified_request_id(&request);
                        self.approvals.on_withdrawn(run, request)
                    }
                    // Its requests ended with the turn; another session may have one of the same id.
                    None => Ok(()),
                }
            }
            (AdapterEvent::ToolBlocked { tool, reason }, _) => {
                run.record(blocked_call_event(session.clone(), &tool, &reason))
            }
            (AdapterEvent::TextDelta { item, text }, _) => {
                run.show_delta(TextDelta {
                    author: text_author(session, role),
                    item,
                    change: DeltaChange::Append(text),
                });
                Ok(())
            }
            (AdapterEvent::BlockWithdrawn { item }, _) => {
                run.show_delta(TextDelta {
                    author: text_author(session, role),
                    item,
                    change: DeltaChange::Withdraw,
                });
                Ok(())
            }
            (event, Some(role)) => self.on_role_event(role, event),
            (AdapterEvent::SessionOpened { external_id, .. }, None) => {
                record_child_opened(run, session, &external_id)
            }
            // A task counts its own turns and retries, and reports its end. Versions and usage are kept for roles only, and
            // nobody sends text into the turn of a child.
            (_, None) => Ok(()),
        }
    }

    /// Handles what only the conversations of roles tell.
    fn on_role_event(&mut self, role: Role, event: AdapterEvent) -> Result<(), EngineError> {
        let run = &mut self.run;
        match event {
            AdapterEvent::Ready {
                version: Some(version),
            } => record_version(run, role, &version),
            AdapterEvent::SessionOpened { external_id, model } => {
                record_session_opened(run, role, &external_id, model.as_deref())
            }
            AdapterEvent::SessionLost { reason } => self.on_session_lost(role, &reason),
            AdapterEvent::InputUndelivered { text } => run.record(Event::MessageQueued {
                to: Some(role),
                text: agent_activity::clean_block(&text),
            }),
            AdapterEvent::Usage(usage) => {
                let usage = agent_activity::to_session_usage(&usage);
                let session = run.state().session(role);
                if session.is_some_and(|session| session.usage == usage) {
                    Ok(())
                } else {
                    run.record(Event::UsageReported { role, usage })
                }
            }
            AdapterEvent::PlanUse { windows } => {
                let session = run.state().session(role);
                if session.is_none_or(|session| session.plan == windows) {
                    Ok(())
                } else {
                    run.record(Event::PlanUseReported { role, windows })
                }
            }
            AdapterEvent::TurnEnded(end) => {
                self.check_files_after_turn(end);
                Ok(())
            }
            // The rest is agent activity, recorded above, or handled for every session.
            AdapterEvent::Ready { version: None }
            | AdapterEvent::TurnStarted
            | AdapterEvent::TextDelta { .. }
            | AdapterEvent::BlockWithdrawn { .. }
            | AdapterEvent::ThinkingDelta { .. }
            | AdapterEvent::ToolOutput { .. }
            | AdapterEvent::Text { .. }
            | AdapterEvent::Thinking { .. }
            | AdapterEvent::ToolStarted { .. }
            | AdapterEvent::ToolEnded { .. }
            | AdapterEvent::FilesChanged { .. }
            | AdapterEvent::CallDenied { .. }
            | AdapterEvent::Retrying { .. }
            | AdapterEvent::Notice { .. }
            | AdapterEvent::Unknown { .. }
            | AdapterEvent::Malformed { .. }
            | AdapterEvent::ApprovalRequested(_)
            | AdapterEvent::QuestionAsked { .. }
            | AdapterEvent::RequestWithdrawn { .. }
            | AdapterEvent::ToolBlocked { .. } => Ok(()),
        }
    }

    fn record_activity(
        &mut self,
        session: &SessionId,
        activity: AgentActivity,
    ) -> Result<(), EngineError> {
        let Some(role) = self.conversations.role(session) else {
            self.subagents
                .append_activity(&self.run, session, &activity)?;
            let session = session.clone();
            return self.run.record(Event::TaskActivity {
                session,
                news: activity,
            });
        };
        let running = self.state().running.as_ref();
        let turn = running.map(|running| running.order.turn.clone());
        self.run.record(Event::Agent {
            turn: turn.unwrap_or_else(|| TurnId::new("none")),
            role,
            news: activity,
        })
    }

    /// Queues a user's message that a conversation did not deliver before the program ended; drops all other
    /// events.
    pub(super) fn queue_undelivered_input(
        &mut self,
        session: &SessionId,
        event: ConversationEvent,
    ) {
        let ConversationEvent::Adapter(AdapterEvent::InputUndelivered { text }) = event else {
            return;
        };
        if let Err(error) = self.apply_event(Event::MessageQueued {
            to: self.conversations.role(session),
            text: agent_activity::clean_block(&text),
        }) {
            tracing::error!(%error, "the last message was not saved");
        }
    }

    /// Sends the turn again in a new conversation, with what the old one knew, and records that prompt as sent.
    fn on_session_lost(&mut self, role: Role, reason: &str) -> Result<(), EngineError> {
        self.apply_event(Event::SessionLost {
            role,
            reason: agent_activity::clean_line(reason),
        })?;
        match self.conversations.active_turn() {
            Some(active) if active.order.purpose.role() == role => {
                let text = &active.recovery_prompt;
                append_message(&mut self.run, MessageWriter::Program, &active.order, text)
            }
            _ => Ok(()),
        }
    }

    /// Compares the program's own files outside the main loop; the turn's end follows with the result.
    fn check_files_after_turn(&mut self, end: CliTurnOutcome) {
        let Some(active) = self.conversations.active_turn() else {
            return;
        };
        let turn = active.order.turn.clone();
        self.conversations.close_turn();
        let checked = self.run.check_tampering();
        self.run.spawn_input_task(async move {
            EngineInput::TurnChecked {
                turn,
                end,
                tampered: checked.await,
            }
        });
    }

    /// Records which files a review's agent opened that it had not seen like this before.
    fn record_opened_files(
        &mut self,
        order: &TurnOrder,
        calls: &TurnCalls,
    ) -> Result<(), EngineError> {
        let known = &self.state().opened_files;
        let opened = calls.opened_files().iter();
        let new = opened.filter(|(path, hash)| known.get(*path) != Some(*hash));
        let files: BTreeMap<_, _> = new
            .map(|(path, hash)| (path.clone(), hash.clone()))
            .collect();
        if order.purpose != TurnPurpose::Review || files.is_empty() {
            return Ok(());
        }
        self.run.record(Event::FilesOpened {
            turn: order.turn.clone(),
            files,
        })
    }

    pub(super) fn on_turn_checked(
        &mut self,
        turn: &TurnId,
        end: &CliTurnOutcome,
        tampered: &[TamperedFile],
    ) -> Result<(), EngineError> {
        let Some(ended) = self.conversations.end_turn(|order| order.turn == *turn) else {
            return Ok(());
        };
        self.run.report_tampered_files(tampered)?;
        let final_text = match end {
            CliTurnOutcome::Completed { final_text } => final_text.clone(),
            CliTurnOutcome::Interrupted | CliTurnOutcome::Failed(_) => String::new(),
        };
        let role = ended.order.purpose.role();
        self.discussions
            .stop_awaited(&mut self.run, &mut self.subagents, &ended.session)?;
        self.settle()?;
        self.tools.end_calls(&mut self.run, &ended.session);
        if !final_text.is_empty() {
            append_message(
                &mut self.run,
                MessageWriter::Agent,
                &ended.order,
                &final_text,
            )?;
        }
        self.settle()?;
        let calls = self.conversations.take_calls();
        self.record_opened_files(&ended.order, &calls)?;
        let mut result = agent_activity::to_turn_outcome(
            end,
            &ended.order.purpose,
            self.run.failover_adapter(role),
            ended.step_result,
        );
        if let TurnOutcome::Completed {
            result: Some(result),
            ..
        } = &mut result
        {
            documents::check_step_result(&self.run, &calls, result);
        }
        let restored = std::mem::take(&mut self.run.restored_in_turn);
        if !restored.is_empty() {
            result = agent_activity::to_tampered_outcome(&restored);
        }
        let document =
            PendingDocument::new(ended.order, final_text, ended.staging).with_calls(calls);
        self.documents.set_pending(document);
        // A file that cannot be read now is read again by whoever writes it.
        match documents::try_detect_user_edits(&self.run) {
            Ok(edits) => self.apply_events(edits)?,
            Err(error) => {
                let run = &mut self.run;
                run.warn_once("read the workflow files", error_with_hint(&error))?;
                self.settle()?;
            }
        }
        self.apply_event(Event::TurnEnded {
            turn: turn.clone(),
            result,
        })?;
        // A document that is not collected is dropped; one in conflict is kept.
        if self.state().busy.is_none() {
            self.documents.drop_pending();
        }
        Ok(())
    }
}

fn text_author(session: &SessionId, role: Option<Role>) -> TextAuthor {
    role.map_or_else(|| TextAuthor::Child(session.clone()), TextAuthor::Role)
}

fn record_child_opened(
    run: &mut RunContext,
    session: &SessionId,
    external_id: &str,
) -> Result<(), EngineError> {
    let external_id = agent_activity::clean_line(external_id);
    let known = run.child_session(session);
    if known.and_then(|child| child.external_id.as_ref()) != Some(&external_id) {
        let session = session.clone();
        run.record(Event::TaskOpened {
            session,
            external_id,
        })?;
    }
    save_child(run, session, None)
}

fn record_version(run: &mut RunContext, role: Role, version: &str) -> Result<(), EngineError> {
    let version = agent_activity::clean_line(version);
    let session = run.state().session(role);
    if session.and_then(|session| session.version.as_ref()) == Some(&version) {
        return Ok(());
    }
    let adapter = session.map_or(String::new(), |session| session.adapter.clone());
    run.record(Event::SessionVersion {
        role,
        adapter,
        version,
    })
}

fn record_session_opened(
    run: &mut RunContext,
    role: Role,
    external_id: &str,
    model: Option<&str>,
) -> Result<(), EngineError> {
    let external_id = agent_activity::clean_line(external_id);
    let model = model.map(agent_activity::clean_line);
    let model = model.filter(|model| !model.is_empty());
    let is_known = run.state().session(role).is_some_and(|session| {
        session.external_id.as_ref() == Some(&external_id) && session.model == model
    });
    if is_known {
        return Ok(());
    }
    run.record(Event::SessionOpened {
        role,
        external_id,
        model,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ViewUpdate;
    use crate::engine::approvals::ApprovalTestRun;

    #[test]
    fn a_finished_text_is_shown_between_its_own_pieces_and_those_of_the_next_one() {
        let mut run = ApprovalTestRun::new();
        run.engine.take_view_updates();
        let piece = |item: &str| AdapterEvent::TextDelta {
            item: item.to_owned(),
            text: "A pie".to_owned(),
        };
        run.handle_adapter_event(piece("first"));
        run.handle_adapter_event(AdapterEvent::Text {
            item: "first".to_owned(),
            text: "A piece.".to_owned(),
        });
        run.handle_adapter_event(piece("second"));
        let updates = run.engine.take_view_updates().into_iter();
        let shown: Vec<String> = updates
            .map(|update| match update {
                ViewUpdate::TextDelta(delta) => delta.item,
                ViewUpdate::EventRecord(record) => match record.event {
                    Event::Agent { news, .. } => format!("{news:?}"),
                    other => format!("{other:?}"),
                },
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(shown, ["first", "Text { text: \"A piece.\" }", "second"]);
    }
}
