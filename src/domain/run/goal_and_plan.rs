//! Leads from a goal to a written plan, and handles a turn that produces no document.

use super::{
    DocumentAuthor, PlanFile, PlanFileState, ProgramOperation, RunGoal, RunState, deferred_answers,
    plan_approval, review_loop, turn_lifecycle,
};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, TurnId, UnixMillis};
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::question::{MergeConflict, QuestionKind};
use crate::domain::turn::{MissingDocumentReason, Role, TurnOrder, TurnPurpose, TurnRetryReason};

pub(super) fn on_goal_given(state: &mut RunState, text: &str) -> Vec<Effect> {
    if turn_lifecycle::change_phase(state, TransitionCause::GoalGiven) {
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
    if state.phase != Phase::RefineGoal || !turn_lifecycle::is_idle(state) {
        return Vec::new();
    }
    turn_lifecycle::propose_turn(
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
    if state.phase != Phase::RefineGoal
        || !turn_lifecycle::is_idle(state)
        || state.session(role).is_none()
    {
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
    if state.phase != Phase::RefineGoal || !turn_lifecycle::is_idle(state) || text.trim().is_empty()
    {
        return Vec::new();
    }
    let provided = provided_plan(state);
    let cause = match (&provided, &state.reviewer) {
        (None, _) => TransitionCause::GoalConfirmed,
        (Some(_), Some(_)) => TransitionCause::PlanProvided,
        (Some(_), None) => TransitionCause::PlanProvidedUnreviewed,
    };
    turn_lifecycle::change_phase(state, cause);
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
        None => turn_lifecycle::propose_turn(state, at, TurnPurpose::WritePlan, None),
        Some(_) if state.reviewer.is_some() => review_loop::enter_review(state, at),
        Some(approval) => plan_approval::enter_approved(state, approval),
    }
}

/// Returns the approval hash of the plan that the user brought to the run; later goals are planned by the planner.
fn provided_plan(state: &RunState) -> Option<Sha256> {
    let plan = state.plan.as_ref().filter(|_| state.cycle == 0)?;
    (plan.reading == PlanFileState::Plan).then(|| plan.plan.approval_sha256.clone())
}

/// Removes and returns the turn whose document is being collected, where it is this one and for this purpose.
pub(super) fn take_collected_turn(
    state: &mut RunState,
    turn: &TurnId,
    fits: impl Fn(&TurnPurpose) -> bool,
) -> Option<(TurnOrder, Option<String>)> {
    let taken = state.busy.take_if(|busy| match busy {
        ProgramOperation::Collecting { order, .. } => order.turn == *turn && fits(&order.purpose),
        ProgramOperation::Storing { .. }
        | ProgramOperation::Held { .. }
        | ProgramOperation::Surveying
        | ProgramOperation::Baseline
        | ProgramOperation::Entering
        | ProgramOperation::Moving { .. }
        | ProgramOperation::Stepping { .. }
        | ProgramOperation::Reversing { .. } => false,
    })?;
    match taken {
        ProgramOperation::Collecting { order, question } => Some((order, question)),
        ProgramOperation::Storing { .. }
        | ProgramOperation::Held { .. }
        | ProgramOperation::Surveying
        | ProgramOperation::Baseline
        | ProgramOperation::Entering
        | ProgramOperation::Moving { .. }
        | ProgramOperation::Stepping { .. }
        | ProgramOperation::Reversing { .. } => None,
    }
}

pub(super) fn on_plan_committed(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    plan: PlanFile,
) -> Vec<Effect> {
    if take_collected_turn(state, turn, |purpose| *purpose == TurnPurpose::WritePlan).is_none() {
        return Vec::new();
    }
    let hash = plan.plan.approval_sha256.clone();
    state.set_plan(plan, DocumentAuthor::Agent);
    if let Some(answer) = state.plan_stays.take() {
        return turn_lifecycle::propose_turn(
            state,
            at,
            TurnPurpose::WritePlan,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    if state.reviewer.is_some() {
        turn_lifecycle::change_phase(state, TransitionCause::PlanWritten);
        return review_loop::enter_review(state, at);
    }
    turn_lifecycle::change_phase(state, TransitionCause::PlanWrittenUnreviewed);
    plan_approval::enter_approved(state, hash)
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

pub(super) fn on_no_document(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    reason: &MissingDocumentReason,
) -> Vec<Effect> {
    let Some((order, question)) = take_collected_turn(state, turn, |_| true) else {
        return Vec::new();
    };
    let reason = reason.to_owned();
    if let Some(answer) = state.plan_stays.take_if(|_| question.is_none()) {
        return turn_lifecycle::propose_turn(
            state,
            at,
            order.purpose,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    // The earlier answers are stored, and the turn added none of the missing ones.
    let goes_on = order.purpose == TurnPurpose::Respond && state.asked_back.has_partial_answers();
    if goes_on && question.is_none() {
        return review_loop::on_findings_answered(state, at);
    }
    if question.is_some()
        && let Some(answered) = deferred_answers::take_background_results(state, &order.purpose)
    {
        return turn_lifecycle::propose_turn(state, at, order.purpose, Some(answered));
    }
    match (question, &order.again) {
        (Some(text), _) => {
            turn_lifecycle::ask_user(state, QuestionKind::from_last_text(text, order.purpose))
        }
        (None, Some(TurnRetryReason::NoDocument { .. })) => turn_lifecycle::ask_user(
            state,
            QuestionKind::NoDocument {
                purpose: order.purpose,
                reason,
            },
        ),
        (
            None,
            None
            | Some(
                TurnRetryReason::AskedBack { .. }
                | TurnRetryReason::Answered { .. }
                | TurnRetryReason::Failed
                | TurnRetryReason::StepTried
                | TurnRetryReason::Undone { .. },
            ),
        ) => turn_lifecycle::propose_turn(
            state,
            at,
            order.purpose,
            Some(TurnRetryReason::NoDocument { reason }),
        ),
    }
}

/// Keeps the turn's document aside until the user decides whose text counts.
pub(super) fn on_document_conflict(
    state: &mut RunState,
    turn: &TurnId,
    document: &str,
    clash: Option<&MergeConflict>,
) -> Vec<Effect> {
    let collecting = match &state.busy {
        Some(ProgramOperation::Collecting { order, .. }) if order.turn == *turn => {
            order.purpose.clone()
        }
        _ => return Vec::new(),
    };
    turn_lifecycle::ask_user(
        state,
        QuestionKind::Conflict {
            document: document.to_owned(),
            purpose: collecting,
            clash: clash.cloned(),
        },
    )
}
