//! `step_result`: states the result of a step.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::step_result::{StepResult, StepResultKind};
use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "step_result",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<StepResultToolArguments>(),
};

const DESCRIPTION: &str = "\
States the result of the step. `done`: the change is complete. `already_true`: the repository already does what the \
step asks, and you changed nothing. `blocked`: the step cannot be done as it is written, and you changed nothing; the \
detail quotes what stands in the way. Blocked is a good answer: the user then amends the step, has it planned again or \
skips it.
Use it once, at the end of your turn, and end the turn after it: the last call counts. The program checks the result \
against what it finds itself.
Do not use it for a part of a step, and do not state `done` for something else than the step asks.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepResultToolArguments {
    /// What became of the step.
    pub result: StepResultArgument,
    /// `blocked`: a quote of what stands in the way, with the file and line or the command that shows it.
    /// `already_true`: what shows it. `done`: may be left out.
    #[serde(default)]
    pub detail: Option<String>,
}

/// What became of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepResultArgument {
    Done,
    AlreadyTrue,
    Blocked,
}

impl StepResultToolArguments {
    /// Converts the result to the domain type.
    ///
    /// # Errors
    /// A blocked step says nothing of what stands in the way.
    pub fn into_domain(self) -> Result<StepResult, String> {
        let kind = match self.result {
            StepResultArgument::Done => StepResultKind::Done,
            StepResultArgument::AlreadyTrue => StepResultKind::AlreadyTrue,
            StepResultArgument::Blocked => StepResultKind::Blocked,
        };
        let result = StepResult::new(kind, &self.detail.unwrap_or_default());
        if kind == StepResultKind::Blocked && result.text.is_empty() {
            return Err(
                "nothing was accepted: quote in `detail` what stands in the way".to_owned(),
            );
        }
        Ok(result)
    }
}
