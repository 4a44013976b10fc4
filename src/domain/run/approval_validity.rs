//! Says before a turn or a test run whether the approval still holds, and asks where it does not.

use super::{RunState, open_questions};
use crate::domain::effect::Effect;
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;

/// Returns whether the plan on disk is the one that was approved.
pub(super) fn is_approval_current(state: &RunState) -> bool {
    state.approved_sha256.is_some() && state.plan_approval_hash() == state.approved_sha256.as_ref()
}

/// Returns why the plan on disk does not fit the steps that have ended in the execution that runs.
pub(super) fn changed_ended_step(state: &RunState) -> Option<String> {
    let plan = state
        .plan
        .as_ref()
        .filter(|_| state.phase == Phase::Execute)?;
    state.execution.as_ref()?.changed_ended_step(&plan.plan)
}

pub(super) fn ask_about_stale_plan(state: &mut RunState) -> Vec<Effect> {
    let now = state
        .plan_approval_hash()
        .cloned()
        .unwrap_or_else(|| Sha256::new(""));
    let reviewed = state.approved_sha256.clone().unwrap_or_else(|| now.clone());
    let kind = QuestionKind::StalePlan {
        reviewed,
        now,
        fault: changed_ended_step(state),
        change: state.plan_change().map(Box::new),
    };
    open_questions::ask_user(state, kind)
}

/// Asks about a stale plan before the next step, where the plan is stale.
pub(super) fn check_approval_before_step(state: &mut RunState) -> Option<Vec<Effect>> {
    (!is_approval_current(state)).then(|| ask_about_stale_plan(state))
}

/// Returns the effect that a step's turn or test run waits for; `None` where the approval is bound to nothing.
pub(super) fn check_binding(state: &RunState, step: u32) -> Option<Vec<Effect>> {
    let execution = state.execution.as_ref()?;
    execution.binding.as_ref()?;
    (step > 0).then(|| vec![Effect::CheckApproval { step }])
}
