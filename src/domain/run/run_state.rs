//! Holds everything that is known of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::current_work::{ProgramOperation, ResultValidity, RunningTurn, SuspendedTurnEnd};
use super::queued_messages::QueuedMessages;
use crate::domain::deferred_answer::DeferredAnswer;
use crate::domain::discussion::GroupDiscussion;
use crate::domain::event::{Approval, RunParameters, WorkflowSettings};
use crate::domain::findings::FindingLedger;
use crate::domain::ids::{DiscussionId, RequestId, RunId, SessionId, Sha256, TurnId, UnixMillis};
use crate::domain::missing_part::MissingPartRequests;
use crate::domain::phase::{Gate, Mode, Phase, TurnHold};
use crate::domain::plan::Plan;
use crate::domain::plan_execution::{CurrentStep, PlanExecution, ReplanRecord, StoppedStep};
use crate::domain::plan_thread::PlanThreads;
use crate::domain::question::{ArbitrationReason, DraftFile, Question};
use crate::domain::receipt_chain::ApprovalExtension;
use crate::domain::review::{ReviewDocument, Verdict};
use crate::domain::run_timeline::RunTimeline;
use crate::domain::session::Session;
use crate::domain::task::ChildSession;
use crate::domain::turn::{Role, TurnProfile};

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
    pub(super) asked_back_review: Option<Box<ReviewDocument>>,
    /// Why the user decides about the last review, once its disputes are decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) arbitration_after_disputes: Option<ArbitrationReason>,
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
    pub(super) n_approvals: u32,
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
    pub(super) held_end: Option<SuspendedTurnEnd>,
    /// Results that arrived after an agent's turn; each agent gets them with its next turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<DeferredResult>,
    /// The user's messages that no turn could receive; the next one gets them.
    #[serde(default, skip_serializing_if = "QueuedMessages::is_empty")]
    pub kept: QueuedMessages,
    /// What a cut-off turn left in its folder, until the run is resumed.
    #[serde(default)]
    pub(super) draft: Option<(TurnId, Vec<DraftFile>)>,
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
    pub(super) next_turn: u32,
    /// The number of the next question.
    pub(super) next_question: u32,
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

impl PlanFile {
    pub(super) fn from_plan(plan: &Plan, file_sha256: &Sha256) -> Self {
        Self {
            plan: plan.clone(),
            file_sha256: file_sha256.clone(),
            version: 0,
            reading: PlanFileState::Plan,
        }
    }
}

impl RunState {
    /// Creates the state from the first event of a run's log.
    pub(super) fn new(at: UnixMillis, created: &RunParameters) -> Self {
        let session = |(id, adapter): &(_, String), profile| {
            Session::new(Clone::clone(id), adapter.clone(), profile)
        };
        Self {
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
            planner: session(&created.planner, TurnProfile::Plan),
            reviewer: created
                .reviewer
                .as_ref()
                .map(|reviewer| session(reviewer, TurnProfile::Review)),
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
        }
    }

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

    pub(super) fn session_mut(&mut self, role: Role) -> Option<&mut Session> {
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

    /// Returns whether no turn runs, no question of the workflow waits and the program itself is idle.
    pub(in crate::domain) fn is_idle(&self) -> bool {
        let waits = self.awaiting.is_some() || self.held_end.is_some();
        self.running.is_none() && self.busy.is_none() && !waits
    }

    /// Returns whether a turn runs whose result still counts.
    pub fn has_running_turn_that_counts(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.result == ResultValidity::Yes)
    }

    /// Returns the role whose turn runs; the planner without one, because then no agent waits for anything.
    pub(super) fn running_role(&self) -> Role {
        let running = self.running.as_ref();
        running.map_or(Role::Planner, |running| running.order.purpose.role())
    }

    /// Returns whether the role's running turn has a conversation of its own, so that what the CLI reports is not about
    /// the role's session.
    pub(super) fn runs_isolated_turn(&self, role: Role) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| {
            let purpose = &running.order.purpose;
            purpose.is_isolated() && purpose.role() == role
        })
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

    pub(super) fn current_step_mut(&mut self) -> Option<&mut CurrentStep> {
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
    pub(super) fn set_plan(&mut self, plan: PlanFile, by: DocumentAuthor) {
        self.plan_by = by;
        let version = self.plan.as_ref().map_or(0, |plan| plan.version) + 1;
        self.plan = Some(PlanFile { version, ..plan });
        self.mark_kept_steps();
    }

    /// Marks the steps of the plan as done that have ended in the execution that is kept.
    pub(super) fn mark_kept_steps(&mut self) {
        let kept = self
            .replanning
            .iter()
            .filter_map(|record| record.kept.as_ref());
        let records = kept.flat_map(|kept| &kept.done);
        let ended = records
            .filter(|record| !record.is_skipped())
            .map(|record| record.n);
        let ended: Vec<u32> = ended.collect();
        let steps = self.plan.iter_mut().flat_map(|file| &mut file.plan.steps);
        for step in steps.filter(|step| ended.contains(&step.n)) {
            step.done = true;
        }
    }

    pub(super) fn plan_block_hashes(&self) -> BTreeMap<u32, Sha256> {
        let file = self.plan.as_ref();
        file.map_or(BTreeMap::new(), |file| file.plan.block_hashes())
    }

    pub(super) fn plan_approval_hash(&self) -> Option<&Sha256> {
        self.plan.as_ref().map(|plan| &plan.plan.approval_sha256)
    }
}
