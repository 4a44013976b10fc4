//! Names what a tool call is, how it ended, what it does to a file, and who decided about it, as events record it.
//!
//! A name that this version does not know is kept, and written back as it was.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString};

use crate::domain::own_tool::{OwnTool, own_tool_name};
use crate::permission::prove_read_only;
use crate::permission::tool_names::permission_for_tool;
use crate::text::truncate::ELLIPSIS;

/// The kind of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Display, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ToolKind {
    Command,
    Edit,
    Read,
    Search,
    /// A tool of an MCP server.
    Mcp,
    /// Any other tool, by its CLI's name.
    #[serde(untagged)]
    #[strum(default)]
    Other(String),
}

impl From<String> for ToolKind {
    fn from(name: String) -> Self {
        Self::from_str(&name).unwrap_or(Self::Other(name))
    }
}

/// What an adapter knows of a call, besides its kind and its title.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallDetail {
    /// It calls one of the program's own tools.
    OwnTool(OwnTool),
    /// It asks the user, with a tool of the CLI.
    UserQuestion,
    Command(CommandAccess),
    /// It edits the files at these paths.
    Edit(Vec<String>),
    /// There is nothing more to know.
    #[default]
    Plain,
}

/// Whether a command may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandAccess {
    /// It is proven to only read.
    ReadOnly,
    MayWrite,
}

impl ToolCallDetail {
    /// Returns the detail of a command, from its whole text.
    pub fn of_command(line: &str) -> Self {
        let proof = prove_read_only(line, Path::new("/"), Path::new("/"));
        Self::Command(match proof {
            Ok(()) => CommandAccess::ReadOnly,
            Err(_) => CommandAccess::MayWrite,
        })
    }

    /// Returns the detail of a call of an MCP server's tool, from its name at the CLI.
    pub fn of_mcp_tool(name: &str) -> Self {
        let tool = own_tool_name(name).and_then(|tool| tool.parse().ok());
        tool.map_or(Self::Plain, Self::OwnTool)
    }

    /// Returns the detail that an event has. For an event of an earlier version, which has none, it is derived from
    /// the call's title.
    pub fn of_event(detail: Option<&Self>, tool: &ToolKind, title: &str) -> Self {
        match (detail, tool) {
            (Some(detail), _) => detail.clone(),
            // The part that was cut off, such as further lines of a script, may write.
            (None, ToolKind::Command) if title.ends_with(ELLIPSIS) => {
                Self::Command(CommandAccess::MayWrite)
            }
            (None, ToolKind::Command) => Self::of_command(title),
            (None, ToolKind::Edit) => Self::Edit(title.split(", ").map(str::to_owned).collect()),
            (None, ToolKind::Mcp) => {
                Self::of_mcp_tool(title.split_whitespace().next().unwrap_or_default())
            }
            (None, ToolKind::Other(name)) if permission_for_tool(name) == "question" => {
                Self::UserQuestion
            }
            (None, ToolKind::Read | ToolKind::Search | ToolKind::Other(_)) => Self::Plain,
        }
    }

    /// Returns the label of a call that has no words of its own for people; `None` for any other.
    pub fn label(&self) -> Option<&'static str> {
        match self {
            Self::OwnTool(tool) => Some(tool.label()),
            Self::UserQuestion => Some(OwnTool::AskUser.label()),
            Self::Command(_) | Self::Edit(_) | Self::Plain => None,
        }
    }

    /// Returns whether the agent asks the user with the call.
    pub fn asks_user(&self) -> bool {
        matches!(self, Self::UserQuestion | Self::OwnTool(OwnTool::AskUser))
    }

    /// Returns whether the call only hands in a plan, a review, the result of a step or todos.
    pub fn is_submission(&self) -> bool {
        matches!(self, Self::OwnTool(tool) if tool.is_submission())
    }

    /// Returns the paths of the files that the call edits; empty where it edits none, or they are not known.
    pub fn edited_paths(&self) -> &[String] {
        match self {
            Self::Edit(paths) => paths,
            Self::OwnTool(_) | Self::UserQuestion | Self::Command(_) | Self::Plain => &[],
        }
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Display, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ToolStatus {
    Completed,
    /// It failed, or its process was ended.
    Failed,
    /// It was not allowed to run.
    Declined,
    /// Unknown: the turn ended before the tool call did.
    Abandoned,
    /// A status of another version.
    #[serde(untagged)]
    #[strum(default)]
    Other(String),
}

/// The prefix of a moved file's new path.
const MOVE_PREFIX: &str = "move to ";

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum PathChange {
    Add,
    Update,
    Delete,
    /// It moves to this path.
    Move(String),
    /// A change of another version.
    Other(String),
}

impl From<String> for PathChange {
    fn from(text: String) -> Self {
        match text.as_str() {
            "add" => Self::Add,
            "update" => Self::Update,
            "delete" => Self::Delete,
            _ => match text.strip_prefix(MOVE_PREFIX) {
                Some(to) => Self::Move(to.to_owned()),
                None => Self::Other(text),
            },
        }
    }
}

impl From<PathChange> for String {
    fn from(change: PathChange) -> Self {
        change.to_string()
    }
}

impl fmt::Display for PathChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add => out.write_str("add"),
            Self::Update => out.write_str("update"),
            Self::Delete => out.write_str("delete"),
            Self::Move(to) => write!(out, "{MOVE_PREFIX}{to}"),
            Self::Other(text) => out.write_str(text),
        }
    }
}

/// The permission that a call needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Display, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CallPermission {
    /// To run a command.
    Bash,
    Edit,
    Read,
    /// To call a tool, under the name of the tool or of a permission of several tools.
    #[serde(untagged)]
    #[strum(default)]
    Other(String),
}

impl From<String> for CallPermission {
    fn from(name: String) -> Self {
        Self::from_str(&name).unwrap_or(Self::Other(name))
    }
}

/// Who decided about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Display, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ApprovalDecider {
    /// The program: the phase, the mode, a floor or a stored approval.
    Permission,
    /// Written rules.
    Rules,
    /// The policy for calls that the user does not answer.
    Policy,
    User,
    /// The user, with the decision about another call.
    Cascade,
    /// A decider of another version.
    #[serde(untagged)]
    #[strum(default)]
    Other(String),
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;
    use crate::domain::event::{Event, RegisteredMode};
    use crate::domain::turn::TurnFailureKind;
    use crate::permission::AgentMode;

    /// Checks the names on disk in both directions, and what is displayed.
    fn check<T>(names: &[(&str, T)])
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug + ToString,
    {
        for (name, known) in names {
            let stored = serde_json::json!(name);
            let read: T = serde_json::from_value(stored.clone()).unwrap();
            assert_eq!(read, *known);
            assert_eq!(serde_json::to_value(&read).unwrap(), stored);
            assert_eq!(read.to_string(), *name);
        }
    }

    #[test]
    fn names_are_stored_as_earlier_versions_stored_them_and_unknown_ones_are_kept() {
        let other = || "of tomorrow".to_owned();
        check(&[
            ("command", ToolKind::Command),
            ("edit", ToolKind::Edit),
            ("read", ToolKind::Read),
            ("search", ToolKind::Search),
            ("mcp", ToolKind::Mcp),
            ("of tomorrow", ToolKind::Other(other())),
        ]);
        check(&[
            ("completed", ToolStatus::Completed),
            ("failed", ToolStatus::Failed),
            ("declined", ToolStatus::Declined),
            ("abandoned", ToolStatus::Abandoned),
            ("of tomorrow", ToolStatus::Other(other())),
        ]);
        check(&[
            ("add", PathChange::Add),
            ("update", PathChange::Update),
            ("delete", PathChange::Delete),
            ("move to a b", PathChange::Move("a b".to_owned())),
            ("move to", PathChange::Other("move to".to_owned())),
            ("of tomorrow", PathChange::Other(other())),
        ]);
        check(&[
            ("bash", CallPermission::Bash),
            ("edit", CallPermission::Edit),
            ("read", CallPermission::Read),
            ("webfetch", CallPermission::Other("webfetch".to_owned())),
        ]);
        check(&[
            ("permission", ApprovalDecider::Permission),
            ("rules", ApprovalDecider::Rules),
            ("policy", ApprovalDecider::Policy),
            ("user", ApprovalDecider::User),
            ("cascade", ApprovalDecider::Cascade),
            ("of tomorrow", ApprovalDecider::Other(other())),
        ]);
        check(&[
            ("login", TurnFailureKind::Login),
            ("rate limit", TurnFailureKind::RateLimit),
            ("usage limit", TurnFailureKind::UsageLimit),
            ("service", TurnFailureKind::Service),
            ("connection", TurnFailureKind::Connection),
            ("context full", TurnFailureKind::ContextFull),
            ("refused", TurnFailureKind::Refused),
            ("protocol", TurnFailureKind::Protocol),
            ("of tomorrow", TurnFailureKind::Other(other())),
        ]);
    }

    #[test]
    fn events_of_other_versions_are_written_back_byte_by_byte() {
        for line in [
            r#"{"kind":"agents.registered","data":{"agents":{"a":"subagent","b":"of tomorrow"}}}"#,
            r#"{"kind":"turn.ended","data":{"turn":"t","result":{"end":"failed","kind":"usage limit","message":"m","transient":false,"limit":{"resets_at":7}}}}"#,
            r#"{"kind":"turn.ended","data":{"turn":"t","result":{"end":"failed","kind":"meteor","message":"m","transient":false}}}"#,
            r#"{"kind":"question.asked","data":{"question":{"id":1,"kind":{"about":"adapter_failed","purpose":{"purpose":"write_plan"},"kind":"context full","message":"m"}}}}"#,
            r#"{"kind":"question.asked","data":{"question":{"id":1,"kind":{"about":"adapter_failed","purpose":{"purpose":"write_plan"},"kind":"","message":"m"}}}}"#,
            r#"{"kind":"approval.answered","data":{"request":"r","allowed":true,"by":"cascade","reason":""}}"#,
            r#"{"kind":"approval.answered","data":{"request":"r","allowed":true,"by":"a committee","reason":""}}"#,
            r#"{"kind":"agent","data":{"turn":"t","role":"planner","news":{"news":"tool_started","item":"i","tool":"command","title":"ls"}}}"#,
            r#"{"kind":"agent","data":{"turn":"t","role":"planner","news":{"news":"tool_started","item":"i","tool":"WebFetch","title":"x"}}}"#,
            r#"{"kind":"agent","data":{"turn":"t","role":"planner","news":{"news":"tool_started","item":"i","tool":"mcp","title":"x","detail":{"own_tool":"todowrite"}}}}"#,
            r#"{"kind":"agent","data":{"turn":"t","role":"planner","news":{"news":"tool_started","item":"i","tool":"command","title":"ls","detail":{"command":"read_only"}}}}"#,
            r#"{"kind":"agent","data":{"turn":"t","role":"planner","news":{"news":"tool_ended","item":"i","status":"declined","exit_code":null,"output":""}}}"#,
            r#"{"kind":"agent","data":{"turn":"t","role":"planner","news":{"news":"tool_ended","item":"i","status":"Done?","exit_code":1,"output":"o"}}}"#,
            r#"{"kind":"task.progress","data":{"session":"s","news":{"news":"files_changed","item":"i","paths":{"a":"add","b":"move to c","d":"chmod"},"diffs":{"a":"+x"}}}}"#,
        ] {
            let event: Event = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
        }
        let known = RegisteredMode::Known(AgentMode::Subagent);
        assert_eq!(serde_json::to_string(&known).unwrap(), r#""subagent""#);
    }

    #[test]
    fn what_is_known_of_a_call_comes_from_its_title_only_where_nothing_else_says_it() {
        use ToolCallDetail::{Command, Edit, OwnTool as Own, Plain, UserQuestion};
        let other = |name: &str| ToolKind::Other(name.to_owned());
        for (tool, title, wanted) in [
            (
                ToolKind::Command,
                "cat a | head",
                Command(CommandAccess::ReadOnly),
            ),
            (
                ToolKind::Command,
                "cat a | head…",
                Command(CommandAccess::MayWrite),
            ),
            (
                ToolKind::Command,
                "sh a.sh",
                Command(CommandAccess::MayWrite),
            ),
            (
                ToolKind::Edit,
                "a, b",
                Edit(vec!["a".to_owned(), "b".to_owned()]),
            ),
            (
                ToolKind::Mcp,
                "agent_collab.todowrite {\"todos\":[{\"co…",
                Own(OwnTool::TodoWrite),
            ),
            (ToolKind::Mcp, "mcp__agent_collab__task", Own(OwnTool::Task)),
            (ToolKind::Mcp, "other.todowrite {}", Plain),
            (ToolKind::Mcp, "agent_collab.nothing", Plain),
            (ToolKind::Read, "agent_collab.ask_user", Plain),
            (other("AskUserQuestion"), "Which?", UserQuestion),
            (other("WebFetch"), "agent_collab.task", Plain),
        ] {
            assert_eq!(
                ToolCallDetail::of_event(None, &tool, title),
                wanted,
                "{title}"
            );
            assert_eq!(ToolCallDetail::of_event(Some(&Plain), &tool, title), Plain);
        }
    }
}
