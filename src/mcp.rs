//! The tools by which agents reach this program: what each is called and takes, and the server that their CLIs start.
//!
//! A call's way: CLI → `agent-collab mcp` ([`server`], MCP over stdio) → socket ([`wire`]) → the engine, which knows
//! by the token whose call it is, takes it to the one decision, performs it, and answers now or later.
//!
//! To add a tool: a file in `tools/` with the type of its arguments and a `TOOL`, its line in [`TOOLS`], and a file
//! in the engine's `tools/` with its line in the table there. In which turns it is there stands in `domain::tool`,
//! who may use it in the rules of the profiles. Refuses to know what a tool does, and to decide anything.

pub mod server;
pub mod socket_protocol;
pub mod tools;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use socket_protocol::OfferedTool;

/// All tools, in the order in which they are offered.
pub const TOOLS: &[ToolDefinition] = &[
    tools::todoread::TOOL,
    tools::todowrite::TOOL,
    tools::plan_submit::TOOL,
    tools::plan_exit::TOOL,
    tools::plan_enter::TOOL,
    tools::review_submit::TOOL,
    tools::ask_user::TOOL,
    tools::task::TOOL,
    tools::group_discuss::TOOL,
    tools::group_discuss_context::TOOL,
    tools::session_manage::TOOL,
];

/// A JSON object.
pub type JsonObject = Map<String, Value>;

/// One tool as agents see it.
#[derive(Debug, Clone, Copy)]
pub struct ToolDefinition {
    /// Its name.
    pub name: &'static str,
    /// When to use it, and when not.
    pub describe: fn(&VisibleAgents) -> String,
    /// What it takes.
    pub schema: fn(&VisibleAgents) -> JsonObject,
}

/// What descriptions and schemas depend on: what the session that is offered a tool can see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VisibleAgents {
    /// The agents that it may give tasks to: name and what each is for.
    pub task_agents: Vec<(String, String)>,
    /// Those that it may have discuss.
    pub discussion_agents: Vec<(String, String)>,
}

impl VisibleAgents {
    /// Agents in lines, as descriptions have them.
    pub fn format_agent_list(agents: &[(String, String)]) -> String {
        let lines: Vec<String> = agents
            .iter()
            .map(|(name, about)| format!("- {name}: {about}"))
            .collect();
        lines.join("\n")
    }
}

impl ToolDefinition {
    /// Finds a tool by its name.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// What a session is offered.
    pub fn to_offered_tool(&self, seen: &VisibleAgents) -> OfferedTool {
        OfferedTool {
            name: self.name.to_owned(),
            description: (self.describe)(seen),
            schema: (self.schema)(seen),
        }
    }
}

/// The schema of a tool's arguments, made of their type; nothing in it points elsewhere.
pub fn arguments_schema<T: JsonSchema>() -> JsonObject {
    let mut settings = schemars::generate::SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(mut schema) => {
            schema.remove("title");
            // What the type's own comment says stands in the tool's description.
            schema.remove("description");
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Reads a tool's arguments.
///
/// # Errors
/// They do not fit the tool's schema; the message says where.
pub fn parse_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments do not fit: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_says_when_to_use_it_and_when_not() {
        for tool in TOOLS {
            let offered = tool.to_offered_tool(&VisibleAgents::default());
            let told = &offered.description;
            assert!(
                told.contains("Use it") && told.contains("Do not use it"),
                "{told}"
            );
            assert_eq!(offered.schema["type"], "object", "{}", tool.name);
            assert!(!Value::Object(offered.schema).to_string().contains("$ref"));
        }
    }

    #[test]
    fn what_the_tools_take_and_say_of_themselves() {
        let agent = |name: &str, about: &str| vec![(name.to_owned(), about.to_owned())];
        let seen = VisibleAgents {
            task_agents: agent("explore", "Reads and searches, nothing else"),
            discussion_agents: agent("critic", "Looks for what is wrong with a proposal"),
        };
        let all: Vec<String> = TOOLS
            .iter()
            .map(|tool| {
                let offered = tool.to_offered_tool(&seen);
                let schema = serde_json::to_string_pretty(&offered.schema).unwrap();
                format!("{}\n{}\n{schema}\n", offered.name, offered.description)
            })
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
