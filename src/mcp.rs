//! The tools that agents call to reach this program: names, arguments, and the MCP server that their CLIs start.
//!
//! The path of a call: CLI → `agent-collab mcp` ([`server`], MCP over stdio) → socket ([`socket_protocol`]) → the
//! engine. The engine knows the caller by its token, makes the permission decision, performs the call, and answers
//! now or later.
//!
//! The recipe for a tool is in CONTRIBUTING.md. `domain::tool_availability` says in which turns a tool is available, and
//! the rules of the profiles say who may use it.

pub mod server;
pub mod socket_protocol;
pub mod tools;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use socket_protocol::OfferedTool;

/// All tools, in the order in which agents see them.
pub const TOOLS: &[ToolDefinition] = &[
    tools::todoread::TOOL,
    tools::todowrite::TOOL,
    tools::plan_submit::TOOL,
    tools::plan_exit::TOOL,
    tools::plan_enter::TOOL,
    tools::review_submit::TOOL,
    tools::step_result::TOOL,
    tools::ask_user::TOOL,
    tools::task::TOOL,
    tools::group_discuss::TOOL,
    tools::group_discuss_context::TOOL,
    tools::session_manage::TOOL,
];

/// A JSON object, such as a schema.
pub type JsonObject = Map<String, Value>;

/// One tool as agents see it.
#[derive(Debug, Clone, Copy)]
pub struct ToolDefinition {
    pub name: &'static str,
    /// Builds the description: when to use the tool, and when not.
    pub describe: fn(&VisibleAgents) -> String,
    /// Builds the JSON schema of its arguments.
    pub schema: fn(&VisibleAgents) -> JsonObject,
}

/// The agents that a session can see; tool descriptions and schemas depend on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VisibleAgents {
    /// The agents to which it may give tasks: name and purpose of each.
    pub task_agents: Vec<(String, String)>,
    /// The agents that it may invite to a discussion.
    pub discussion_agents: Vec<(String, String)>,
}

impl VisibleAgents {
    /// Formats agents one per line, as descriptions contain them.
    pub fn format_agent_list(agents: &[(String, String)]) -> String {
        let lines: Vec<String> = agents
            .iter()
            .map(|(name, about)| format!("- {name}: {about}"))
            .collect();
        lines.join("\n")
    }
}

impl ToolDefinition {
    /// Builds the tool as it is offered to a session.
    pub fn to_offered_tool(&self, seen: &VisibleAgents) -> OfferedTool {
        OfferedTool {
            name: self.name.to_owned(),
            description: (self.describe)(seen),
            schema: (self.schema)(seen),
        }
    }
}

/// Returns the schema of a tool's arguments, derived from their type; it contains no references.
pub fn arguments_schema<T: JsonSchema>() -> JsonObject {
    let mut settings = schemars::generate::SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(mut schema) => {
            schema.remove("title");
            // The doc comment of the argument type only repeats the tool's description.
            schema.remove("description");
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Parses a tool's arguments.
///
/// # Errors
/// They do not match the tool's schema; the message says where.
pub fn parse_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    T::deserialize(arguments).map_err(|error| format!("the arguments do not fit: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::own_tool::OwnTool;

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
    fn each_tool_is_known_to_the_domain_and_has_words_for_its_calls() {
        for tool in TOOLS {
            let known: Result<OwnTool, _> = tool.name.parse();
            assert!(
                known.is_ok_and(|known| !known.label().is_empty()),
                "{}",
                tool.name
            );
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
