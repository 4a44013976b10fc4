//! From a goal to a written plan, and what happens when a turn brings no document.

use super::{Author, Busy, Goal, PlanFile, State, approving, asking_back, flow, late, reviewing};
use crate::domain::effect::Effect;
use crate::domain::ids::{At, Sha256, TurnId};
use crate::domain::phase::{Cause, Phase};
use crate::domain::question::{AgentQuestion, Clash, QuestionKind};
use crate::domain::turn::{Again, Purpose, Role, TurnOrder};

pub(super) fn on_goal_given(state: &mut State, text: &str) -> Vec<Effect> {
    if flow::go(state, Cause::GoalGiven) {
        let title = text.lines().next().unwrap_or_default().to_owned();
        state.goal = Some(Goal {
            title,
            text: text.to_owned(),
            confirmed: false,
        });
    }
    Vec::new()
}

pub(super) fn on_said(state: &mut State, at: At, text: &str) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !flow::is_idle(state) {
        return Vec::new();
    }
    flow::propose(
        state,
        at,
        Purpose::RefineGoal {
            said: text.to_owned(),
            by: state.refiner,
        },
        None,
    )
}

/// Another agent talks about the goal from here on; it hears how the goal stands, not what was said.
pub(super) fn on_refiner_chosen(state: &mut State, role: Role, goal: Option<&str>) -> Vec<Effect> {
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

pub(super) fn on_goal_confirmed(state: &mut State, at: At, title: &str, text: &str) -> Vec<Effect> {
    if state.phase != Phase::RefineGoal || !flow::is_idle(state) || text.trim().is_empty() {
        return Vec::new();
    }
    flow::go(state, Cause::GoalConfirmed);
    state.goal = Some(Goal {
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
    flow::propose(state, at, Purpose::WritePlan, None)
}

/// Takes the turn whose document is being collected, where it is this one and for this purpose.
pub(super) fn take_collecting(
    state: &mut State,
    turn: &TurnId,
    fits: impl Fn(&Purpose) -> bool,
) -> Option<(TurnOrder, Option<String>)> {
    let taken = state.busy.take_if(|busy| match busy {
        Busy::Collecting { order, .. } => order.turn == *turn && fits(&order.purpose),
        Busy::Storing { .. }
        | Busy::Held { .. }
        | Busy::Surveying
        | Busy::Baseline
        | Busy::Entering
        | Busy::Moving { .. }
        | Busy::Stepping { .. }
        | Busy::Reversing { .. } => false,
    })?;
    match taken {
        Busy::Collecting { order, question } => Some((order, question)),
        Busy::Storing { .. }
        | Busy::Held { .. }
        | Busy::Surveying
        | Busy::Baseline
        | Busy::Entering
        | Busy::Moving { .. }
        | Busy::Stepping { .. }
        | Busy::Reversing { .. } => None,
    }
}

pub(super) fn on_plan_committed(
    state: &mut State,
    at: At,
    turn: &TurnId,
    plan: PlanFile,
) -> Vec<Effect> {
    if take_collecting(state, turn, |purpose| *purpose == Purpose::WritePlan).is_none() {
        return Vec::new();
    }
    let hash = plan.plan.approval_sha256.clone();
    state.take_plan(plan, Author::Agent);
    if let Some(answer) = state.plan_stays.take() {
        return flow::propose(
            state,
            at,
            Purpose::WritePlan,
            Some(Again::Answered { answer }),
        );
    }
    if state.reviewer.is_some() {
        flow::go(state, Cause::PlanWritten);
        return reviewing::enter_review(state, at);
    }
    flow::go(state, Cause::PlanWrittenUnreviewed);
    approving::enter_approved(state, hash)
}

/// A no holds for the turn in which the planner asked, until the planner asks again and hears a yes.
pub(super) fn on_exit_answered(state: &mut State, told: Option<&str>) -> Vec<Effect> {
    let running = state.running.as_ref();
    let plans = running.is_some_and(|running| {
        let purpose = &running.order.purpose;
        matches!(purpose, Purpose::WritePlan | Purpose::Respond)
    });
    if plans {
        state.plan_stays = told.map(str::to_owned);
    }
    Vec::new()
}

pub(super) fn on_plan_marked(state: &mut State, file_sha256: &Sha256) -> Vec<Effect> {
    if let Some(plan) = &mut state.plan {
        plan.file_sha256 = file_sha256.clone();
    }
    Vec::new()
}

pub(super) fn on_no_document(
    state: &mut State,
    at: At,
    turn: &TurnId,
    reason: &str,
) -> Vec<Effect> {
    let Some((order, question)) = take_collecting(state, turn, |_| true) else {
        return Vec::new();
    };
    let reason = reason.to_owned();
    if let Some(answer) = state.plan_stays.take_if(|_| question.is_none()) {
        return flow::propose(state, at, order.purpose, Some(Again::Answered { answer }));
    }
    // The answers that came are kept, and nothing came that they lack.
    let goes_on = order.purpose == Purpose::Respond && asking_back::has_answered(state);
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
            let questions = vec![AgentQuestion::plain(text, Vec::new())];
            flow::ask(
                state,
                QuestionKind::Agent {
                    request: None,
                    questions,
                    purpose: order.purpose,
                },
            )
        }
        (None, Some(Again::NoDocument { .. })) => flow::ask(
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
                Again::AskedBack { .. }
                | Again::Answered { .. }
                | Again::Failed
                | Again::StepTried
                | Again::Undone { .. },
            ),
        ) => flow::propose(state, at, order.purpose, Some(Again::NoDocument { reason })),
    }
}

/// The turn's document is kept aside until the user says whose text counts.
pub(super) fn on_conflict(
    state: &mut State,
    turn: &TurnId,
    document: &str,
    clash: Option<&Clash>,
) -> Vec<Effect> {
    let collecting = match &state.busy {
        Some(Busy::Collecting { order, .. }) if order.turn == *turn => order.purpose.clone(),
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
