//! `review_submit`: submits a review as data.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::findings::FindingSeverity;
use crate::domain::review::Verdict;
use crate::domain::submission::{FindingSubmission, ReviewSubmission};
use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "review_submit",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<ReviewSubmitToolArguments>(),
};

const DESCRIPTION: &str = "\
Hands your review of the plan in: the verdict, every finding that is open after it, and the numbers of those that it \
settles.
Use it once your judgement stands, instead of writing the review's file. Each finding that was open must be stated \
again under its number or be settled; leave the number of a new finding out. It is checked at once: when the call \
fails, nothing was taken and the message says what to mend. What you hand in last counts.
Do not use it to think aloud or for a part of a review, and do not approve beside a blocking finding. Leave `document` \
out unless you want the review in your own words; it must then say exactly what the data says.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewSubmitToolArguments {
    /// Whether the plan may be executed.
    pub verdict: ReviewVerdictArgument,
    /// New findings, and earlier ones that stay open.
    #[serde(default)]
    pub findings: Vec<ReviewFindingArgument>,
    /// The numbers of the open findings that are settled.
    #[serde(default)]
    pub settled: Vec<u32>,
    /// The whole review as Markdown, in the form that the prompt names.
    #[serde(default)]
    pub document: Option<String>,
}

/// The verdict.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdictArgument {
    /// Nothing blocking remains.
    Approved,
    /// The planner is to change the plan.
    ChangesRequired,
}

/// One finding.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewFindingArgument {
    /// Its number, where it is an earlier one.
    #[serde(default)]
    pub id: Option<u32>,
    /// How much it weighs.
    pub severity: FindingSeverityArgument,
    /// What of the plan it is about, such as `step 2` or a few words of it.
    #[serde(default)]
    pub anchor: String,
    /// What is wrong, in one sentence.
    pub text: String,
    /// What shows it: a file and line, or a command and what it printed.
    #[serde(default)]
    pub evidence: Option<String>,
    /// What would settle it.
    #[serde(default)]
    pub instead: Option<String>,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverityArgument {
    /// Executed like this, the plan fails or does harm.
    Blocking,
    /// It works, but wrongly or incompletely in a case that matters.
    Major,
    /// Worth saying.
    Minor,
}

impl ReviewSubmitToolArguments {
    /// Converts the review to the domain type that is checked.
    pub fn into_domain(self) -> ReviewSubmission {
        ReviewSubmission {
            verdict: match self.verdict {
                ReviewVerdictArgument::Approved => Verdict::Approved,
                ReviewVerdictArgument::ChangesRequired => Verdict::ChangesRequired,
            },
            findings: self
                .findings
                .into_iter()
                .map(ReviewFindingArgument::into_domain)
                .collect(),
            settled: self.settled,
            document: self.document.filter(|text| !text.trim().is_empty()),
        }
    }
}

impl ReviewFindingArgument {
    fn into_domain(self) -> FindingSubmission {
        FindingSubmission {
            n: self.id,
            severity: match self.severity {
                FindingSeverityArgument::Blocking => FindingSeverity::Blocking,
                FindingSeverityArgument::Major => FindingSeverity::Major,
                FindingSeverityArgument::Minor => FindingSeverity::Minor,
            },
            anchor: self.anchor,
            text: self.text,
            evidence: self.evidence,
            suggestion: self.instead,
        }
    }
}
