//! Dialog: a workflow file was edited while a turn wrote it too.
//!
//! Enter merges, which loses nothing: conflicts come back to this dialog.

use super::{DialogContext, answer_question, confirm_cancel, question_dialog_id};
use crate::domain::question::{MergeConflict, QuestionAnswer};
use crate::domain::turn::TurnPurpose;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(
    id: u32,
    document: &str,
    clash: Option<&MergeConflict>,
    purpose: &TurnPurpose,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let title = format!(
        "{document} was edited while the {} was writing it",
        purpose.agent_name()
    );
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    for versions in known.versions {
        sheet = sheet.with_text(&versions.in_words(), theme::PLAIN);
    }
    if let Some(MergeConflict { file, why }) = clash {
        let text = format!("The merge is not finished: {why}\nPress E to fix it in {file}");
        sheet = sheet.with_text(&text, theme::BAD);
    }
    let merge = match clash {
        None => "Merge both (conflicts open in your editor)",
        Some(_) => "Use the merged file",
    };
    sheet
        .with_text(
            "Nothing was overwritten. Both texts are kept in history/conflicts/.",
            theme::QUIET,
        )
        .with_choice('m', merge, answer_question(id, QuestionAnswer::Merge))
        .with_choice(
            'e',
            "Edit the merge by hand",
            ChoiceAction::Act(vec![Action::Edit(DocumentKind::Merge)]),
        )
        .with_choice(
            'v',
            "Compare the changes",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_choice(
            'o',
            "Use the agent's text",
            answer_question(id, QuestionAnswer::Overwrite),
        )
        .with_choice(
            'n',
            "Keep mine, repeat the turn",
            answer_question(id, QuestionAnswer::Discard),
        )
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(if clash.is_some() { 1 } else { 0 })
}
