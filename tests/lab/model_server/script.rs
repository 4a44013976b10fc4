//! The requests and replies of a fake model, in a form that fits both vendors.
//!
//! A brain is a function from [`Request`] to [`Reply`]. The renderers handle the vendors' wire formats: a shell command
//! is `exec_command` for codex and `Bash` for claude.

use std::time::Duration;

use serde_json::Value;

/// Whose model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vendor {
    /// codex, through the OpenAI Responses protocol.
    Openai,
    /// claude, through the Anthropic Messages protocol.
    Anthropic,
}

impl Vendor {
    /// Both, in the order of tables.
    pub const ALL: [Vendor; 2] = [Vendor::Openai, Vendor::Anthropic];

    /// The name of the CLI that asks.
    pub fn cli(self) -> &'static str {
        match self {
            Vendor::Openai => "codex",
            Vendor::Anthropic => "claude",
        }
    }

    /// Returns the npm package that contains that CLI.
    pub fn package(self) -> &'static str {
        match self {
            Vendor::Openai => "@openai/codex",
            Vendor::Anthropic => "@anthropic-ai/claude-code",
        }
    }
}

/// The start of each prompt of the program. What the user sends in the middle of a turn, such as why a
/// call was declined, does not start like this and is not a prompt.
pub const PROMPT: &str = "[agent-collab ";

/// One model request as a brain sees it.
#[derive(Debug, Clone)]
pub struct Request {
    pub vendor: Vendor,
    /// Which of this vendor's requests it is, from 1; retries count.
    pub n: usize,
    /// The program's last prompt, else the user's last text: the subject of the turn.
    pub prompt: String,
    /// The outputs of the tool calls since that prompt, oldest first.
    pub outputs: Vec<String>,
    pub body: Value,
}

impl Request {
    /// Returns how many tool calls of this turn were already answered.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }
}

/// What the model does.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Sends these texts and calls, in order.
    Say(Vec<Part>),
    /// Answers with this HTTP status instead of a stream.
    Refuse {
        status: u16,
        /// The headers in addition to the content type.
        headers: Vec<(&'static str, &'static str)>,
        /// What went wrong, as a text.
        message: String,
    },
    /// Turns the request away: the plan is used up.
    UsedUp {
        /// For how many seconds more.
        resets_in: u64,
    },
    /// Sends half of this text, then the connection breaks.
    Cut(String),
    /// Sends half of this text, stays silent for this long, and sends the rest.
    Pause(String, Duration),
}

impl Reply {
    /// Sends one text and ends the turn.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::Say(vec![Part::Text(text.into())])
    }

    /// Calls one tool.
    pub fn call(tool: Tool) -> Reply {
        Reply::Say(vec![Part::Call(tool)])
    }

    /// Answers with an error status and no further headers.
    pub fn refuse(status: u16, message: &str) -> Reply {
        Reply::Refuse {
            status,
            headers: Vec::new(),
            message: message.to_owned(),
        }
    }
}

/// One part of an answer.
#[derive(Debug, Clone)]
pub enum Part {
    /// Some text, streamed in pieces.
    Text(String),
    Call(Tool),
}

#[derive(Debug, Clone)]
pub enum Tool {
    /// A shell command, asked for as the CLI's own rules have it.
    Shell(String),
    /// A shell command that asks to leave the sandbox; claude has no such wish and just asks.
    Escalated(String),
    /// Calls a tool of an MCP server, without arguments.
    Mcp { server: String, tool: String },
    /// Calls a tool of the program's, with this input.
    Own { tool: &'static str, input: Value },
    /// Calls a tool of one CLI by its name, with this input; a string for a tool that accepts plain text.
    Named { name: &'static str, input: Value },
    /// Reads a file; claude edits only what it has read.
    Read(String),
    /// Writes a whole file; the path may be relative to the working directory.
    Write {
        path: String,
        /// The whole content of the file.
        content: String,
    },
    /// Replaces one line of a file by another.
    Edit {
        path: String,
        /// The line as it is.
        old: String,
        /// The new text of the line.
        new: String,
    },
}
