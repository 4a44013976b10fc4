//! What a fake model is asked and what it answers, in words that fit both vendors.
//!
//! A brain is a function from [`Request`] to [`Reply`]. It refuses to know the vendors' wire
//! formats: a shell command is `exec_command` for codex and `Bash` for claude, and the renderers see to it.

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

    /// The npm package that brings that CLI.
    pub fn package(self) -> &'static str {
        match self {
            Vendor::Openai => "@openai/codex",
            Vendor::Anthropic => "@anthropic-ai/claude-code",
        }
    }
}

/// How a prompt of the program begins. What the user's side says in the middle of a turn, such as why a
/// call was declined, does not begin so and is no prompt.
pub const PROMPT: &str = "[agent-collab ";

/// One model request as a brain sees it.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who asks.
    pub vendor: Vendor,
    /// Which of this vendor's requests it is, from 1; retries count.
    pub n: usize,
    /// The last prompt of the program, else the user's last words: what the turn is about.
    pub prompt: String,
    /// The outputs of the tool calls since that prompt, oldest first.
    pub outputs: Vec<String>,
    /// The whole request.
    pub body: Value,
}

impl Request {
    /// Tells how many tool calls of this turn were answered already.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }
}

/// What the model does.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Says and calls these, in order.
    Say(Vec<Part>),
    /// Answers with this HTTP status instead of a stream.
    Refuse {
        /// The status.
        status: u16,
        /// The headers beside the content type.
        headers: Vec<(&'static str, &'static str)>,
        /// What went wrong, in words.
        message: String,
    },
    /// Turns the request away: the plan is used up.
    UsedUp {
        /// For how many seconds more.
        resets_in: u64,
    },
    /// Says half of this text, then the connection breaks.
    Cut(String),
    /// Says half of this text, is silent for so long, and says the rest.
    Pause(String, Duration),
}

impl Reply {
    /// Says one text and ends the turn.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::Say(vec![Part::Text(text.into())])
    }

    /// Calls one tool.
    pub fn call(tool: Tool) -> Reply {
        Reply::Say(vec![Part::Call(tool)])
    }

    /// Refuses with a status and no further headers.
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
    /// A tool call.
    Call(Tool),
}

/// A tool call.
#[derive(Debug, Clone)]
pub enum Tool {
    /// A shell command, asked for as the CLI's own rules have it.
    Shell(String),
    /// A shell command that asks to leave the sandbox; claude has no such wish and just asks.
    Escalated(String),
    /// Calls a tool of an MCP server, without arguments.
    Mcp {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// Calls a tool of the program's, with this input.
    Own {
        /// The tool.
        tool: &'static str,
        /// The input.
        input: Value,
    },
    /// Calls a tool of one CLI by its own name, with this input; a text for a tool that takes plain text.
    Named {
        /// The tool.
        name: &'static str,
        /// The input.
        input: Value,
    },
    /// Reads a file; claude edits only what it has read.
    Read(String),
    /// Writes a whole file; the path may be relative to the working directory.
    Write {
        /// The file.
        path: String,
        /// All it shall hold.
        content: String,
    },
    /// Replaces one line of a file by another.
    Edit {
        /// The file.
        path: String,
        /// The line as it is.
        old: String,
        /// The line as it shall be.
        new: String,
    },
}
