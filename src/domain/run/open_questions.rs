//! Asks the user questions, and takes or drops those that are open.

use super::RunState;
use crate::domain::effect::Effect;
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::question::{Question, QuestionAnswer, QuestionAsker, QuestionKind};

/// Asks the user a question; nothing starts until it is answered.
pub(super) fn ask_user(state: &mut RunState, kind: QuestionKind) -> Vec<Effect> {
    let question = new_question(state, kind);
    state.awaiting = Some(question.clone());
    vec![Effect::AskUser(question)]
}

/// Asks the user a question that blocks only the agent that asks it.
pub(super) fn ask_user_alongside(state: &mut RunState, kind: QuestionKind) -> Vec<Effect> {
    let question = new_question(state, kind);
    state.asked.push(question.clone());
    vec![Effect::AskUser(question)]
}

fn new_question(state: &mut RunState, kind: QuestionKind) -> Question {
    let id = state.next_question;
    state.next_question += 1;
    Question { id, kind }
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

pub(super) fn is_turn_question(question: &Question) -> bool {
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

/// Forgets all deferred answers: no agent gets one, and no turn continues.
pub(super) fn forget_deferred(state: &mut RunState) {
    state.late.clear();
    state.held_end = None;
}

/// Drops the question of the workflow and those of the running turn: nothing continues with their answers.
pub(super) fn drop_workflow_questions(state: &mut RunState) {
    state.awaiting = None;
    take_turn_questions(state);
    forget_deferred(state);
}
