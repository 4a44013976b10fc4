//! `session_manage`: the sessions of tasks that the calling session gave.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{Tool, schema_of};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "session_manage",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| schema_of::<Arguments>(),
};

const DESCRIPTION: &str = "\
Looks at the tasks that you gave: `list` tells where each stands, `show` tells one with its result, `delete` forgets one \
that is over and that you will not go on with.
Use it to find the id of an earlier task, or to look once at one in the background. Do not use it to wait: the end of a \
task in the background is told to you. Tasks of others cannot be reached.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// What to do.
    pub action: Action,
    /// The task, for `show` and `delete`.
    #[serde(default, alias = "session_id", alias = "id")]
    pub task_id: Option<String>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Tells where each of your tasks stands.
    List,
    /// Tells one of them with its result.
    Show,
    /// Forgets one that is over.
    Delete,
}
