//! Back from executing to planning: the executor asks for it, and the user says yes.
//!
//! What is committed stays. Refuses to interrupt the turn that asked: it is told to end, and nothing it does counts.

use super::{Counts, State, flow, late, undoing};
use crate::domain::effect::{Effect, Expiry};
use crate::domain::ids::At;
use crate::domain::phase::{Cause, Phase};
use crate::domain::turn::Purpose;

pub(super) fn on_plan_entered(state: &mut State, at: At, reason: &str) -> Vec<Effect> {
    if undoing::is_under_way(state) || !flow::go(state, Cause::PlanEntered) {
        return Vec::new();
    }
    let role = flow::running_role(state);
    let mut effects = flow::expire(state, role, Expiry::Stopped);
    if let Some(running) = &mut state.running {
        running.result = Counts::No;
    }
    (state.awaiting, state.busy, state.execution) = (None, None, None);
    late::forget(state);
    (state.approved_sha256, state.verdict) = (None, None);
    state.cycle += 1;
    (state.iteration, state.extra, state.stall) = (0, 0, 0);
    effects.push(Effect::SwitchToPlan);
    effects.push(Effect::Log(format!(
        "Back to planning, by the user's word: {reason}"
    )));
    effects.extend(go_on(state, at));
    effects
}

/// Goes on once no turn runs any more, whatever came of the one that asked.
pub(super) fn go_on(state: &mut State, at: At) -> Vec<Effect> {
    match state.phase == Phase::WritePlan && flow::is_idle(state) {
        true => flow::propose(state, at, Purpose::WritePlan, None),
        false => Vec::new(),
    }
}
