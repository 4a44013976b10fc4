//! `ask_user`: asks the user a question.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "ask_user",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<AskUserToolArguments>(),
};

const DESCRIPTION: &str = "\
Asks the user one question and waits for the answer: one of the options, or the user's own words.
Use it for what only the user can decide and the work depends on: what is wanted, which of two ways, whether something \
may be lost. Give the likely answers as options, and a default if the work can continue without an answer.
Do not use it for what you can look up or decide yourself, to ask for permission (each call is decided anyway), or \
to report progress. If the answer is `pending`, end your turn: the user's answer comes with your next one.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUserToolArguments {
    /// The question, in the language of the goal; one question only.
    pub question: String,
    /// The likely answers, at most eight; the user may always answer in other words.
    #[serde(default)]
    pub options: Vec<String>,
    /// What counts when nobody answers.
    #[serde(default)]
    pub default: Option<String>,
    /// After how many seconds the default counts, or nobody has answered; without it you wait as long as it takes.
    #[serde(default)]
    #[schemars(range(min = 10, max = 86_400))]
    pub deadline_seconds: Option<u64>,
}
