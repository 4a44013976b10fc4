//! `plan_exit`: asks whether the plan may go to its review.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "plan_exit",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<PlanExitToolArguments>(),
};

const DESCRIPTION: &str = "\
Asks the user whether the submitted plan may go to its review and approval now. If not, you stay the planner, and the \
answer says what is missing.
Use it only where the user wants to see the plan first. Otherwise an accepted plan_submit is enough: the plan goes on \
when your turn ends.
Do not use it before there is a plan, while a question is open, or to start the work: you execute nothing until a \
message says so. If the user agrees, end your turn.";

/// Its arguments: none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanExitToolArguments {}
