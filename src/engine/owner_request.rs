//! What one owner of the engine asks of another one.
//!
//! An owner does not know the others: it leaves a request in the [`super::run_context::RunContext`], and
//! `Engine::perform_request` passes it to whom it concerns.

use std::collections::BTreeMap;

use tokio::sync::mpsc;

use crate::adapter::{AdapterCommand, ApprovalRequest, CallDecision};
use crate::domain::discussion::{DiscussionStopReason, SpeechErrorCode};
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, RequestId, SessionId};
use crate::domain::question::AgentQuestion;
use crate::domain::run::RunState;
use crate::domain::step_result::StepResult;
use crate::domain::task::{SpeakerAssignment, TaskResult, TaskWaitMode};
use crate::permission::Decision;

use super::agent_conversation::ConversationCommand;
use super::agent_tools::call_progress;
use super::approvals::caller_context::{CallerContext, CallingTurn, RequestAddress};
use super::{DiscussionRequest, TaskRequest};

/// A request to another owner.
pub(super) enum OwnerRequest {
    // To the conversations.
    SendToSession(SessionId, AdapterCommand),
    InterruptTurn,
    /// Adds the conversation of a child, which its task runs.
    AddConversation(mpsc::Sender<ConversationCommand>, Box<CallingTurn>),
    /// The calls of the session's turn are denied from now on, for this reason.
    CloseTurn(SessionId, &'static str),
    /// The task of the child has ended, and its conversation with it.
    RemoveConversation(SessionId),
    /// The agent of a session waits for the program, so its CLI is silent for a reason; or no longer.
    SetAgentWaits {
        session: SessionId,
        request: RequestId,
        waits: bool,
    },
    /// The user has seen the loop of a session's agent and lets it continue.
    ResetLoopDetector(SessionId),

    // Back to where a request was made: a CLI, a tool call or a task's patch.
    DeliverDecision(RequestAddress, CallDecision),
    /// The user's answers, by question; `None` if there are none.
    DeliverAnswers(RequestAddress, Option<BTreeMap<String, String>>),

    // To the approvals.
    /// Has the changes of a task decided, about which the rules say this.
    DecidePatch(Box<CallerContext>, Box<ApprovalRequest>, Box<Decision>),
    /// Has the call of one of the program's own tools decided.
    DecideToolCall(SessionId, Box<ApprovalRequest>),
    /// Asks the user a question of a tool call.
    AskToolQuestion(SessionId, RequestId, AgentQuestion),
    /// Nothing waits for an answer to the request any longer.
    WithdrawRequest(RequestId),
    /// The request is answered in another way.
    ForgetRequest(RequestId),

    // To the tools.
    /// Tells the waiting tool calls what a child does.
    ReportCallProgress {
        session: SessionId,
        /// The discussion in which the child speaks.
        discussion: Option<DiscussionId>,
        /// One line.
        line: String,
    },

    // For the call of a tool with this id, which is answered with the result.
    StartTasks {
        call: RequestId,
        wait_mode: TaskWaitMode,
        tasks: Vec<TaskRequest>,
    },
    DeleteChild(RequestId, SessionId),
    StartDiscussion(RequestId, Box<DiscussionRequest>),
    /// What the agent of the running turn says of its step.
    SetStepResult(RequestId, StepResult),

    // To the tasks.
    StartUserTimeout(RequestId),
    StopTasks(Vec<SessionId>),
    /// Stops the children that speak in a discussion, which then gets this code for each speech.
    StopSpeeches {
        discussion: DiscussionId,
        sessions: Vec<SessionId>,
        code: SpeechErrorCode,
    },

    // To the discussions.
    StopDiscussion(DiscussionId, DiscussionStopReason),
    EndSpeech(SpeakerAssignment, Box<TaskResult>),
}

impl OwnerRequest {
    /// Returns the progress that an event of a child means for the calls that wait for it.
    pub(super) fn from_child_event(state: &RunState, event: &Event) -> Option<Self> {
        call_progress::describe_child_progress(state, event)
    }
}
