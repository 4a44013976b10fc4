//! Dialog: a turn failed, and the automatic retries did not help.

use super::{
    add_adapter_switch, answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id,
};
use crate::domain::event_wording::word_turn_failure;
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::turn::{TurnFailureKind, TurnPurpose};
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(
    id: u32,
    purpose: &TurnPurpose,
    kind: &TurnFailureKind,
    message: &str,
    other: Option<&str>,
    state: &RunState,
) -> ChoiceDialog {
    let role = purpose.role();
    let adapter = state.session(role).map_or("", |session| &session.adapter);
    let words = word_turn_failure(adapter, kind, message);
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &words.title)
        .with_reason_in_chat(&words.reason, theme::BAD);
    sheet.full_text = Some((words.title, message.to_owned()));
    if *kind == TurnFailureKind::Login {
        let way_out = format!(
            "Log in to {adapter} in another terminal, then try again. `agent-collab doctor` shows the command."
        );
        sheet = sheet.with_text(&way_out, theme::PLAIN);
    }
    let sheet = sheet
        .with_choice('r', "Try again", answer_question(id, QuestionAnswer::Retry))
        .with_choice(
            'n',
            "Try again in a new session",
            answer_question(id, QuestionAnswer::NewSession),
        );
    add_adapter_switch(sheet, id, role, other, state)
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
