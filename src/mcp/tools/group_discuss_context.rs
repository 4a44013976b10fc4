//! `group_discuss_context`: shows what a discussion would receive, without starting it.

use super::group_discuss::GroupDiscussToolArguments;
use crate::mcp::{ToolDefinition, arguments_schema};

/// Its arguments are those of `group_discuss`.
pub const TOOL: ToolDefinition = ToolDefinition {
    name: "group_discuss_context",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<GroupDiscussToolArguments>(),
};

const DESCRIPTION: &str = "\
Tells what `group_discuss` would do with the same arguments: who takes part and which CLI plays them, how many rounds and \
how long, how long a prompt, the context and one message may be, and when earlier rounds are summed up. It also tells the \
presets that there are.
Use it before a discussion with much context or many files, to see what fits. Do not use it instead of the discussion: \
nothing is started and nobody is asked.";
