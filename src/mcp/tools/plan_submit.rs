//! `plan_submit`: submits the plan, and the answers to a review.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::findings::FindingDisposition;
use crate::domain::submission::AnswerSubmission;
use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "plan_submit",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<PlanSubmitToolArguments>(),
};

const DESCRIPTION: &str = "\
Hands your plan in as Markdown, in the form that the prompt names: numbered boxes `N. [ ] text`. In an answer to a \
review it also hands in your answer to each finding; leave the plan out there when it stays as it is.
Use it once the whole plan stands. It is checked at once: when the call fails, nothing was taken and the message says \
what to mend. What you hand in last counts, and it counts before a file that you wrote.
Do not use it for drafts or for parts of a plan, nor to ask whether a plan is good: the reviewer and the user judge \
it after your turn.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanSubmitToolArguments {
    /// The whole plan as Markdown, without front matter, every box empty.
    #[serde(default)]
    pub plan: Option<String>,
    /// In an answer to a review: one answer for each open finding. Otherwise leave it out.
    #[serde(default)]
    pub answers: Vec<FindingAnswerArgument>,
}

/// Your answer to one finding.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingAnswerArgument {
    /// The finding's number.
    pub finding: u32,
    /// Whether you follow it.
    pub answer: FindingStanceArgument,
    /// What changed in the plan, or why not, with what shows it.
    pub reason: String,
}

/// Whether the planner follows a finding.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingStanceArgument {
    /// You do.
    Accepted,
    /// You do not.
    Rejected,
}

impl FindingAnswerArgument {
    /// Converts the answer to the domain type that is checked.
    pub fn into_domain(self) -> AnswerSubmission {
        AnswerSubmission {
            n: self.finding,
            disposition: match self.answer {
                FindingStanceArgument::Accepted => FindingDisposition::Accepted,
                FindingStanceArgument::Rejected => FindingDisposition::Rejected,
            },
            reason: self.reason,
        }
    }
}
