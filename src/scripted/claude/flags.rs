//! Parses the arguments of `claude` that a scripted agent supports; all others are accepted and ignored.

use serde_json::Value;

use crate::scripted::mcp_client::ToolServerCommand;

/// The conversation that the process uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeConversationStart {
    /// A new one with any id.
    NewWithAnyId,
    /// `--session-id`: a new one with this id.
    NewWithId(String),
    /// `--resume`: the existing one with this id.
    Resume(String),
}

/// The supported arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedClaudeFlags {
    pub start: ClaudeConversationStart,
    /// `--model`.
    pub model: Option<String>,
    /// `--permission-mode`.
    pub permission_mode: String,
    /// `--replay-user-messages`.
    pub replay_user_messages: bool,
    /// The tools of `permissions.ask` in `--settings`.
    pub ask_tools: Vec<String>,
    /// The host's tool server in `--mcp-config`.
    pub mcp_server: Option<ToolServerCommand>,
}

impl ScriptedClaudeFlags {
    /// Finds the supported arguments among all, as `--flag value` or `--flag=value`.
    pub fn parse(arguments: &[String]) -> Self {
        let value = |names: &[&str]| {
            arguments.iter().enumerate().find_map(|(index, argument)| {
                let (name, inline) = match argument.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (argument.as_str(), None),
                };
                let value = || arguments.get(index + 1).cloned();
                names
                    .contains(&name)
                    .then(|| inline.or_else(value))
                    .flatten()
            })
        };
        let begin = match (value(&["--resume", "-r"]), value(&["--session-id"])) {
            (Some(id), _) => ClaudeConversationStart::Resume(id),
            (None, Some(id)) => ClaudeConversationStart::NewWithId(id),
            (None, None) => ClaudeConversationStart::NewWithAnyId,
        };
        Self {
            start: begin,
            model: value(&["--model"]),
            permission_mode: value(&["--permission-mode"]).unwrap_or_else(|| "default".to_owned()),
            replay_user_messages: arguments
                .iter()
                .any(|argument| argument == "--replay-user-messages"),
            mcp_server: value(&["--mcp-config"]).and_then(|config| {
                let config: Value = serde_json::from_str(&config).ok()?;
                ToolServerCommand::from_server_table(&config["mcpServers"])
            }),
            ask_tools: value(&["--settings"])
                .map_or_else(Vec::new, |settings| read_ask_rules(&settings)),
        }
    }
}

/// Reads `permissions.ask` from settings that are given as JSON or as the path of a file.
fn read_ask_rules(settings: &str) -> Vec<String> {
    let text = if settings.trim_start().starts_with('{') {
        settings.to_owned()
    } else {
        std::fs::read_to_string(settings).unwrap_or_default()
    };
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    let rules = settings["permissions"]["ask"].as_array();
    rules
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> ScriptedClaudeFlags {
        ScriptedClaudeFlags::parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn both_ways_of_giving_a_value_are_understood() {
        assert_eq!(
            check("-p --resume=abc --verbose").start,
            ClaudeConversationStart::Resume("abc".to_owned())
        );
        assert_eq!(
            check("-p --session-id abc").start,
            ClaudeConversationStart::NewWithId("abc".to_owned())
        );
        assert_eq!(
            check("-p --verbose").start,
            ClaudeConversationStart::NewWithAnyId
        );
    }

    #[test]
    fn tools_to_ask_about_come_from_the_settings() {
        let flags = check(r#"--settings={"permissions":{"ask":["Bash","Write"]}} --model m"#);
        assert_eq!(
            (flags.ask_tools, flags.model),
            (
                vec!["Bash".to_owned(), "Write".to_owned()],
                Some("m".to_owned())
            )
        );
    }
}
