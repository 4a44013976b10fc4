//! Dialog: reviewer and planner do not agree on a finding, so the user decides.

use super::{answer_question, confirm_cancel, question_dialog_id};
use crate::domain::findings::{DisputeSide, FindingDispute};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, n: u32, state: &RunState) -> ChoiceDialog {
    let title = format!("Reviewer and planner do not agree on finding {n}");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if let Some(finding) = state.findings.get(n) {
        let remark = &finding.remark;
        let line = format!(
            "[{}] {}",
            remark.severity.as_str(),
            to_one_line(&remark.text)
        );
        sheet = sheet.with_text(&line, theme::PLAIN);
        let says = |who: &str, text: &str| format!("{who}: {}", to_one_line(text));
        if !finding.record.last_word.is_empty() {
            let text = says("Reviewer", &finding.record.last_word);
            sheet = sheet.with_text(&text, theme::PLAIN);
        }
        if let Some(response) = finding.last_response() {
            sheet = sheet.with_text(&says("Planner", &response.reason), theme::PLAIN);
        }
        let judgement = finding.record.dispute.as_ref();
        if let Some(FindingDispute {
            judgement: Some(judgement),
        }) = judgement
        {
            let side: &str = judgement.side.into();
            let text = says(&format!("Fresh session, for the {side}"), &judgement.reason);
            sheet = sheet.with_text(&text, theme::PLAIN);
        }
    }
    let decide = |side| answer_question(id, QuestionAnswer::DecideDispute { side });
    let edit = match answer_question(id, QuestionAnswer::EditByHand) {
        ChoiceAction::Act(mut actions) => {
            actions.push(Action::Edit(DocumentKind::Plan));
            ChoiceAction::Act(actions)
        }
        other => other,
    };
    sheet
        .with_choice('r', "The reviewer is right", decide(DisputeSide::Reviewer))
        .with_choice('p', "The planner is right", decide(DisputeSide::Planner))
        .with_choice('e', "Edit plan.md", edit)
        .with_choice('c', "Cancel the run", confirm_cancel())
}
