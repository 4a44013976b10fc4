//! Handles questions that agents ask through their CLIs during their work, in the order in which they asked.
//!
//! A child's question does not block the workflow, and an open question does not prevent another one.

use super::{ResultValidity, RunState, child_sessions, open_questions};
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
        open_questions::ask_user_alongside(state, kind)
    } else {
        open_questions::ask_user(state, kind)
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
        question.kind.request_id() == Some(withdrawn)
            && !(stays && open_questions::is_turn_question(question))
    };
    state.awaiting.take_if(|question| is_it(question));
    state.asked.retain(|question| !is_it(question));
    state
        .approvals
        .retain(|approval| approval.request != *withdrawn);
    Vec::new()
}

#[cfg(test)]
mod tests;
