//! A turn as the domain sees it: who does what, for which purpose, and how it ended.
//!
//! Refuses to know prompts' texts and CLIs' protocols.

use serde::{Deserialize, Serialize};

use super::ids::{TurnId, UnixMillis};
use super::phase::Phase;

/// Which of the two agents of a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Plans, answers the review, executes.
    #[default]
    Planner,
    /// Reviews the plan.
    Reviewer,
}

impl Role {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Planner => Self::Reviewer,
            Self::Reviewer => Self::Planner,
        }
    }

    /// The role's name as in configuration and screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Reviewer => "reviewer",
        }
    }
}

/// The profile that speaks in a turn; the current agent of a session is that of its last user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnProfile {
    /// Edits the repository, step by step.
    #[default]
    Build,
    /// Reads, and writes nothing but the plan and its answers.
    Plan,
    /// Reads, and writes nothing but the review.
    Review,
}

impl TurnProfile {
    /// The profile's name as in configuration and screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Plan => "plan",
            Self::Review => "review",
        }
    }
}

/// What a turn is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum TurnPurpose {
    /// Talks about the goal.
    RefineGoal {
        /// What the user said.
        said: String,
        /// Who talks.
        #[serde(default)]
        by: Role,
    },
    /// Writes the plan.
    WritePlan,
    /// Reviews the plan.
    Review,
    /// Answers the review.
    Respond,
    /// Makes the change of a step.
    Step {
        /// The step's number.
        n: u32,
    },
    /// Mends a step whose tests fail.
    Fix {
        /// The step's number.
        n: u32,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// Sums the run up; reads only, and its failure is only logged.
    Summary,
}

impl TurnPurpose {
    /// The phase in which such a turn runs.
    pub fn phase(&self) -> Phase {
        match self {
            Self::RefineGoal { .. } => Phase::RefineGoal,
            Self::WritePlan => Phase::WritePlan,
            Self::Review => Phase::Review,
            Self::Respond => Phase::Respond,
            Self::Step { .. } | Self::Fix { .. } | Self::Summary => Phase::Execute,
        }
    }

    /// The role that does it.
    pub fn role(&self) -> Role {
        match self {
            Self::Review => Role::Reviewer,
            Self::RefineGoal { by, .. } => *by,
            Self::WritePlan
            | Self::Respond
            | Self::Step { .. }
            | Self::Fix { .. }
            | Self::Summary => Role::Planner,
        }
    }

    /// The profile that the phase puts on the session.
    pub fn profile(&self) -> TurnProfile {
        match self {
            Self::RefineGoal { .. } | Self::WritePlan | Self::Respond | Self::Summary => {
                TurnProfile::Plan
            }
            Self::Review => TurnProfile::Review,
            Self::Step { .. } | Self::Fix { .. } => TurnProfile::Build,
        }
    }

    /// Whether the turn may change the repository.
    pub fn may_write(&self) -> bool {
        matches!(self.profile(), TurnProfile::Build)
    }

    /// What the agent is doing now, for people: "is writing the plan".
    pub fn describe_progress(&self) -> String {
        match self {
            Self::RefineGoal { .. } => "is reading the goal".to_owned(),
            Self::WritePlan => "is writing the plan".to_owned(),
            Self::Review => "is reviewing the plan".to_owned(),
            Self::Respond => "is answering the review".to_owned(),
            Self::Step { n } => format!("is working on step {n}"),
            Self::Fix { n, attempt: 1 } => format!("is fixing step {n}"),
            Self::Fix { n, attempt } => format!("is fixing step {n}, attempt {attempt}"),
            Self::Summary => "is writing the summary".to_owned(),
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        match self {
            Self::RefineGoal { .. } => "talks about the goal".to_owned(),
            Self::WritePlan => "writes the plan".to_owned(),
            Self::Review => "reviews the plan".to_owned(),
            Self::Respond => "answers the review".to_owned(),
            Self::Step { n } => format!("works on step {n}"),
            Self::Fix { n, attempt } => format!("fixes step {n}, attempt {attempt}"),
            Self::Summary => "writes the summary".to_owned(),
        }
    }
}

/// One turn to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnOrder {
    /// Its id.
    pub turn: TurnId,
    /// What it is for.
    pub purpose: TurnPurpose,
    /// Why it is asked again, where it is; goes into the prompt.
    pub again: Option<TurnRetryReason>,
}

/// Why a turn is asked again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum TurnRetryReason {
    /// The last one brought no document.
    NoDocument {
        /// What was missing.
        reason: String,
    },
    /// What the last one brought lacks something.
    AskedBack {
        /// What.
        reason: String,
    },
    /// The user answered a question that the agent had asked in its text.
    Answered {
        /// The answer.
        answer: String,
    },
    /// The last one failed or was interrupted.
    Failed,
    /// The step's last turn did not do it, and the user wants it tried again.
    StepTried,
    /// The user took the steps from this one on back.
    Undone {
        /// The step.
        step: u32,
    },
}

impl TurnRetryReason {
    /// What was missing where the user kept a text of their own against the turn's; the agent reads it.
    pub const USER_KEPT_OWN_TEXT: &'static str =
        "the user kept their own text; read the file again and go on from it";
}

/// How a turn ended, for the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The agent finished.
    Completed {
        /// The question at the end of its text, where the heuristic found one.
        question: Option<String>,
        /// The first line of its last message, cleaned, for log and commit message.
        summary: String,
    },
    /// We interrupted it.
    Interrupted,
    /// It failed.
    Failed {
        /// The kind of failure, in the adapter's word.
        kind: String,
        /// What the CLI said, cleaned.
        message: String,
        /// Whether trying again may help.
        transient: bool,
        /// The usage limit that it met; `None` for every other failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<UsageLimit>,
        /// The other adapter that the role could move to, by its name in the configuration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
    },
}

/// A used-up plan at a CLI's service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageLimit {
    /// When there is something to use again, where the CLI told.
    pub resets_at: Option<UnixMillis>,
}
