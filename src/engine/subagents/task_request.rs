//! A task for an agent, as the user or another agent requests it.

use crate::domain::ids::SessionId;
use crate::domain::task::TaskWaitMode;

/// Who starts a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCaller {
    User,
    /// The agent of this session.
    Session(SessionId),
}

/// A task as the caller requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRequest {
    pub caller: TaskCaller,
    /// The name of the agent.
    pub agent: String,
    pub prompt: String,
    /// A description in a few words; made from the prompt if it is empty.
    pub description: String,
    /// The child session to resume; `None` creates a new one.
    pub task_id: Option<SessionId>,
    /// Whether the caller waits for the result.
    pub wait_mode: TaskWaitMode,
}
