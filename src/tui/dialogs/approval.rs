//! Dialog: may an agent's call go ahead?
//!
//! Enter refuses until the user chooses otherwise: a key that was meant for the dialog before allows nothing.

use crate::domain::event::Approval;
use crate::domain::run::State;
use crate::tui::action::Action;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;

pub(super) fn sheet(approval: &Approval, state: &State) -> Sheet {
    let who = state
        .running
        .as_ref()
        .map_or("an agent", |running| running.order.purpose.role().name());
    let n_more = state.approvals.len() - 1;
    let more = match n_more {
        0 => String::new(),
        n => format!(" (and {n} more after it)"),
    };
    let title = format!("{who} asks: {}{more}", approval.permission);
    let targets = approval.targets.join("\n");
    let mut sheet =
        Sheet::new(format!("approval {}", approval.request), &title).says(&targets, theme::CODE);
    if let Some(reason) = &approval.reason {
        sheet = sheet.says(&format!("why: {reason}"), theme::QUIET);
    }
    let decide = |allow| {
        Then::Act(vec![Action::AnswerApproval {
            request: approval.request.clone(),
            allow,
        }])
    };
    sheet.whole = Some((title.clone(), targets));
    sheet
        .offers('y', "allow it this once", decide(true))
        .offers('n', "refuse it", decide(false))
        .first(1)
}
