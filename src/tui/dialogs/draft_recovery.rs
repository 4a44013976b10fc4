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
        "the interrupted turn left a draft of {}",
        names.join(" and ")
    );
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    for file in files {
        sheet = sheet.with_text(&file.describe(), theme::PLAIN);
    }
    let whose = format!(
        "The {} may not have been through with it. Discarded, it is kept below history/conflicts/.",
        order.purpose.role().name()
    );
    sheet
        .with_text(&whose, theme::QUIET)
        .with_choice(
            'v',
            "look at it",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_choice(
            'y',
            "use it, as what the turn returned",
            answer_question(id, QuestionAnswer::UseDraft),
        )
        .with_choice(
            'n',
            "discard it: the turn is done again",
            answer_question(id, QuestionAnswer::Discard),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
}
