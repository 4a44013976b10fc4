//! Holds the whole state of a run, which is one goal in one repository, and changes it only through `step`.
//!
//! The same events always give the same state and effects, so a run is a fold of its log.
//!
//! An event leads to one function of a file below. A transition that ends in another one calls it: in a lower row of this
//! list, or in its own row, but never so that files call each other in a circle.
//!
//! - the user acts, a turn ends: `user_commands`, `turn_lifecycle`, `deferred_answers`, `turn_results`
//! - the plan is executed, a run is resumed: `step_tests`, `files_changed_by_tests`, `step_execution`, `proof_questions`,
//!   `run_recovery`, `plan_approval`
//! - what comes before a step, after it, or in its place: `test_baseline`, `unfinished_step`, `plan_reentry`,
//!   `step_undo`, `step_commit`, `review_loop`, `goal_and_plan`
//! - agents ask, or the user is asked about their work: `agent_questions`, `approval_requests`, `approval_checks`,
//!   `child_sessions`, `held_edit_questions`, `scope_questions`, `entry_point_questions`, `unattributed_changes`,
//!   `restored_questions`, `incomplete_documents`, `usage_limits`
//! - a step, a stage of it, or a phase begins: `step_sequence`, `current_step`, `phase_entry`
//! - a turn or a question begins: `turn_start`, `approval_validity`, `open_questions`
//! - the data: `run_state`, `current_work`, `queued_messages`

mod agent_questions;
mod approval_checks;
mod approval_requests;
mod approval_validity;
mod child_sessions;
mod current_step;
mod current_work;
mod deferred_answers;
mod entry_point_questions;
mod files_changed_by_tests;
mod goal_and_plan;
mod held_edit_questions;
mod incomplete_documents;
mod legacy_review_loop;
mod open_questions;
mod phase_entry;
mod plan_approval;
mod plan_reentry;
mod plan_threads;
mod planned_step;
mod progress_report;
mod proof_questions;
mod queued_messages;
mod restored_questions;
mod review_loop;
mod run_discussions;
mod run_recovery;
mod run_state;
mod scope_questions;
mod step_blockers;
mod step_commit;
mod step_execution;
mod step_sequence;
mod step_tests;
mod step_undo;
mod test_baseline;
mod turn_lifecycle;
mod turn_results;
mod turn_start;
mod unattributed_changes;
mod unfinished_step;
mod usage_limits;
mod user_commands;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::event::{DenialKind, Event, RunParameters};
use super::ids::UnixMillis;
use super::plan_thread::ThreadEntry;
use super::run_timeline;

pub use current_work::{ProgramOperation, ResultValidity, RunningTurn};
pub use plan_threads::notes_blocker;
pub use queued_messages::{QueuedMessages, QueuedUserMessage};
pub use run_state::{
    DeferredResult, DocumentAuthor, PlanFile, PlanFileState, RunGoal, RunState, UnansweredRequest,
    VerdictRecord,
};
pub use step_undo::changed_boxes;

/// The schema of the event log and of the snapshot.
pub const RUN_SCHEMA: u32 = 1;

/// One goal in one repository. Changes only through [`Run::step`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Run {
    state: RunState,
}

impl Run {
    /// Creates a run from the first event of its log.
    pub fn new(at: UnixMillis, created: &RunParameters) -> Self {
        Self {
            state: RunState::new(at, created),
        }
    }

    /// Returns the state of the run.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Applies one event of the log during a replay; its effects are dropped, because they were already performed or no
    /// longer matter. Returns `None` before the first event.
    pub fn replay_event(run: Option<Self>, at: UnixMillis, event: &Event) -> Option<Self> {
        match (run, event) {
            (None, Event::RunCreated(created)) => Some(Self::new(at, created)),
            (None, _) => None,
            (Some(mut run), event) => {
                drop(run.step(at, event));
                Some(run)
            }
        }
    }

    /// Applies one event and returns the effects to perform. An event that does not fit changes nothing but the time of
    /// the last one.
    pub fn step(&mut self, at: UnixMillis, event: &Event) -> Vec<Effect> {
        let effects = self.dispatch_event(at, event);
        run_timeline::record_event(&mut self.state, at, event);
        effects
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one arm an event, each calling one function: a list to read"
    )]
    fn dispatch_event(&mut self, at: UnixMillis, event: &Event) -> Vec<Effect> {
        let state = &mut self.state;
        match event {
            Event::RunCreated(_)
            | Event::AgentsRegistered { .. }
            | Event::PhaseChanged { .. }
            | Event::QuestionAsked { .. } => Vec::new(),
            Event::Agent { turn, news, .. } => {
                unattributed_changes::on_agent_activity(state, at, turn, news)
            }
            Event::GoalGiven { text } => goal_and_plan::on_goal_given(state, text),
            Event::GoalMessageAdded { text } => goal_and_plan::on_goal_message(state, at, text),
            Event::RefinerChosen { role, goal } => {
                goal_and_plan::on_refiner_chosen(state, *role, goal.as_deref())
            }
            Event::GoalConfirmed { title, text } => {
                goal_and_plan::on_goal_confirmed(state, at, title, text)
            }
            Event::TurnSendConfirmed => user_commands::on_turn_released(state, at),
            Event::GateChanged { gate } => user_commands::on_gate_changed(state, at, *gate),
            Event::TurnHoldChanged { hold } => turn_start::on_turn_hold_changed(state, at, *hold),
            Event::ModeChanged { mode } => user_commands::on_mode_changed(state, *mode),
            Event::InterruptRequested => user_commands::on_turn_interrupted(state),
            Event::Steered { text } => user_commands::on_turn_steered(state, text),
            Event::MessageQueued { to, text } => user_commands::on_message_queued(state, *to, text),
            Event::RunStopped => user_commands::on_run_stopped(state),
            Event::RunCancelled => user_commands::on_run_cancelled(state),
            Event::ProgramExited { .. } => user_commands::on_program_exit(state),
            Event::RunResumed { gate } => run_recovery::on_run_resumed(state, at, *gate),
            Event::TreeRestored { step } => run_recovery::on_tree_restored(state, at, *step),
            Event::QuestionAnswered { id, answer } => {
                user_commands::on_question_answered(state, at, *id, answer)
            }
            Event::FindingSettled { n } => review_loop::on_finding_settled(state, *n),
            Event::SessionOpened {
                role,
                external_id,
                model,
            } => turn_lifecycle::on_session_opened(state, *role, external_id, model.as_deref()),
            Event::SessionVersion { role, version, .. } => {
                turn_lifecycle::on_session_version(state, *role, version)
            }
            Event::SessionLost { role, .. } => turn_lifecycle::on_session_lost(state, *role),
            Event::SessionMoved {
                role,
                session,
                adapter,
            } => usage_limits::on_session_moved(state, at, *role, session, adapter),
            Event::SessionStayed { role, reason } => {
                usage_limits::on_session_move_failed(state, *role, reason)
            }
            Event::LimitPassed { id } => usage_limits::on_limit_passed(state, at, *id),
            Event::UsageReported { role, usage } => {
                turn_lifecycle::on_usage_reported(state, *role, *usage)
            }
            Event::PlanUseReported { role, windows } => {
                turn_lifecycle::on_plan_usage_reported(state, *role, windows)
            }
            Event::MessageAppended { role, message } => {
                turn_lifecycle::on_message_appended(state, *role, message)
            }
            Event::TurnStarted { turn, process, .. } => {
                turn_lifecycle::on_turn_started(state, turn, process.as_ref())
            }
            Event::TurnEnded { turn, result } => {
                turn_lifecycle::on_turn_ended(state, at, turn, result)
            }
            Event::PlanCommitted {
                turn,
                plan,
                file_sha256,
            } => goal_and_plan::on_plan_committed(
                state,
                at,
                turn,
                PlanFile::from_plan(plan, file_sha256),
            ),
            Event::ReviewCommitted { .. } => review_loop::on_review_committed(state, at, event),
            Event::ResponseCommitted { .. } => review_loop::on_response_committed(state, at, event),
            Event::FilesOpened { files, .. } => {
                state.opened_files.extend(files.clone());
                Vec::new()
            }
            Event::DisputesJudged { turn, judgements } => {
                review_loop::on_disputes_judged(state, at, turn, judgements)
            }
            Event::DocumentMissing { turn, reason } => {
                incomplete_documents::on_no_document(state, at, turn, reason)
            }
            Event::DocumentIncomplete {
                turn,
                lacks,
                review,
            } => incomplete_documents::on_document_incomplete(
                state,
                at,
                turn,
                lacks,
                review.as_deref(),
            ),
            Event::DocumentConflict {
                turn,
                document,
                clash,
            } => incomplete_documents::on_document_conflict(state, turn, document, clash.as_ref()),
            Event::PlanEdited {
                plan,
                approval_sha256,
                file_sha256,
                ..
            } => plan_approval::on_plan_edited(state, plan.as_ref(), approval_sha256, file_sha256),
            Event::RemarksAppended { file_sha256 } => {
                review_loop::on_remarks_appended(state, file_sha256)
            }
            Event::NoteMade(note) => plan_threads::on_note_made(state, &ThreadEntry::from(note)),
            Event::NoteRemoved { n } => plan_threads::on_note_removed(state, *n),
            Event::ThreadResolved { n } => plan_threads::on_thread_resolved(state, *n),
            Event::ThreadsChanged(changes) => plan_threads::on_threads_changed(state, changes),
            Event::ThreadsWritten { file_sha256 } => {
                plan_threads::on_threads_written(state, file_sha256)
            }
            Event::CommentsEdited { file_sha256 } => {
                review_loop::on_comments_edited(state, file_sha256)
            }
            Event::AgentAsked {
                turn,
                request,
                questions,
                child,
            } => agent_questions::on_agent_asked(state, turn, request, questions, child.as_deref()),
            Event::AgentQuestionWithdrawn { request } => {
                agent_questions::on_question_withdrawn(state, request)
            }
            Event::AnswerPending { request, about } => {
                deferred_answers::on_answer_deferred(state, request, about)
            }
            Event::PlanExitAnswered { told } => {
                goal_and_plan::on_plan_exit_answered(state, told.as_deref())
            }
            Event::AnswerMissed { request } => {
                deferred_answers::on_answer_timeout(state, at, request)
            }
            Event::ApprovalRequested(approval) => {
                approval_requests::on_approval_requested(state, approval)
            }
            Event::ApprovalDecided {
                request,
                allowed,
                by,
                reason,
                denial,
                ..
            } => {
                let denial = DenialKind::from_event(*denial, reason);
                approval_requests::on_approval_decided(state, request, *allowed, by, denial)
            }
            Event::ApprovalExpired { approval, .. } => {
                approval_requests::on_approval_expired(state, &approval.request)
            }
            Event::DraftFound { turn, files } => run_recovery::on_draft_found(state, turn, files),
            Event::RepositorySurveyed { terms } => plan_approval::on_surveyed(state, terms),
            Event::ExecutionEntered { base, terms } => {
                plan_approval::on_execution_entered(state, at, base.as_deref(), terms)
            }
            Event::ExecutionRefused { reason } => {
                plan_approval::on_execution_refused(state, reason)
            }
            Event::ApprovalChecked { step, changes } => {
                approval_checks::on_approval_checked(state, *step, changes)
            }
            Event::SnapshotTaken { step, tree, .. } => {
                step_execution::on_snapshot_taken(state, at, *step, tree.as_deref())
            }
            Event::StepAudited(audit) => step_execution::on_step_audited(state, at, audit),
            Event::EditsPutBack { step, .. } => {
                held_edit_questions::on_edits_put_back(state, *step)
            }
            Event::BaselineRan(found) => test_baseline::on_baseline_ran(state, at, found),
            Event::BaselineStopped => test_baseline::on_baseline_stopped(state),
            Event::BaselineSkipped { .. } => test_baseline::on_baseline_skipped(state, at),
            Event::TestsRan { .. } => step_tests::on_tests_ran(state, at, event),
            Event::ReceiptsAdded { sha256, .. } => {
                state.receipt_head = Some(sha256.clone());
                Vec::new()
            }
            Event::StepProved { step, proof, tree } => {
                proof_questions::on_step_proved(state, *step, proof, tree.as_ref())
            }
            Event::CommitMade {
                step,
                commit,
                message,
                size,
            } => step_commit::on_commit_made(state, *step, commit, message, *size),
            Event::CommitSkipped { step, reason } => {
                step_commit::on_commit_skipped(state, *step, reason)
            }
            Event::CommitFailed { step, message } => {
                step_commit::on_commit_failed(state, *step, message)
            }
            Event::PlanMarked { file_sha256 } => goal_and_plan::on_plan_marked(state, file_sha256),
            Event::StepRecorded {
                step,
                plan_file_sha256,
            } => step_sequence::on_step_recorded(state, at, *step, plan_file_sha256.as_ref()),
            Event::UndoAsked { way, seen } => step_undo::on_undo_requested(state, *way, seen),
            Event::UndoKept { tree } => step_undo::on_tree_saved(state, tree),
            Event::UndoPutBack { tree, commit } => {
                step_undo::on_files_restored(state, tree, commit.as_deref())
            }
            Event::UndoFailed { .. } => step_undo::on_undo_failed(state, at),
            Event::UndoFinished {
                plan_file_sha256, ..
            } => step_undo::on_undo_recorded(state, at, plan_file_sha256.as_ref()),
            Event::TaskStarted(order) => child_sessions::on_task_started(state, at, order),
            Event::TaskDispatched { session } => child_sessions::on_task_began(state, at, session),
            Event::TaskOpened {
                session,
                external_id,
            } => child_sessions::on_task_opened(state, session, external_id),
            Event::TaskActivity { session, news } => {
                child_sessions::on_task_activity(state, session, news)
            }
            Event::TaskMovedToBackground { session } => {
                child_sessions::on_task_sent_to_background(state, session)
            }
            Event::TaskPatched { session, patch } => {
                child_sessions::on_task_patched(state, at, session, patch)
            }
            Event::TaskEnded(result) => child_sessions::on_task_ended(state, result),
            Event::TaskReported { session } => child_sessions::on_task_reported(state, session),
            Event::ChildDeleted { session } => child_sessions::on_child_deleted(state, session),
            Event::Discussion { id, news } => {
                run_discussions::on_discussion_event(state, at, id, news)
            }
            Event::StoreTampered { .. } => user_commands::on_files_tampered(state, at),
            Event::TodosWritten { session, todos } => {
                turn_lifecycle::on_todos_written(state, session, todos)
            }
            Event::ToolBlocked { .. } | Event::WarningRaised { .. } => Vec::new(),
            Event::LateResultReceived { role, text } => {
                turn_lifecycle::on_background_result(state, *role, text)
            }
            Event::PlanEntered { reason, step } => {
                plan_reentry::on_plan_entered(state, at, reason, *step)
            }
            Event::StepSkipped { step, reason } => {
                unfinished_step::on_step_skipped(state, *step, reason)
            }
            Event::StepAmended { step } => unfinished_step::on_step_amended(state, at, *step),
            Event::EffectFailed { what, message } => {
                vec![Effect::HaltRun(format!("{what}: {message}"))]
            }
        }
    }
}
