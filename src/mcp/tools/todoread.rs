//! `todoread`: returns the session's todo list.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "todoread",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<TodoReadToolArguments>(),
};

const DESCRIPTION: &str = "\
Reads your list of todos, as you last wrote it with todowrite.
Use it when your conversation was taken up again, or when you are not sure what is still to be done.
Do not use it right after todowrite, which returns the list by itself, nor to look at anybody else's list: each \
session has its own.";

/// Its arguments: none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoReadToolArguments {}
