//! What agents ask by their CLIs in the middle of their work, in the order in which they asked.
//!
//! Refuses to hold the workflow up for a child, and to turn a question away because another one is open.

use super::{ResultValidity, RunState, children, flow};
use crate::domain::effect::Effect;
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::question::{AgentQuestion, Question, QuestionAnswer, QuestionKind};
use crate::domain::turn::TurnPurpose;

pub(super) fn on_asked(
    state: &mut RunState,
    turn: &TurnId,
    (request, questions): (&RequestId, &[AgentQuestion]),
    child: Option<&str>,
) -> Vec<Effect> {
    let (request, questions) = (request.clone(), questions.to_vec());
    if let Some(path) = child {
        return match children::is_at(state, turn) {
            true => flow::ask_beside(
                state,
                QuestionKind::Child {
                    request,
                    turn: turn.clone(),
                    path: path.to_owned(),
                    questions,
                },
            ),
            false => Vec::new(),
        };
    }
    let running = state.running.as_ref();
    let Some(running) = running.filter(|running| running.order.turn == *turn) else {
        return Vec::new();
    };
    let purpose = running.order.purpose.clone();
    if running.result == ResultValidity::No || purpose == TurnPurpose::Summary {
        return vec![Effect::AnswerAgent {
            request,
            answer: QuestionAnswer::Dismiss,
        }];
    }
    let kind = QuestionKind::Agent {
        request: Some(request),
        questions,
        purpose,
    };
    match state.awaiting {
        None => flow::ask(state, kind),
        Some(_) => flow::ask_beside(state, kind),
    }
}

pub(super) fn on_withdrawn(state: &mut RunState, withdrawn: &RequestId) -> Vec<Effect> {
    // Its CLI waits no longer anyway.
    if state.late.iter().any(|late| late.request == *withdrawn) {
        return Vec::new();
    }
    // So it is with all that a turn left open which waits for its answers.
    let stays = state.held_end.is_some();
    let is_it = |question: &Question| {
        question.kind.request_id() == Some(withdrawn) && !(stays && is_of_turn(question))
    };
    state.awaiting.take_if(|question| is_it(question));
    state.asked.retain(|question| !is_it(question));
    state
        .approvals
        .retain(|approval| approval.request != *withdrawn);
    Vec::new()
}

/// Takes a question out that this answer fits.
pub(super) fn take(state: &mut RunState, id: u32, answer: &QuestionAnswer) -> Option<Question> {
    let fits = |question: &Question| question.id == id && question.kind.accepts(answer);
    let first = state.awaiting.take_if(|question| fits(question));
    first.or_else(|| state.asked.extract_if(.., |question| fits(question)).next())
}

/// Takes a question out that an agent asked by this request.
pub(super) fn take_asked(state: &mut RunState, request: &RequestId) -> Option<Question> {
    let is_it = |question: &Question| question.kind.request_id() == Some(request);
    let first = state.awaiting.take_if(|question| is_it(question));
    first.or_else(|| {
        state
            .asked
            .extract_if(.., |question| is_it(question))
            .next()
    })
}

/// Takes the questions out that the CLI of the turn at work waits for; they go with the turn.
pub(super) fn take_of_turn(state: &mut RunState) -> Vec<Question> {
    let first = state.awaiting.take_if(|question| is_of_turn(question));
    let others = state.asked.extract_if(.., |question| is_of_turn(question));
    first.into_iter().chain(others).collect()
}

/// Takes out the first of those that wait beside another one.
pub(super) fn take_first_of_turn(state: &mut RunState) -> Option<Question> {
    let at = state.asked.iter().position(is_of_turn)?;
    Some(state.asked.remove(at))
}

fn is_of_turn(question: &Question) -> bool {
    matches!(
        question.kind,
        QuestionKind::Agent {
            request: Some(_),
            ..
        }
    )
}

/// What questions ask; `None` where there are none.
pub(super) fn in_words(questions: &[Question]) -> Option<String> {
    let asked = questions
        .iter()
        .flat_map(|question| question.kind.agent_questions());
    let texts: Vec<&str> = asked.map(|asked| asked.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Drops what the agent of a child's task asked; nobody waits for the answer any more.
pub(super) fn drop_of_child(state: &mut RunState, of: &TurnId) {
    state.asked.retain(|question| match &question.kind {
        QuestionKind::Child { turn, .. } => turn != of,
        _ => true,
    });
}

#[cfg(test)]
mod tests;
