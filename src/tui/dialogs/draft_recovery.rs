//! Dialog: an interrupted turn left a draft of its document; should the draft count?
//!
//! Enter only shows it: an accidental key press must never accept half a document.

use super::{answer_question, confirm_cancel, question_dialog_id};
use crate::domain::question::{DraftFile, QuestionAnswer};
use crate::domain::turn::TurnOrder;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, order: &TurnOrder, files: &[DraftFile]) -> ChoiceDialog {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let title = format!(
        "The interrupted turn left a draft of {}",
        names.join(" and ")
    );
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    for file in files {
        sheet = sheet.with_text(&file.describe(), theme::PLAIN);
    }
    let whose = format!(
        "The {} may not have finished it. If you discard it, a copy stays in history/conflicts/.",
        order.purpose.agent_name()
    );
    sheet
        .with_text(&whose, theme::QUIET)
        .with_choice(
            'v',
            "Read the draft",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_choice(
            'y',
            "Use it as the turn's result",
            answer_question(id, QuestionAnswer::UseDraft),
        )
        .with_choice(
            'n',
            "Discard it and repeat the turn",
            answer_question(id, QuestionAnswer::Discard),
        )
        .with_choice('c', "Cancel the run", confirm_cancel())
}
