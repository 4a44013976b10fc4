//! Dialog: a workflow file was edited while a turn wrote it too.
//!
//! Enter merges, which loses nothing: what clashes comes back here.

use super::{Known, answer, cancel, identity};
use crate::domain::question::{MergeConflict, QuestionAnswer};
use crate::domain::turn::TurnPurpose;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;

pub(super) fn sheet(
    id: u32,
    (document, clash): (&str, Option<&MergeConflict>),
    purpose: &TurnPurpose,
    known: &Known<'_>,
) -> Sheet {
    let title = format!(
        "{document} was edited while the {} wrote it",
        purpose.role().name()
    );
    let mut sheet = Sheet::new(identity(id), &title);
    for versions in known.versions {
        sheet = sheet.says(&versions.in_words(), theme::PLAIN);
    }
    if let Some(MergeConflict { file, why }) = clash {
        let text = format!("the merge is not whole: {why}\nE puts it right in {file}");
        sheet = sheet.says(&text, theme::BAD);
    }
    let merge = match clash {
        None => "merge: take both; where they clash, your editor opens",
        Some(_) => "take it as the file is now; if it still clashes, your editor opens",
    };
    sheet
        .says(
            "Nothing was overwritten. Both texts are kept below history/conflicts/.",
            theme::QUIET,
        )
        .offers('m', merge, answer(id, QuestionAnswer::Merge))
        .offers(
            'e',
            "edit the merge by hand, then take it",
            Then::Act(vec![Action::Edit(DocumentKind::Merge)]),
        )
        .offers(
            'v',
            "look at what each of you changed",
            Then::Do(Command::View),
        )
        .offers(
            'o',
            "overwrite: take the agent's text",
            answer(id, QuestionAnswer::Overwrite),
        )
        .offers(
            'n',
            "no, keep mine: discard the agent's text; its turn goes again",
            answer(id, QuestionAnswer::Discard),
        )
        .offers('c', "cancel the run", cancel())
        .first(if clash.is_some() { 1 } else { 0 })
}
