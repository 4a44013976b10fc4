//! Performs effects: each arm calls one function, and the results come back as events.

use tokio::sync::mpsc;

use crate::adapter::{AdapterCommand, SessionSpec, TurnAccess, TurnSpec};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::plan::{PlanStatus, file_hash};
use crate::domain::question::QuestionAnswer;
use crate::domain::session::{Message, MessageRole};
use crate::domain::turn::{Role, TurnFailureKind, TurnOrder, TurnOutcome, TurnProfile};
use crate::permission::loop_detector::LoopDetector;
use crate::process::{ProcessMark, SandboxSupport};
use crate::store::debug_log::PROMPT_TARGET;
use crate::store::{StoreError, failpoints};

use super::agent_conversation::{
    AgentConversation, ConversationCommand, ConversationParts, ConversationStart, TurnStartRequest,
};
use super::approval_request::hidden_permissions;
use super::codex_sandbox_escapes;
use super::conversation_events::MessageWriter;
use super::document_commit::WorkflowDocumentLock;
use super::document_writer::DocumentWrite;
use super::prompt_builder::{SWITCH_TO_BUILD_PROMPT, SWITCH_TO_PLAN_PROMPT};
use super::read_target_resolver::find_denied_files;
use super::run_setup::NamedAdapter;
use super::sandbox::TurnSandbox;
use super::staging_folder::TurnStagingFolder;
use super::{
    ActiveTurn, Engine, EngineError, EngineInput, EngineOutcome, document_commit, error_with_hint,
    failure_event, runtime_dir, staging_folder, warning_event,
};
use crate::permission::RuleSet;

/// How many commands can be queued for a live conversation; a turn never has as many open.
const COMMAND_CHANNEL_CAPACITY: usize = 64;

impl Engine {
    pub(super) fn perform_effect(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        failpoints::trace_effect(&effect);
        match effect {
            Effect::StartTurn(order) => return self.start_turn(order),
            Effect::InterruptTurn(_) => self.interrupt_turn(),
            Effect::SteerTurn(text) => return self.steer_turn(text),
            Effect::ForgetConversation(role) => return Ok(self.forget_conversation(role)),
            Effect::MoveRole { role, adapter } => {
                return Ok(self.move_role_to_adapter(role, adapter));
            }
            Effect::CollectDocument(order) => {
                return Ok(self.write_or_postpone(DocumentWrite::TurnDocument(order)));
            }
            Effect::SettleConflict { order, answer } => {
                return Ok(
                    self.write_or_postpone(DocumentWrite::ConflictResolution { order, answer })
                );
            }
            Effect::CommitDraft(order) => {
                return Ok(self.write_or_postpone(DocumentWrite::RecoveredDraft(order)));
            }
            Effect::DiscardDraft(order) => return Ok(self.discard_draft(&order)),
            Effect::AppendRemarks(text) => {
                return Ok(self.write_or_postpone(DocumentWrite::Remarks(text)));
            }
            Effect::SwitchToBuildProfile => {
                return self.switch_planner_profile(TurnProfile::Build, SWITCH_TO_BUILD_PROMPT);
            }
            Effect::SwitchToPlanProfile => {
                return self.switch_planner_profile(TurnProfile::Plan, SWITCH_TO_PLAN_PROMPT);
            }
            Effect::SurveyRepository => return Ok(self.survey_repository()),
            Effect::EnterExecution(terms) => return Ok(self.enter_execution(terms)),
            Effect::SnapshotTree { step, attempt } => self.snapshot_before_turn(step, attempt),
            Effect::RestoreTree { step } => self.restore_step_tree(step),
            Effect::AuditStep { step } => self.audit_step(step),
            Effect::RestoreFiles { step, paths } => self.restore_files(step, paths),
            Effect::RunBaseline(test) => self.run_baseline_tests(test),
            Effect::StopBaseline => self.stop_baseline_tests(),
            Effect::RunTests { step, test } => self.run_tests(step, test),
            Effect::SaveTestNetwork(network) => return Ok(self.save_test_network(network)),
            Effect::SaveTestSocket { path, is_reached } => {
                return Ok(self.save_test_socket(&path, is_reached));
            }
            Effect::CommitStep {
                step,
                paths,
                message,
            } => self.commit_step(step, paths, message),
            Effect::RecordStep { step } => {
                return Ok(self.write_or_postpone(DocumentWrite::StepRecord(step)));
            }
            Effect::StoreTree { seen } => self.store_tree_before_undo(seen),
            Effect::ApplyReversal { reversal, kept } => self.apply_reversal(reversal, kept),
            Effect::RecordReversal {
                reversal,
                kept,
                commit,
            } => return Ok(self.write_or_postpone(DocumentWrite::Reversal(reversal, kept, commit))),
            Effect::AskUser(question) => return Ok(vec![Event::QuestionAsked { question }]),
            Effect::EnterPlan { reason } => return Ok(vec![Event::PlanEntered { reason }]),
            Effect::AnswerAgent { request, answer } => {
                self.answer_agent_questions(&request, &answer)
            }
            Effect::ExpireApprovals { approvals, why } => {
                return Ok(self.expire_approvals(approvals, why));
            }
            Effect::StopChildren(sessions) => self.stop_child_tasks(&sessions),
            Effect::StopDiscussions(all) => self.discussions.cancel_and_wake(&all),
            Effect::AppendLog(text) => return Ok(self.append_log_line(&text)),
            Effect::FinishRun => self.set_outcome(EngineOutcome::Finished),
            Effect::HaltRun(reason) => self.set_outcome(EngineOutcome::Halted(reason)),
        }
        Ok(Vec::new())
    }

    /// Runs work outside the main loop; its result comes back as an event.
    pub(super) fn spawn_event_task(&mut self, work: impl Future<Output = Event> + Send + 'static) {
        self.spawn_events_task(async move { vec![work.await] });
    }

    /// Runs work outside the main loop; its results come back as events, in order.
    pub(super) fn spawn_events_task(
        &mut self,
        work: impl Future<Output = Vec<Event>> + Send + 'static,
    ) {
        let done = self.inputs.0.clone();
        self.tasks.spawn(async move {
            for event in work.await {
                // The receiver is gone only if the program is about to end.
                let _nobody = done.send(EngineInput::Event(Box::new(event))).await;
            }
        });
    }

    fn start_turn(&mut self, order: TurnOrder) -> Result<Vec<Event>, EngineError> {
        let role = order.purpose.role();
        match self.prepare_turn_start(&order, role) {
            Ok((mut ask, at_work)) => {
                let prompt = ask.turn.prompt.clone();
                let turn = order.turn.as_str();
                tracing::info!(target: PROMPT_TARGET, turn, %prompt, "a prompt goes out");
                // An earlier turn's document is dropped without removing its staging folder, which is this turn's now.
                self.pending_document
                    .take_if(|held| held.staging.dir == at_work.staging.dir);
                self.active_turn = Some(at_work);
                self.turn_has_ended = false;
                for said in self.user_messages(&order) {
                    self.append_message(role, MessageWriter::User, &order, &said)?;
                }
                self.append_message(role, MessageWriter::Program, &order, &prompt)?;
                self.open_tool_socket(role, &mut ask);
                let events =
                    self.send_to_conversation(role, ConversationCommand::StartTurn(Box::new(ask)));
                self.continue_waiting_patches();
                Ok(events)
            }
            Err(message) => {
                let result = TurnOutcome::Failed {
                    kind: TurnFailureKind::Refused,
                    message,
                    transient: false,
                    limit: None,
                    other: None,
                };
                Ok(vec![Event::TurnEnded {
                    turn: order.turn,
                    result,
                }])
            }
        }
    }

    fn prepare_turn_start(
        &mut self,
        order: &TurnOrder,
        role: Role,
    ) -> Result<(TurnStartRequest, ActiveTurn), String> {
        let state = self.journal.state();
        let session = state.session(role).ok_or("this run has no reviewer")?;
        let adapter = self.role_adapter(role)?;
        let dir = self.journal.layout().staging_folder(&session.id);
        let staging = staging_folder::prepare_staging(self.journal.layout(), dir)
            .map_err(|error| error.to_string())?;
        let spec = SessionSpec {
            session: session.id.clone(),
            fresh_id: uuid::Uuid::new_v4().to_string(),
            external_id: session.external_id.clone(),
            cwd: self.setup.root.clone(),
            staging: staging.dir.clone(),
            cli: adapter.cli_spec(),
            trust: self.setup.trust,
            hook_command: None,
            tool_server: None,
            hidden_folders: runtime_dir::user_runtime_dirs(),
        };
        let access = if order.purpose.may_write() {
            TurnAccess::Workspace
        } else {
            TurnAccess::ReadOnly
        };
        let prompt = self.full_prompt(order, &staging)?;
        let recovery = self.recovery_prompt(order)?;
        let prompt_sha256 = file_hash(prompt.as_bytes());
        let rules = self.setup.permissions.rules(order.purpose.profile().name());
        let turn = TurnSpec {
            turn: order.turn.clone(),
            prompt,
            access,
            hidden_permissions: hidden_permissions(&rules, order.purpose.may_write()),
        };
        let conversation = if self.starts_new_conversation(order) {
            ConversationStart::New
        } else {
            ConversationStart::Existing
        };
        let holder = self.turn_sandbox(adapter, &staging, access, &rules);
        let at_work = ActiveTurn {
            order: order.clone(),
            prompt_sha256,
            recovery_prompt: format!("{recovery}\n\n{}", turn.prompt),
            staging,
            loop_detector: LoopDetector::default(),
            removed_tools: adapter.new_adapter().removed_tools(),
            background_reports: self.sessions_with_unreported_result(role),
        };
        Ok((
            TurnStartRequest {
                session: spec,
                conversation,
                turn,
                recovery,
                sandbox: holder,
                timeout: self.setup.config.limits.turn_timeout,
                silence_timeout: self.setup.config.limits.silence,
            },
            at_work,
        ))
    }

    /// Returns the sandbox of the process that serves a turn.
    fn turn_sandbox(
        &self,
        adapter: &NamedAdapter,
        staging: &TurnStagingFolder,
        access: TurnAccess,
        rules: &RuleSet,
    ) -> TurnSandbox {
        TurnSandbox {
            support: if self.setup.config.safety.contain_agents {
                self.setup.sandbox_support.clone()
            } else {
                SandboxSupport::Unavailable("safety.contain_agents is off".to_owned())
            },
            root: self.setup.root.clone(),
            read_only_folders: Vec::new(),
            workdir: self.journal.layout().workdir().to_owned(),
            visible_workdir_files: None,
            staging: staging.dir.clone(),
            access,
            tools_folder: None,
            writable: adapter.settings.writable.clone(),
            denied_files: find_denied_files(&self.setup.root, rules),
            sandbox_escapes: codex_sandbox_escapes::find_sandbox_escapes(&adapter.settings),
        }
    }

    /// Sends a command to a role's conversation, which is started if there is none.
    pub(super) fn send_to_conversation(
        &mut self,
        role: Role,
        ask: ConversationCommand,
    ) -> Vec<Event> {
        if !self.conversations.contains_key(&role)
            && let Err(message) = self.start_conversation(role)
        {
            return vec![failure_event("start a conversation", message)];
        }
        let sent = self.conversations.get(&role).map(|asks| asks.try_send(ask));
        match sent {
            Some(Ok(())) => Vec::new(),
            Some(Err(_)) | None => {
                self.conversations.remove(&role);
                vec![failure_event(
                    "reach the agent",
                    "its conversation does not respond",
                )]
            }
        }
    }

    fn start_conversation(&mut self, role: Role) -> Result<(), String> {
        let state = self.journal.state();
        let session = state.session(role).ok_or("this run has no such role")?;
        let adapter = self.role_adapter(role)?;
        let raw = self.raw_stream(&session.id);
        let marker = ProcessMark::new(state.run.as_str(), role.name());
        let (asks, inbox) = mpsc::channel(COMMAND_CHANNEL_CAPACITY);
        let parts = ConversationParts {
            role,
            adapter: adapter.new_adapter(),
            raw,
            marker,
            children: self.setup.spawner.clone(),
        };
        let live = AgentConversation::new(parts, inbox, self.conversation_events.0.clone());
        self.tasks.spawn(live.run_until_shutdown());
        self.conversations.insert(role, asks);
        Ok(())
    }

    pub(super) fn interrupt_turn(&mut self) {
        let role = self
            .active_turn
            .as_ref()
            .map(|at_work| at_work.order.purpose.role());
        let asks = role.and_then(|role| self.conversations.get(&role));
        if let Some(asks) = asks
            && asks
                .try_send(ConversationCommand::Adapter(AdapterCommand::Interrupt))
                .is_err()
        {
            tracing::warn!(
                "the conversation does not accept the interrupt; its process ends with this program"
            );
        }
    }

    fn forget_conversation(&mut self, role: Role) -> Vec<Event> {
        let mut events = self.send_to_conversation(role, ConversationCommand::ForgetConversation);
        events.push(Event::SessionLost {
            role,
            reason: "the user asked for a new session".to_owned(),
        });
        events
    }

    pub(super) fn append_remarks(
        &mut self,
        text: &str,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Vec<Event> {
        let facts = document_commit::FrontMatterFacts {
            at: self.journal.now(),
            iteration: self.state().iteration.max(1),
            iteration_folder: self.state().findings.review_count().max(1),
            status: PlanStatus::Reviewing,
        };
        let after = if self.resumed {
            document_commit::AppendMode::AfterCrash
        } else {
            document_commit::AppendMode::First
        };
        let findings = &self.state().findings;
        let appended = pen
            .map_err(document_commit::DocumentCommitError::Store)
            .and_then(|pen| document_commit::append_remarks(&pen, text, after, findings, &facts));
        match appended {
            Ok(file_sha256) => vec![Event::RemarksAppended { file_sha256 }],
            Err(document_commit::DocumentCommitError::Conflict) => vec![failure_event(
                "append your remarks",
                format!(
                    "another program keeps writing to {}; end that program",
                    self.journal.layout().names().comments
                ),
            )],
            Err(document_commit::DocumentCommitError::Store(error)) => {
                vec![failure_event("append your remarks", error)]
            }
        }
    }

    /// Sets a profile on the planner's session with a synthetic message.
    fn switch_planner_profile(
        &mut self,
        agent: TurnProfile,
        text: &str,
    ) -> Result<Vec<Event>, EngineError> {
        let session = &self.state().planner;
        let id = session.id.clone();
        let message = Message {
            id: format!("msg_{}", session.n_messages + 1),
            turn: None,
            role: MessageRole::User,
            agent,
            synthetic: true,
            ts: self.journal.now(),
            text: text.to_owned(),
        };
        self.journal.append_message(&id, &message)?;
        Ok(vec![Event::MessageAppended {
            role: Role::Planner,
            message: Message {
                text: String::new(),
                ..message
            },
        }])
    }

    fn answer_agent_questions(&mut self, request: &RequestId, answer: &QuestionAnswer) {
        let raw = self.pending_requests.remove_questions(request);
        let answers = match answer {
            QuestionAnswer::Texts { answers } => Some(
                answers
                    .iter()
                    .map(|(shown, text)| (raw.get(shown).unwrap_or(shown).clone(), text.clone()))
                    .collect(),
            ),
            _ => None,
        };
        self.send_question_answers(request, answers);
    }

    /// Sends a command to the conversation of the active turn.
    pub(super) fn send_command(&mut self, order: AdapterCommand) {
        let Some(order) = self.tools.intercept_command(order) else {
            return;
        };
        let role = self
            .active_turn
            .as_ref()
            .map(|at_work| at_work.order.purpose.role());
        let asks = role.and_then(|role| self.conversations.get(&role));
        if asks.is_none_or(|asks| asks.try_send(ConversationCommand::Adapter(order)).is_err()) {
            tracing::warn!("an answer arrived that nothing was waiting for");
        }
    }

    pub(super) fn append_log_line(&self, text: &str) -> Vec<Event> {
        let at = crate::store::utc_time::to_rfc3339(self.journal.now());
        match self.journal.append_log_entry(&format!("\n- {at} {text}\n")) {
            Ok(()) => Vec::new(),
            Err(error) => vec![warning_event("write the step log", error_with_hint(&error))],
        }
    }
}
