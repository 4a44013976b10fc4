//! `review_submit`: submits a review as data.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::findings::{FindingSeverity, RemarkDetails};
use crate::domain::review::{FindingVerdict, Verdict, VerdictKind};
use crate::domain::submission::{FindingSubmission, ReviewSubmission};
use crate::mcp::tools::plan_submit::ThreadMessageArgument;
use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "review_submit",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<ReviewSubmitToolArguments>(),
};

const DESCRIPTION: &str = "\
Submits your review of the plan: the verdict, what you say of each open finding, and new findings.
Use it once, when your review is complete: an accepted call ends your turn. Give exactly one verdict for each open \
finding: `fixed` with a quote of the text that changed, `stands` with what is still missing, or `withdrawn` with the \
reason. The program numbers new findings. It checks the call at once: when it fails, nothing was accepted and the \
message says what to correct.
Do not use it for a part of a review, and do not approve while a blocking or major finding holds the plan up.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewSubmitToolArguments {
    /// Whether the plan may be executed.
    pub verdict: ReviewVerdictArgument,
    /// One entry for each open finding.
    #[serde(default)]
    pub verdicts: Vec<FindingVerdictArgument>,
    /// New findings.
    #[serde(default)]
    pub findings: Vec<ReviewFindingArgument>,
    /// Anything else that the planner or the user should know, as Markdown.
    #[serde(default)]
    pub notes: Option<String>,
    /// What you say in threads about the plan: answers where the prompt has threads, or what the user should know of a
    /// line and what is no finding.
    #[serde(default)]
    pub threads: Vec<ThreadMessageArgument>,
}

/// The verdict.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdictArgument {
    /// No blocking or major finding holds the plan up.
    Approved,
    /// The planner is to change the plan.
    ChangesRequired,
}

/// What you say of an open finding.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingVerdictArgument {
    /// The finding's number.
    pub finding: u32,
    /// What became of it.
    pub verdict: FindingVerdictKindArgument,
    /// `fixed`: a quote of the changed text of the plan. `stands`: what is still missing. `withdrawn`: why.
    pub detail: String,
    /// New evidence, where the planner rejected the finding and it stands.
    #[serde(default)]
    pub evidence: Option<String>,
}

/// What became of an open finding.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingVerdictKindArgument {
    Fixed,
    Stands,
    Withdrawn,
}

/// One new finding.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewFindingArgument {
    /// How much it weighs.
    pub severity: FindingSeverityArgument,
    /// The place: `step 2`, a heading of the plan, or file:line.
    pub place: String,
    /// What is wrong, in one sentence.
    pub text: String,
    /// An input or a state, and the wrong outcome.
    #[serde(default)]
    pub scenario: Option<String>,
    /// What shows it: file:line with a quote, a quote of the plan, or a command and what it printed. If something is
    /// missing, the scenario and the place are the evidence.
    #[serde(default)]
    pub evidence: Option<String>,
    /// The change that would settle it.
    #[serde(default)]
    pub settled_by: Option<String>,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverityArgument {
    /// Executed like this, the plan fails or does harm.
    Blocking,
    /// It works, but is wrong or incomplete in a case that matters.
    Major,
    /// Worth saying; it does not hold the plan up.
    Minor,
}

impl ReviewSubmitToolArguments {
    /// Converts the review to the domain type that is checked.
    pub fn into_domain(self) -> ReviewSubmission {
        let verdicts = self.verdicts.into_iter();
        let findings = self.findings.into_iter();
        ReviewSubmission {
            verdict: match self.verdict {
                ReviewVerdictArgument::Approved => Verdict::Approved,
                ReviewVerdictArgument::ChangesRequired => Verdict::ChangesRequired,
            },
            verdicts: verdicts.map(FindingVerdictArgument::into_domain).collect(),
            findings: findings.map(ReviewFindingArgument::into_domain).collect(),
            notes: self.notes.filter(|text| !text.trim().is_empty()),
        }
    }
}

impl FindingVerdictArgument {
    fn into_domain(self) -> FindingVerdict {
        FindingVerdict {
            n: self.finding,
            kind: match self.verdict {
                FindingVerdictKindArgument::Fixed => VerdictKind::Fixed,
                FindingVerdictKindArgument::Stands => VerdictKind::Stands,
                FindingVerdictKindArgument::Withdrawn => VerdictKind::Withdrawn,
            },
            detail: self.detail,
            evidence: self.evidence.unwrap_or_default(),
        }
    }
}

impl ReviewFindingArgument {
    fn into_domain(self) -> FindingSubmission {
        FindingSubmission {
            severity: match self.severity {
                FindingSeverityArgument::Blocking => FindingSeverity::Blocking,
                FindingSeverityArgument::Major => FindingSeverity::Major,
                FindingSeverityArgument::Minor => FindingSeverity::Minor,
            },
            text: self.text,
            details: RemarkDetails {
                place: self.place,
                scenario: self.scenario.unwrap_or_default(),
                evidence: self.evidence.unwrap_or_default(),
                resolution: self.settled_by.unwrap_or_default(),
            },
        }
    }
}
