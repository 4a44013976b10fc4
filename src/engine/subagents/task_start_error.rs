//! Why a task was not started, in the words for its caller.

use thiserror::Error;

/// Explains why a task was not started.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskStartError {
    /// There is no such agent for tasks.
    #[error("no agent {name:?} for tasks; there are {}", known.join(", "))]
    NoSuchAgent {
        /// The name that was given.
        name: String,
        /// The names of the existing agents.
        known: Vec<String>,
    },
    /// A child may not start a child.
    #[error(
        "a child session cannot give tasks itself: do it yourself, or say in your result what is left"
    )]
    TooDeep,
    /// The calling session may not start it.
    #[error("this session may not have {agent} work by {tool}: {why}")]
    NotAllowed {
        /// The tool for the task.
        tool: &'static str,
        agent: String,
        /// The rule that denies it.
        why: String,
    },
    /// The caller has no child session with this id.
    #[error("{id} is not a task of this session; leave the id out to start a new one")]
    NotOwnTask {
        /// The id that was given.
        id: String,
    },
    /// The child session is still running.
    #[error("the task {id} is still running; wait for its end")]
    StillRunning {
        /// The id of the running session.
        id: String,
    },
    /// The prompt is empty or too long.
    #[error("{0}")]
    InvalidPrompt(&'static str),
    /// The agent may write, and outside of a git repository its changes cannot be kept apart.
    #[error(
        "this agent may write, and its changes can be kept separate only in a git repository: run `git init` here, or \
         give the task to a read-only agent such as explore"
    )]
    NoRepository,
    /// A resource of the task could not be created.
    #[error("the task could not be started: {0}")]
    Failed(String),
}
