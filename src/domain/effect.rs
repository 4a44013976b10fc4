//! Defines the effects: what the domain asks the shell to do. Plain data; the result of each comes back as an event.

use super::event::Approval;
use super::ids::{DiscussionId, RequestId, SessionId, TurnId};
use super::question::{ExecutionTerms, Question, QuestionAnswer, TestNetworkChoice};
use super::reversal_plan::ReversalPlan;
use super::test_command::TestCommand;
use super::turn::{Role, TurnOrder};

/// Why waiting calls are no longer answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryReason {
    /// The user stopped or cancelled the run.
    Stopped,
    TurnEnded,
    ProgramEnded,
}

impl ExpiryReason {
    /// Describes the reason for the agent.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stopped => "the turn was stopped",
            Self::TurnEnded => "the turn ended before it was answered",
            Self::ProgramEnded => "the program ended before it was answered",
        }
    }
}

/// One thing that the shell has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Sends the turn's prompt.
    StartTurn(TurnOrder),
    /// Interrupts the running turn through its CLI's protocol.
    InterruptTurn(TurnId),
    /// Sends a message to the agent whose turn runs.
    SteerTurn(String),
    /// Forgets the role's conversation at its CLI; the next turn opens a new one.
    ForgetConversation(Role),
    /// Creates a new session for the role at another adapter.
    MoveRole {
        role: Role,
        /// The adapter, by its name in the configuration.
        adapter: String,
    },
    /// Takes the document out of a completed turn and commits it.
    CollectDocument(TurnOrder),
    /// Settles a conflict with the user's edit of a document: commits the turn's stored document anyway, merges both,
    /// or discards it.
    SettleConflict {
        order: TurnOrder,
        /// `Overwrite`, `Merge` or `Discard`.
        answer: QuestionAnswer,
    },
    /// Commits the document that a cut-off turn left in its folder.
    CommitDraft(TurnOrder),
    DiscardDraft(TurnOrder),
    /// Appends the user's remarks to `comments.md`.
    AppendRemarks(String),
    /// Writes the threads about the plan to `comments.md`.
    WriteThreads,
    /// Appends a synthetic message that sets the build profile on the planner's session.
    SwitchToBuildProfile,
    /// Appends a synthetic message that sets the plan profile on the planner's session.
    SwitchToPlanProfile,
    /// Inspects the branch, the dirty files and the test command.
    SurveyRepository,
    /// Checks out the branch and records the base.
    EnterExecution(ExecutionTerms),
    /// Observes what the approval is bound to, before a step's turn or its tests.
    CheckApproval {
        step: u32,
    },
    /// Stores the whole tree before a step's turn.
    SnapshotTree {
        /// The step; 0 for the summary.
        step: u32,
        /// 0 before the step, the attempt's number before a fix.
        attempt: u32,
    },
    /// Restores the tree from before a step, after storing the current one.
    RestoreTree {
        step: u32,
    },
    /// Finds out what a step's turn changed.
    AuditStep {
        step: u32,
    },
    /// Restores files to their state from before a step, after storing the current state.
    RestoreFiles {
        step: u32,
        paths: Vec<String>,
    },
    /// Runs the tests on the tree before the first step.
    RunBaseline(TestCommand),
    /// Stops the tests that run before the first step or after a step's turn, if there are any.
    StopTests,
    /// Runs the tests of a step.
    RunTests {
        step: u32,
        /// The command; `None` yields a receipt without one.
        test: Option<TestCommand>,
    },
    /// Runs old and new tests on the code before and after a step.
    ProveStep {
        step: u32,
    },
    /// Saves the user's choice about the network for this repository's tests.
    SaveTestNetwork(TestNetworkChoice),
    /// Saves the user's choice about a socket that this repository's tests need.
    SaveTestSocket {
        path: String,
        /// Whether the tests may reach it.
        is_reached: bool,
    },
    /// Commits the changes of a step.
    CommitStep {
        step: u32,
        paths: Vec<String>,
        /// The first line of the commit message.
        message: String,
    },
    /// Writes log.md and ticks the box.
    RecordStep {
        step: u32,
    },
    /// Stores the whole tree before an undo or redo, if it is still the tree that the user saw.
    StoreTree {
        /// The tree that the user saw.
        seen: String,
    },
    /// Restores files to earlier contents, and reverts commits with a new one; all of it or nothing.
    ApplyReversal {
        reversal: ReversalPlan,
        /// The stored tree from before.
        kept: String,
    },
    /// Unticks or ticks the boxes of the steps.
    RecordReversal {
        reversal: ReversalPlan,
        /// The stored tree from before.
        kept: String,
        /// The commit that reverts them, where one was made.
        commit: Option<String>,
    },
    /// Shows a question, or lets a flag answer it.
    AskUser(Question),
    /// Gives the user's answers to the waiting agent.
    AnswerAgent {
        request: RequestId,
        /// `Texts` or `Dismiss`.
        answer: QuestionAnswer,
    },
    /// Adds the user's words to a step in `plan.md`.
    AmendStep {
        step: u32,
        text: String,
    },
    /// Returns to planning: the user's yes came late.
    EnterPlan {
        /// Why, as the executor said it.
        reason: String,
    },
    /// Declines waiting calls that will get no answer.
    ExpireApprovals {
        approvals: Vec<Approval>,
        why: ExpiryReason,
    },
    /// Stops the tasks of these children.
    StopChildren(Vec<SessionId>),
    /// Lets the discussions continue that waited until turns may start.
    AdvanceDiscussions,
    /// Stops these discussions at once; finished speeches stay.
    StopDiscussions(Vec<DiscussionId>),
    /// Writes a line of the run's history into log.md.
    AppendLog(String),
    FinishRun,
    /// Halts the run: the program cannot continue it. The text is the reason for the user.
    HaltRun(String),
}
