//! Dialog: the review does not converge, so the user decides.

use super::{
    MAX_FINDING_COLUMNS, answer_question, confirm_cancel, confirmations, question_dialog_id,
};
use crate::domain::question::{ArbitrationReason, QuestionAnswer};
use crate::domain::run::RunState;
use crate::text::pluralize;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft};
use crate::tui::text_wrap::{to_one_line, truncate_to_columns};
use crate::tui::theme;

const MAX_LISTED_FINDINGS: usize = 8;

pub(super) fn build_dialog(
    id: u32,
    reason: ArbitrationReason,
    open: usize,
    state: &RunState,
) -> ChoiceDialog {
    let open_text = pluralize(open, "finding");
    let title = match reason {
        ArbitrationReason::Cap => format!("Review limit: {open_text} open"),
        ArbitrationReason::Stall => format!(
            "No progress in {}, {open_text} open",
            pluralize(usize::try_from(state.stall).unwrap_or(usize::MAX), "review"),
        ),
        ArbitrationReason::ApprovedBeside => {
            format!("The reviewer approved the plan with {open_text} open")
        }
        ArbitrationReason::LeftOut => {
            format!("The review leaves findings out, {open_text} open")
        }
        ArbitrationReason::NothingHolds => {
            "Changes required, but nothing holds the plan up".to_owned()
        }
        ArbitrationReason::Circle => format!("The review goes in a circle, {open_text} open"),
        ArbitrationReason::ResidualBlocker => {
            "Approved, but a blocking finding that came late is true".to_owned()
        }
    };
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    for finding in state.findings.open().take(MAX_LISTED_FINDINGS) {
        let remark = &finding.remark;
        let line = format!(
            "{}. [{}] {}",
            remark.n,
            remark.severity.as_str(),
            truncate_to_columns(&to_one_line(&remark.text), MAX_FINDING_COLUMNS)
        );
        sheet = sheet.with_text(&line, theme::PLAIN);
    }
    if open > MAX_LISTED_FINDINGS {
        let line = format!("… and {} more, in Comments (3)", open - MAX_LISTED_FINDINGS);
        sheet = sheet.with_text(&line, theme::QUIET);
    }
    let edit = match answer_question(id, QuestionAnswer::EditByHand) {
        ChoiceAction::Act(mut actions) => {
            actions.push(Action::Edit(DocumentKind::Plan));
            ChoiceAction::Act(actions)
        }
        other => other,
    };
    sheet
        .with_choice(
            'f',
            "Approve anyway (marked forced)",
            ChoiceAction::Confirm(Box::new(confirmations::force_pass(id, open))),
        )
        .with_choice(
            'm',
            "Allow more reviews…",
            ChoiceAction::WriteDraft(ComposerDraft::More { id }),
        )
        .with_choice('e', "Edit plan.md", edit)
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(1)
}
