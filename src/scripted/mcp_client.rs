//! Calls the host's tools through its MCP server, as a scripted agent's program does; one server process per call.
//!
//! The real programs keep one server for all calls of a conversation; the host sees no difference in a call.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The name under which the host registers its server.
const SERVER_NAME: &str = "agent_collab";
/// The version of MCP that the client requests.
const PROTOCOL_VERSION: &str = "2025-06-18";
/// The id of the call among the client's requests.
const CALL_REQUEST_ID: u64 = 2;

/// The command that starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServerCommand {
    program: String,
    args: Vec<String>,
}

/// A call of a host tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedToolCall {
    pub tool: String,
    pub input: Value,
    /// The conversation that calls, if the program sends it.
    pub thread: Option<String>,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedToolOutcome {
    /// The text for the model.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// The whole result; null if the server sent none.
    pub result: Value,
}

/// Returns the same value with the placeholders in its strings filled in.
pub fn expand_strings(value: &Value, fill: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text)),
        Value::Array(items) => items
            .iter()
            .map(|item| expand_strings(item, fill))
            .collect(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), expand_strings(value, fill)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

impl ToolServerCommand {
    /// Finds the host's server in a table of servers; both programs use the same format.
    pub fn from_server_table(servers: &Value) -> Option<Self> {
        let server = servers.get(SERVER_NAME)?;
        let args = server["args"].as_array().into_iter().flatten();
        Some(Self {
            program: server["command"].as_str()?.to_owned(),
            args: args.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }

    /// Returns the same server behind another client program; the server itself if `client` is empty.
    #[must_use]
    pub fn through_client(self, client: &[String]) -> Self {
        let Some((program, args)) = client.split_first() else {
            return self;
        };
        let args = args.iter().cloned().chain([self.program]).chain(self.args);
        Self {
            program: program.clone(),
            args: args.collect(),
        }
    }

    /// Makes the other client program, if there is one, connect to the server before any call: both programs do so when
    /// a conversation starts.
    pub fn start_client(self, client: &[String]) {
        if client.is_empty() {
            return;
        }
        let mut client = client.to_vec();
        client.push("--start".to_owned());
        let mut command = self.through_client(&client).to_command();
        // If it does not start, the first call starts it, or fails and reports that.
        let Ok(mut started) = command.stdin(Stdio::null()).spawn() else {
            return;
        };
        // The client prints a line when it is ready, and keeps running.
        if let Some(says) = started.stdout.take() {
            let _ready = BufReader::new(says).read_line(&mut String::new());
        }
    }

    /// Builds the command of the server's process.
    pub(super) fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

impl ScriptedToolCall {
    /// Makes the call over the server's streams and returns the line with its answer; `None` if the server exits.
    pub(super) fn send_and_receive(
        &self,
        mut to: impl Write,
        from: impl std::io::Read,
    ) -> Option<String> {
        let hello = json!({"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": {"name": "scripted", "version": "0"}});
        // Both programs ask for progress messages while a call waits.
        let meta = json!({ "progressToken": CALL_REQUEST_ID });
        let mut params = json!({"name": self.tool, "arguments": self.input, "_meta": meta});
        if let Some(thread) = &self.thread {
            params["_meta"]["threadId"] = json!(thread);
        }
        for frame in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": CALL_REQUEST_ID, "method": "tools/call", "params": params}),
        ] {
            writeln!(to, "{frame}").ok()?;
        }
        to.flush().ok()?;
        // The server runs as long as its input is open, so the input is kept open until here.
        BufReader::new(from)
            .lines()
            .map_while(Result::ok)
            .find(|line| {
                serde_json::from_str::<Value>(line)
                    .is_ok_and(|frame| frame["id"] == CALL_REQUEST_ID)
            })
    }
}

impl ScriptedToolOutcome {
    /// Parses the line with an answer; without one the call failed.
    pub fn parse(line: &str) -> Self {
        let frame: Value = serde_json::from_str(line).unwrap_or_default();
        let result = frame["result"].clone();
        let texts = result["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
        let refused = frame["error"]["message"].as_str();
        Self {
            text: match (refused, result.is_null()) {
                (Some(message), _) => message.to_owned(),
                (None, true) => "the server is gone".to_owned(),
                (None, false) => texts.join("\n"),
            },
            is_error: result.is_null() || result["isError"] == true,
            result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_server_is_found_by_its_name() {
        let servers =
            json!({"notes": {"command": "a"}, "agent_collab": {"command": "b", "args": ["mcp"]}});
        let found = ToolServerCommand::from_server_table(&servers).unwrap();
        assert_eq!(
            (found.program.as_str(), found.args),
            ("b", vec!["mcp".to_owned()])
        );
        assert_eq!(
            ToolServerCommand::from_server_table(&json!({"notes": {"command": "a"}})),
            None
        );
        assert_eq!(ToolServerCommand::from_server_table(&Value::Null), None);
        let server = ToolServerCommand::from_server_table(&servers).unwrap();
        assert_eq!(server.clone().through_client(&[]), server);
        let behind = server.through_client(&["node".to_owned(), "client.mjs".to_owned()]);
        assert_eq!(behind.program, "node");
        assert_eq!(behind.args, ["client.mjs", "b", "mcp"]);
    }

    #[test]
    fn a_call_ends_with_its_answer() {
        let call = ScriptedToolCall {
            tool: "todoread".to_owned(),
            input: json!({}),
            thread: Some("t".to_owned()),
        };
        let mut said = Vec::new();
        let told = "{\"id\":1,\"result\":{}}\nnonsense\n{\"id\":2,\"result\":{\"content\":[{\"text\":\"none\"}]}}\n";
        let line = call.send_and_receive(&mut said, told.as_bytes()).unwrap();
        let said = String::from_utf8(said).unwrap();
        assert_eq!(said.lines().count(), 3);
        assert!(said.contains("\"threadId\":\"t\""));
        let outcome = ScriptedToolOutcome::parse(&line);
        assert_eq!((outcome.text.as_str(), outcome.is_error), ("none", false));
        assert_eq!(call.send_and_receive(&mut Vec::new(), &b""[..]), None);
        assert!(ScriptedToolOutcome::parse("").is_error);
    }
}
