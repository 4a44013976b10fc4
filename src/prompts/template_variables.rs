//! What each template may say: its variables, one type for each template.
//!
//! Refuses to gather the values; the engine does. A field here is a variable there, by the same name.

use serde::Serialize;

/// What every template may say.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CommonVars {
    /// The goal as the user gave or confirmed it.
    pub goal: String,
    /// Its title.
    pub goal_title: String,
    /// The repository's root.
    pub root: String,
    /// Whether the agent has tools of the program's.
    pub tools: bool,
    /// What it can give to other agents, and by which tools; `None` where it has none of them.
    pub delegating: Option<String>,
    /// `AGENTS.md` and `CLAUDE.md`; empty unless the user trusts the repository or lets them in.
    pub project_instructions: Vec<InstructionFile>,
}

/// One file of instructions for agents.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InstructionFile {
    /// Its path in the repository.
    pub name: String,
    /// The folder for whose files alone it counts; `None` where it counts for all.
    pub folder: Option<String>,
    /// Its text.
    pub text: String,
}

/// One open finding of a review.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OpenFinding {
    /// Its number.
    pub n: u32,
    /// `blocking`, `major` or `minor`.
    pub severity: String,
    /// What it says.
    pub text: String,
    /// The planner's last answer, such as `rejected: …`.
    pub answer: Option<String>,
}

/// Variables of `01_refine_goal.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RefineGoalVars {
    /// What every template may say.
    #[serde(flatten)]
    pub common: CommonVars,
    /// Who talks: `planner` or `reviewer`.
    pub role: String,
    /// What the user said last.
    pub message: Option<String>,
}

/// Variables of `02_write_plan.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WritePlanVars {
    /// What every template may say.
    #[serde(flatten)]
    pub common: CommonVars,
    /// The file that the plan is written to.
    pub staging_plan: String,
    /// The plan of an earlier cycle.
    pub prior_plan: Option<String>,
    /// The configured or detected test command; without one the plan may propose it.
    pub test_command: Option<String>,
    /// Why the last answer did not count, see [`RetryReason`].
    pub retry_reason: Option<String>,
    /// Who reviews the plan: `nobody`, `somebody`, or `other_vendor` where that is known.
    pub reviewer: String,
}

/// Variables of `03_review.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReviewVars {
    /// What every template may say.
    #[serde(flatten)]
    pub common: CommonVars,
    /// The plan's text.
    pub plan: String,
    /// The plan's path.
    pub plan_path: String,
    /// The file that the review is written to.
    pub staging_comments: String,
    /// Which review this is, from 1.
    pub iteration: u32,
    /// How many there may be.
    pub cap: u32,
    /// The highest number that a finding of this run has; 0 without any.
    pub highest_finding: u32,
    /// The findings that are open, with the planner's answers.
    pub open_findings: Vec<OpenFinding>,
    /// Why the last answer did not count, see [`RetryReason`].
    pub retry_reason: Option<String>,
}

/// Variables of `04_respond.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RespondVars {
    /// What every template may say.
    #[serde(flatten)]
    pub common: CommonVars,
    /// The plan's text.
    pub plan: String,
    /// The review's text.
    pub comments: String,
    /// The findings to answer.
    pub open_findings: Vec<OpenFinding>,
    /// The file that a changed plan is written to.
    pub staging_plan: String,
    /// The file that the answers are written to.
    pub staging_comments: String,
    /// Which review is answered, from 1.
    pub iteration: u32,
    /// How many there may be.
    pub cap: u32,
    /// The findings that the last answer left out.
    pub unanswered: Vec<u32>,
    /// Why the last answer did not count, see [`RetryReason`].
    pub retry_reason: Option<String>,
}

/// Variables of `05_execute.md`.
#[derive(Debug, Clone, Serialize)]
pub struct ExecuteVars {
    /// What every template may say.
    #[serde(flatten)]
    pub common: CommonVars,
    /// The approved plan's text.
    pub plan: String,
    /// The command that the program checks the step with.
    pub test_command: Option<String>,
    /// The steps that are through, in their order.
    pub done: Vec<DoneStep>,
    /// What is to be done.
    pub task: ExecuteTask,
}

/// One step that is through.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DoneStep {
    /// Its number.
    pub n: u32,
    /// Its first line.
    pub text: String,
    /// Its commit, abbreviated, or why it has none.
    pub end: String,
}

/// What a turn of EXECUTE does; `task.kind` in the template.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExecuteTask {
    /// Makes the change of a step.
    Step {
        /// The step's number.
        number: u32,
        /// How many steps the plan has.
        total: u32,
        /// The whole block of the step.
        text: String,
    },
    /// Mends a step whose tests fail.
    Fix {
        /// The step's number.
        number: u32,
        /// How many steps the plan has.
        total: u32,
        /// The whole block of the step.
        text: String,
        /// The command that failed.
        command: String,
        /// How it ended, to follow "it": `ended with exit status 1`.
        outcome: String,
        /// The end of its output.
        output: String,
        /// Which attempt this is, from 1.
        attempt: u32,
        /// How many there are.
        attempts: u32,
    },
    /// Sums the run up, changing nothing.
    Summary {
        /// The run's commits, oldest first.
        commits: Vec<CommitLine>,
    },
}

/// One commit of the run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CommitLine {
    /// Its abbreviated hash.
    pub hash: String,
    /// The first line of its message.
    pub title: String,
}

/// Variables of `06_recover_context.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecoverVars {
    /// What every template may say.
    #[serde(flatten)]
    pub common: CommonVars,
    /// `planner` or `reviewer`.
    pub role: String,
    /// The phase's name, such as `REVIEW`.
    pub phase: String,
    /// The plan's text.
    pub plan: Option<String>,
    /// The review's text, answers included.
    pub comments: Option<String>,
    /// The last finished step, such as `2. Add the parser`.
    pub last_step: Option<String>,
    /// The findings that are open.
    pub open_findings: Vec<OpenFinding>,
    /// The whole prompt of the turn that is to be done now.
    pub prompt: Option<String>,
}

/// Why an answer did not count; its text is the template's `retry_reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryReason {
    /// The turn brought no document.
    NoDocument {
        /// The document's file name.
        document: &'static str,
    },
    /// The turn brought one that is none; the reason is a sentence without its full stop.
    BadDocument {
        /// The document's file name.
        document: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Findings were left without an answer.
    Unanswered,
}

impl RetryReason {
    /// Says it to the agent.
    pub fn to_prompt_text(&self) -> String {
        match self {
            Self::NoDocument { document } => {
                format!(
                    "It brought no {document}: neither the file was written nor did your message hold a fenced block with that info string."
                )
            }
            Self::BadDocument { document, reason } => {
                format!("Its {document} cannot be used: {reason}.")
            }
            Self::Unanswered => {
                "It left findings without an answer; every open finding needs one line.".to_owned()
            }
        }
    }
}
