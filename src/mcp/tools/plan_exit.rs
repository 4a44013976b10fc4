//! `plan_exit`: reports that the plan is complete.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "plan_exit",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<PlanExitToolArguments>(),
};

const DESCRIPTION: &str = "\
Says that planning is over: the plan goes to its review, where there is a reviewer, and after that to the user's approval. The user may be asked \
first; with a no you stay the planner and the user's word tells what is missing.
Use it when the whole plan is handed in, in the file or by plan_submit, and nothing is left to find out.
Do not use it before there is a plan, while a question is open, or to begin with the work: you execute nothing until \
a message says so. After a yes, end your turn.";

/// Its arguments: none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanExitToolArguments {}
