//! What the shell is asked to do. Plain data; the result of each comes back as an event.

use super::event::Approval;
use super::ids::{DiscussionId, RequestId, SessionId, TurnId};
use super::question::{ExecutionTerms, Question, QuestionAnswer, TestNetworkChoice};
use super::reversal_plan::ReversalPlan;
use super::test_command::TestCommand;
use super::turn::{Role, TurnOrder};

/// Why calls that waited are not answered any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryReason {
    /// The user stopped or cancelled the run.
    Stopped,
    /// Their turn ended.
    TurnEnded,
    /// The program ended.
    ProgramEnded,
}

impl ExpiryReason {
    /// The reason, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stopped => "the turn was stopped",
            Self::TurnEnded => "the turn ended before it was answered",
            Self::ProgramEnded => "the program ended before it was answered",
        }
    }
}

/// One thing the shell is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send the turn's prompt.
    StartTurn(TurnOrder),
    /// End the running turn by its CLI's protocol.
    InterruptTurn(TurnId),
    /// Say something to the agent whose turn runs.
    SteerTurn(String),
    /// Forget the role's conversation at its CLI; the next turn opens a new one.
    ForgetConversation(Role),
    /// Make a new session for the role at another adapter, by its name in the configuration.
    MoveRole {
        /// Whose.
        role: Role,
        /// The adapter.
        adapter: String,
    },
    /// Take the document out of a completed turn and commit it.
    CollectDocument(TurnOrder),
    /// Commit the held document of a turn in spite of the user's edit, merge both, or put it aside.
    SettleConflict {
        /// The turn.
        order: TurnOrder,
        /// Overwrite, Merge or Discard.
        answer: QuestionAnswer,
    },
    /// Commit the document that a cut-off turn left in its folder.
    CommitDraft(TurnOrder),
    /// Put that document aside.
    DiscardDraft(TurnOrder),
    /// Append remarks of the user to comments.md.
    AppendRemarks(String),
    /// Append a synthetic message that puts the build profile on the planner's session.
    SwitchToBuildProfile,
    /// Append a synthetic message that puts the plan profile on the planner's session.
    SwitchToPlanProfile,
    /// Look at branch, dirty files and test command.
    SurveyRepository,
    /// Make the branch stand and note the base.
    EnterExecution(ExecutionTerms),
    /// Store the whole tree before a step's turn.
    SnapshotTree {
        /// The step; 0 before the summary.
        step: u32,
        /// 0 before the step, the attempt before a fix.
        attempt: u32,
    },
    /// Put the tree back to what it was before a step; what is there now is stored first.
    RestoreTree {
        /// The step.
        step: u32,
    },
    /// Look at what a step's turn changed.
    AuditStep {
        /// The step.
        step: u32,
    },
    /// Put files back to what they were before a step; what is there now is stored first.
    RestoreFiles {
        /// The step.
        step: u32,
        /// The files.
        paths: Vec<String>,
    },
    /// Run the tests on the tree before the first step.
    RunBaseline(TestCommand),
    /// End that run, if it is under way.
    StopBaseline,
    /// Run the tests.
    RunTests {
        /// The step.
        step: u32,
        /// The command; `None` yields a receipt without one.
        test: Option<TestCommand>,
    },
    /// Keep what the user said of the network of this repository's tests.
    SaveTestNetwork(TestNetworkChoice),
    /// Keep what the user said of a socket that this repository's tests want.
    SaveTestSocket {
        /// The socket.
        path: String,
        /// Whether they reach it.
        is_reached: bool,
    },
    /// Commit the step.
    CommitStep {
        /// The step.
        step: u32,
        /// The paths.
        paths: Vec<String>,
        /// The first line.
        message: String,
    },
    /// Write log.md and tick the box.
    RecordStep {
        /// The step.
        step: u32,
    },
    /// Store the whole tree before steps are undone or redone, if it is still the one that was looked at.
    StoreTree {
        /// The tree that was looked at.
        seen: String,
    },
    /// Put files back to what they were, and take commits back by a new one; all of it or nothing.
    ApplyReversal {
        /// What is reversed.
        reversal: ReversalPlan,
        /// The tree from before.
        kept: String,
    },
    /// Open or tick the boxes of the steps.
    RecordReversal {
        /// What was reversed.
        reversal: ReversalPlan,
        /// The tree from before.
        kept: String,
        /// The commit that was made.
        commit: Option<String>,
    },
    /// Show a question, or let a flag answer it.
    AskUser(Question),
    /// Give the user's answers to the agent that waits.
    AnswerAgent {
        /// The request.
        request: RequestId,
        /// Texts or Dismiss.
        answer: QuestionAnswer,
    },
    /// Go back to planning: the user's yes came late.
    EnterPlan {
        /// Why, as the executor said it.
        reason: String,
    },
    /// Decline calls that waited; nobody answers them any more.
    ExpireApprovals {
        /// The calls.
        approvals: Vec<Approval>,
        /// Why.
        why: ExpiryReason,
    },
    /// End the tasks of these children.
    StopChildren(Vec<SessionId>),
    /// Stop these discussions at once; what was said until then stays.
    StopDiscussions(Vec<DiscussionId>),
    /// Write a line of the run's history into log.md.
    AppendLog(String),
    /// The run is over.
    FinishRun,
    /// The program cannot go on with this run; the reason goes to the user.
    HaltRun(String),
}
