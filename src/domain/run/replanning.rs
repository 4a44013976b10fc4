//! Back from executing to planning: the executor asks for it, and the user says yes.
//!
//! What is committed stays. Refuses to interrupt the turn that asked: it is told to end, and nothing it does counts.

use super::{ResultValidity, RunState, flow, late, undoing};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::turn::TurnPurpose;

pub(super) fn on_plan_entered(state: &mut RunState, at: UnixMillis, reason: &str) -> Vec<Effect> {
    if undoing::is_under_way(state) || !flow::go(state, TransitionCause::PlanEntered) {
        return Vec::new();
    }
    let role = flow::running_role(state);
    let mut effects = flow::expire(state, role, ExpiryReason::Stopped);
    if let Some(running) = &mut state.running {
        running.result = ResultValidity::No;
    }
    (state.awaiting, state.busy, state.execution) = (None, None, None);
    late::forget(state);
    (state.approved_sha256, state.verdict) = (None, None);
    state.cycle += 1;
    (state.iteration, state.extra, state.stall) = (0, 0, 0);
    effects.push(Effect::SwitchToPlanProfile);
    effects.push(Effect::AppendLog(format!(
        "Back to planning, by the user's word: {reason}"
    )));
    effects.extend(go_on(state, at));
    effects
}

/// Goes on once no turn runs any more, whatever came of the one that asked.
pub(super) fn go_on(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    match state.phase == Phase::WritePlan && flow::is_idle(state) {
        true => flow::propose(state, at, TurnPurpose::WritePlan, None),
        false => Vec::new(),
    }
}
