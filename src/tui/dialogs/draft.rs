//! Dialog: a turn that was cut off left a draft of its document; shall it count?
//!
//! Enter only shows it: half a document is never taken by a stray key.

use super::{answer, cancel, identity};
use crate::domain::question::{DraftFile, QuestionAnswer};
use crate::domain::turn::TurnOrder;
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;

pub(super) fn sheet(id: u32, order: &TurnOrder, files: &[DraftFile]) -> Sheet {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let title = format!(
        "the interrupted turn left a draft of {}",
        names.join(" and ")
    );
    let mut sheet = Sheet::new(identity(id), &title);
    for file in files {
        sheet = sheet.says(&file.describe(), theme::PLAIN);
    }
    let whose = format!(
        "The {} may not have been through with it. Discarded, it is kept below history/conflicts/.",
        order.purpose.role().name()
    );
    sheet
        .says(&whose, theme::QUIET)
        .offers('v', "look at it", Then::Do(Command::View))
        .offers(
            'y',
            "use it, as what the turn returned",
            answer(id, QuestionAnswer::UseDraft),
        )
        .offers(
            'n',
            "discard it: the turn is done again",
            answer(id, QuestionAnswer::Discard),
        )
        .offers('c', "cancel the run", cancel())
}
