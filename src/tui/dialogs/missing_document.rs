//! Dialog: a turn produced no document, twice. The chat shows what its agent said instead; the user can
//! reply to it.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::turn::TurnPurpose;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, purpose: &TurnPurpose, reason: &str) -> ChoiceDialog {
    let title = format!("No document from the {}", purpose.agent_name());
    ChoiceDialog::new(question_dialog_id(id), &title)
        .with_reason_in_chat(reason, theme::BAD)
        .with_choice('r', "Try again", answer_question(id, QuestionAnswer::Retry))
        .with_choice(
            'w',
            &format!("Answer the {}…", purpose.agent_name()),
            ChoiceAction::WriteDraft(ComposerDraft::Again { id }),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
