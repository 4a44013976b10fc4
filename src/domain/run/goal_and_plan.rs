//! Leads from a goal to a written plan.

use super::{
    DocumentAuthor, PlanFile, PlanFileState, RunGoal, RunState, incomplete_documents, phase_entry,
    turn_start,
};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, TurnId, UnixMillis};
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::turn::{Role, TurnPurpose, TurnRetryReason};

pub(super) fn on_goal_given(state: &mut RunState, text: &str) -> Vec<Effect> {
    if phase_entry::change_phase(state, TransitionCause::GoalGiven) {
        let title = text.lines().next().unwrap_or_default().to_owned();
        state.goal = Some(RunGoal {
            title,
            text: text.to_owned(),
            confirmed: false,
        });
    }
    Vec::new()
}

pub(super) fn on_goal_message(state: &mut RunState, at: UnixMillis, text: &str) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !state.is_idle() {
        return Vec::new();
    }
    turn_start::propose_turn(
        state,
        at,
        TurnPurpose::RefineGoal {
            said: text.to_owned(),
            by: state.refiner,
        },
        None,
    )
}

/// Lets another agent discuss the goal from here on. It learns the current goal, not the conversation.
pub(super) fn on_refiner_chosen(
    state: &mut RunState,
    role: Role,
    goal: Option<&str>,
) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !state.is_idle() || state.session(role).is_none() {
        return Vec::new();
    }
    state.refiner = role;
    let put = goal.filter(|goal| !goal.trim().is_empty());
    if let (Some(known), Some(put)) = (&mut state.goal, put) {
        put.clone_into(&mut known.text);
    }
    Vec::new()
}

pub(super) fn on_goal_confirmed(
    state: &mut RunState,
    at: UnixMillis,
    title: &str,
    text: &str,
) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !state.is_idle() || text.trim().is_empty() {
        return Vec::new();
    }
    let provided = provided_plan(state);
    let cause = match (&provided, &state.reviewer) {
        (None, _) => TransitionCause::GoalConfirmed,
        (Some(_), Some(_)) => TransitionCause::PlanProvided,
        (Some(_), None) => TransitionCause::PlanProvidedUnreviewed,
    };
    phase_entry::change_phase(state, cause);
    state.goal = Some(RunGoal {
        title: title.to_owned(),
        text: text.to_owned(),
        confirmed: true,
    });
    state.cycle += 1;
    (state.iteration, state.extra, state.stall) = (0, 0, 0);
    state.approved_sha256 = None;
    state.asked_back.clear();
    state.opened_files.clear();
    state.verdict = None;
    (state.execution, state.replanning) = (None, None);
    match provided {
        None => turn_start::propose_turn(state, at, TurnPurpose::WritePlan, None),
        Some(_) if state.reviewer.is_some() => phase_entry::enter_review(state, at),
        Some(approval) => phase_entry::enter_approved(state, approval),
    }
}

/// Returns the approval hash of the plan that the user brought to the run; later goals are planned by the planner.
fn provided_plan(state: &RunState) -> Option<Sha256> {
    let plan = state.plan.as_ref().filter(|_| state.cycle == 0)?;
    (plan.reading == PlanFileState::Plan).then(|| plan.plan.approval_sha256.clone())
}

pub(super) fn on_plan_committed(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    plan: PlanFile,
) -> Vec<Effect> {
    if incomplete_documents::take_collected_turn(state, turn, |purpose| {
        *purpose == TurnPurpose::WritePlan
    })
    .is_none()
    {
        return Vec::new();
    }
    let hash = plan.plan.approval_sha256.clone();
    state.set_plan(plan, DocumentAuthor::Agent);
    if let Some(answer) = state.plan_stays.take() {
        return turn_start::propose_turn(
            state,
            at,
            TurnPurpose::WritePlan,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    if state.reviewer.is_some() {
        phase_entry::change_phase(state, TransitionCause::PlanWritten);
        return phase_entry::enter_review(state, at);
    }
    phase_entry::change_phase(state, TransitionCause::PlanWrittenUnreviewed);
    phase_entry::enter_approved(state, hash)
}

/// Handles the user's answer to a plan exit. A no applies to the turn in which the planner asked, until the planner
/// asks again and gets a yes.
pub(super) fn on_plan_exit_answered(state: &mut RunState, told: Option<&str>) -> Vec<Effect> {
    let running = state.running.as_ref();
    let plans = running.is_some_and(|running| {
        let purpose = &running.order.purpose;
        matches!(purpose, TurnPurpose::WritePlan | TurnPurpose::Respond)
    });
    if plans {
        state.plan_stays = told.map(str::to_owned);
    }
    Vec::new()
}

pub(super) fn on_plan_marked(state: &mut RunState, file_sha256: &Sha256) -> Vec<Effect> {
    if let Some(plan) = &mut state.plan {
        plan.file_sha256 = file_sha256.clone();
    }
    Vec::new()
}
