//! Dialog: the review does not end by itself; the user decides.

use super::{MOST_OF_FINDING, answer, cancel, confirm, identity};
use crate::domain::question::{ArbitrationReason, QuestionAnswer};
use crate::domain::run::RunState;
use crate::text::pluralize;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::sheet::{Draft, Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::{cut, one_line};

/// How many open findings are listed.
const N_LISTED: usize = 8;

pub(super) fn sheet(id: u32, reason: ArbitrationReason, open: usize, state: &RunState) -> Sheet {
    let title = match reason {
        ArbitrationReason::Cap => format!(
            "the review reached its cap of {} with {} open",
            state.iteration_limit(),
            pluralize(open, "finding")
        ),
        ArbitrationReason::Stall => format!(
            "the review settled nothing for {}; open: {}",
            pluralize(
                usize::try_from(state.stall).unwrap_or(usize::MAX),
                "iteration"
            ),
            pluralize(open, "finding")
        ),
        ArbitrationReason::ApprovedBeside => format!(
            "the reviewer approves the plan and leaves {} open",
            pluralize(open, "finding")
        ),
    };
    let mut sheet = Sheet::new(identity(id), &title);
    for finding in state.findings.open().take(N_LISTED) {
        let remark = &finding.remark;
        let line = format!(
            "{}. [{}] {}",
            remark.n,
            remark.severity.as_str(),
            cut(&one_line(&remark.text), MOST_OF_FINDING)
        );
        sheet = sheet.says(&line, theme::PLAIN);
    }
    if open > N_LISTED {
        let line = format!("… and {} more, in Comments (3)", open - N_LISTED);
        sheet = sheet.says(&line, theme::QUIET);
    }
    let edit = match answer(id, QuestionAnswer::EditByHand) {
        Then::Act(mut actions) => {
            actions.push(Action::Edit(DocumentKind::Plan));
            Then::Act(actions)
        }
        other => other,
    };
    sheet
        .offers(
            'f',
            "force pass: the plan counts as approved, and that you forced it is kept",
            Then::Confirm(Box::new(confirm::force_pass(id, open))),
        )
        .offers(
            'm',
            "more iterations: write how many",
            Then::Write(Draft::More { id }),
        )
        .offers('e', "edit by hand: opens the plan in your editor", edit)
        .offers('c', "cancel the run", cancel())
        .first(1)
}
