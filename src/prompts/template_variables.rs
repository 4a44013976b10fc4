//! Defines the variables of each template, one type per template.
//!
//! The engine collects the values. A field here is a template variable of the same name.

use serde::Serialize;

/// The variables that every template has.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CommonVars {
    /// The goal as the user gave or confirmed it.
    pub goal: String,
    /// The title of the goal.
    pub goal_title: String,
    pub root: String,
    /// Whether the agent has this program's tools.
    pub tools: bool,
    /// What the agent can delegate to other agents, and with which tools; `None` if it has no such tools.
    pub delegating: Option<String>,
    /// `AGENTS.md` and `CLAUDE.md`; empty unless the user trusts the repository or allows the instructions.
    pub project_instructions: Vec<InstructionFile>,
}

/// One file with instructions for agents.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InstructionFile {
    /// The path in the repository.
    pub name: String,
    /// The folder whose files it applies to; `None` if it applies to all files.
    pub folder: Option<String>,
    pub text: String,
}

/// One open or residual finding.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OpenFinding {
    pub n: u32,
    /// `blocking`, `major` or `minor`.
    pub severity: String,
    /// The sentence of the finding.
    pub text: String,
    /// Place, scenario, evidence, what the program found of it, what would settle it, and the reviewer's last word: a
    /// line each, only what is known; may be empty.
    pub details: String,
    /// The planner's last answer, such as `rejected: …`, and what the program found when it checked it.
    pub answer: Option<String>,
    /// Whether the user decided a dispute about it for the reviewer.
    pub upheld: bool,
}

/// One finding that needs no verdict.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SettledFinding {
    pub n: u32,
    /// `blocking`, `major` or `minor`.
    pub severity: String,
    /// Such as `fixed`, `residual` or `decided by the user`.
    pub status: String,
    /// The sentence of the finding.
    pub text: String,
}

/// Variables of `01_refine_goal.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RefineGoalVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// The role of the agent: `planner` or `reviewer`.
    pub role: String,
    /// The user's last message.
    pub message: Option<String>,
}

/// Variables of `02_write_plan.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WritePlanVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// The file to write the plan to.
    pub staging_plan: String,
    /// The plan of an earlier cycle.
    pub prior_plan: Option<String>,
    /// The configured or detected test command; if there is none, the plan may propose one.
    pub test_command: Option<String>,
    /// Why the turn is repeated, in whole sentences.
    pub retry_reason: Option<String>,
    /// Who reviews the plan: `nobody`, `somebody`, or `other_vendor` if that is known.
    pub reviewer: String,
    /// Why the plan is written again after a part of an earlier one was executed.
    pub replanning: Option<ReplanVars>,
}

/// Why a plan is written again.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReplanVars {
    /// The executor's reason.
    pub reason: String,
    /// The step that is planned again while the others stay; `None` where the whole plan is.
    pub step: Option<u32>,
    /// The steps that have ended, in order.
    pub done: Vec<DoneStep>,
}

/// Variables of `03_review.md`, which asks for the first review, and of `09_review_again.md`, which asks for later ones.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReviewVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// The text of the plan.
    pub plan: String,
    /// The path of the plan.
    pub plan_path: String,
    /// The file to write the review to.
    pub staging_comments: String,
    /// The number of this review, from 1.
    pub iteration: u32,
    /// The maximum number of reviews.
    pub cap: u32,
    /// The highest number of a finding in this run; 0 if there is none.
    pub highest_finding: u32,
    /// The open findings that need a verdict, with the planner's answers.
    pub open_findings: Vec<OpenFinding>,
    /// All other findings.
    pub settled_findings: Vec<SettledFinding>,
    /// The changes of the plan since the review before, as a diff; empty without a change, `None` if there is no earlier
    /// version.
    pub plan_diff: Option<String>,
    /// Why the plan was changed while it is executed; `None` if it is not executed yet.
    pub replanned: Option<String>,
    /// Which new findings hold the plan up, such as `blocking, or major in steps 2 and 4`.
    pub bar: String,
    /// Whether the reviewer knows nothing of the run before this prompt.
    pub new_conversation: bool,
    /// Why the turn is repeated, in whole sentences.
    pub retry_reason: Option<String>,
}

/// Variables of `04_respond.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RespondVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// The text of the plan.
    pub plan: String,
    /// Whether the plan has words of the user: the planner may not know it.
    pub plan_by_user: bool,
    /// The text of the review.
    pub comments: String,
    /// The findings to answer.
    pub open_findings: Vec<OpenFinding>,
    /// The file to write a changed plan to.
    pub staging_plan: String,
    /// The file to write the answers to.
    pub staging_comments: String,
    /// The number of the review to answer, from 1.
    pub iteration: u32,
    /// The maximum number of reviews.
    pub cap: u32,
    /// The findings that the last answer did not cover.
    pub unanswered: Vec<u32>,
    /// Why the turn is repeated, in whole sentences.
    pub retry_reason: Option<String>,
}

/// Variables of `08_judge.md`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct JudgeVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// The text of the plan.
    pub plan: String,
    pub disputes: Vec<DisputedFinding>,
}

/// A finding on which reviewer and planner do not agree.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DisputedFinding {
    pub n: u32,
    /// `blocking` or `major`.
    pub severity: String,
    /// What the reviewer says: the finding with its scenario, evidence and last word.
    pub reviewer: String,
    /// Why the planner rejects it.
    pub planner: String,
    /// What this program found when it checked the evidence of both; empty where it could check none.
    pub checks: String,
}

/// Variables of `05_execute.md`.
#[derive(Debug, Clone, Serialize)]
pub struct ExecuteVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// The text of the approved plan; for a step, without the block of that step.
    pub plan: String,
    /// The command with which the program tests the step.
    pub test_command: Option<String>,
    /// The finished steps, in order.
    pub done: Vec<DoneStep>,
    /// The residual findings about the step; for the summary, all of them.
    pub residual_findings: Vec<OpenFinding>,
    /// The tests that failed before the first step, if any did.
    pub known_failures: Option<String>,
    /// The task of the turn.
    pub task: ExecuteTask,
}

/// One finished step.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DoneStep {
    pub n: u32,
    /// The first line of the step.
    pub text: String,
    /// The abbreviated hash of its commit, or why it has none, and how its tests ended.
    pub end: String,
}

/// The task of a turn in EXECUTE; `task.kind` in the template.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExecuteTask {
    /// Makes the change of a step.
    Step {
        number: u32,
        /// The number of steps in the plan.
        total: u32,
        /// The complete text of the step.
        text: String,
    },
    /// Fixes a step whose tests fail.
    Fix {
        number: u32,
        /// The number of steps in the plan.
        total: u32,
        /// The complete text of the step.
        text: String,
        /// The command that failed.
        command: String,
        /// How the command ended, so that it can follow "it": `ended with exit status 1`.
        outcome: String,
        /// The end of the command's output.
        output: String,
        /// The number of this attempt, from 1.
        attempt: u32,
        /// The maximum number of attempts.
        attempts: u32,
    },
    /// Summarises the run and changes nothing.
    Summary {
        /// The run's commits, oldest first.
        commits: Vec<CommitLine>,
    },
}

/// One commit of the run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CommitLine {
    pub hash: String,
    /// The first line of its message.
    pub title: String,
}

/// Variables of `06_recover_context.md`, whose text is followed by the prompt of the turn. What that prompt contains is
/// `None` or empty here.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecoverVars {
    #[serde(flatten)]
    pub common: CommonVars,
    /// `planner` or `reviewer`.
    pub role: String,
    /// The phase's name, such as `REVIEW`.
    pub phase: String,
    /// The text of the plan.
    pub plan: Option<String>,
    /// The text of the review, including answers.
    pub comments: Option<String>,
    /// The last finished step, such as `2. Add the parser`.
    pub last_step: Option<String>,
    pub open_findings: Vec<OpenFinding>,
    /// Always `None`; templates of earlier versions name it.
    pub prompt: Option<String>,
}
