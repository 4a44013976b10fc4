//! `plan_enter`: asks to return from executing to planning.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "plan_enter",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<PlanEnterToolArguments>(),
};

const DESCRIPTION: &str = "\
Asks the user to go back from executing to planning. If the user agrees, the current step stops where it is, you are \
the planner again, and a new plan goes through review and approval. If not, continue with the step.
Use it when the repository shows that the plan cannot reach the goal: a step relies on something that is not true, or \
something is missing that no step covers.
Do not use it for a step that is only hard, for a failing test that you can fix, or to change how a step is worded. \
If the user agrees, end your turn.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanEnterToolArguments {
    /// Why the plan must change, in a sentence or two for the user.
    pub reason: String,
}
