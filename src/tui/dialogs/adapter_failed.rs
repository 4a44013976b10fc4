//! Dialog: a turn failed, and trying again by ourselves did not help.

use super::{answer, back_to_the_goal, cancel, identity, offers_the_move};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

/// What a failure is called that a login mends.
const LOGIN: &str = "login";

pub(super) fn sheet(
    id: u32,
    purpose: &TurnPurpose,
    failure: (&str, &str, Option<&str>),
    state: &RunState,
) -> Sheet {
    let (kind, message, other) = failure;
    let role = purpose.role();
    let adapter = state.session(role).map_or("", |session| &session.adapter);
    let title = format!("{} ({adapter}) failed: {kind}", role.name());
    let mut sheet = Sheet::new(identity(id), &title).says(message, theme::BAD);
    sheet.whole = Some((title, message.to_owned()));
    // Some say it themselves.
    if kind == LOGIN && !message.contains("login") {
        let way_out = format!(
            "Log in to {adapter} in another terminal, then R; `agent-collab doctor` names the command."
        );
        sheet = sheet.says(&way_out, theme::PLAIN);
    }
    let sheet = sheet
        .offers('r', "try again", answer(id, QuestionAnswer::Retry))
        .offers(
            'n',
            "try again in a new session",
            answer(id, QuestionAnswer::NewSession),
        );
    offers_the_move(sheet, id, (role, other), state)
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
