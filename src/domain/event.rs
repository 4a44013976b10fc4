//! Defines the events: the closed list of everything that may change a run or is worth keeping.
//!
//! Events are facts. They are redacted before they are created, and the event log is their sequence.

#[cfg(test)]
mod example;
pub mod fields;
pub mod tampering;
mod tool_call;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::tool_call::{
    ApprovalDecider, CallPermission, CommandAccess, PathChange, ToolCallDetail, ToolKind,
    ToolStatus,
};
use super::bound_parts::BindingChange;
use super::child_path::ChildPath;
use super::deferred_answer::DeferredDecision;
use super::discussion::DiscussionEvent;
use super::findings::{DisputeJudgement, FindingResponse};
use super::ids::{DiscussionId, RequestId, RunId, SessionId, Sha256, TurnId, UnixMillis};
use super::missing_part::MissingPart;
use super::phase::{Gate, Mode, Phase, TurnHold};
use super::plan::Plan;
use super::plan_execution::{CommitSize, TestBaseline};
use super::plan_thread::{ThreadChanges, UserNote};
use super::question::{
    AgentQuestion, DraftFile, EntryPoint, ExecutionTerms, HeldEdit, MergeConflict, Question,
    QuestionAnswer,
};
use super::receipt::Receipt;
use super::reversal_plan::UndoDirection;
use super::review::ReviewDocument;
use super::session::{AccountUsageWindow, Message, SessionUsage};
use super::step_proof::StepProof;
use super::step_scope::ScopeChange;
use super::task::{TaskOrder, TaskResult};
use super::task_patch::TaskPatch;
use super::todo_list::TodoList;
use super::turn::{MissingDocumentReason, Role, TurnOutcome};
use crate::permission::{
    AgentMode, ApprovalMatcher, ApprovalScope, DecisionReason, MaxApprovalScope, StoredApproval,
    known_or_none,
};
use crate::text::fenced_block::find_document;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data")]
pub enum Event {
    /// The run was created; the first event of every log.
    #[serde(rename = "run.created")]
    RunCreated(Box<RunParameters>),
    /// Agents that the user added or changed are available from here on.
    #[serde(rename = "agents.registered")]
    AgentsRegistered {
        /// Where each may be used, by its name.
        agents: BTreeMap<String, RegisteredMode>,
    },
    /// The user gave a goal.
    #[serde(rename = "goal.given")]
    GoalGiven {
        /// The goal as typed.
        text: String,
    },
    /// The user said something about the goal.
    #[serde(rename = "goal.said")]
    GoalMessageAdded { text: String },
    /// The user chose which agent discusses the goal.
    #[serde(rename = "goal.refiner")]
    RefinerChosen {
        role: Role,
        /// The latest version of the goal, which the other agent does not know.
        goal: Option<String>,
    },
    /// The user confirmed the goal.
    #[serde(rename = "goal.confirmed")]
    GoalConfirmed {
        /// One line.
        title: String,
        text: String,
    },
    /// The user released the waiting turn.
    #[serde(rename = "turn.released")]
    TurnSendConfirmed,
    /// The user changed who releases turns.
    #[serde(rename = "gate.changed")]
    GateChanged { gate: Gate },
    /// The dialog that asks whether to stop was opened or closed. No turn starts while it is open.
    #[serde(rename = "turn.hold")]
    TurnHoldChanged {
        /// Whether turns may start now.
        hold: TurnHold,
    },
    /// The user chose how much runs without asking.
    #[serde(rename = "mode.changed")]
    ModeChanged { mode: Mode },
    /// The user wants only the running turn interrupted.
    #[serde(rename = "turn.interrupted")]
    InterruptRequested,
    /// The user sent a message to the agent in the middle of its turn.
    #[serde(rename = "turn.steered")]
    Steered { text: String },
    /// The user sent a message that no turn could receive; it goes out with the next one.
    #[serde(rename = "said.kept")]
    MessageQueued {
        /// The role whose turn ended before it could receive the message; `None` where no turn ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Role>,
        text: String,
    },
    /// The user stopped the run: it goes back to the goal.
    #[serde(rename = "run.stopped")]
    RunStopped,
    /// The user cancelled the run.
    #[serde(rename = "run.cancelled")]
    RunCancelled,
    /// The program resumed the run after its own end, orderly or not.
    #[serde(rename = "recovery")]
    RunResumed {
        /// Who releases turns from here on.
        gate: Gate,
    },
    /// The tree was restored to its state before a step.
    #[serde(rename = "step.restored")]
    TreeRestored { step: u32 },
    /// The program exits; the run stays as it is.
    #[serde(rename = "run.left")]
    ProgramExited { reason: String },
    /// The user answered a question.
    #[serde(rename = "question.answered")]
    QuestionAnswered { id: u32, answer: QuestionAnswer },
    /// The user settled a finding.
    #[serde(rename = "finding.settled")]
    FindingSettled { n: u32 },
    /// A turn's process and conversation are open.
    #[serde(rename = "session.opened")]
    SessionOpened {
        role: Role,
        /// The conversation's id at the CLI.
        external_id: String,
        /// The model that answers, where the CLI reports it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The running CLI reported its version.
    #[serde(rename = "session.version")]
    SessionVersion {
        role: Role,
        /// The adapter of that CLI; empty in events that do not record it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        adapter: String,
        /// As it reported it.
        version: String,
    },
    /// The CLI lost the conversation; a new one continues from a recovery prompt.
    #[serde(rename = "adapter.degraded")]
    SessionLost {
        role: Role,
        /// What the CLI said.
        reason: String,
    },
    /// The role continues in a new session at another adapter.
    #[serde(rename = "session.moved")]
    SessionMoved {
        role: Role,
        session: SessionId,
        /// The adapter, by its name in the configuration.
        adapter: String,
    },
    /// The role could not move to another adapter.
    #[serde(rename = "session.stayed")]
    SessionStayed { role: Role, reason: String },
    /// The wait for a usage limit is over.
    #[serde(rename = "limit.passed")]
    LimitPassed {
        /// The number of the question that waited.
        id: u32,
    },
    /// The CLI reported its totals.
    #[serde(rename = "session.usage")]
    UsageReported { role: Role, usage: SessionUsage },
    /// The CLI reported how much of its account's plan is used.
    #[serde(rename = "session.plan")]
    PlanUseReported {
        role: Role,
        windows: Vec<AccountUsageWindow>,
    },
    /// A message was appended to a session.
    #[serde(rename = "session.message")]
    MessageAppended {
        role: Role,
        /// The message without its text, which is in the session's file.
        message: Message,
    },
    /// A turn's prompt went out.
    #[serde(rename = "turn.started")]
    TurnStarted {
        turn: TurnId,
        /// The SHA-256 of its prompt.
        prompt_sha256: Sha256,
        /// The CLI's process, for finding leftovers after a crash.
        process: Option<AgentProcess>,
    },
    #[serde(rename = "turn.ended")]
    TurnEnded { turn: TurnId, result: TurnOutcome },
    /// `plan.md` of a turn was committed.
    #[serde(rename = "plan.committed")]
    PlanCommitted {
        turn: TurnId,
        plan: Plan,
        /// The hash of the file as written.
        file_sha256: Sha256,
    },
    /// The front matter of `plan.md` now names the current phase.
    #[serde(rename = "plan.marked")]
    PlanMarked {
        /// The hash of the file as written.
        file_sha256: Sha256,
    },
    /// `comments.md` of a review was committed.
    #[serde(rename = "review.committed")]
    ReviewCommitted {
        turn: TurnId,
        review: ReviewDocument,
        /// The hash of the file as written.
        file_sha256: Sha256,
        /// The approval hash of the plan that is on disk now.
        plan_now: Sha256,
    },
    /// The planner's answers were committed, perhaps with a changed plan.
    #[serde(rename = "response.committed")]
    ResponseCommitted {
        turn: TurnId,
        responses: Vec<FindingResponse>,
        /// The open findings that have no answer yet.
        unanswered: Vec<u32>,
        /// The changed plan with the hash of its file; `None` when it did not change.
        plan: Option<(Plan, Sha256)>,
        /// The hash of `comments.md` as written.
        comments_sha256: Sha256,
        /// What the planner is asked for before the review continues.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked_back: Vec<MissingPart>,
    },
    /// The agent of a review opened files of the project: paths below the root, each with the hash of what it saw.
    #[serde(rename = "review.opened")]
    FilesOpened {
        turn: TurnId,
        files: BTreeMap<String, Sha256>,
    },
    /// A fresh session judged the disputes of a review; empty where it gave no judgement.
    #[serde(rename = "disputes.judged")]
    DisputesJudged {
        turn: TurnId,
        judgements: Vec<DisputeJudgement>,
    },
    /// A completed turn produced no document.
    #[serde(rename = "document.missing")]
    DocumentMissing {
        turn: TurnId,
        reason: MissingDocumentReason,
    },
    /// A completed turn's document does not count until its agent was asked for the missing parts.
    #[serde(rename = "document.asked_back")]
    DocumentIncomplete {
        turn: TurnId,
        lacks: Vec<MissingPart>,
        /// The review that does not count yet, so that no finding of it is lost; `None` in logs of version 0.1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        review: Option<Box<ReviewDocument>>,
    },
    /// A workflow file changed while a turn wrote it too; nothing was overwritten.
    #[serde(rename = "document.conflict")]
    DocumentConflict {
        turn: TurnId,
        document: String,
        /// Why a merge is incomplete, once the user asked for one.
        #[serde(default)]
        clash: Option<MergeConflict>,
    },
    /// The user edited `plan.md`.
    #[serde(rename = "plan.edited")]
    PlanEdited {
        /// What it says now; `None` when it is no longer a plan.
        plan: Option<Plan>,
        /// The approval hash of the text on disk.
        approval_sha256: Sha256,
        /// The hash of the file.
        file_sha256: Sha256,
        /// The user's file that the run begins with and `plan.md` is a copy of; `None` for an edit of `plan.md`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// The user edited `comments.md`.
    #[serde(rename = "comments.edited")]
    CommentsEdited {
        /// The hash of the file.
        file_sha256: Sha256,
    },
    /// The user said something about a line of `plan.md` or about a finding.
    #[serde(rename = "note.made")]
    NoteMade(UserNote),
    /// The user took a note back.
    #[serde(rename = "note.removed")]
    NoteRemoved { n: u32 },
    /// The user resolved a thread.
    #[serde(rename = "thread.resolved")]
    ThreadResolved { n: u32 },
    /// A document brought new messages of threads, or its plan has their lines elsewhere.
    #[serde(rename = "threads.changed")]
    ThreadsChanged(ThreadChanges),
    /// `comments.md` has the threads as they are now.
    #[serde(rename = "threads.written")]
    ThreadsWritten {
        /// The hash of the file.
        file_sha256: Sha256,
    },
    /// The changes that the user requested at the approval are in `comments.md`.
    #[serde(rename = "remarks.appended")]
    RemarksAppended {
        /// The hash of the file.
        file_sha256: Sha256,
    },
    /// The phase changed; follows from the event before it.
    #[serde(rename = "run.phase")]
    PhaseChanged {
        from: Phase,
        to: Phase,
        /// Why a review ended, as text, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A question waits for the user; follows from the event before it.
    #[serde(rename = "question.asked")]
    QuestionAsked { question: Question },
    /// The agent asks something through its CLI, in the middle of a turn.
    #[serde(rename = "agent.asked")]
    AgentAsked {
        turn: TurnId,
        request: RequestId,
        /// The questions with their offered answers.
        questions: Vec<AgentQuestion>,
        /// The child that asks, with its parent, where it is one: `planner ▸ explore#2`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<String>,
    },
    /// The CLI no longer waits for that answer.
    #[serde(rename = "agent.asked.withdrawn")]
    AgentQuestionWithdrawn { request: RequestId },
    /// The agent that asked was instructed to end its turn: the answer comes with its next one.
    #[serde(rename = "agent.asked.pending")]
    AnswerPending {
        request: RequestId,
        /// What the answer decides.
        #[serde(flatten)]
        about: DeferredDecision,
    },
    /// The user answered whether the plan goes to review, while its planner waited.
    #[serde(rename = "plan.exit")]
    PlanExitAnswered {
        /// The text for the planner's next turn; `None` where the user agreed.
        told: Option<String>,
    },
    /// Such a question got no answer in time.
    #[serde(rename = "agent.asked.missed")]
    AnswerMissed { request: RequestId },
    /// An agent's call needs a decision.
    #[serde(rename = "approval.asked")]
    ApprovalRequested(Approval),
    #[serde(rename = "approval.answered")]
    ApprovalDecided {
        request: RequestId,
        /// Whether the call may go ahead.
        allowed: bool,
        by: ApprovalDecider,
        reason: String,
        /// Whether a denial gives a reason; `None` for an allowed call, and in events of earlier versions.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "known_or_none"
        )]
        denial: Option<DenialKind>,
        /// What the user approved with it for more than this once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<StoredApproval>,
    },
    /// A waiting call will no longer be answered.
    #[serde(rename = "approval.expired")]
    ApprovalExpired { approval: Approval, reason: String },
    /// A cut-off turn left a changed document in its folder.
    #[serde(rename = "draft.found")]
    DraftFound { turn: TurnId, files: Vec<DraftFile> },
    /// The repository was inspected before the approval of an execution.
    #[serde(rename = "execution.surveyed")]
    RepositorySurveyed {
        /// What the user would approve.
        terms: ExecutionTerms,
    },
    /// The branch is checked out and the base is recorded.
    #[serde(rename = "execution.entered")]
    ExecutionEntered {
        /// The commit that was checked out, where there is one.
        base: Option<String>,
        terms: ExecutionTerms,
    },
    /// The execution could not be entered.
    #[serde(rename = "execution.refused")]
    ExecutionRefused { reason: String },
    /// What the approval is bound to was compared with what is there now, before a step's turn or its tests.
    #[serde(rename = "approval.checked")]
    ApprovalChecked {
        step: u32,
        /// What differs; empty where nothing does.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<BindingChange>,
    },
    /// The whole tree was stored before a turn.
    #[serde(rename = "step.snapshot")]
    SnapshotTaken {
        step: u32,
        /// The git tree; `None` without git.
        tree: Option<String>,
        /// 0 before the step, the number of the attempt before a fix.
        #[serde(default, skip_serializing_if = "crate::domain::is_default")]
        attempt: u32,
    },
    /// The program found out what a step's turn changed.
    #[serde(rename = "step.audited")]
    StepAudited(StepAudit),
    /// Files that rules hold back were restored to their state before the step.
    #[serde(rename = "edits.put_back")]
    EditsPutBack {
        step: u32,
        paths: Vec<String>,
        /// The git tree that keeps their contents from before the restore.
        kept: String,
    },
    /// The program ran the tests on the tree before the first step.
    #[serde(rename = "baseline.ran")]
    BaselineRan(TestBaseline),
    /// The user stops that test run and continues without it.
    #[serde(rename = "baseline.stopped")]
    BaselineStopped,
    /// That test run produced no result.
    #[serde(rename = "baseline.skipped")]
    BaselineSkipped { reason: String },
    /// The program ran the tests.
    #[serde(rename = "tests.ran")]
    TestsRan {
        step: u32,
        receipt: Receipt,
        /// Everything that the step changed, including tracked files that the tests changed.
        changed: Vec<String>,
        /// Untracked files that the tests made.
        made_by_tests: Vec<String>,
        /// Changes in or beside it that the program would run; the tests themselves may have made them.
        entry_points: Vec<EntryPoint>,
        /// Changes in it that path rules hold back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held: Vec<HeldEdit>,
        /// What differs between the trees before and after the tests, without files that the tests created.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rewritten: Vec<String>,
        /// The tree after the tests; `None` in events of earlier versions.
        #[serde(default)]
        tree: Option<String>,
    },
    /// The program ran old and new tests on old and new code.
    #[serde(rename = "step.proved")]
    StepProved {
        step: u32,
        proof: StepProof,
        /// The working tree that the step left; a proof of another one is out of date.
        tree: Option<String>,
    },
    /// Receipts were added to the run's chain.
    #[serde(rename = "receipts.added")]
    ReceiptsAdded {
        /// How many receipts the chain has now.
        number: u32,
        /// The hash of the last one.
        sha256: Sha256,
    },
    /// A step was committed.
    #[serde(rename = "commit.made")]
    CommitMade {
        step: u32,
        /// The full commit id.
        commit: String,
        /// Its first line.
        message: String,
        /// `None` where it was not counted, and in logs of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<CommitSize>,
    },
    /// No commit was made, for a reason that is not a failure.
    #[serde(rename = "commit.skipped")]
    CommitSkipped { step: u32, reason: String },
    #[serde(rename = "commit.failed")]
    CommitFailed {
        step: u32,
        /// What git said, cleaned.
        message: String,
    },
    /// The step is in log.md and its box is ticked.
    #[serde(rename = "step.done")]
    StepRecorded {
        step: u32,
        /// The hash of plan.md with the tick; `None` when the user's own edit prevented it.
        plan_file_sha256: Option<Sha256>,
    },
    /// The user wants steps undone or redone.
    #[serde(rename = "undo.asked")]
    UndoAsked {
        way: UndoDirection,
        /// The tree that the user saw; when the current tree differs, nothing is done.
        seen: String,
    },
    /// The tree from before the undo is stored.
    #[serde(rename = "undo.kept")]
    UndoKept { tree: String },
    /// The files are restored, and committed changes are reverted by a new commit.
    #[serde(rename = "undo.put_back")]
    UndoPutBack {
        /// The git tree from after.
        tree: String,
        /// The commit, where one was made.
        commit: Option<String>,
    },
    /// Nothing was undone or redone; the files did not change.
    #[serde(rename = "undo.failed")]
    UndoFailed {
        /// Why, and what to do.
        reason: String,
    },
    /// Steps are undone or redone, and the boxes of plan.md show it.
    #[serde(rename = "undo.done")]
    UndoFinished {
        way: UndoDirection,
        steps: Vec<u32>,
        /// The git tree from before.
        kept: String,
        /// The commit, where one was made.
        commit: Option<String>,
        /// The hash of plan.md with its boxes; `None` when the user's own edit kept them as they were.
        plan_file_sha256: Option<Sha256>,
    },
    /// Something outside the program changed files that only the program writes; the program's versions are restored.
    #[serde(rename = "store.tampered")]
    StoreTampered {
        /// Each file with the place where the changed copy is kept.
        #[serde(deserialize_with = "tampering::deserialize_restored_files")]
        files: Vec<tampering::RestoredFile>,
    },
    /// An agent replaced its todo list.
    #[serde(rename = "todo.updated")]
    TodosWritten { session: SessionId, todos: TodoList },
    /// An agent called a tool that its session does not have, one of the program or of its CLI; nothing was done.
    #[serde(rename = "tool.blocked")]
    ToolBlocked {
        session: SessionId,
        tool: String,
        reason: String,
    },
    /// A result arrived after the turn of the agent that waited for it; only in logs of earlier versions.
    #[serde(rename = "tool.result")]
    LateResultReceived {
        /// The role that waited.
        role: Role,
        /// The text for that agent's next turn.
        text: String,
    },
    /// The executor returns to planning, because the user agreed.
    #[serde(rename = "plan.entered")]
    PlanEntered {
        /// Why, as the executor or the user said it.
        reason: String,
        /// The step that is planned again, while the others stay; `None` where the whole plan is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// The user skips a step that is not finished.
    #[serde(rename = "step.skipped")]
    StepSkipped { step: u32, reason: String },
    /// The user's words are added to the step in `plan.md`.
    #[serde(rename = "step.amended")]
    StepAmended { step: u32 },
    /// Something that the run waits for failed: the run does not continue in this program.
    #[serde(rename = "error")]
    EffectFailed {
        what: String,
        /// What happened, and what to do.
        message: String,
    },
    /// Something that the run does not wait for failed; the run continues.
    #[serde(rename = "trouble")]
    WarningRaised {
        what: String,
        /// What happened, and what to do.
        message: String,
    },
    /// A child session was given a task.
    #[serde(rename = "task.started")]
    TaskStarted(TaskOrder),
    /// The task got its slot, and its agent starts.
    #[serde(rename = "task.began")]
    TaskDispatched { session: SessionId },
    /// The child's conversation is open at its CLI.
    #[serde(rename = "task.opened")]
    TaskOpened {
        session: SessionId,
        /// The conversation's id at the CLI.
        external_id: String,
    },
    /// A child's agent said or did something.
    #[serde(rename = "task.progress")]
    TaskActivity {
        session: SessionId,
        news: AgentActivity,
    },
    /// The session that gave the task no longer waits for it: the task continues in the background.
    #[serde(rename = "task.sent_on")]
    TaskMovedToBackground { session: SessionId },
    /// What a child changed was saved, or its state changed.
    #[serde(rename = "task.patch")]
    TaskPatched {
        session: SessionId,
        /// What it changed, and where that is.
        patch: TaskPatch,
    },
    /// The task is over.
    #[serde(rename = "task.ended")]
    TaskEnded(TaskResult),
    /// The end of a background task was reported with a turn of the session that gave it.
    #[serde(rename = "task.reported")]
    TaskReported { session: SessionId },
    /// A child session was deleted.
    #[serde(rename = "session.deleted")]
    ChildDeleted { session: SessionId },
    /// Something happened in a group discussion.
    #[serde(rename = "discussion")]
    Discussion {
        id: DiscussionId,
        news: DiscussionEvent,
    },
    /// An agent said or did something.
    #[serde(rename = "agent")]
    Agent {
        turn: TurnId,
        role: Role,
        news: AgentActivity,
    },
}

/// Where a registered agent may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RegisteredMode {
    Known(AgentMode),
    /// A mode of another version.
    Other(String),
}

/// The parameters of a new run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunParameters {
    /// The schema of the log and the snapshot.
    pub schema: u32,
    pub run: RunId,
    /// Who releases turns at the start.
    pub gate: Gate,
    /// How much runs without asking at the start.
    pub mode: Mode,
    /// The workflow's settings, fixed for the run.
    pub settings: WorkflowSettings,
    /// The planner's session and adapter.
    pub planner: (SessionId, String),
    /// The reviewer's session and adapter; `None` skips the review.
    pub reviewer: Option<(SessionId, String)>,
}

/// The settings of the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSettings {
    /// The maximum number of review iterations, at least 1.
    pub max_iterations: u32,
    /// Number of iterations without progress after which version 0.1 asked the user; without effect in new reviews.
    pub stall_limit: u32,
    /// Whether an approved plan is executed without asking.
    pub auto_approve: bool,
    /// How many turns may try to fix a failing step.
    pub max_fix_turns: u32,
    /// Whether the tests run once before the first step; false in runs of earlier versions.
    #[serde(default)]
    pub baseline: bool,
    /// Whether steps are proven in clean copies of the repository; false in runs of earlier versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proves_steps: bool,
    /// Whether a step's own tests prove it, and the whole suite runs once at the end, however fast it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proves_by_step_tests: bool,
    /// Whether another version of this program or of a CLI needs a new approval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binds_versions: bool,
}

impl WorkflowSettings {
    /// The stall limit that new runs write, so that older versions can read them.
    pub const STALL_LIMIT: u32 = 2;
}

/// A process, identified by more than its id, because ids are reused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProcess {
    pub pid: u32,
    /// Its start time in clock ticks since boot, where known.
    pub start_time: Option<u64>,
}

/// An agent's call that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub request: RequestId,
    /// The call, as [`AgentActivity::ToolStarted`] names it; `None` where the CLI does not say so, and in events of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub turn: TurnId,
    pub permission: CallPermission,
    /// What it would act on, cleaned.
    pub targets: Vec<String>,
    /// The agent's or CLI's reason, cleaned.
    pub reason: Option<String>,
    /// What decided that the call is allowed, asked about or denied, cleaned; `None` in events of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<DecisionReason>,
    /// What could be approved for more than this once, the narrowest first; empty where no approval can be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<ApprovalMatcher>,
    /// The widest scope in which an approval may be kept.
    #[serde(default = "never_kept")]
    pub keeping: MaxApprovalScope,
    /// The agent for which it would be kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// The child that makes the call, where it is a child of the turn's session; cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<ChildPath>,
    /// The number of this call among all waiting calls of the run, from 1; 0 until the run has recorded it. It is how
    /// dialogs and answers name the call: a CLI may use the id of a request once more after a restart.
    #[serde(default, skip_serializing_if = "is_not_counted")]
    pub n: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_not_counted(n: &u32) -> bool {
    *n == 0
}

/// The value for calls of earlier versions, which do not say how far an approval may be kept.
fn never_kept() -> MaxApprovalScope {
    MaxApprovalScope::Never
}

/// What is recorded in place of a reason when the user denied a call without giving one.
pub const DENIED_BY_USER: &str = "declined by the user";

/// Whether a denial gives a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialKind {
    /// The user only said no, which ends the turn.
    Unexplained,
    /// The agent gets the reason.
    Explained,
}

impl DenialKind {
    /// Returns the kind of a denial; in events of earlier versions only the text of the reason says it.
    pub fn from_event(stored: Option<Self>, reason: &str) -> Self {
        match stored {
            Some(kind) => kind,
            None if reason == DENIED_BY_USER => Self::Unexplained,
            None => Self::Explained,
        }
    }

    /// Returns the reason to show; empty if there is none.
    pub fn shown_reason(self, reason: &str) -> &str {
        match self {
            Self::Unexplained => "",
            Self::Explained => reason,
        }
    }
}

/// The user's answer to a waiting call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// The call is allowed, this once.
    AllowOnce,
    /// The call is allowed, and so are similar ones.
    AllowAndRemember {
        what: Vec<ApprovalMatcher>,
        scope: ApprovalScope,
    },
    /// The call is denied; the agent's turn ends, and its other requests are declined.
    DenyAndStop,
    /// The call is denied; the agent gets the reason and continues.
    DenyWithReason(String),
}

impl Approval {
    /// Describes the call in one line.
    pub fn describe(&self) -> String {
        let call = format!("{} {}", self.permission, self.targets.join(", "));
        match &self.reason {
            Some(reason) => format!("{call} ({reason})"),
            None => call,
        }
    }
}

/// What a step's turn changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAudit {
    pub step: u32,
    /// Every path that differs from the tree before the step.
    pub changed: Vec<String>,
    /// Those of them with uncommitted changes of the user when EXECUTE was entered.
    pub dirty: Vec<String>,
    /// Those of them that no call of the step's agent accounts for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside_of_calls: Vec<String>,
    /// Changes in or beside it that the program would run.
    pub entry_points: Vec<EntryPoint>,
    /// Changes in it that path rules hold back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldEdit>,
    /// Changes in it that its plan does not name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_scope: Vec<ScopeChange>,
    /// The tree that was inspected; `None` in events of earlier versions.
    #[serde(default)]
    pub tree: Option<String>,
}

/// Something an agent said or did; it changes nothing in the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum AgentActivity {
    /// A finished block of text.
    Text { text: String },
    /// A finished block of thinking.
    Thinking { text: String },
    ToolStarted {
        item: String,
        tool: ToolKind,
        /// The title in one line.
        title: String,
        /// What the adapter knows of the call; `None` in events of earlier versions.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "known_or_none"
        )]
        detail: Option<ToolCallDetail>,
    },
    ToolEnded {
        item: String,
        status: ToolStatus,
        /// The exit code of a command.
        exit_code: Option<i32>,
        /// The end of its output.
        output: String,
    },
    /// Files changed, or will change once allowed.
    FilesChanged {
        item: String,
        /// For each path, what happens to it.
        paths: BTreeMap<String, PathChange>,
        /// For each path, the added and removed lines with their signs, cut to a maximum; a path is missing where the
        /// CLI reported no lines.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        diffs: BTreeMap<String, String>,
    },
    /// The CLI itself refused a call.
    CallDenied { tool: String, reason: String },
    /// The CLI retries by itself.
    Retrying {
        /// Why; in events of earlier versions it ends with the attempt.
        reason: String,
        /// The number of the next attempt, from 1, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// The maximum number of attempts, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
    },
    /// The CLI reports something worth knowing.
    Notice { text: String },
    /// No sign of life for a while.
    Silent {
        /// For how many seconds.
        seconds: u64,
        /// Why, in one line for people; the event is repeated when it changes. `None` in events of earlier versions.
        #[serde(default)]
        verdict: Option<String>,
    },
    /// A frame that this program does not know.
    Unknown { frame: String },
    /// A line that is not a frame.
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
}

impl AgentActivity {
    /// Returns the goal that a text proposes, if it has one: its block `goal.md`.
    pub fn proposed_goal(&self) -> Option<String> {
        let Self::Text { text } = self else {
            return None;
        };
        find_document(text, "goal.md").filter(|goal| !goal.trim().is_empty())
    }
}

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    pub at: UnixMillis,
    pub event: Event,
}
