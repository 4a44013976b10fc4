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
        "{document} was edited while the {} wrote it",
        purpose.role().name()
    );
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    for versions in known.versions {
        sheet = sheet.with_text(&versions.in_words(), theme::PLAIN);
    }
    if let Some(MergeConflict { file, why }) = clash {
        let text = format!("the merge is not whole: {why}\nE puts it right in {file}");
        sheet = sheet.with_text(&text, theme::BAD);
    }
    let merge = match clash {
        None => "merge: take both; where they clash, your editor opens",
        Some(_) => "take it as the file is now; if it still clashes, your editor opens",
    };
    sheet
        .with_text(
            "Nothing was overwritten. Both texts are kept below history/conflicts/.",
            theme::QUIET,
        )
        .with_choice('m', merge, answer_question(id, QuestionAnswer::Merge))
        .with_choice(
            'e',
            "edit the merge by hand, then take it",
            ChoiceAction::Act(vec![Action::Edit(DocumentKind::Merge)]),
        )
        .with_choice(
            'v',
            "look at what each of you changed",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_choice(
            'o',
            "overwrite: take the agent's text",
            answer_question(id, QuestionAnswer::Overwrite),
        )
        .with_choice(
            'n',
            "no, keep mine: discard the agent's text; its turn goes again",
            answer_question(id, QuestionAnswer::Discard),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
        .with_first_choice(if clash.is_some() { 1 } else { 0 })
}
