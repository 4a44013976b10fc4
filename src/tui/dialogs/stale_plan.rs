//! Dialog: the plan on disk is not the one that was reviewed.

use super::{answer, cancel, identity};
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::question::Answer;
use crate::domain::run::State;
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::tabs::Tab;
use crate::tui::theme;

pub(super) fn sheet(id: u32, reviewed: &Sha256, now: &Sha256, state: &State) -> Sheet {
    let short = |hash: &Sha256| hash.as_str().chars().take(8).collect::<String>();
    let text = format!("reviewed: {}   now: {}", short(reviewed), short(now));
    let mut sheet = Sheet::new(identity(id), "plan.md is not the plan that was reviewed")
        .says(&text, theme::PLAIN);
    // While steps run there is no way back into the review but by stopping.
    if state.phase != Phase::Execute {
        sheet = sheet.offers('r', "review it again", answer(id, Answer::ReviewAgain));
    }
    sheet
        .offers('v', "read the plan", Then::Do(Command::Show(Tab::Plan)))
        .offers('y', "accept it as it is", answer(id, Answer::AcceptAsIs))
        .offers('c', "cancel the run", cancel())
}
