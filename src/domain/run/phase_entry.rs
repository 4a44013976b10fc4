//! Changes the phase, and starts what a phase begins with.

use super::{ProgramOperation, RunState, turn_start};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::phase::{Phase, TransitionCause, next_phase};
use crate::domain::turn::TurnPurpose;

/// Changes the phase where the table allows it; returns whether it did.
pub(super) fn change_phase(state: &mut RunState, cause: TransitionCause) -> bool {
    match next_phase(state.phase, cause) {
        Some(phase) => {
            state.phase = phase;
            true
        }
        None => false,
    }
}

/// Counts the iteration and proposes the reviewer's turn.
pub(super) fn enter_review(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    state.iteration += 1;
    state.asked_back.clear();
    state.arbitration_after_disputes = None;
    turn_start::propose_turn(state, at, TurnPurpose::Review, None)
}

/// Grants one more iteration where the maximum would forbid it.
pub(super) fn allow_one_more_iteration(state: &mut RunState) {
    if state.iteration >= state.iteration_limit() {
        state.extra += 1;
    }
}

/// Continues with the next review: the planner gives no more answers.
pub(super) fn on_findings_answered(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    change_phase(state, TransitionCause::Responded);
    enter_review(state, at)
}

/// Binds the approval to a plan's hash and inspects the repository.
pub(super) fn enter_approved(state: &mut RunState, hash: Sha256) -> Vec<Effect> {
    state.approved_sha256 = Some(hash);
    survey_repository(state)
}

pub(super) fn survey_repository(state: &mut RunState) -> Vec<Effect> {
    state.busy = Some(ProgramOperation::Surveying);
    vec![Effect::SurveyRepository]
}

/// Ends a run after its last step.
pub(super) fn finish_run(state: &mut RunState) -> Vec<Effect> {
    change_phase(state, TransitionCause::StepsDone);
    vec![Effect::FinishRun]
}

/// Continues once no turn is running, whatever the result of the turn that asked.
pub(super) fn propose_plan_when_idle(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if state.phase == Phase::WritePlan && state.is_idle() {
        turn_start::propose_turn(state, at, TurnPurpose::WritePlan, None)
    } else {
        Vec::new()
    }
}
