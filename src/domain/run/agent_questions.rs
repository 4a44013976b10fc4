//! Handles questions that agents ask through their CLIs during their work, in the order in which they asked.
//!
//! A child's question does not block the workflow, and an open question does not prevent another one.

use super::{ResultValidity, RunState, child_sessions, turn_lifecycle};
use crate::domain::effect::Effect;
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::question::{
    AgentQuestion, Question, QuestionAnswer, QuestionAsker, QuestionKind,
};
use crate::domain::turn::TurnPurpose;

pub(super) fn on_agent_asked(
    state: &mut RunState,
    turn: &TurnId,
    request: &RequestId,
    questions: &[AgentQuestion],
    child: Option<&str>,
) -> Vec<Effect> {
    let request = request.clone();
    let asker = match (child, &state.running) {
        (Some(path), _) if child_sessions::is_child_turn(state, turn) => QuestionAsker::Child {
            turn: turn.clone(),
            path: path.to_owned(),
        },
        (None, Some(running)) if running.order.turn == *turn => {
            let purpose = running.order.purpose.clone();
            if running.result == ResultValidity::No || purpose == TurnPurpose::Summary {
                let answer = QuestionAnswer::Dismiss;
                return vec![Effect::AnswerAgent { request, answer }];
            }
            QuestionAsker::Role { purpose }
        }
        _ => return Vec::new(),
    };
    let kind = QuestionKind::Agent {
        request: Some(request),
        questions: questions.to_vec(),
        asker,
    };
    if kind.is_from_child() || state.awaiting.is_some() {
        turn_lifecycle::ask_user_alongside(state, kind)
    } else {
        turn_lifecycle::ask_user(state, kind)
    }
}

pub(super) fn on_question_withdrawn(state: &mut RunState, withdrawn: &RequestId) -> Vec<Effect> {
    // Its CLI no longer waits anyway.
    if state.late.iter().any(|late| late.request == *withdrawn) {
        return Vec::new();
    }
    // The same applies to all questions of a turn that ended and waits for their answers.
    let stays = state.held_end.is_some();
    let is_it = |question: &Question| {
        question.kind.request_id() == Some(withdrawn) && !(stays && is_turn_question(question))
    };
    state.awaiting.take_if(|question| is_it(question));
    state.asked.retain(|question| !is_it(question));
    state
        .approvals
        .retain(|approval| approval.request != *withdrawn);
    Vec::new()
}

/// Removes and returns the question that this answer fits.
pub(super) fn take_answered(
    state: &mut RunState,
    id: u32,
    answer: &QuestionAnswer,
) -> Option<Question> {
    take_question(state, |question| {
        question.id == id && question.kind.accepts(answer)
    })
}

/// Removes and returns the question that an agent asked with this request.
pub(super) fn take_by_request(state: &mut RunState, request: &RequestId) -> Option<Question> {
    take_question(state, |question| {
        question.kind.request_id() == Some(request)
    })
}

fn take_question(state: &mut RunState, fits: impl Fn(&Question) -> bool) -> Option<Question> {
    let first = state.awaiting.take_if(|question| fits(question));
    first.or_else(|| state.asked.extract_if(.., |question| fits(question)).next())
}

/// Removes and returns the questions for which the CLI of the running turn waits; they end with the turn.
pub(super) fn take_turn_questions(state: &mut RunState) -> Vec<Question> {
    std::iter::from_fn(|| take_question(state, is_turn_question)).collect()
}

/// Removes and returns the first of the turn's other open questions.
pub(super) fn take_first_turn_question(state: &mut RunState) -> Option<Question> {
    let at = state.asked.iter().position(is_turn_question)?;
    Some(state.asked.remove(at))
}

fn is_turn_question(question: &Question) -> bool {
    question.kind.asking_role().is_some() && question.kind.request_id().is_some()
}

/// Returns the texts of questions; `None` where there are none.
pub(super) fn question_texts(questions: &[Question]) -> Option<String> {
    let asked = questions
        .iter()
        .flat_map(|question| question.kind.agent_questions());
    let texts: Vec<&str> = asked.map(|asked| asked.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Drops the questions of a child's task: its agent no longer waits for the answer.
pub(super) fn drop_child_questions(state: &mut RunState, of: &TurnId) {
    let is_its =
        |asker: &QuestionAsker| matches!(asker, QuestionAsker::Child { turn, .. } if turn == of);
    state
        .asked
        .retain(|question| !question.kind.asker().is_some_and(is_its));
}

#[cfg(test)]
mod tests;
