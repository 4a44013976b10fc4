//! What comes into the engine from its conversations, tasks and tools.

use super::agent_conversation::ConversationEvent;
use super::agent_tools::deferred_tool_answer::DeferredToolAnswer;
use super::agent_tools::tool_socket::ToolRequest;
use super::documents::WorkflowDocumentLock;
use super::git::UnversionedCode;
use super::subagents::child_event::ChildEvent;
use crate::adapter::CliTurnOutcome;
use crate::domain::discussion::CheckRun;
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, RequestId, SessionId, TurnId};
use crate::domain::proof_progress::ProofProgress;
use crate::store::{StoreError, TamperedFile};

/// An input of the engine: an event of a conversation, a task, a tool call, a discussion or a timer.
#[derive(Debug)]
pub enum EngineInput {
    /// An event of a session's conversation.
    ConversationEvent(SessionId, ConversationEvent),
    /// An event that a finished task produced.
    Event(Box<Event>),
    /// The tree before a turn was stored, and the code that git and the tests would run was noted.
    TreeStored {
        /// The event to record.
        event: Box<Event>,
        /// The code outside the tree that git and the tests would run.
        unversioned_code: UnversionedCode,
    },
    /// A test run of a proof starts or has ended.
    ProofProgress(ProofProgress),
    /// An event of a child session's task.
    ChildEvent(SessionId, ChildEvent),
    /// A request from the tool server of an agent.
    ToolRequest(ToolRequest),
    /// The answer of a tool call that had to wait.
    ToolDone(RequestId, DeferredToolAnswer),
    /// A tool call has reached its longest waiting time.
    ToolDeadline(RequestId),
    /// The usage limit that this question waits for has passed.
    UsageLimitPassed(u32),
    /// A discussion's wake-up time has come.
    DiscussionDue(DiscussionId),
    /// A command that checks something for a discussion has ended.
    DiscussionCheckDone(DiscussionId, CheckRun),
    /// It is time to retry the write of a document.
    RetryDocumentCommit(TurnId),
    /// The lock for writing the documents, or the reason why they cannot be written yet.
    DocumentLock(Result<WorkflowDocumentLock, StoreError>),
    /// A turn ended and the program's own files were checked.
    TurnChecked {
        turn: TurnId,
        /// How the turn ended.
        end: CliTurnOutcome,
        /// Files that differed and were restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
}
