//! Turns the events of a live conversation into events of the run.

use std::collections::BTreeMap;

use crate::adapter::{AdapterEvent, CliTurnOutcome};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::question::{AgentQuestion, AnswerOption};
use crate::domain::session::{AccountUsageWindow, Message, MessageRole};
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::Role;
use crate::store::{StoreError, TamperedFile};

use super::agent_conversation::ConversationEvent;
use super::approval_request::ApprovalRequest;
use super::call_decision::DecisionWait;
use super::documents::{self, PendingDocument};
use super::run_journal::RunJournal;
use super::{Engine, EngineError, EngineInput, agent_activity, error_with_hint};

impl Engine {
    pub(super) fn on_conversation_event(
        &mut self,
        role: Role,
        told: ConversationEvent,
    ) -> Result<(), EngineError> {
        match told {
            ConversationEvent::Started(process) => {
                self.expect_tool_process(role, process.pid);
                let Some(at_work) = &mut self.active_turn else {
                    return Ok(());
                };
                let (turn, prompt_sha256) =
                    (at_work.order.turn.clone(), at_work.prompt_sha256.clone());
                let reports = std::mem::take(&mut at_work.background_reports);
                self.apply_event(Event::TurnStarted {
                    turn,
                    prompt_sha256,
                    process: Some(process),
                })?;
                self.mark_results_reported(reports)
            }
            ConversationEvent::Adapter(event) => self.on_adapter_event(role, event),
            ConversationEvent::Silent(since, why) => self.record_activity(
                role,
                AgentActivity::Silent {
                    seconds: since.as_secs(),
                    verdict: Some(why),
                },
            ),
            ConversationEvent::RawStreamFailed(error) => {
                self.warn_once("save the raw stream", error)
            }
            ConversationEvent::Closed => Ok(()),
        }
    }

    /// Queues a user's message that a conversation did not deliver before the program ended; drops all other
    /// events.
    pub(super) fn queue_undelivered_input(&mut self, role: Role, told: ConversationEvent) {
        let ConversationEvent::Adapter(AdapterEvent::InputUndelivered { text }) = told else {
            return;
        };
        let text = agent_activity::clean_block(&text);
        if let Err(error) = self.apply_event(Event::MessageQueued {
            to: Some(role),
            text,
        }) {
            tracing::error!(%error, "the last message was not saved");
        }
    }

    /// Handles a call that waits for a decision: the user's, or an immediate one.
    fn on_approval_event(&mut self, role: Role, asked: AdapterEvent) -> Result<(), EngineError> {
        let patience = match &asked {
            AdapterEvent::HookApprovalRequested { .. } => DecisionWait::ImmediateOnly,
            _ => DecisionWait::UntilUserDecides,
        };
        match ApprovalRequest::from_adapter_event(asked) {
            Some(asking) => self.on_approval_request(role, patience, asking),
            None => Ok(()),
        }
    }

    fn on_adapter_event(&mut self, role: Role, event: AdapterEvent) -> Result<(), EngineError> {
        if let Some(news) = agent_activity::to_activity(&event) {
            return self.record_activity(role, news);
        }
        match event {
            AdapterEvent::Ready {
                version: Some(version),
            } => self.on_version(role, &version),
            AdapterEvent::SessionOpened { external_id } => {
                self.on_session_opened(role, &external_id)
            }
            AdapterEvent::SessionLost { reason } => self.on_session_lost(role, &reason),
            AdapterEvent::TextDelta { item, text } => {
                self.run.deltas.push(TextDelta::Text { role, item, text });
                Ok(())
            }
            AdapterEvent::BlockWithdrawn { item } => {
                self.run.deltas.push(TextDelta::Withdrawn { role, item });
                Ok(())
            }
            asked @ (AdapterEvent::ApprovalRequested { .. }
            | AdapterEvent::HookApprovalRequested { .. }) => self.on_approval_event(role, asked),
            AdapterEvent::QuestionAsked { request, questions } => {
                self.on_agent_questions(request, &questions)
            }
            AdapterEvent::RequestWithdrawn { request } => self.on_request_withdrawn(request),
            AdapterEvent::ToolBlocked { tool, reason } => match self.state().session(role) {
                Some(session) => self.record_blocked_call(session.id.clone(), &tool, &reason),
                None => Ok(()),
            },
            AdapterEvent::InputUndelivered { text } => self.apply_event(Event::MessageQueued {
                to: Some(role),
                text: agent_activity::clean_block(&text),
            }),
            AdapterEvent::Usage(usage) => self.on_usage(role, &usage),
            AdapterEvent::PlanUse { windows } => self.on_account_usage(role, windows),
            AdapterEvent::TurnEnded(end) => {
                self.check_files_after_turn(end);
                Ok(())
            }
            // The rest is agent activity, recorded above, or for the view only.
            AdapterEvent::Ready { version: None }
            | AdapterEvent::TurnStarted
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
            | AdapterEvent::Malformed { .. } => Ok(()),
        }
    }

    /// Handles a request that its CLI withdrew: the call ends like any other without an answer.
    pub(super) fn on_request_withdrawn(&mut self, request: RequestId) -> Result<(), EngineError> {
        self.pending_requests.remove(&request);
        let mut waiting = self.state().approvals.iter();
        match waiting
            .find(|approval| approval.request == request)
            .cloned()
        {
            Some(approval) => self.apply_event(Event::ApprovalExpired {
                approval,
                reason: "its CLI no longer waits for an answer".to_owned(),
            }),
            None => self.apply_event(Event::AgentQuestionWithdrawn { request }),
        }
    }

    fn record_activity(&mut self, role: Role, news: AgentActivity) -> Result<(), EngineError> {
        let running = self
            .state()
            .running
            .as_ref()
            .map(|running| running.order.turn.clone());
        let turn = running.unwrap_or_else(|| TurnId::new("none"));
        self.apply_event(Event::Agent { turn, role, news })
    }

    fn on_version(&mut self, role: Role, version: &str) -> Result<(), EngineError> {
        let version = agent_activity::clean_line(version);
        let session = self.state().session(role);
        if session.and_then(|session| session.version.as_ref()) == Some(&version) {
            return Ok(());
        }
        let adapter = session.map_or(String::new(), |session| session.adapter.clone());
        self.apply_event(Event::SessionVersion {
            role,
            adapter,
            version,
        })
    }

    fn on_session_opened(&mut self, role: Role, external_id: &str) -> Result<(), EngineError> {
        let external_id = agent_activity::clean_line(external_id);
        let known = self
            .state()
            .session(role)
            .and_then(|session| session.external_id.as_ref());
        if known != Some(&external_id) {
            self.apply_event(Event::SessionOpened { role, external_id })?;
        }
        Ok(())
    }

    /// Sends the turn again in a new conversation, with what the old one knew, and records that prompt as sent.
    fn on_session_lost(&mut self, role: Role, reason: &str) -> Result<(), EngineError> {
        self.apply_event(Event::SessionLost {
            role,
            reason: agent_activity::clean_line(reason),
        })?;
        let at_work = self.active_turn.as_ref();
        let sent = at_work
            .filter(|at_work| at_work.order.purpose.role() == role)
            .map(|at_work| (at_work.order.clone(), at_work.recovery_prompt.clone()));
        match sent {
            Some((order, text)) => self.append_message(role, MessageWriter::Program, &order, &text),
            None => Ok(()),
        }
    }

    fn on_usage(
        &mut self,
        role: Role,
        usage: &crate::adapter::CliUsageTotals,
    ) -> Result<(), EngineError> {
        let usage = agent_activity::to_session_usage(usage);
        if self
            .state()
            .session(role)
            .is_some_and(|session| session.usage == usage)
        {
            return Ok(());
        }
        self.apply_event(Event::UsageReported { role, usage })
    }

    fn on_account_usage(
        &mut self,
        role: Role,
        windows: Vec<AccountUsageWindow>,
    ) -> Result<(), EngineError> {
        let session = self.state().session(role);
        if session.is_none_or(|session| session.plan == windows) {
            return Ok(());
        }
        self.apply_event(Event::PlanUseReported { role, windows })
    }

    /// Shows an agent's question cleaned, and remembers the agent's wording.
    pub(super) fn on_agent_questions(
        &mut self,
        request: RequestId,
        questions: &[AgentQuestion],
    ) -> Result<(), EngineError> {
        let Some(turn) = self
            .active_turn
            .as_ref()
            .map(|at_work| at_work.order.turn.clone())
        else {
            return Ok(());
        };
        let questions = self.remember_questions(&request, questions);
        self.apply_event(Event::AgentAsked {
            turn,
            request,
            questions,
            child: None,
        })
    }

    /// Cleans questions for the user and remembers the agent's wording under their request.
    pub(super) fn remember_questions(
        &mut self,
        request: &RequestId,
        questions: &[AgentQuestion],
    ) -> Vec<AgentQuestion> {
        let shown: Vec<AgentQuestion> = questions.iter().map(clean_question).collect();
        let raw: BTreeMap<String, String> = shown
            .iter()
            .zip(questions)
            .map(|(shown, asked)| (shown.text.clone(), asked.text.clone()))
            .collect();
        self.pending_requests.add_questions(request.clone(), raw);
        shown
    }

    /// Compares the program's own files outside the main loop; the turn's end follows with the result.
    fn check_files_after_turn(&mut self, end: CliTurnOutcome) {
        let Some(at_work) = &self.active_turn else {
            return;
        };
        let turn = at_work.order.turn.clone();
        self.turn_has_ended = true;
        let guard = self.run.journal.guard().clone();
        let done = self.run.inputs.clone();
        self.run.tasks.spawn(async move {
            let checked =
                tokio::task::spawn_blocking(move || RunJournal::find_tampered_files(&guard)).await;
            let tampered = checked.unwrap_or_else(|panicked| {
                let path = std::path::Path::new(".agent-collab");
                let source = std::io::Error::other(panicked.to_string());
                Err(StoreError::from_io(
                    "compare with what was written",
                    path,
                    source,
                ))
            });
            let _nobody = done
                .send(EngineInput::TurnChecked {
                    turn,
                    end,
                    tampered,
                })
                .await;
        });
    }

    pub(super) fn on_turn_checked(
        &mut self,
        turn: &TurnId,
        end: &CliTurnOutcome,
        tampered: Result<Vec<TamperedFile>, StoreError>,
    ) -> Result<(), EngineError> {
        let Some(at_work) = self
            .active_turn
            .take_if(|at_work| at_work.order.turn == *turn)
        else {
            return Ok(());
        };
        self.report_tampered_files(&tampered?)?;
        let final_text = match end {
            CliTurnOutcome::Completed { final_text } => final_text.clone(),
            CliTurnOutcome::Interrupted | CliTurnOutcome::Failed(_) => String::new(),
        };
        let role = at_work.order.purpose.role();
        self.stop_awaited_discussions(role)?;
        self.end_tool_calls(role);
        if !final_text.is_empty() {
            self.append_message(role, MessageWriter::Agent, &at_work.order, &final_text)?;
        }
        let document = PendingDocument::new(at_work.order, final_text, at_work.staging);
        self.documents.set_pending(document);
        // A file that cannot be read now is read again by whoever writes it.
        match documents::try_detect_user_edits(&self.run) {
            Ok(edits) => {
                for edit in edits {
                    self.apply_event(edit)?;
                }
            }
            Err(error) => self.warn_once("read the workflow files", error_with_hint(&error))?,
        }
        self.apply_event(Event::TurnEnded {
            turn: turn.clone(),
            result: agent_activity::to_turn_outcome(end, self.run.failover_adapter(role)),
        })?;
        // A document that is not collected is dropped; one in conflict is kept.
        if self.state().busy.is_none() {
            self.documents.drop_pending();
        }
        Ok(())
    }

    /// Records which of the program's own files another process changed, if any.
    pub(super) fn report_tampered_files(
        &mut self,
        tampered: &[TamperedFile],
    ) -> Result<(), EngineError> {
        if tampered.is_empty() {
            return Ok(());
        }
        let name = |path: &std::path::Path| agent_activity::clean_line(&path.to_string_lossy());
        let named = tampered
            .iter()
            .map(|t| (name(&t.path), t.kept_copy.as_deref().map(name)));
        let files = named.collect();
        self.apply_event(Event::StoreTampered { files })
    }

    /// Appends a message to a role's session; the event contains everything but the text.
    pub(super) fn append_message(
        &mut self,
        role: Role,
        wrote: MessageWriter,
        order: &crate::domain::turn::TurnOrder,
        text: &str,
    ) -> Result<(), EngineError> {
        let Some(session) = self.state().session(role) else {
            return Ok(());
        };
        let id = session.id.clone();
        let message = Message {
            id: format!("msg_{}", session.n_messages + 1),
            turn: Some(order.turn.clone()),
            role: match wrote {
                MessageWriter::Agent => MessageRole::Assistant,
                MessageWriter::Program | MessageWriter::User => MessageRole::User,
            },
            agent: order.purpose.profile(),
            synthetic: wrote == MessageWriter::Program,
            ts: self.run.journal.now(),
            text: crate::text::clean_text(text),
        };
        self.run.journal.append_message(&id, &message)?;
        self.apply_event(Event::MessageAppended {
            role,
            message: Message {
                text: String::new(),
                ..message
            },
        })
    }
}

/// The writer of a message in a role's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageWriter {
    Agent,
    /// The program, in the user's place.
    Program,
    /// The user; the same words are also in the program's message that follows.
    User,
}

/// Cleans a question for display.
fn clean_question(asked: &AgentQuestion) -> AgentQuestion {
    let line = |text: &Option<String>| {
        let text = text.as_deref().map(agent_activity::clean_line);
        text.filter(|text| !text.is_empty())
    };
    let options = asked.options.iter().map(|offered| AnswerOption {
        label: agent_activity::clean_line(&offered.label),
        description: line(&offered.description),
    });
    AgentQuestion {
        text: agent_activity::clean_block(&asked.text),
        header: line(&asked.header),
        options: options.collect(),
        picks: asked.picks,
    }
}
