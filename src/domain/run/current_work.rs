//! Describes what runs now: a turn, or the program's own work between two turns.

use serde::{Deserialize, Serialize};

use crate::domain::event::AgentProcess;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Gate;
use crate::domain::question::Question;
use crate::domain::reversal_plan::UndoDirection;
use crate::domain::turn::{TurnOrder, TurnOutcome, TurnPurpose};

/// The turn that runs now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTurn {
    pub order: TurnOrder,
    pub started_at: UnixMillis,
    /// Whether its result still counts.
    pub result: ResultValidity,
    /// Its CLI's process, once known.
    pub process: Option<AgentProcess>,
}

/// Whether the result of a running turn still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultValidity {
    Yes,
    /// The user stopped or cancelled in the meantime.
    No,
}

/// A finished turn that continues once its questions are answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SuspendedTurnEnd {
    pub(super) running: RunningTurn,
    pub(super) result: TurnOutcome,
}

/// What the program itself does between two turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "busy", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a run has one of them")]
pub enum ProgramOperation {
    /// It takes a document out of a completed turn.
    Collecting {
        order: TurnOrder,
        /// The question at the end of the turn's text, where the heuristic found one.
        question: Option<String>,
    },
    /// It stores the tree before a turn.
    Storing { order: TurnOrder },
    /// It waits with a released turn until the user has answered whether to stop.
    Held {
        order: TurnOrder,
        /// The gate that released it.
        by: Gate,
    },
    /// It inspects the repository before the approval of an execution.
    Surveying,
    /// It checks out the branch.
    Entering,
    /// It runs the tests on the tree before the first step.
    Baseline,
    /// It moves the turn's role to another adapter.
    Moving {
        /// What the turn is for.
        purpose: TurnPurpose,
    },
    /// It works on the current step.
    Stepping {
        /// The question at the end of the agent's text, where the heuristic found one.
        question: Option<String>,
    },
    /// It undoes or redoes steps.
    Reversing {
        way: UndoDirection,
        /// The stored tree from before; once it is stored, the reversal is always finished.
        kept: Option<String>,
        /// The tree from after and the new commit, once the files are restored.
        left: Option<(String, Option<String>)>,
        /// The question that waited for the user before the reversal.
        question: Option<Question>,
    },
}
