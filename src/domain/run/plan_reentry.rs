//! Returns from executing to planning, when the executor asks for it and the user agrees.
//!
//! Commits stay. The turn that asked is not interrupted: its agent is instructed to end it, and its result does not
//! count.

use super::{ResultValidity, RunState, deferred_answers, step_undo, turn_lifecycle};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::plan_execution::ReplanRecord;
use crate::domain::turn::TurnPurpose;

pub(super) fn on_plan_entered(state: &mut RunState, at: UnixMillis, reason: &str) -> Vec<Effect> {
    if step_undo::is_undo_running(state)
        || !turn_lifecycle::change_phase(state, TransitionCause::PlanEntered)
    {
        return Vec::new();
    }
    let role = turn_lifecycle::running_role(state);
    let mut effects = turn_lifecycle::expire_approvals(state, role, ExpiryReason::Stopped);
    if let Some(running) = &mut state.running {
        running.result = ResultValidity::No;
    }
    (state.awaiting, state.busy) = (None, None);
    let earlier = state.replanning.take().map(|record| record.done);
    let ended = state.execution.take().map(|execution| execution.done);
    state.replanning = Some(ReplanRecord {
        reason: reason.to_owned(),
        done: [earlier, ended].into_iter().flatten().flatten().collect(),
    });
    deferred_answers::forget_deferred(state);
    (state.approved_sha256, state.verdict) = (None, None);
    state.cycle += 1;
    (state.iteration, state.extra, state.stall) = (0, 0, 0);
    effects.push(Effect::SwitchToPlanProfile);
    effects.push(Effect::AppendLog(format!(
        "Back to planning, confirmed by the user: {reason}"
    )));
    effects.extend(propose_plan_when_idle(state, at));
    effects
}

/// Continues once no turn is running, whatever the result of the turn that asked.
pub(super) fn propose_plan_when_idle(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if state.phase == Phase::WritePlan && turn_lifecycle::is_idle(state) {
        turn_lifecycle::propose_turn(state, at, TurnPurpose::WritePlan, None)
    } else {
        Vec::new()
    }
}
