//! Dialog: the tests of a step fail for want of a socket that is hidden from them.
//!
//! Enter gives nothing away: who commands docker can do all that the user can.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::Answer;
use crate::domain::receipt::LackedSocket;
use crate::domain::run::State;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

const GIVEN: &str = "Whoever reaches it can start containers that see all your files. Tests run what an agent wrote: let them reach it only where \
    you would run this step's code yourself. `test.sockets` of your configuration names sockets for every repository.";

pub(super) fn sheet(id: u32, step: u32, lacked: &LackedSocket, state: &State) -> Sheet {
    let title = format!("step {step}: the tests fail without {}", lacked.path);
    let mut sheet = Sheet::new(identity(id), &title).says(&lacked.line, theme::BAD);
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    if let Some(receipt) = current.and_then(|current| current.receipt.as_ref()) {
        sheet = sheet.says(&format!("$ {}", receipt.command), theme::CODE);
        sheet.whole = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .says(GIVEN, theme::QUIET)
        .offers(
            'l',
            "leave it hidden: they fail, now and in later runs in this repository",
            answer(id, Answer::HideSocket),
        )
        .offers(
            'r',
            "let them reach it, now and in later runs in this repository",
            answer(id, Answer::ReachSocket),
        )
        .offers('b', "back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
