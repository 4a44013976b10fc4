//! Handles questions whose agents end their turns without the answer and get it with their next turn.
//!
//! The result of such a turn waits until its questions are answered, so that nothing continues without the user's
//! answer.

use super::current_work::SuspendedTurnEnd;
use super::{DeferredResult, RunState, RunningTurn, open_questions, turn_results, turn_start};
use crate::domain::deferred_answer::{DeferredAnswer, DeferredDecision};
use crate::domain::effect::Effect;
use crate::domain::ids::{RequestId, UnixMillis};
use crate::domain::question::{Question, QuestionAnswer, QuestionKind};
use crate::domain::turn::{Role, TurnOrder, TurnOutcome, TurnRetryReason};

/// Records that the agent was instructed to end its turn; the question stays open.
pub(super) fn on_answer_deferred(
    state: &mut RunState,
    request: &RequestId,
    about: &DeferredDecision,
) -> Vec<Effect> {
    let mut open = state.awaiting.iter().chain(&state.asked);
    let is_open = open.any(|question| question.kind.request_id() == Some(request));
    let is_known = state.late.iter().any(|late| late.request == *request);
    if is_open && !is_known && state.running.is_some() {
        state.late.push(DeferredAnswer {
            request: request.clone(),
            about: about.clone(),
        });
    }
    Vec::new()
}

/// Removes and returns the deferred entry of an answered question. After its agent's turn, no answer is in time.
pub(super) fn take_deferred(state: &mut RunState, kind: &QuestionKind) -> Option<DeferredAnswer> {
    let request = kind.asking_role().and(kind.request_id())?;
    let plain = || DeferredAnswer {
        request: request.clone(),
        about: DeferredDecision::Answer { default: None },
    };
    let is_over = state.held_end.is_some();
    take_by_request(&mut state.late, request).or_else(|| is_over.then(plain))
}

fn take_by_request(all: &mut Vec<DeferredAnswer>, request: &RequestId) -> Option<DeferredAnswer> {
    let at = all.iter().position(|late| late.request == *request)?;
    Some(all.remove(at))
}

/// What happens to a finished turn.
pub(super) enum TurnContinuation {
    /// It continues, without these questions.
    Continue(RunningTurn, Vec<Question>),
    /// It waits for the user's answers.
    WaitForAnswers,
    /// It is repeated, because the user wants it; its result is discarded.
    Repeat(TurnOrder, TurnRetryReason),
}

/// Holds back a completed turn's end until its open deferred questions are answered.
pub(super) fn end_turn(
    state: &mut RunState,
    running: RunningTurn,
    result: &TurnOutcome,
    open: Vec<Question>,
) -> TurnContinuation {
    let late = std::mem::take(&mut state.late);
    let TurnOutcome::Completed {
        summary, result, ..
    } = result
    else {
        return TurnContinuation::Continue(running, open);
    };
    let stays = late.iter().find_map(|late| match &late.about {
        DeferredDecision::Stay { told } => Some(told.clone()),
        DeferredDecision::Answer { .. }
        | DeferredDecision::PlanExit
        | DeferredDecision::PlanEnter { .. } => None,
    });
    if let Some(answer) = stays {
        return TurnContinuation::Repeat(running.order, TurnRetryReason::Answered { answer });
    }
    let is_late = |question: &Question| {
        let request = question.kind.request_id();
        late.iter().any(|late| Some(&late.request) == request)
    };
    let (mut waits, others): (Vec<_>, Vec<_>) = open.into_iter().partition(is_late);
    if waits.is_empty() {
        return TurnContinuation::Continue(running, others);
    }
    let result = TurnOutcome::Completed {
        question: open_questions::question_texts(&waits),
        summary: summary.clone(),
        result: result.clone(),
    };
    state.awaiting = Some(waits.remove(0));
    state.asked.extend(waits);
    state.late = late;
    state.held_end = Some(SuspendedTurnEnd { running, result });
    TurnContinuation::WaitForAnswers
}

/// Handles the user's answer, in the turn or after it.
pub(super) fn on_deferred_answer(
    state: &mut RunState,
    at: UnixMillis,
    late: DeferredAnswer,
    kind: &QuestionKind,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let word = match answer {
        QuestionAnswer::Texts { answers } => {
            let texts: Vec<&str> = answers.values().map(String::as_str).collect();
            Some(texts.join("\n"))
        }
        _ => None,
    };
    let said = word.as_deref().unwrap_or_default().trim();
    let is_yes = said.eq_ignore_ascii_case("yes");
    let told = format!(
        "The user's answer to \"{}\": {}",
        question_text(kind),
        word.as_deref().unwrap_or("no answer")
    );
    match late.about {
        DeferredDecision::PlanEnter { reason } if is_yes => {
            open_questions::forget_deferred(state);
            return vec![Effect::EnterPlan { reason }];
        }
        DeferredDecision::PlanExit if !is_yes => {
            return repeat_planning(state, at, late.request, told);
        }
        DeferredDecision::Answer { .. }
        | DeferredDecision::PlanExit
        | DeferredDecision::PlanEnter { .. }
        | DeferredDecision::Stay { .. } => {}
    }
    queue_result(state, kind.asking_role(), told);
    resume_suspended_turn(state, at)
}

/// Handles a question that got no answer in time.
pub(super) fn on_answer_timeout(
    state: &mut RunState,
    at: UnixMillis,
    request: &RequestId,
) -> Vec<Effect> {
    let Some(late) = take_by_request(&mut state.late, request) else {
        return Vec::new();
    };
    let Some(question) = open_questions::take_by_request(state, request) else {
        return Vec::new();
    };
    let what = match late.about {
        DeferredDecision::Answer {
            default: Some(default),
        } => format!("your default counts: {default}"),
        DeferredDecision::Answer { default: None }
        | DeferredDecision::PlanExit
        | DeferredDecision::PlanEnter { .. }
        | DeferredDecision::Stay { .. } => "go on with what you know".to_owned(),
    };
    let asked = question_text(&question.kind);
    let told = format!("Nobody answered \"{asked}\" in time; {what}");
    queue_result(state, question.kind.asking_role(), told);
    resume_suspended_turn(state, at)
}

/// Keeps planning: the planner's turn is repeated with the user's answer, and its result is discarded.
fn repeat_planning(
    state: &mut RunState,
    at: UnixMillis,
    request: RequestId,
    told: String,
) -> Vec<Effect> {
    match state.held_end.take() {
        Some(held) => {
            open_questions::take_turn_questions(state);
            state.late.clear();
            repeat_turn(
                state,
                at,
                held.running.order,
                TurnRetryReason::Answered { answer: told },
            )
        }
        // The planner is still working; this counts when its turn ends.
        None => {
            let about = DeferredDecision::Stay { told };
            state.late.push(DeferredAnswer { request, about });
            Vec::new()
        }
    }
}

/// Repeats a turn. Its folder is about to be emptied, so the document in it goes to the history first.
pub(super) fn repeat_turn(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    again: TurnRetryReason,
) -> Vec<Effect> {
    let mut effects = vec![Effect::DiscardDraft(order.clone())];
    effects.extend(turn_start::propose_turn(
        state,
        at,
        order.purpose,
        Some(again),
    ));
    effects
}

/// Continues a finished turn once it has no open question.
fn resume_suspended_turn(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if state.held_end.is_none() || state.awaiting.is_some() {
        return Vec::new();
    }
    state.awaiting = open_questions::take_first_turn_question(state);
    if state.awaiting.is_some() {
        return Vec::new();
    }
    state.late.clear();
    match state.held_end.take() {
        Some(held) => turn_results::continue_after_turn(state, at, held.running, &held.result),
        None => Vec::new(),
    }
}

fn question_text(kind: &QuestionKind) -> String {
    let texts: Vec<&str> = kind
        .agent_questions()
        .iter()
        .map(|asked| asked.text.as_str())
        .collect();
    texts.join("\n")
}

/// Queues a text for the agent of a role; for the planner's where no role asked.
fn queue_result(state: &mut RunState, role: Option<Role>, text: String) {
    let role = role.unwrap_or(Role::Planner);
    state.results.push(DeferredResult { role, text });
}

#[cfg(test)]
mod tests;
