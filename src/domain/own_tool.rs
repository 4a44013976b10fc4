//! Names the program's own tools, which agents call through its MCP server.

use serde::{Deserialize, Serialize};
use strum::EnumString;

/// The name of these tools' server at the CLIs; a tool's full name starts with it.
pub const TOOL_SERVER_NAME: &str = "agent_collab";

/// One of the program's own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OwnTool {
    AskUser,
    GroupDiscuss,
    GroupDiscussContext,
    PlanEnter,
    PlanExit,
    PlanSubmit,
    ReviewSubmit,
    SessionManage,
    StepResult,
    Task,
    #[serde(rename = "todoread")]
    #[strum(serialize = "todoread")]
    TodoRead,
    #[serde(rename = "todowrite")]
    #[strum(serialize = "todowrite")]
    TodoWrite,
}

impl OwnTool {
    /// Describes a call of the tool, with the agent as its subject: its raw arguments are not meant for people, and
    /// the content of such a call, such as a todo list, is shown elsewhere.
    pub fn label(self) -> &'static str {
        match self {
            Self::AskUser => "asks you",
            Self::GroupDiscuss => "starts a discussion",
            Self::GroupDiscussContext => "prepares a discussion",
            Self::PlanEnter => "asks to go back to planning",
            Self::PlanExit => "asks to submit the plan",
            Self::PlanSubmit => "submits its plan",
            Self::ReviewSubmit => "submits its review",
            Self::SessionManage => "manages its tasks",
            Self::StepResult => "reports the result of its step",
            Self::Task => "gives a task",
            Self::TodoRead => "reads its todos",
            Self::TodoWrite => "writes its todos",
        }
    }

    /// Returns whether a call only hands in a plan, a review, the result of a step or todos, which the run shows itself.
    pub fn is_submission(self) -> bool {
        matches!(
            self,
            Self::PlanSubmit | Self::ReviewSubmit | Self::StepResult | Self::TodoWrite
        )
    }
}

/// Returns the tool of this program for the name that a CLI uses in a call; `None` for every other tool.
pub fn own_tool_name(name: &str) -> Option<&str> {
    let (server, tool) = match name.strip_prefix("mcp__") {
        Some(rest) => rest.split_once("__")?,
        None => name.split_once('.')?,
    };
    (server == TOOL_SERVER_NAME).then_some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cli_calls_the_tools_in_its_own_way() {
        assert_eq!(
            own_tool_name("mcp__agent_collab__todowrite"),
            Some("todowrite")
        );
        assert_eq!(own_tool_name("agent_collab.todowrite"), Some("todowrite"));
        for other in ["mcp__notes__look", "notes.look", "Bash", "todowrite", ""] {
            assert_eq!(own_tool_name(other), None);
        }
    }
}
