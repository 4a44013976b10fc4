//! Dialog: the user edits by hand, and says when that is done.

use super::{cancel, identity};
use crate::domain::question::EditFollowUp;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;

pub(super) fn sheet(id: u32) -> Sheet {
    let done = |then| Then::Act(vec![Action::EditingDone { id, then }]);
    let edit = |document| Then::Act(vec![Action::Edit(document)]);
    Sheet::new(identity(id), "you edit the plan by hand")
        .says(
            "Everything waits. The plan is read when you say that you are done.",
            theme::PLAIN,
        )
        .offers(
            'e',
            "open the plan in your editor",
            edit(DocumentKind::Plan),
        )
        .offers(
            'm',
            "open the comments in your editor",
            edit(DocumentKind::Comments),
        )
        .offers('r', "done: have it reviewed", done(EditFollowUp::Review))
        .offers(
            'y',
            "done: accept it without a review",
            done(EditFollowUp::Accept),
        )
        .offers('c', "cancel the run", cancel())
}
