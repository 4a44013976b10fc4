//! Dialog: the plan on disk is not the one that was reviewed.
//!
//! Enter only shows the plan: what was not reviewed is never accepted by a stray key.

use super::{answer, cancel, identity};
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::question::Answer;
use crate::domain::run::{Reading, State};
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::tabs::Tab;
use crate::tui::theme;

pub(super) fn sheet(id: u32, reviewed: &Sha256, now: &Sha256, state: &State) -> Sheet {
    let short = |hash: &Sha256| hash.as_str().chars().take(8).collect::<String>();
    let text = format!("reviewed: {}   now: {}", short(reviewed), short(now));
    let mut sheet = Sheet::new(identity(id), "plan.md is not the plan that was reviewed")
        .says(&text, theme::PLAIN);
    let file = state.plan.as_ref();
    let is_plan = file.is_some_and(|file| file.reading == Reading::Plan);
    if is_plan {
        let accept = answer(id, Answer::AcceptAsIs);
        sheet = sheet.offers('y', "accept it as it is", accept);
    } else {
        let text = "it has no numbered box any more; edit it (E) before it can be accepted";
        sheet = sheet.says(text, theme::BAD);
    }
    // While steps run there is no way back into the review but by stopping.
    if state.phase != Phase::Execute {
        sheet = sheet.offers('r', "review it again", answer(id, Answer::ReviewAgain));
    }
    let n_before = sheet.choices.len();
    sheet
        .offers('v', "read the plan", Then::Do(Command::Show(Tab::Plan)))
        .offers('b', "stop, back to the goal", answer(id, Answer::Stop))
        .offers('c', "cancel the run", cancel())
        .first(n_before)
}
