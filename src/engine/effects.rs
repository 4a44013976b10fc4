//! Performs effects: each arm calls one function, and the results come back as events.

use super::engine_error::{EngineError, EngineOutcome};
use super::warnings::{error_with_hint, warning_event};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::session::{Message, MessageRole};
use crate::domain::turn::{Role, TurnFailureKind, TurnOrder, TurnOutcome, TurnProfile};
use crate::store::debug_log::PROMPT_TARGET;
use crate::store::failpoints;

use super::agent_conversation::ConversationCommand;
use super::approvals::caller_context::CallingTurn;
use super::documents::DocumentWrite;
use super::execution_effects::{
    apply_planned_reversal, check_approval, commit_step, enter_execution, restore_files,
    restore_step_tree, save_test_network, save_test_socket, snapshot_before_turn,
    store_tree_before_undo, survey_repository,
};
use super::prompt_builder::{
    PromptBuilder, SWITCH_TO_BUILD_PROMPT, SWITCH_TO_PLAN_PROMPT, user_messages,
};
use super::role_messages::{MessageWriter, append_message};
use super::subagents::background_results::sessions_with_unreported_result;
use super::subagents::new_session_id;
use super::turn_start::{self, PreparedTurn, TurnPrompts};
use super::{Engine, proof_cells};

impl Engine {
    #[expect(clippy::too_many_lines, reason = "one arm an effect: a list to read")]
    pub(super) fn perform_effect(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        failpoints::trace_effect(&effect);
        let run = &mut self.run;
        match effect {
            Effect::StartTurn(order) => return self.start_turn(order),
            Effect::InterruptTurn(_) => self.conversations.interrupt_turn(),
            Effect::SteerTurn(text) => return self.conversations.steer_turn(&self.run, text),
            Effect::ForgetConversation(role) => {
                return Ok(self.conversations.forget_conversation(&mut self.run, role));
            }
            Effect::MoveRole { role, adapter } => {
                return Ok(vec![self.move_role_to_adapter(role, adapter)]);
            }
            Effect::CollectDocument(order) => {
                return self.write_document(DocumentWrite::TurnDocument(order));
            }
            Effect::SettleConflict { order, answer } => {
                return self.write_document(DocumentWrite::ConflictResolution { order, answer });
            }
            Effect::CommitDraft(order) => {
                return self.write_document(DocumentWrite::RecoveredDraft(order));
            }
            Effect::DiscardDraft(order) => {
                return Ok(self.documents.discard_draft(&self.run, &order));
            }
            Effect::AppendRemarks(text) => {
                return self.write_document(DocumentWrite::Remarks(text));
            }
            Effect::WriteThreads => return self.write_document(DocumentWrite::Threads),
            Effect::SwitchToBuildProfile => {
                return self.switch_planner_profile(TurnProfile::Build, SWITCH_TO_BUILD_PROMPT);
            }
            Effect::SwitchToPlanProfile => {
                return self.switch_planner_profile(TurnProfile::Plan, SWITCH_TO_PLAN_PROMPT);
            }
            Effect::SurveyRepository => return Ok(survey_repository(run)),
            Effect::EnterExecution(terms) => {
                proof_cells::remove_clean_copies(run);
                return Ok(enter_execution(run, terms));
            }
            Effect::CheckApproval { step } => check_approval(run, step),
            Effect::SnapshotTree { step, attempt } => snapshot_before_turn(run, step, attempt),
            Effect::RestoreTree { step } => {
                self.documents.on_step_restarted();
                restore_step_tree(run, step);
            }
            Effect::AuditStep { step } => self.execution_checks.audit_step(run, step),
            Effect::RestoreFiles { step, paths } => restore_files(run, step, paths),
            Effect::RunBaseline(test) => self.execution_checks.run_baseline_tests(run, test),
            Effect::StopTests => self.execution_checks.stop_tests(),
            Effect::RunTests { step, test } => self.execution_checks.run_tests(run, step, test),
            Effect::ProveStep { step } => self.execution_checks.prove_step(run, step),
            Effect::SaveTestNetwork(network) => return Ok(save_test_network(run, network)),
            Effect::SaveTestSocket { path, is_reached } => {
                return Ok(save_test_socket(run, &path, is_reached));
            }
            Effect::CommitStep {
                step,
                paths,
                message,
            } => commit_step(run, step, paths, message),
            Effect::AmendStep { step, text } => {
                return self.write_document(DocumentWrite::Amendment { step, text });
            }
            Effect::RecordStep { step } => {
                return self.write_document(DocumentWrite::StepRecord(step));
            }
            Effect::StoreTree { seen } => store_tree_before_undo(run, seen),
            Effect::ApplyReversal { reversal, kept } => {
                apply_planned_reversal(run, reversal, kept, self.documents.is_resumed());
            }
            Effect::RecordReversal {
                reversal,
                kept,
                commit,
            } => return self.write_document(DocumentWrite::Reversal(reversal, kept, commit)),
            Effect::AskUser(question) => return Ok(vec![Event::QuestionAsked { question }]),
            Effect::EnterPlan { reason } => {
                return Ok(vec![Event::PlanEntered { reason, step: None }]);
            }
            Effect::AnswerAgent { request, answer } => {
                let run = &mut self.run;
                self.approvals.answer_questions(run, &request, &answer)
            }
            Effect::ExpireApprovals { approvals, why } => {
                return Ok(self.approvals.expire(&mut self.run, approvals, why));
            }
            Effect::StopChildren(sessions) => {
                self.subagents
                    .stop_unawaited_tasks(&mut self.run, &sessions);
            }
            Effect::AdvanceDiscussions => {
                self.discussions.advance_all(run, &mut self.subagents)?;
            }
            Effect::StopDiscussions(all) => self.discussions.cancel_and_wake(&all),
            Effect::AppendLog(text) => return Ok(self.append_log_line(&text)),
            Effect::FinishRun => {
                proof_cells::remove_clean_copies(run);
                self.set_outcome(EngineOutcome::Finished);
            }
            Effect::HaltRun(reason) => self.set_outcome(EngineOutcome::Halted(reason)),
        }
        Ok(Vec::new())
    }

    fn write_document(&mut self, write: DocumentWrite) -> Result<Vec<Event>, EngineError> {
        Ok(self.documents.write(&mut self.run, write))
    }

    fn start_turn(&mut self, order: TurnOrder) -> Result<Vec<Event>, EngineError> {
        let prepared = turn_start::prepare_staging(&self.run, &order).and_then(|staging| {
            let builder = PromptBuilder::new(&self.run, &order);
            let is_isolated = order.purpose.is_isolated();
            let prompts = TurnPrompts {
                prompt: builder.full_prompt(&staging)?,
                recovery: if is_isolated {
                    String::new()
                } else {
                    builder.recovery_prompt()?
                },
                background_reports: if is_isolated {
                    Vec::new()
                } else {
                    sessions_with_unreported_result(&self.run, order.purpose.role())
                },
                conversation: builder.conversation_start(),
            };
            turn_start::prepare_turn(&self.run, &order, staging, prompts)
        });
        let PreparedTurn {
            mut request,
            active,
            caller,
        } = match prepared {
            Ok(prepared) => prepared,
            Err(message) => {
                let result = TurnOutcome::Failed {
                    kind: TurnFailureKind::Refused,
                    message,
                    transient: false,
                    limit: None,
                    other: None,
                };
                return Ok(vec![Event::TurnEnded {
                    turn: order.turn,
                    result,
                }]);
            }
        };
        let prompt = request.turn.prompt.clone();
        let turn = order.turn.as_str();
        tracing::info!(target: PROMPT_TARGET, turn, %prompt, "a prompt goes out");
        // An earlier turn's document is dropped without removing its staging folder, which is this turn's now.
        self.documents.forget_pending_in(&active.staging.dir);
        for text in user_messages(self.state(), &order) {
            append_message(&mut self.run, MessageWriter::User, &order, &text)?;
        }
        append_message(&mut self.run, MessageWriter::Program, &order, &prompt)?;
        self.tools.open_socket(&self.run, &active, &mut request);
        let command = ConversationCommand::StartTurn(Box::new(request));
        let turn = CallingTurn::new(caller);
        let events = self
            .conversations
            .start_turn(&mut self.run, active, turn, command);
        self.subagents.continue_waiting_patches(&mut self.run);
        Ok(events)
    }

    /// Creates a new session for a role at another adapter; its first turn opens a conversation.
    fn move_role_to_adapter(&mut self, role: Role, adapter: String) -> Event {
        if self.run.find_adapter(&adapter).is_none() {
            let reason = format!(
                "no adapter `{adapter}` is set up for this run; give it a role in the configuration and resume"
            );
            return Event::SessionStayed { role, reason };
        }
        if let Some(before) = self.state().session(role).map(|before| before.id.clone()) {
            self.conversations.close(&before);
            self.tools.close_socket(&before);
        }
        Event::SessionMoved {
            role,
            session: new_session_id(),
            adapter,
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
            ts: self.run.journal.now(),
            text: text.to_owned(),
        };
        self.run.journal.append_message(&id, &message)?;
        Ok(vec![Event::MessageAppended {
            role: Role::Planner,
            message: Message {
                text: String::new(),
                ..message
            },
        }])
    }

    pub(super) fn append_log_line(&self, text: &str) -> Vec<Event> {
        let at = crate::store::utc_time::to_rfc3339(self.run.journal.now());
        match self
            .run
            .journal
            .append_log_entry(&format!("\n- {at} {text}\n"))
        {
            Ok(()) => Vec::new(),
            Err(error) => vec![warning_event("write the step log", error_with_hint(&error))],
        }
    }
}
