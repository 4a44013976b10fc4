//! What happened: the closed list of everything that may change a run or be worth keeping.
//!
//! Events are facts, redacted before they exist; the event log is their sequence.

#[cfg(test)]
mod example;
pub mod fields;
pub mod tampering;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::deferred_answer::DeferredDecision;
use super::discussion::DiscussionEvent;
use super::findings::FindingResponse;
use super::ids::{DiscussionId, RequestId, RunId, SessionId, Sha256, TurnId, UnixMillis};
use super::missing_part::MissingPart;
use super::phase::{Gate, Mode, Phase, TurnHold};
use super::plan::Plan;
use super::plan_execution::TestBaseline;
use super::question::{
    AgentQuestion, DraftFile, EntryPoint, ExecutionTerms, HeldEdit, MergeConflict, Question,
    QuestionAnswer,
};
use super::receipt::Receipt;
use super::reversal_plan::UndoDirection;
use super::review::ReviewDocument;
use super::session::{AccountUsageWindow, Message, SessionUsage};
use super::task::{TaskOrder, TaskResult};
use super::task_patch::TaskPatch;
use super::todo_list::TodoList;
use super::turn::{Role, TurnOutcome};
use crate::permission::{
    ApprovalMatcher, ApprovalScope, DecisionReason, MaxApprovalScope, StoredApproval,
};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data")]
pub enum Event {
    /// The run was made; the first event of every log.
    #[serde(rename = "run.created")]
    RunCreated(Box<RunParameters>),
    /// Agents of the user's own, and changed ones, are there from here on.
    #[serde(rename = "agents.registered")]
    AgentsRegistered {
        /// Where each may be used, by its name.
        agents: BTreeMap<String, String>,
    },
    /// The user gave a goal.
    #[serde(rename = "goal.given")]
    GoalGiven {
        /// The goal as typed.
        text: String,
    },
    /// The user said something about the goal.
    #[serde(rename = "goal.said")]
    GoalMessageAdded {
        /// What.
        text: String,
    },
    /// The user chose who talks about the goal.
    #[serde(rename = "goal.refiner")]
    RefinerChosen {
        /// Who.
        role: Role,
        /// The goal as it was last put, which the other agent has not heard.
        goal: Option<String>,
    },
    /// The user confirmed the goal.
    #[serde(rename = "goal.confirmed")]
    GoalConfirmed {
        /// One line.
        title: String,
        /// The whole goal.
        text: String,
    },
    /// The user released the turn that waits.
    #[serde(rename = "turn.released")]
    TurnSendConfirmed,
    /// The user changed who releases turns.
    #[serde(rename = "gate.changed")]
    GateChanged {
        /// The new gate.
        gate: Gate,
    },
    /// The user is being asked whether to stop, or no longer; no turn starts meanwhile.
    #[serde(rename = "turn.hold")]
    TurnHoldChanged {
        /// Whether turns may start now.
        hold: TurnHold,
    },
    /// The user said how much runs without asking.
    #[serde(rename = "mode.changed")]
    ModeChanged {
        /// How much now.
        mode: Mode,
    },
    /// The user wants the running turn interrupted and nothing else.
    #[serde(rename = "turn.interrupted")]
    InterruptRequested,
    /// The user said something to the agent in the middle of its turn.
    #[serde(rename = "turn.steered")]
    Steered {
        /// What.
        text: String,
    },
    /// What the user said could be told to no turn; it goes out with the next one.
    #[serde(rename = "said.kept")]
    MessageQueued {
        /// Whose turn was over when it was to be told; `None` where none ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Role>,
        /// What.
        text: String,
    },
    /// The user stopped the run: back to the goal.
    #[serde(rename = "run.stopped")]
    RunStopped,
    /// The user gave the run up.
    #[serde(rename = "run.cancelled")]
    RunCancelled,
    /// The program took the run up again after its end, orderly or not.
    #[serde(rename = "recovery")]
    RunResumed {
        /// Who releases turns from here on.
        gate: Gate,
    },
    /// The tree was put back to what it was before a step.
    #[serde(rename = "step.restored")]
    TreeRestored {
        /// The step.
        step: u32,
    },
    /// The program ends, the run stays as it is.
    #[serde(rename = "run.left")]
    ProgramExited {
        /// Why.
        reason: String,
    },
    /// The user answered a question.
    #[serde(rename = "question.answered")]
    QuestionAnswered {
        /// The question's number.
        id: u32,
        /// The answer.
        answer: QuestionAnswer,
    },
    /// The user settled a finding.
    #[serde(rename = "finding.settled")]
    FindingSettled {
        /// Its number.
        n: u32,
    },
    /// A turn's process and conversation stand.
    #[serde(rename = "session.opened")]
    SessionOpened {
        /// Whose.
        role: Role,
        /// The conversation's id at the CLI.
        external_id: String,
    },
    /// The running CLI told its version.
    #[serde(rename = "session.version")]
    SessionVersion {
        /// Whose.
        role: Role,
        /// The adapter that it is of; empty where it was recorded before that was noted.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        adapter: String,
        /// As it reported it.
        version: String,
    },
    /// The CLI lost the conversation; a new one goes on from a recovery prompt.
    #[serde(rename = "adapter.degraded")]
    SessionLost {
        /// Whose.
        role: Role,
        /// What the CLI said.
        reason: String,
    },
    /// The role goes on in a new session at another adapter.
    #[serde(rename = "session.moved")]
    SessionMoved {
        /// Whose.
        role: Role,
        /// The new session.
        session: SessionId,
        /// The adapter, by its name in the configuration.
        adapter: String,
    },
    /// The role could not move to another adapter.
    #[serde(rename = "session.stayed")]
    SessionStayed {
        /// Whose.
        role: Role,
        /// Why.
        reason: String,
    },
    /// The wait for a usage limit is over.
    #[serde(rename = "limit.passed")]
    LimitPassed {
        /// The number of the question that waited.
        id: u32,
    },
    /// The CLI reported its totals.
    #[serde(rename = "session.usage")]
    UsageReported {
        /// Whose.
        role: Role,
        /// The totals.
        usage: SessionUsage,
    },
    /// The CLI told how much of its account's plan is used.
    #[serde(rename = "session.plan")]
    PlanUseReported {
        /// Whose CLI.
        role: Role,
        /// What it told.
        windows: Vec<AccountUsageWindow>,
    },
    /// A message was appended to a session.
    #[serde(rename = "session.message")]
    MessageAppended {
        /// Whose.
        role: Role,
        /// The message without its text, which lies in the session's file.
        message: Message,
    },
    /// A turn's prompt went out.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// The SHA-256 of its prompt.
        prompt_sha256: Sha256,
        /// The CLI's process, for finding leftovers after a crash.
        process: Option<AgentProcess>,
    },
    /// A turn ended.
    #[serde(rename = "turn.ended")]
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// How.
        result: TurnOutcome,
    },
    /// `plan.md` of a turn was committed.
    #[serde(rename = "plan.committed")]
    PlanCommitted {
        /// The turn.
        turn: TurnId,
        /// What it says.
        plan: Plan,
        /// The hash of the file as written.
        file_sha256: Sha256,
    },
    /// The front matter of `plan.md` says what the phase is now.
    #[serde(rename = "plan.marked")]
    PlanMarked {
        /// The hash of the file as written.
        file_sha256: Sha256,
    },
    /// `comments.md` of a review was committed.
    #[serde(rename = "review.committed")]
    ReviewCommitted {
        /// The turn.
        turn: TurnId,
        /// What it says.
        review: ReviewDocument,
        /// The hash of the file as written.
        file_sha256: Sha256,
        /// The approval hash of the plan that lies on disk now.
        plan_now: Sha256,
    },
    /// The planner's answers, and perhaps a changed plan, were committed.
    #[serde(rename = "response.committed")]
    ResponseCommitted {
        /// The turn.
        turn: TurnId,
        /// The answers.
        responses: Vec<FindingResponse>,
        /// The open findings that have no answer yet.
        unanswered: Vec<u32>,
        /// The changed plan with the hash of its file; `None` when it stayed as it was.
        plan: Option<(Plan, Sha256)>,
        /// The hash of `comments.md` as written.
        comments_sha256: Sha256,
        /// What the planner is asked for before the review goes on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked_back: Vec<MissingPart>,
    },
    /// A completed turn brought no document.
    #[serde(rename = "document.missing")]
    DocumentMissing {
        /// The turn.
        turn: TurnId,
        /// What was missing.
        reason: String,
    },
    /// A completed turn's document does not count before its agent was asked for what it lacks.
    #[serde(rename = "document.asked_back")]
    DocumentIncomplete {
        /// The turn.
        turn: TurnId,
        /// What is lacking.
        lacks: Vec<MissingPart>,
    },
    /// A workflow file changed under the turn that wrote it too; nothing was overwritten.
    #[serde(rename = "document.conflict")]
    DocumentConflict {
        /// The turn.
        turn: TurnId,
        /// The file's name.
        document: String,
        /// What keeps a merge from being whole, once the user asked for one.
        #[serde(default)]
        clash: Option<MergeConflict>,
    },
    /// The user edited `plan.md`.
    #[serde(rename = "plan.edited")]
    PlanEdited {
        /// What it says now; `None` when it is no plan any more.
        plan: Option<Plan>,
        /// The approval hash of what lies there.
        approval_sha256: Sha256,
        /// The hash of the file.
        file_sha256: Sha256,
    },
    /// The user edited `comments.md`.
    #[serde(rename = "comments.edited")]
    CommentsEdited {
        /// The hash of the file.
        file_sha256: Sha256,
    },
    /// The user made a note on a line of `plan.md`.
    #[serde(rename = "note.made")]
    NoteMade {
        /// The line, from 1.
        line: u32,
        /// What stands there.
        quote: String,
        /// What the user says of it.
        text: String,
    },
    /// The user removed a note.
    #[serde(rename = "note.removed")]
    NoteRemoved {
        /// Its number.
        n: u32,
    },
    /// What the user asked for at the approval stands in `comments.md`.
    #[serde(rename = "remarks.appended")]
    RemarksAppended {
        /// The hash of the file.
        file_sha256: Sha256,
    },
    /// The phase changed; follows from the event before it.
    #[serde(rename = "run.phase")]
    PhaseChanged {
        /// The phase before.
        from: Phase,
        /// The phase after.
        to: Phase,
    },
    /// A question waits for the user; follows from the event before it.
    #[serde(rename = "question.asked")]
    QuestionAsked {
        /// The question.
        question: Question,
    },
    /// The agent asks something by its CLI, in the middle of a turn.
    #[serde(rename = "agent.asked")]
    AgentAsked {
        /// The turn.
        turn: TurnId,
        /// The request.
        request: RequestId,
        /// The questions with their offered answers.
        questions: Vec<AgentQuestion>,
        /// Whose child asks, in names, where it is one: `planner ▸ explore#2`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<String>,
    },
    /// The CLI no longer waits for that answer.
    #[serde(rename = "agent.asked.withdrawn")]
    AgentQuestionWithdrawn {
        /// The request.
        request: RequestId,
    },
    /// The agent that asked was told to end its turn: the answer comes with its next one.
    #[serde(rename = "agent.asked.pending")]
    AnswerPending {
        /// The request.
        request: RequestId,
        /// What the answer decides.
        #[serde(flatten)]
        about: DeferredDecision,
    },
    /// The user answered whether the plan is handed on, while its planner waited.
    #[serde(rename = "plan.exit")]
    PlanExitAnswered {
        /// What the planner is told with its next turn; `None` where the user agreed.
        told: Option<String>,
    },
    /// Nobody answered such a question in time.
    #[serde(rename = "agent.asked.missed")]
    AnswerMissed {
        /// The request.
        request: RequestId,
    },
    /// An agent's call was put to the decision.
    #[serde(rename = "approval.asked")]
    ApprovalRequested(Approval),
    /// It was decided.
    #[serde(rename = "approval.answered")]
    ApprovalDecided {
        /// The request.
        request: RequestId,
        /// Whether the call may go ahead.
        allowed: bool,
        /// Who decided: `permission`, `rules`, `policy`, `user`, `cascade`.
        by: String,
        /// Why.
        reason: String,
        /// What the user approved with it for more than this once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<StoredApproval>,
    },
    /// A call that waited will not be answered any more.
    #[serde(rename = "approval.expired")]
    ApprovalExpired {
        /// The call.
        approval: Approval,
        /// Why.
        reason: String,
    },
    /// A turn that was cut off left a changed document in its folder.
    #[serde(rename = "draft.found")]
    DraftFound {
        /// The turn.
        turn: TurnId,
        /// What it left.
        files: Vec<DraftFile>,
    },
    /// The repository was looked at before the approval of an execution.
    #[serde(rename = "execution.surveyed")]
    RepositorySurveyed {
        /// What the user would approve.
        terms: ExecutionTerms,
    },
    /// The branch stands and the base is noted.
    #[serde(rename = "execution.entered")]
    ExecutionEntered {
        /// The commit that was checked out, where there is one.
        base: Option<String>,
        /// The terms as they came to be.
        terms: ExecutionTerms,
    },
    /// The execution could not be entered.
    #[serde(rename = "execution.refused")]
    ExecutionRefused {
        /// Why.
        reason: String,
    },
    /// The whole tree was stored before a turn.
    #[serde(rename = "step.snapshot")]
    SnapshotTaken {
        /// The step.
        step: u32,
        /// The git tree; `None` without git.
        tree: Option<String>,
    },
    /// The program looked at what a step's turn changed.
    #[serde(rename = "step.audited")]
    StepAudited(StepAudit),
    /// Files that rules hold back are as they were before the step.
    #[serde(rename = "edits.put_back")]
    EditsPutBack {
        /// The step.
        step: u32,
        /// The files.
        paths: Vec<String>,
        /// The git tree in which what was there is kept.
        kept: String,
    },
    /// The program ran the tests on the tree before the first step.
    #[serde(rename = "baseline.ran")]
    BaselineRan(TestBaseline),
    /// The user stops that run and goes on without it.
    #[serde(rename = "baseline.stopped")]
    BaselineStopped,
    /// That run came to no result.
    #[serde(rename = "baseline.skipped")]
    BaselineSkipped {
        /// Why.
        reason: String,
    },
    /// The program ran the tests.
    #[serde(rename = "tests.ran")]
    TestsRan {
        /// The step.
        step: u32,
        /// The receipt.
        receipt: Receipt,
        /// All that the step changed, tracked files that the tests changed included.
        changed: Vec<String>,
        /// Untracked files that the tests made.
        made_by_tests: Vec<String>,
        /// What of it, or beside it, the program would run; the tests themselves may have changed it.
        entry_points: Vec<EntryPoint>,
        /// What of it path rules hold back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held: Vec<HeldEdit>,
        /// What differs between the trees before and after the tests, without what they made anew.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rewritten: Vec<String>,
        /// The tree after the tests; `None` in events of earlier versions.
        #[serde(default)]
        tree: Option<String>,
    },
    /// A step was committed.
    #[serde(rename = "commit.made")]
    CommitMade {
        /// The step.
        step: u32,
        /// The full commit id.
        commit: String,
        /// Its first line.
        message: String,
    },
    /// No commit was made, for a reason that is no failure.
    #[serde(rename = "commit.skipped")]
    CommitSkipped {
        /// The step.
        step: u32,
        /// Why.
        reason: String,
    },
    /// A commit failed.
    #[serde(rename = "commit.failed")]
    CommitFailed {
        /// The step.
        step: u32,
        /// What git said, cleaned.
        message: String,
    },
    /// log.md has the step and its box is ticked.
    #[serde(rename = "step.done")]
    StepRecorded {
        /// The step.
        step: u32,
        /// The hash of plan.md with the tick; `None` when the user's own edit kept it from being ticked.
        plan_file_sha256: Option<Sha256>,
    },
    /// The user wants steps undone or redone.
    #[serde(rename = "undo.asked")]
    UndoAsked {
        /// Which way.
        way: UndoDirection,
        /// The tree that was looked at; when it is another one now, nothing is done.
        seen: String,
    },
    /// The tree from before is kept.
    #[serde(rename = "undo.kept")]
    UndoKept {
        /// The git tree.
        tree: String,
    },
    /// The files are put back, and what was committed is taken back by a commit.
    #[serde(rename = "undo.put_back")]
    UndoPutBack {
        /// The git tree from after.
        tree: String,
        /// The commit, where one was made.
        commit: Option<String>,
    },
    /// Nothing was undone or redone; the files are as they were.
    #[serde(rename = "undo.failed")]
    UndoFailed {
        /// Why, and what to do.
        reason: String,
    },
    /// Steps are undone or redone, and the boxes of plan.md say so.
    #[serde(rename = "undo.done")]
    UndoFinished {
        /// Which way.
        way: UndoDirection,
        /// The steps.
        steps: Vec<u32>,
        /// The git tree from before.
        kept: String,
        /// The commit, where one was made.
        commit: Option<String>,
        /// The hash of plan.md with its boxes; `None` when the user's own edit kept them as they were.
        plan_file_sha256: Option<Sha256>,
    },
    /// Files that only the program writes were changed by somebody else; ours are back.
    #[serde(rename = "store.tampered")]
    StoreTampered {
        /// Each file with the place where the other copy is kept.
        #[serde(deserialize_with = "tampering::deserialize_restored_files")]
        files: Vec<tampering::RestoredFile>,
    },
    /// An agent replaced its list of todos.
    #[serde(rename = "todo.updated")]
    TodosWritten {
        /// Whose.
        session: SessionId,
        /// The whole list.
        todos: TodoList,
    },
    /// An agent called a tool that its session does not have, the program's or its CLI's own; nothing was done.
    #[serde(rename = "tool.blocked")]
    ToolBlocked {
        /// Whose.
        session: SessionId,
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// What an agent waited for came after its turn had to go on without it; only in logs of earlier versions.
    #[serde(rename = "tool.result")]
    LateResultReceived {
        /// Who waited.
        role: Role,
        /// What it is told with its next turn.
        text: String,
    },
    /// The executor goes back to planning, by the user's word.
    #[serde(rename = "plan.entered")]
    PlanEntered {
        /// Why, as the executor said it.
        reason: String,
    },
    /// What the run waits for could not be done: the run goes no further in this program.
    #[serde(rename = "error")]
    EffectFailed {
        /// What was tried.
        what: String,
        /// What happened, and what to do.
        message: String,
    },
    /// Something that nothing waits for could not be done; the run goes on.
    #[serde(rename = "trouble")]
    WarningRaised {
        /// What was tried.
        what: String,
        /// What happened, and what to do.
        message: String,
    },
    /// A child session was given a task.
    #[serde(rename = "task.started")]
    TaskStarted(TaskOrder),
    /// It got its place and its agent begins.
    #[serde(rename = "task.began")]
    TaskDispatched {
        /// The child.
        session: SessionId,
    },
    /// The child's conversation stands at its CLI.
    #[serde(rename = "task.opened")]
    TaskOpened {
        /// The child.
        session: SessionId,
        /// The conversation's id at the CLI.
        external_id: String,
    },
    /// Something a child's agent said or did.
    #[serde(rename = "task.progress")]
    TaskActivity {
        /// The child.
        session: SessionId,
        /// What.
        news: AgentActivity,
    },
    /// Who gave the task does not wait for it any more: it goes on in the background.
    #[serde(rename = "task.sent_on")]
    TaskMovedToBackground {
        /// The child.
        session: SessionId,
    },
    /// What a child changed was saved, or it became something else.
    #[serde(rename = "task.patch")]
    TaskPatched {
        /// The child.
        session: SessionId,
        /// What it changed, and where that is.
        patch: TaskPatch,
    },
    /// The task is over.
    #[serde(rename = "task.ended")]
    TaskEnded(TaskResult),
    /// The end of a background task went out with a turn of who gave it.
    #[serde(rename = "task.reported")]
    TaskReported {
        /// The child.
        session: SessionId,
    },
    /// A child session was deleted.
    #[serde(rename = "session.deleted")]
    ChildDeleted {
        /// The child.
        session: SessionId,
    },
    /// Something happened in a group discussion.
    #[serde(rename = "discussion")]
    Discussion {
        /// Which.
        id: DiscussionId,
        /// What.
        news: DiscussionEvent,
    },
    /// Something an agent said or did.
    #[serde(rename = "agent")]
    Agent {
        /// The turn.
        turn: TurnId,
        /// Whose.
        role: Role,
        /// What.
        news: AgentActivity,
    },
}

/// What a new run starts from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunParameters {
    /// The schema of the log and the snapshot.
    pub schema: u32,
    /// The run's id.
    pub run: RunId,
    /// Who releases turns at the start.
    pub gate: Gate,
    /// How much runs without asking at the start.
    pub mode: Mode,
    /// The settings that the workflow follows, fixed for the run.
    pub settings: WorkflowSettings,
    /// The planner's session and adapter.
    pub planner: (SessionId, String),
    /// The reviewer's session and adapter; `None` skips the review.
    pub reviewer: Option<(SessionId, String)>,
}

/// The settings that the workflow follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowSettings {
    /// The cap of review iterations, at least 1.
    pub max_iterations: u32,
    /// After how many iterations without progress the user is asked, at least 1.
    pub stall_limit: u32,
    /// Whether an approved plan is executed without asking.
    pub auto_approve: bool,
    /// How many turns may mend a failing step.
    pub max_fix_turns: u32,
    /// Whether the tests run once before the first step; they do not in runs of earlier versions.
    #[serde(default)]
    pub baseline: bool,
}

/// A process, by more than its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProcess {
    /// Its id.
    pub pid: u32,
    /// Its start time in clock ticks since boot, where known.
    pub start_time: Option<u64>,
}

/// An agent's call that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The request.
    pub request: RequestId,
    /// The turn.
    pub turn: TurnId,
    /// The permission it needs: `bash`, `edit`, `read`, or a tool's name.
    pub permission: String,
    /// What it would act on, cleaned.
    pub targets: Vec<String>,
    /// The agent's or CLI's reason, cleaned.
    pub reason: Option<String>,
    /// What decided that it goes ahead, is asked about or does not, cleaned; `None` in events of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<DecisionReason>,
    /// What of it could be approved for more than this once, the narrowest first; nothing where it cannot be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<ApprovalMatcher>,
    /// How far an approval may be kept.
    #[serde(default = "never_kept")]
    pub keeping: MaxApprovalScope,
    /// The agent that it would be kept for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// Whose call it is, where it is a child's of the turn's session; cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<String>,
    /// Which of the run's calls that waited it is, from 1, since requests are named alike again and again; 0 until the
    /// run has taken it in.
    #[serde(default, skip_serializing_if = "is_not_counted")]
    pub n: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_not_counted(n: &u32) -> bool {
    *n == 0
}

/// What calls of earlier versions say about being kept.
fn never_kept() -> MaxApprovalScope {
    MaxApprovalScope::Never
}

/// Why a call was refused that the user refused without a word.
pub const DENIED_BY_USER: &str = "declined by the user";

/// The user's answer to a call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// It goes ahead, this once.
    AllowOnce,
    /// It goes ahead, and so does what is like it.
    AllowAndRemember {
        /// What is approved.
        what: Vec<ApprovalMatcher>,
        /// For how long.
        scope: ApprovalScope,
    },
    /// It does not go ahead; the agent's turn ends, and what else it asked for is declined.
    DenyAndStop,
    /// It does not go ahead; the agent is told why and goes on.
    DenyWithReason(String),
}

impl Approval {
    /// The call in one line.
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
    /// The step.
    pub step: u32,
    /// Every path that differs from the tree before the step.
    pub changed: Vec<String>,
    /// Those of them that held uncommitted changes of the user on entering EXECUTE.
    pub dirty: Vec<String>,
    /// Those of them that no call of the step's agent accounts for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside_of_calls: Vec<String>,
    /// What of it, or beside it, the program would run.
    pub entry_points: Vec<EntryPoint>,
    /// What of it path rules hold back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldEdit>,
    /// The tree that was looked at; `None` in events of earlier versions.
    #[serde(default)]
    pub tree: Option<String>,
}

/// Something an agent said or did; changes nothing in the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum AgentActivity {
    /// A finished block of text.
    Text {
        /// The text.
        text: String,
    },
    /// A finished block of thinking.
    Thinking {
        /// The text.
        text: String,
    },
    /// A tool began to run.
    ToolStarted {
        /// The call.
        item: String,
        /// The tool.
        tool: String,
        /// One line.
        title: String,
    },
    /// A tool ended.
    ToolEnded {
        /// The call.
        item: String,
        /// How.
        status: String,
        /// The exit code of a command.
        exit_code: Option<i32>,
        /// The end of its output.
        output: String,
    },
    /// Files changed, or will once allowed.
    FilesChanged {
        /// The call.
        item: String,
        /// Path to what happens to it.
        paths: BTreeMap<String, String>,
        /// Path to the lines that go and come, each with its sign, cut to a bound; what no CLI told is not there.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        diffs: BTreeMap<String, String>,
    },
    /// The CLI itself refused a call.
    CallDenied {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// The CLI tries again by itself.
    Retrying {
        /// What went wrong.
        reason: String,
    },
    /// The CLI says something worth knowing.
    Notice {
        /// The text.
        text: String,
    },
    /// No sign of life for a while.
    Silent {
        /// For how many seconds.
        seconds: u64,
        /// Why, in one line that begins with `slow`, `waits`, `stuck` or `stopped`; told anew when it changes.
        #[serde(default)]
        verdict: Option<String>,
    },
    /// A frame this program does not know.
    Unknown {
        /// Its type.
        frame: String,
    },
    /// A line that is no frame.
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
}

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When it happened.
    pub at: UnixMillis,
    /// What happened.
    pub event: Event,
}
