//! A discussion, as the user or an agent requests it.

use crate::domain::task::TaskWaitMode;
use crate::engine::TaskCaller;
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;

/// A discussion as the user or an agent requests it.
#[derive(Debug, Clone)]
pub struct DiscussionRequest {
    pub caller: TaskCaller,
    /// The arguments of the request.
    pub arguments: GroupDiscussToolArguments,
    /// The number of the finding that the discussion is about.
    pub finding: Option<u32>,
    /// Whether the caller waits for the result.
    pub wait_mode: TaskWaitMode,
}
