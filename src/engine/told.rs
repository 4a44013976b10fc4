//! What a live conversation tells becomes events.

use std::collections::BTreeMap;

use crate::adapter::{AdapterEvent, CliTurnOutcome};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::question::{AgentQuestion, AnswerOption};
use crate::domain::session::{AccountUsageWindow, Message, MessageRole};
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::Role;
use crate::store::{StoreError, TamperedFile};

use super::answering::Patience;
use super::asking::Asking;
use super::journal::Journal;
use super::live::Told;
use super::{Engine, EngineError, Held, Inward, news, with_hint};

impl Engine {
    pub(super) fn on_told(&mut self, role: Role, told: Told) -> Result<(), EngineError> {
        match told {
            Told::Started(process) => {
                self.expect_tools(role, process.pid);
                let Some(at_work) = &mut self.at_work else {
                    return Ok(());
                };
                let (turn, prompt_sha256) =
                    (at_work.order.turn.clone(), at_work.prompt_sha256.clone());
                let reports = std::mem::take(&mut at_work.reports);
                self.feed(Event::TurnStarted {
                    turn,
                    prompt_sha256,
                    process: Some(process),
                })?;
                self.reported(reports)
            }
            Told::Event(event) => self.on_adapter_event(role, event),
            Told::Silent(since, why) => self.feed_news(
                role,
                AgentActivity::Silent {
                    seconds: since.as_secs(),
                    verdict: Some(why),
                },
            ),
            Told::RawFailed(error) => self.tell_trouble("keep the raw stream", error),
            Told::Gone => Ok(()),
        }
    }

    /// Keeps what the user said to a conversation that ends with the program; all else that it tells is void.
    pub(super) fn keep_untold(&mut self, role: Role, told: Told) {
        let Told::Event(AdapterEvent::InputUndelivered { text }) = told else {
            return;
        };
        let text = news::block(&text);
        if let Err(error) = self.feed(Event::MessageQueued {
            to: Some(role),
            text,
        }) {
            tracing::error!(%error, "what was said last is not kept");
        }
    }

    /// A call waits for a word: a person's, or one at once.
    fn on_call(&mut self, role: Role, asked: AdapterEvent) -> Result<(), EngineError> {
        let patience = match &asked {
            AdapterEvent::HookApprovalRequested { .. } => Patience::Short,
            _ => Patience::Long,
        };
        match Asking::of(asked) {
            Some(asking) => self.on_asked((role, patience), asking),
            None => Ok(()),
        }
    }

    fn on_adapter_event(&mut self, role: Role, event: AdapterEvent) -> Result<(), EngineError> {
        if let Some(news) = news::of(&event) {
            return self.feed_news(role, news);
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
                self.deltas.push(TextDelta::Text { role, item, text });
                Ok(())
            }
            AdapterEvent::BlockWithdrawn { item } => {
                self.deltas.push(TextDelta::Withdrawn { role, item });
                Ok(())
            }
            asked @ (AdapterEvent::ApprovalRequested { .. }
            | AdapterEvent::HookApprovalRequested { .. }) => self.on_call(role, asked),
            AdapterEvent::QuestionAsked { request, questions } => {
                self.on_questioned(request, &questions)
            }
            AdapterEvent::RequestWithdrawn { request } => self.on_withdrawn(request),
            AdapterEvent::ToolBlocked { tool, reason } => match self.state().session(role) {
                Some(session) => self.note_blocked(session.id.clone(), &tool, &reason),
                None => Ok(()),
            },
            AdapterEvent::InputUndelivered { text } => self.feed(Event::MessageQueued {
                to: Some(role),
                text: news::block(&text),
            }),
            AdapterEvent::Usage(usage) => self.on_usage(role, &usage),
            AdapterEvent::PlanUse { windows } => self.on_plan_use(role, windows),
            AdapterEvent::TurnEnded(end) => {
                self.check_after_turn(end);
                Ok(())
            }
            // The rest is news, taken above, or for the view alone.
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

    /// Its CLI took a request back: a call has ended with that, like any other that nobody answered.
    pub(super) fn on_withdrawn(&mut self, request: RequestId) -> Result<(), EngineError> {
        self.awaited.forget(&request);
        let mut waiting = self.state().approvals.iter();
        match waiting
            .find(|approval| approval.request == request)
            .cloned()
        {
            Some(approval) => self.feed(Event::ApprovalExpired {
                approval,
                reason: "its CLI no longer waits for an answer".to_owned(),
            }),
            None => self.feed(Event::AgentQuestionWithdrawn { request }),
        }
    }

    fn feed_news(&mut self, role: Role, news: AgentActivity) -> Result<(), EngineError> {
        let running = self
            .state()
            .running
            .as_ref()
            .map(|running| running.order.turn.clone());
        let turn = running.unwrap_or_else(|| TurnId::new("none"));
        self.feed(Event::Agent { turn, role, news })
    }

    fn on_version(&mut self, role: Role, version: &str) -> Result<(), EngineError> {
        let version = news::line(version);
        let session = self.state().session(role);
        if session.and_then(|session| session.version.as_ref()) == Some(&version) {
            return Ok(());
        }
        let adapter = session.map_or(String::new(), |session| session.adapter.clone());
        self.feed(Event::SessionVersion {
            role,
            adapter,
            version,
        })
    }

    fn on_session_opened(&mut self, role: Role, external_id: &str) -> Result<(), EngineError> {
        let external_id = news::line(external_id);
        let known = self
            .state()
            .session(role)
            .and_then(|session| session.external_id.as_ref());
        if known != Some(&external_id) {
            self.feed(Event::SessionOpened { role, external_id })?;
        }
        Ok(())
    }

    /// The turn goes out again in a new conversation, with what the old one knew: that is what is on record as sent.
    fn on_session_lost(&mut self, role: Role, reason: &str) -> Result<(), EngineError> {
        self.feed(Event::SessionLost {
            role,
            reason: news::line(reason),
        })?;
        let at_work = self.at_work.as_ref();
        let sent = at_work
            .filter(|at_work| at_work.order.purpose.role() == role)
            .map(|at_work| (at_work.order.clone(), at_work.with_recovery.clone()));
        match sent {
            Some((order, text)) => self.append_message(role, Wrote::Program, &order, &text),
            None => Ok(()),
        }
    }

    fn on_usage(
        &mut self,
        role: Role,
        usage: &crate::adapter::CliUsageTotals,
    ) -> Result<(), EngineError> {
        let usage = news::usage(usage);
        if self
            .state()
            .session(role)
            .is_some_and(|session| session.usage == usage)
        {
            return Ok(());
        }
        self.feed(Event::UsageReported { role, usage })
    }

    fn on_plan_use(
        &mut self,
        role: Role,
        windows: Vec<AccountUsageWindow>,
    ) -> Result<(), EngineError> {
        let session = self.state().session(role);
        if session.is_none_or(|session| session.plan == windows) {
            return Ok(());
        }
        self.feed(Event::PlanUseReported { role, windows })
    }

    /// Shows an agent's question cleaned and remembers how the agent worded it.
    pub(super) fn on_questioned(
        &mut self,
        request: RequestId,
        questions: &[AgentQuestion],
    ) -> Result<(), EngineError> {
        let Some(turn) = self
            .at_work
            .as_ref()
            .map(|at_work| at_work.order.turn.clone())
        else {
            return Ok(());
        };
        let questions = self.note_questions(&request, questions);
        self.feed(Event::AgentAsked {
            turn,
            request,
            questions,
            child: None,
        })
    }

    /// Cleans questions for the user and remembers under their request how the agent worded them.
    pub(super) fn note_questions(
        &mut self,
        request: &RequestId,
        questions: &[AgentQuestion],
    ) -> Vec<AgentQuestion> {
        let shown: Vec<AgentQuestion> = questions.iter().map(cleaned).collect();
        let raw: BTreeMap<String, String> = shown
            .iter()
            .zip(questions)
            .map(|(shown, asked)| (shown.text.clone(), asked.text.clone()))
            .collect();
        self.awaited.ask(request.clone(), raw);
        shown
    }

    /// Compares the program's own files off the loop; the turn's end follows with what was found.
    fn check_after_turn(&mut self, end: CliTurnOutcome) {
        let Some(at_work) = &self.at_work else {
            return;
        };
        let turn = at_work.order.turn.clone();
        self.turn_is_over = true;
        let guard = self.journal.guard().clone();
        let done = self.done.0.clone();
        self.tasks.spawn(async move {
            let checked = tokio::task::spawn_blocking(move || Journal::check(&guard)).await;
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
                .send(Inward::TurnChecked {
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
        let Some(at_work) = self.at_work.take_if(|at_work| at_work.order.turn == *turn) else {
            return Ok(());
        };
        self.tell_tampered(&tampered?)?;
        let final_text = match end {
            CliTurnOutcome::Completed { final_text } => final_text.clone(),
            CliTurnOutcome::Interrupted | CliTurnOutcome::Failed(_) => String::new(),
        };
        let role = at_work.order.purpose.role();
        self.stop_awaited_discussions(role)?;
        self.end_tools(role);
        if !final_text.is_empty() {
            self.append_message(role, Wrote::Agent, &at_work.order, &final_text)?;
        }
        self.held = Some(Held {
            order: at_work.order,
            final_text,
            staging: at_work.staging,
            merged: None,
            n_refused: 0,
        });
        // What cannot be read now is read again by whatever writes it.
        match self.edits() {
            Ok(edits) => {
                for edit in edits {
                    self.feed(edit)?;
                }
            }
            Err(error) => self.tell_trouble("read the workflow files", with_hint(&error))?,
        }
        self.feed(Event::TurnEnded {
            turn: turn.clone(),
            result: news::result(end, self.other_adapter(role)),
        })?;
        // A document that nobody collects goes; one in conflict stays held.
        if self.state().busy.is_none() {
            self.drop_held();
        }
        Ok(())
    }

    /// Tells which of the program's own files somebody else changed, where that is any.
    pub(super) fn tell_tampered(&mut self, tampered: &[TamperedFile]) -> Result<(), EngineError> {
        if tampered.is_empty() {
            return Ok(());
        }
        let name = |path: &std::path::Path| news::line(&path.to_string_lossy());
        let named = tampered
            .iter()
            .map(|t| (name(&t.path), t.kept_copy.as_deref().map(name)));
        let files = named.collect();
        self.feed(Event::StoreTampered { files })
    }

    /// Appends a message to a role's session; the event holds everything but the text.
    pub(super) fn append_message(
        &mut self,
        role: Role,
        wrote: Wrote,
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
                Wrote::Agent => MessageRole::Assistant,
                Wrote::Program | Wrote::User => MessageRole::User,
            },
            agent: order.purpose.profile(),
            synthetic: wrote == Wrote::Program,
            ts: self.journal.now(),
            text: crate::text::clean_text(text),
        };
        self.journal.append_message(&id, &message)?;
        self.feed(Event::MessageAppended {
            role,
            message: Message {
                text: String::new(),
                ..message
            },
        })
    }
}

/// Who wrote a message of a role's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrote {
    /// The agent.
    Agent,
    /// This program, in the user's place.
    Program,
    /// The user, whose words also stand in the program's message behind it.
    User,
}

/// A question as the user sees it.
fn cleaned(asked: &AgentQuestion) -> AgentQuestion {
    let line = |text: &Option<String>| {
        let text = text.as_deref().map(news::line);
        text.filter(|text| !text.is_empty())
    };
    let options = asked.options.iter().map(|offered| AnswerOption {
        label: news::line(&offered.label),
        description: line(&offered.description),
    });
    AgentQuestion {
        text: news::block(&asked.text),
        header: line(&asked.header),
        options: options.collect(),
        picks: asked.picks,
    }
}
