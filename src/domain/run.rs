//! Holds the whole state of a run, which is one goal in one repository, and changes it only through `step`.
//!
//! The same events always give the same state and effects, so a run is a fold of its log.

mod agent_questions;
mod approval_checks;
mod approval_requests;
mod child_sessions;
mod deferred_answers;
mod files_changed_by_tests;
mod goal_and_plan;
mod held_edit_questions;
mod incomplete_documents;
mod legacy_review_loop;
mod plan_approval;
mod plan_reentry;
mod plan_threads;
mod planned_step;
mod progress_report;
mod proof_questions;
mod queued_messages;
mod review_loop;
mod run_discussions;
mod run_recovery;
mod scope_questions;
mod step_commit;
mod step_execution;
mod step_tests;
mod step_undo;
mod test_baseline;
mod turn_lifecycle;
mod unattributed_changes;
mod unfinished_step;
mod usage_limits;
mod user_commands;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::deferred_answer::DeferredAnswer;
use super::discussion::GroupDiscussion;
use super::effect::Effect;
use super::event::{AgentProcess, Approval, DenialKind, Event, RunParameters, WorkflowSettings};
use super::findings::FindingLedger;
use super::ids::{DiscussionId, RequestId, RunId, SessionId, Sha256, TurnId, UnixMillis};
use super::missing_part::MissingPartRequests;
use super::phase::{Gate, Mode, Phase, TurnHold};
use super::plan::Plan;
use super::plan_execution::{CurrentStep, PlanExecution, ReplanRecord, StoppedStep};
use super::plan_thread::{PlanThreads, ThreadEntry};
use super::question::{ArbitrationReason, DraftFile, Question};
use super::receipt_chain::ApprovalExtension;
use super::reversal_plan::UndoDirection;
use super::review::{ReviewDocument, Verdict};
use super::run_timeline::{self, RunTimeline};
use super::session::Session;
use super::task::ChildSession;
use super::turn::{Role, TurnOrder, TurnPurpose};

pub use plan_threads::notes_blocker;
pub use queued_messages::{QueuedMessages, QueuedUserMessage};
pub use step_undo::changed_boxes;
pub(super) use turn_lifecycle::is_idle;

/// The schema of the event log and of the snapshot.
pub const RUN_SCHEMA: u32 = 1;

/// One goal in one repository. Changes only through [`Run::step`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Run {
    state: RunState,
}

/// Everything that is known of a run; the content of `state.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    pub run: RunId,
    /// When it was created.
    pub created: UnixMillis,
    /// Its goal, once given.
    pub goal: Option<RunGoal>,
    /// Who discusses it with the user.
    #[serde(default)]
    pub refiner: Role,
    /// Where in the workflow it is.
    pub phase: Phase,
    pub gate: Gate,
    /// Whether a released turn may start.
    #[serde(default, skip_serializing_if = "TurnHold::is_free")]
    pub turn_hold: TurnHold,
    /// How much runs without asking.
    pub mode: Mode,
    /// The settings of the workflow.
    pub settings: WorkflowSettings,
    /// How often a goal was confirmed.
    pub cycle: u32,
    /// The current or last review of this cycle, from 1; 0 before the first.
    pub iteration: u32,
    /// Iterations that the user granted beyond the maximum.
    pub extra: u32,
    /// Iterations in a row that settled nothing.
    pub stall: u32,
    pub planner: Session,
    /// The reviewer's session; `None` skips the review.
    pub reviewer: Option<Session>,
    /// The plan on disk.
    pub plan: Option<PlanFile>,
    /// Whether it contains words of the user that an agent's next version would overwrite.
    #[serde(default)]
    pub plan_by: DocumentAuthor,
    /// The hash of the `comments.md` on disk.
    pub comments_sha256: Option<Sha256>,
    /// Whether it contains words of the user, as for the plan.
    #[serde(default)]
    pub comments_by: DocumentAuthor,
    /// The approval hash of the plan in the current review.
    pub reviewing: Option<Sha256>,
    /// The approval hashes of the plans that were reviewed, by the number of the review. Version 0.1 kept none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reviewed_plans: BTreeMap<u32, Sha256>,
    /// The hash of the last receipt of the run's chain; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_head: Option<Sha256>,
    /// Whether a person approved the execution after seeing the plan, so that the waivers in it count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved_by_person: bool,
    /// The user's answers that extend the approval, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<ApprovalExtension>,
    /// The last verdict.
    pub verdict: Option<VerdictRecord>,
    /// The approval hash of the plan that was approved.
    pub approved_sha256: Option<Sha256>,
    pub findings: FindingLedger,
    /// What the agents of this review and of its answer were asked to add.
    #[serde(default, skip_serializing_if = "MissingPartRequests::is_empty")]
    pub asked_back: MissingPartRequests,
    /// The review that was asked back, until the reviewer returns another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_back_review: Option<Box<ReviewDocument>>,
    /// Why the user decides about the last review, once its disputes are decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arbitration_after_disputes: Option<ArbitrationReason>,
    /// The files that the reviewer opened for this goal, with the hash of what it saw last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub opened_files: BTreeMap<String, Sha256>,
    /// The execution, once entered.
    pub execution: Option<PlanExecution>,
    /// The turn that runs now.
    pub running: Option<RunningTurn>,
    /// What the program itself does between two turns.
    pub busy: Option<ProgramOperation>,
    /// The question that waits for the user.
    pub awaiting: Option<Question>,
    /// Other questions for which agents wait at their CLIs: a second question of the running turn, and those of
    /// children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Question>,
    /// Calls of agents that wait for a decision.
    pub approvals: Vec<Approval>,
    /// How many have waited so far; numbers the next one.
    #[serde(default)]
    n_approvals: u32,
    /// The child sessions, in the order in which they were created.
    #[serde(default)]
    pub children: Vec<ChildSession>,
    /// The group discussions, in the order in which they were started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discussions: Vec<GroupDiscussion>,
    /// Requests of agents without an answer before the program ended; each agent learns of it with its next turn.
    #[serde(default)]
    pub unanswered: Vec<UnansweredRequest>,
    /// Requests that the user refused together with the rest of a turn; each agent learns of it with its next turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<UnansweredRequest>,
    /// Questions whose agents ended their turns without the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<DeferredAnswer>,
    /// The text for the planner, where the user did not let the plan go to review: the plan of the current turn is
    /// stored and not reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_stays: Option<String>,
    /// A finished turn that waits for answers to its questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_end: Option<deferred_answers::SuspendedTurnEnd>,
    /// Results that arrived after an agent's turn; each agent gets them with its next turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<DeferredResult>,
    /// The user's messages that no turn could receive; the next one gets them.
    #[serde(default, skip_serializing_if = "QueuedMessages::is_empty")]
    pub kept: QueuedMessages,
    /// What a cut-off turn left in its folder, until the run is resumed.
    #[serde(default)]
    draft: Option<(TurnId, Vec<DraftFile>)>,
    /// The last step that was stopped, which may have left changes uncommitted.
    #[serde(default)]
    pub stopped_step: Option<StoppedStep>,
    /// Why the plan is written again after a part of it was executed; `None` until that happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replanning: Option<ReplanRecord>,
    /// Failures in a row of the current turn.
    pub failures: u32,
    /// Usage limits in a row whose end is not known.
    #[serde(default)]
    pub blind_waits: u32,
    /// What the user requested at the approval, until `comments.md` contains it.
    #[serde(default)]
    pub remarks: Option<String>,
    /// The threads about the plan; version 0.1 had notes of the user.
    #[serde(default, rename = "notes")]
    pub threads: PlanThreads,
    /// When each role worked, and what each review said.
    #[serde(default)]
    pub course: RunTimeline,
    /// The number of the next turn.
    next_turn: u32,
    /// The number of the next question.
    next_question: u32,
}

/// The goal of a run: its title, and the text that the user confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunGoal {
    /// One line.
    pub title: String,
    pub text: String,
    /// Whether the user confirmed it.
    pub confirmed: bool,
}

/// The plan on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFile {
    pub plan: Plan,
    /// The hash of the whole file.
    pub file_sha256: Sha256,
    /// Which committed version it is, from 1.
    pub version: u32,
    /// Whether the file on disk is a plan at all.
    pub reading: PlanFileState,
}

/// A request of an agent without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnansweredRequest {
    /// The role that asked.
    pub role: Role,
    /// What it asked for, cleaned.
    pub what: String,
}

/// A result for which an agent waited and which it gets with its next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeferredResult {
    /// The role that waited.
    pub role: Role,
    /// The text for the agent, cleaned.
    pub text: String,
}

/// Whose words a document contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentAuthor {
    /// Only those of agents and of the program.
    Agent,
    /// Some are the user's; also where this is not known.
    #[default]
    User,
}

/// Whether the plan's file is a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileState {
    /// The file is a plan.
    Plan,
    /// An edit removed its boxes; `plan` has the steps that were known before.
    Broken,
}

/// A verdict and its circumstances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictRecord {
    pub value: Verdict,
    /// False when the review's signals disagreed.
    pub consistent: bool,
    /// Whether the user let the plan pass against it.
    pub forced: bool,
    /// The approval hash of the plan that was reviewed.
    pub plan_sha256: Sha256,
    pub iteration: u32,
}

/// The turn that runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTurn {
    pub order: TurnOrder,
    pub started_at: UnixMillis,
    /// Whether its result still counts.
    pub result: ResultValidity,
    /// Its CLI's process, once known.
    pub process: Option<AgentProcess>,
}

/// Whether the result of a running turn still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultValidity {
    Yes,
    /// The user stopped or cancelled in the meantime.
    No,
}

/// What the program itself does between two turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "busy", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a run has one of them")]
pub enum ProgramOperation {
    /// It takes a document out of a completed turn.
    Collecting {
        order: TurnOrder,
        /// The question at the end of the turn's text, where the heuristic found one.
        question: Option<String>,
    },
    /// It stores the tree before a turn.
    Storing { order: TurnOrder },
    /// It waits with a released turn until the user has answered whether to stop.
    Held {
        order: TurnOrder,
        /// The gate that released it.
        by: Gate,
    },
    /// It inspects the repository before the approval of an execution.
    Surveying,
    /// It checks out the branch.
    Entering,
    /// It runs the tests on the tree before the first step.
    Baseline,
    /// It moves the turn's role to another adapter.
    Moving {
        /// What the turn is for.
        purpose: TurnPurpose,
    },
    /// It works on the current step.
    Stepping {
        /// The question at the end of the agent's text, where the heuristic found one.
        question: Option<String>,
    },
    /// It undoes or redoes steps.
    Reversing {
        way: UndoDirection,
        /// The stored tree from before; once it is stored, the reversal is always finished.
        kept: Option<String>,
        /// The tree from after and the new commit, once the files are restored.
        left: Option<(String, Option<String>)>,
        /// The question that waited for the user before the reversal.
        question: Option<Question>,
    },
}

impl Run {
    /// Creates a run from the first event of its log.
    pub fn new(at: UnixMillis, created: &RunParameters) -> Self {
        let session = |(id, adapter): &(_, String), profile| {
            Session::new(Clone::clone(id), adapter.clone(), profile)
        };
        Self {
            state: RunState {
                run: created.run.clone(),
                created: at,
                goal: None,
                refiner: Role::default(),
                phase: Phase::Init,
                gate: created.gate,
                turn_hold: TurnHold::Free,
                mode: created.mode,
                settings: created.settings.clone(),
                cycle: 0,
                iteration: 0,
                extra: 0,
                stall: 0,
                planner: session(&created.planner, super::turn::TurnProfile::Plan),
                reviewer: created
                    .reviewer
                    .as_ref()
                    .map(|reviewer| session(reviewer, super::turn::TurnProfile::Review)),
                plan: None,
                plan_by: DocumentAuthor::Agent,
                comments_sha256: None,
                comments_by: DocumentAuthor::Agent,
                reviewing: None,
                reviewed_plans: BTreeMap::new(),
                receipt_head: None,
                approved_by_person: false,
                extensions: Vec::new(),
                verdict: None,
                approved_sha256: None,
                findings: FindingLedger::default(),
                asked_back: MissingPartRequests::default(),
                asked_back_review: None,
                arbitration_after_disputes: None,
                opened_files: BTreeMap::new(),
                execution: None,
                running: None,
                busy: None,
                awaiting: None,
                asked: Vec::new(),
                approvals: Vec::new(),
                n_approvals: 0,
                children: Vec::new(),
                discussions: Vec::new(),
                unanswered: Vec::new(),
                refused: Vec::new(),
                late: Vec::new(),
                plan_stays: None,
                held_end: None,
                kept: QueuedMessages::default(),
                results: Vec::new(),
                draft: None,
                stopped_step: None,
                replanning: None,
                failures: 0,
                blind_waits: 0,
                remarks: None,
                threads: PlanThreads::default(),
                course: RunTimeline::default(),
                next_turn: 1,
                next_question: 1,
            },
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
            Event::TurnHoldChanged { hold } => {
                turn_lifecycle::on_turn_hold_changed(state, at, *hold)
            }
            Event::ModeChanged { mode } => user_commands::on_mode_changed(state, *mode),
            Event::InterruptRequested => user_commands::on_turn_interrupted(state),
            Event::Steered { text } => user_commands::on_turn_steered(state, text),
            Event::MessageQueued { to, text } => {
                queued_messages::on_message_queued(state, *to, text)
            }
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
                goal_and_plan::on_no_document(state, at, turn, reason)
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
            } => goal_and_plan::on_document_conflict(state, turn, document, clash.as_ref()),
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
            } => step_commit::on_step_recorded(state, at, *step, plan_file_sha256.as_ref()),
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
            Event::StoreTampered { files } => user_commands::on_files_tampered(state, files),
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

impl PlanFile {
    fn from_plan(plan: &Plan, file_sha256: &Sha256) -> Self {
        Self {
            plan: plan.clone(),
            file_sha256: file_sha256.clone(),
            version: 0,
            reading: PlanFileState::Plan,
        }
    }
}

impl RunState {
    /// Returns the session of a role; `None` for the reviewer of a run without one.
    pub fn session(&self, role: Role) -> Option<&Session> {
        match role {
            Role::Planner => Some(&self.planner),
            Role::Reviewer => self.reviewer.as_ref(),
        }
    }

    /// Returns the role that has a session; `None` for a child's, and for one of an earlier adapter.
    pub fn role_of_session(&self, session: &SessionId) -> Option<Role> {
        let mut roles = [Role::Planner, Role::Reviewer].into_iter();
        roles.find(|role| self.session(*role).is_some_and(|own| own.id == *session))
    }

    fn session_mut(&mut self, role: Role) -> Option<&mut Session> {
        match role {
            Role::Planner => Some(&mut self.planner),
            Role::Reviewer => self.reviewer.as_mut(),
        }
    }

    /// Returns whether an agent or the program works.
    pub fn is_working(&self) -> bool {
        // A turn on hold has not started.
        let is_busy = |busy: &ProgramOperation| !matches!(busy, ProgramOperation::Held { .. });
        self.running.is_some() || self.busy.as_ref().is_some_and(is_busy)
    }

    /// Returns a discussion of this run.
    pub fn discussion(&self, id: &DiscussionId) -> Option<&GroupDiscussion> {
        let mut all = self.discussions.iter();
        all.find(|discussion| discussion.id() == id)
    }

    /// Returns the request of a call that waits for the user's decision, by its number in the run.
    pub fn request_of_call(&self, call: u32) -> Option<&RequestId> {
        let mut waiting = self.approvals.iter();
        Some(&waiting.find(|approval| approval.n == call)?.request)
    }

    /// Returns the question to show first: questions of agents that wait at their CLIs come before those of the
    /// workflow, then the older one comes first.
    pub fn current_question(&self) -> Option<&Question> {
        let all = self.awaiting.iter().chain(&self.asked);
        all.min_by_key(|question| (question.kind.request_id().is_none(), question.id))
    }

    /// Returns the step that is being worked on.
    pub fn current_step(&self) -> Option<&CurrentStep> {
        self.execution.as_ref()?.current.as_ref()
    }

    fn current_step_mut(&mut self) -> Option<&mut CurrentStep> {
        self.execution.as_mut()?.current.as_mut()
    }

    /// Returns the number of the step that is being worked on.
    pub fn current_step_number(&self) -> Option<u32> {
        self.current_step().map(|current| current.n)
    }

    /// Returns whether nothing more happens in this run by itself.
    pub fn is_over(&self) -> bool {
        self.phase.is_final() && self.busy.is_none()
    }

    /// Returns the run as it was left: nothing runs and no question is open, whatever the record says.
    #[must_use]
    pub fn without_activity(mut self) -> Self {
        (self.running, self.busy, self.awaiting) = (None, None, None);
        self.approvals.clear();
        self
    }

    /// Returns the maximum number of iterations in this cycle.
    pub fn iteration_limit(&self) -> u32 {
        self.settings.max_iterations.saturating_add(self.extra)
    }

    /// Stores a committed or edited plan as the next version.
    fn set_plan(&mut self, plan: PlanFile, by: DocumentAuthor) {
        self.plan_by = by;
        let version = self.plan.as_ref().map_or(0, |plan| plan.version) + 1;
        self.plan = Some(PlanFile { version, ..plan });
        plan_reentry::mark_kept_steps(self);
    }

    fn plan_block_hashes(&self) -> BTreeMap<u32, Sha256> {
        let file = self.plan.as_ref();
        file.map_or(BTreeMap::new(), |file| file.plan.block_hashes())
    }

    fn plan_approval_hash(&self) -> Option<&Sha256> {
        self.plan.as_ref().map(|plan| &plan.plan.approval_sha256)
    }
}
