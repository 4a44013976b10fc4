//! `plan_submit`: submits the plan, and the answers to a review.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::findings::FindingDisposition;
use crate::domain::submission::{AnswerSubmission, ThreadSubmission};
use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "plan_submit",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<PlanSubmitToolArguments>(),
};

const DESCRIPTION: &str = "\
Submits your plan as Markdown, in the form that the prompt names: numbered boxes `N. [ ] text`. When you answer a \
review, it submits your answer to each finding; leave the plan out if it does not change.
Use it once, when the plan or the answers are complete: an accepted call ends your turn. The program checks the call \
at once: when it fails, nothing was accepted and the message says what to correct.
Do not use it for drafts or for parts of a plan, nor to ask whether a plan is good: the reviewer and the user judge \
it after your turn.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanSubmitToolArguments {
    /// The whole plan as Markdown, without front matter, every box empty.
    #[serde(default)]
    pub plan: Option<String>,
    /// When you answer a review: one answer for each finding. Otherwise leave it out.
    #[serde(default)]
    pub answers: Vec<FindingAnswerArgument>,
    /// What you say in threads about the plan: answers where the prompt has threads, or what the user should know of a
    /// line.
    #[serde(default)]
    pub threads: Vec<ThreadMessageArgument>,
}

/// What you say in one thread about the plan.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadMessageArgument {
    /// The number of the thread that you answer.
    #[serde(default)]
    pub thread: Option<u32>,
    /// To open a thread, its place: `step 2`, `line 9`, `finding 3`, or words of a line of the plan.
    #[serde(default)]
    pub place: Option<String>,
    /// What you say, in one or two sentences.
    pub text: String,
}

impl ThreadMessageArgument {
    /// Converts the message to the domain type that is checked.
    pub fn into_domain(self) -> ThreadSubmission {
        ThreadSubmission {
            thread: self.thread,
            place: self.place.unwrap_or_default(),
            text: self.text,
        }
    }
}

/// Your answer to one finding.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingAnswerArgument {
    /// The finding's number.
    pub finding: u32,
    /// Whether you accept it.
    pub answer: FindingStanceArgument,
    /// `accepted`: what changed, and in which step. `rejected`: why, with evidence: file:line with a quote, a quote of the
    /// plan, or a command and what it printed.
    pub reason: String,
}

/// Whether the planner accepts a finding.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingStanceArgument {
    /// It is right, and the plan changed.
    Accepted,
    /// It is wrong or does not serve the goal.
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
