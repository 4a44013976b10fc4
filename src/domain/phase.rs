//! Defines the phases of a run, the gate that releases its turns, and the only table of legal phase changes.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

pub use crate::permission::Mode;

/// Where in the workflow a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Display, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    /// The run exists but has no goal yet.
    Init,
    /// The user and an agent shape the goal.
    RefineGoal,
    /// The planner writes `plan.md`.
    WritePlan,
    /// The reviewer writes `comments.md`.
    Review,
    /// The planner answers the findings and may change the plan.
    Respond,
    /// The plan is agreed and waits for the user's approval to execute it.
    Approved,
    /// The planner executes the plan step by step.
    Execute,
    /// All steps are finished.
    Done,
    /// The user cancelled the run.
    Cancelled,
}

impl Phase {
    /// Returns the phase's name as used in files and in events.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the phase's name as shown to the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Init | Self::RefineGoal => "Goal",
            Self::WritePlan => "Plan",
            Self::Review | Self::Respond => "Review",
            Self::Approved => "Approve",
            Self::Execute => "Execute",
            Self::Done => "Done",
            Self::Cancelled => "Cancelled",
        }
    }

    /// Returns whether the run is over.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }
}

/// Who releases the next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The user releases every turn.
    Manual,
    /// Turns follow each other until a question, an error or the user stops them.
    Auto,
}

impl Gate {
    /// Returns the gate's name as shown to the user.
    pub fn label(self) -> &'static str {
        match self {
            Self::Manual => "Manual",
            Self::Auto => "Auto",
        }
    }

    /// Says in a few words how turns start.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Manual => "each turn waits for you",
            Self::Auto => "each turn starts by itself",
        }
    }
}

/// Whether a released turn may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnHold {
    #[default]
    Free,
    /// It waits, because the user is being asked whether to stop.
    Held,
}

impl TurnHold {
    /// Returns whether turns may start.
    pub fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

/// Why a phase changes. Each cause with its phase of origin has exactly one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TransitionCause {
    /// The user gave a goal.
    GoalGiven,
    /// The user confirmed the goal.
    GoalConfirmed,
    /// The same, and the user brought the plan.
    PlanProvided,
    /// The same, in a run without a reviewer.
    PlanProvidedUnreviewed,
    /// A plan with at least one numbered box was committed.
    PlanWritten,
    /// The same, in a run without a reviewer.
    PlanWrittenUnreviewed,
    /// The verdict is CHANGES_REQUIRED and the loop may continue.
    ChangesRequired,
    /// The planner answered and may have changed the plan.
    Responded,
    /// The verdict is APPROVED on the plan that is on disk.
    PlanApproved,
    /// The user let the plan pass at the cap or on a stall.
    ForcedPass,
    /// The user granted more iterations.
    MoreIterations,
    /// The user edited by hand and wants a review.
    EditedForReview,
    /// The user edited by hand and accepts the result as it is.
    EditedAndAccepted,
    /// The plan changed after it was reviewed; the user wants it reviewed again.
    StaleReviewedAgain,
    /// The plan changed after it was reviewed; the user accepts it.
    StaleAccepted,
    /// The user asks for changes to an approved plan.
    ChangesRequested,
    /// The user, or `auto_approve`, starts the execution of the approved plan.
    ExecutionStarted,
    /// The user wants the plan written again, which the executor may have asked for.
    PlanEntered,
    /// The last step is finished.
    StepsDone,
    /// The user stopped the run and goes back to the goal.
    Stopped,
    /// The user cancelled the run.
    Cancelled,
}

/// One legal phase change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseTransition {
    pub from: Phase,
    pub cause: TransitionCause,
    pub to: Phase,
}

const fn transition(from: Phase, cause: TransitionCause, to: Phase) -> PhaseTransition {
    PhaseTransition { from, cause, to }
}

/// All legal phase changes; ARCHITECTURE.md prints this table.
#[rustfmt::skip]
pub const TRANSITIONS: &[PhaseTransition] = &[
    transition(Phase::Init, TransitionCause::GoalGiven, Phase::RefineGoal),
    transition(Phase::RefineGoal, TransitionCause::GoalConfirmed, Phase::WritePlan),
    transition(Phase::RefineGoal, TransitionCause::PlanProvided, Phase::Review),
    transition(Phase::RefineGoal, TransitionCause::PlanProvidedUnreviewed, Phase::Approved),
    transition(Phase::WritePlan, TransitionCause::PlanWritten, Phase::Review),
    transition(Phase::WritePlan, TransitionCause::PlanWrittenUnreviewed, Phase::Approved),
    transition(Phase::Review, TransitionCause::ChangesRequired, Phase::Respond),
    transition(Phase::Review, TransitionCause::PlanApproved, Phase::Approved),
    transition(Phase::Review, TransitionCause::ForcedPass, Phase::Approved),
    transition(Phase::Review, TransitionCause::MoreIterations, Phase::Respond),
    transition(Phase::Review, TransitionCause::EditedForReview, Phase::Review),
    transition(Phase::Review, TransitionCause::EditedAndAccepted, Phase::Approved),
    transition(Phase::Review, TransitionCause::StaleReviewedAgain, Phase::Review),
    transition(Phase::Review, TransitionCause::StaleAccepted, Phase::Approved),
    transition(Phase::Respond, TransitionCause::Responded, Phase::Review),
    transition(Phase::Approved, TransitionCause::ChangesRequested, Phase::Respond),
    transition(Phase::Approved, TransitionCause::StaleReviewedAgain, Phase::Review),
    transition(Phase::Approved, TransitionCause::StaleAccepted, Phase::Approved),
    transition(Phase::Approved, TransitionCause::ExecutionStarted, Phase::Execute),
    transition(Phase::Execute, TransitionCause::PlanEntered, Phase::WritePlan),
    transition(Phase::Execute, TransitionCause::StaleReviewedAgain, Phase::Review),
    transition(Phase::Execute, TransitionCause::StepsDone, Phase::Done),
    transition(Phase::WritePlan, TransitionCause::Stopped, Phase::RefineGoal),
    transition(Phase::Review, TransitionCause::Stopped, Phase::RefineGoal),
    transition(Phase::Respond, TransitionCause::Stopped, Phase::RefineGoal),
    transition(Phase::Approved, TransitionCause::Stopped, Phase::RefineGoal),
    transition(Phase::Execute, TransitionCause::Stopped, Phase::RefineGoal),
    transition(Phase::Init, TransitionCause::Cancelled, Phase::Cancelled),
    transition(Phase::RefineGoal, TransitionCause::Cancelled, Phase::Cancelled),
    transition(Phase::WritePlan, TransitionCause::Cancelled, Phase::Cancelled),
    transition(Phase::Review, TransitionCause::Cancelled, Phase::Cancelled),
    transition(Phase::Respond, TransitionCause::Cancelled, Phase::Cancelled),
    transition(Phase::Approved, TransitionCause::Cancelled, Phase::Cancelled),
    transition(Phase::Execute, TransitionCause::Cancelled, Phase::Cancelled),
];

/// Returns where `cause` leads from `from`; `None` when that change is not legal.
pub fn next_phase(from: Phase, cause: TransitionCause) -> Option<Phase> {
    TRANSITIONS
        .iter()
        .find(|t| t.from == from && t.cause == cause)
        .map(|t| t.to)
}
