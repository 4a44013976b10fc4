//! Describes a turn: who does what, for which purpose, and how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr};

use super::ids::{TurnId, UnixMillis};
use super::phase::Phase;
use super::step_result::StepResult;

/// One of the two agents of a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Plans, answers the review, executes.
    #[default]
    Planner,
    Reviewer,
}

impl Role {
    /// Returns the other role.
    pub fn other(self) -> Self {
        match self {
            Self::Planner => Self::Reviewer,
            Self::Reviewer => Self::Planner,
        }
    }

    /// Returns the role's name as in configuration and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Reviewer => "reviewer",
        }
    }
}

/// The profile of a turn's agent; a session's current profile is that of its last user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnProfile {
    /// Edits the repository, step by step.
    #[default]
    Build,
    /// Reads, and writes only the plan and its answers.
    Plan,
    /// Reads, and writes only the review.
    Review,
}

impl TurnProfile {
    /// Returns the profile's name as in configuration and on screens.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a turn is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum TurnPurpose {
    RefineGoal {
        /// What the user said.
        said: String,
        /// The role that discusses it.
        #[serde(default)]
        by: Role,
    },
    WritePlan,
    Review,
    /// Answers the findings of the review.
    Respond,
    /// Judges disputes between reviewer and planner, in a session that knows neither.
    Judge,
    /// Makes the change of a step.
    Step {
        n: u32,
    },
    /// Fixes a step whose tests fail.
    Fix {
        n: u32,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// Summarizes the run; reads only, and its failure is only logged.
    Summary,
}

impl TurnPurpose {
    /// Returns the phase in which such a turn runs.
    pub fn phase(&self) -> Phase {
        match self {
            Self::RefineGoal { .. } => Phase::RefineGoal,
            Self::WritePlan => Phase::WritePlan,
            Self::Review | Self::Judge => Phase::Review,
            Self::Respond => Phase::Respond,
            Self::Step { .. } | Self::Fix { .. } | Self::Summary => Phase::Execute,
        }
    }

    /// Returns the role that does it.
    pub fn role(&self) -> Role {
        match self {
            Self::Review | Self::Judge => Role::Reviewer,
            Self::RefineGoal { by, .. } => *by,
            Self::WritePlan
            | Self::Respond
            | Self::Step { .. }
            | Self::Fix { .. }
            | Self::Summary => Role::Planner,
        }
    }

    /// Returns what the agent that does it is called in a sentence: its role, or the judge of a dispute.
    pub fn agent_name(&self) -> &'static str {
        match self {
            Self::Judge => "judge",
            purpose => purpose.role().name(),
        }
    }

    /// Returns the profile that the phase sets on the session.
    pub fn profile(&self) -> TurnProfile {
        match self {
            Self::RefineGoal { .. } | Self::WritePlan | Self::Respond | Self::Summary => {
                TurnProfile::Plan
            }
            Self::Review | Self::Judge => TurnProfile::Review,
            Self::Step { .. } | Self::Fix { .. } => TurnProfile::Build,
        }
    }

    /// Returns whether the turn runs in a conversation of its own: it knows nothing of what its role's session knows, and
    /// leaves that session as it is.
    pub fn is_isolated(&self) -> bool {
        matches!(self, Self::Judge)
    }

    /// Returns whether the turn may change the repository.
    pub fn may_write(&self) -> bool {
        matches!(self.profile(), TurnProfile::Build)
    }

    /// Describes what the agent is doing now, as in `is writing the plan`.
    pub fn describe_progress(&self) -> String {
        match self {
            Self::RefineGoal { .. } => "is reading the goal".to_owned(),
            Self::WritePlan => "is writing the plan".to_owned(),
            Self::Review => "is reviewing the plan".to_owned(),
            Self::Respond => "is answering the review".to_owned(),
            Self::Judge => "is reading both sides".to_owned(),
            Self::Step { n } => format!("is working on step {n}"),
            Self::Fix { n, attempt: 1 } => format!("is fixing step {n}"),
            Self::Fix { n, attempt } => format!("is fixing step {n}, attempt {attempt}"),
            Self::Summary => "is writing the summary".to_owned(),
        }
    }

    /// Describes the purpose in one line for the user.
    pub fn describe(&self) -> String {
        match self {
            Self::RefineGoal { .. } => "talks about the goal".to_owned(),
            Self::WritePlan => "writes the plan".to_owned(),
            Self::Review => "reviews the plan".to_owned(),
            Self::Respond => "answers the review".to_owned(),
            Self::Judge => "judges a dispute".to_owned(),
            Self::Step { n } => format!("works on step {n}"),
            Self::Fix { n, attempt } => format!("fixes step {n}, attempt {attempt}"),
            Self::Summary => "writes the summary".to_owned(),
        }
    }
}

/// A turn to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnOrder {
    pub turn: TurnId,
    /// What it is for.
    pub purpose: TurnPurpose,
    /// Why it is repeated, if it is; goes into the prompt.
    pub again: Option<TurnRetryReason>,
}

/// Why a turn is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum TurnRetryReason {
    /// The last one produced no document.
    NoDocument { reason: MissingDocumentReason },
    /// The document of the last one lacks something.
    AskedBack { reason: String },
    /// The user answered a question in the agent's text.
    Answered { answer: String },
    /// The last one failed or was interrupted.
    Failed,
    /// The step's last turn did not complete it, and the user wants another try.
    StepTried,
    /// The user undid the steps from this one on.
    Undone { step: u32 },
}

/// Why a turn returned no document that counts. Stored as its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum MissingDocumentReason {
    /// The user kept their own text instead of the turn's.
    UserKeptOwnText,
    /// What was wrong with what it returned, as text for its agent.
    Defect(String),
}

/// The stored text of [`MissingDocumentReason::UserKeptOwnText`].
const USER_KEPT_OWN_TEXT: &str =
    "the user kept their own text; read the file again and go on from it";

impl From<String> for MissingDocumentReason {
    fn from(text: String) -> Self {
        match text.as_str() {
            USER_KEPT_OWN_TEXT => Self::UserKeptOwnText,
            _ => Self::Defect(text),
        }
    }
}

impl From<MissingDocumentReason> for String {
    fn from(reason: MissingDocumentReason) -> Self {
        match reason {
            MissingDocumentReason::UserKeptOwnText => USER_KEPT_OWN_TEXT.to_owned(),
            MissingDocumentReason::Defect(text) => text,
        }
    }
}

impl fmt::Display for MissingDocumentReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UserKeptOwnText => USER_KEPT_OWN_TEXT,
            Self::Defect(text) => text,
        })
    }
}

/// How a turn ended, as far as the workflow needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnOutcome {
    Completed {
        /// The question at the end of its text, where the heuristic found one.
        question: Option<String>,
        /// The first line of its last message, cleaned, for log and commit message.
        summary: String,
        /// The result of a step; `None` for other turns, and in logs of version 0.1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<StepResult>,
    },
    /// The program interrupted it.
    Interrupted,
    Failed {
        kind: TurnFailureKind,
        /// What the CLI said, cleaned.
        message: String,
        /// Whether a retry may help.
        transient: bool,
        /// The usage limit that it met; `None` for every other failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<UsageLimit>,
        /// The other adapter to which the role could move, by its name in the configuration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<String>,
    },
}

impl TurnOutcome {
    /// The end of a turn that did what it was for and says so.
    #[cfg(test)]
    pub fn completed(summary: &str) -> Self {
        use super::step_result::{StepResultKind, split_result};
        let (stated, _) = split_result(summary);
        let done = StepResult::new(StepResultKind::Done, "");
        Self::Completed {
            question: None,
            summary: summary.to_owned(),
            result: Some(stated.unwrap_or(done)),
        }
    }
}

/// The kinds of failure, by what a user can do about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TurnFailureKind {
    /// The user must log in or set a key.
    Login,
    /// Too many requests: wait.
    #[serde(rename = "rate limit")]
    #[strum(serialize = "rate limit")]
    RateLimit,
    /// The plan's limit is used up: wait or pay.
    #[serde(rename = "usage limit")]
    #[strum(serialize = "usage limit")]
    UsageLimit,
    /// The service is overloaded or failing: try again.
    Service,
    /// The network or the stream broke: try again.
    Connection,
    /// The conversation is too long: start a new session.
    #[serde(rename = "context full")]
    #[strum(serialize = "context full")]
    ContextFull,
    /// The CLI refused to start or to accept the request: fix the configuration.
    Refused,
    /// The CLI exited or sent invalid data in the middle of a turn.
    Protocol,
    /// Files that only this program writes were changed meanwhile and are restored: look at what changed them.
    #[serde(rename = "tampered files")]
    #[strum(serialize = "tampered files")]
    TamperedFiles,
    /// A kind of another version.
    #[serde(untagged)]
    #[strum(default)]
    Other(String),
}

/// A usage limit of a CLI's service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageLimit {
    /// When usage is possible again, where the CLI reported it.
    pub resets_at: Option<UnixMillis>,
}
