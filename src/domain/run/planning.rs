//! From a goal to a written plan, and what happens when a turn brings no document.

use super::{
    DocumentAuthor, PlanFile, ProgramOperation, RunGoal, RunState, approving, asking_back, flow,
    late, reviewing,
};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, TurnId, UnixMillis};
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::question::{AgentQuestion, MergeConflict, QuestionKind};
use crate::domain::turn::{Role, TurnOrder, TurnPurpose, TurnRetryReason};

pub(super) fn on_goal_given(state: &mut RunState, text: &str) -> Vec<Effect> {
    if flow::go(state, TransitionCause::GoalGiven) {
        let title = text.lines().next().unwrap_or_default().to_owned();
        state.goal = Some(RunGoal {
            title,
            text: text.to_owned(),
            confirmed: false,
        });
    }
    Vec::new()
}

pub(super) fn on_said(state: &mut RunState, at: UnixMillis, text: &str) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !flow::is_idle(state) {
        return Vec::new();
    }
    flow::propose(
        state,
        at,
        TurnPurpose::RefineGoal {
            said: text.to_owned(),
            by: state.refiner,
        },
        None,
    )
}

/// Another agent talks about the goal from here on; it hears how the goal stands, not what was said.
pub(super) fn on_refiner_chosen(
    state: &mut RunState,
    role: Role,
    goal: Option<&str>,
) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !flow::is_idle(state) || state.session(role).is_none() {
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
    if state.phase != Phase::RefineGoal || !flow::is_idle(state) || text.trim().is_empty() {
        return Vec::new();
    }
    flow::go(state, TransitionCause::GoalConfirmed);
    state.goal = Some(RunGoal {
        title: title.to_owned(),
        text: text.to_owned(),
        confirmed: true,
    });
    state.cycle += 1;
    (state.iteration, state.extra, state.stall) = (0, 0, 0);
    state.approved_sha256 = None;
    state.asked_back.clear();
    state.verdict = None;
    state.execution = None;
    flow::propose(state, at, TurnPurpose::WritePlan, None)
}

/// Takes the turn whose document is being collected, where it is this one and for this purpose.
pub(super) fn take_collecting(
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
    if take_collecting(state, turn, |purpose| *purpose == TurnPurpose::WritePlan).is_none() {
        return Vec::new();
    }
    let hash = plan.plan.approval_sha256.clone();
    state.set_plan(plan, DocumentAuthor::Agent);
    if let Some(answer) = state.plan_stays.take() {
        return flow::propose(
            state,
            at,
            TurnPurpose::WritePlan,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    if state.reviewer.is_some() {
        flow::go(state, TransitionCause::PlanWritten);
        return reviewing::enter_review(state, at);
    }
    flow::go(state, TransitionCause::PlanWrittenUnreviewed);
    approving::enter_approved(state, hash)
}

/// A no holds for the turn in which the planner asked, until the planner asks again and hears a yes.
pub(super) fn on_exit_answered(state: &mut RunState, told: Option<&str>) -> Vec<Effect> {
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
    reason: &str,
) -> Vec<Effect> {
    let Some((order, question)) = take_collecting(state, turn, |_| true) else {
        return Vec::new();
    };
    let reason = reason.to_owned();
    if let Some(answer) = state.plan_stays.take_if(|_| question.is_none()) {
        return flow::propose(
            state,
            at,
            order.purpose,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    // The answers that came are kept, and nothing came that they lack.
    let goes_on = order.purpose == TurnPurpose::Respond && asking_back::has_answered(state);
    if goes_on && question.is_none() {
        return reviewing::on_answered(state, at);
    }
    if question.is_some()
        && let Some(answered) = late::take_told(state, &order.purpose)
    {
        return flow::propose(state, at, order.purpose, Some(answered));
    }
    match (question, &order.again) {
        (Some(text), _) => {
            let questions = vec![AgentQuestion::from_labels(text, Vec::new())];
            flow::ask(
                state,
                QuestionKind::Agent {
                    request: None,
                    questions,
                    purpose: order.purpose,
                },
            )
        }
        (None, Some(TurnRetryReason::NoDocument { .. })) => flow::ask(
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
        ) => flow::propose(
            state,
            at,
            order.purpose,
            Some(TurnRetryReason::NoDocument { reason }),
        ),
    }
}

/// The turn's document is kept aside until the user says whose text counts.
pub(super) fn on_conflict(
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
    flow::ask(
        state,
        QuestionKind::Conflict {
            document: document.to_owned(),
            purpose: collecting,
            clash: clash.cloned(),
        },
    )
}
