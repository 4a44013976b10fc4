//! Dialog: reviewer and planner do not agree on a finding, so the user decides.
//!
//! It shows both texts side by side, what the program found of their evidence, and the judgement of a session that knows
//! only these texts.

use super::{answer_question, confirm_cancel, edit_plan, question_dialog_id};
use crate::domain::findings::{DisputeSide, Finding};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::tui::action::{Action, DiscussionTopic};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogColumn};
use crate::tui::labels;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, n: u32, state: &RunState) -> ChoiceDialog {
    let title = format!("Reviewer and planner do not agree on finding {n}");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if let Some(finding) = state.findings.get(n) {
        sheet = sheet.with_text(&finding.describe_in_line(), theme::PLAIN);
        let judgement = match finding.describe_judgement() {
            Some(judgement) => (judgement, theme::STRONG),
            None => ("A fresh session gave no judgement".to_owned(), theme::QUIET),
        };
        sheet = sheet
            .with_text(&capitalize(&judgement.0), judgement.1)
            .with_columns([reviewer_column(finding), planner_column(finding)]);
    }
    let decide = |side| answer_question(id, QuestionAnswer::DecideDispute { side });
    let discuss = ChoiceAction::Act(vec![Action::PlanDiscussion(DiscussionTopic {
        finding: Some(n),
        ..DiscussionTopic::default()
    })]);
    sheet
        .with_choice('r', "The reviewer is right", decide(DisputeSide::Reviewer))
        .with_choice('p', "The planner is right", decide(DisputeSide::Planner))
        .with_choice('d', "Discuss it first…", discuss)
        .with_choice('e', "Edit plan.md", edit_plan(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn reviewer_column(finding: &Finding) -> DialogColumn {
    let details = &finding.remark.details;
    let said = [
        ("Scenario", &details.scenario),
        ("Evidence", &details.evidence),
        ("To settle", &details.resolution),
        ("Now", &finding.record.last_word),
    ];
    let mut texts = Vec::new();
    for (label, text) in said {
        if !text.trim().is_empty() {
            let text = format!("{label}: {}", to_one_line(text));
            texts.push((text, theme::PLAIN));
        }
        if label == "Evidence"
            && let Some(check) = finding.evidence_check()
        {
            let found = to_one_line(&check.describe().unwrap_or_default());
            texts.push((found, theme::check_style(check.is_verified())));
        }
    }
    role_column(Role::Reviewer, texts)
}

fn planner_column(finding: &Finding) -> DialogColumn {
    let mut texts = Vec::new();
    for (review, response) in &finding.responses {
        let stand: &str = response.stand.into();
        let reason = to_one_line(&response.reason);
        texts.push((
            format!("{} after review {review}: {reason}", capitalize(stand)),
            theme::PLAIN,
        ));
        if let Some(check) = &response.check
            && let Some(found) = check.describe()
        {
            let style = theme::check_style(check.is_verified());
            texts.push((to_one_line(&found), style));
        }
    }
    role_column(Role::Planner, texts)
}

fn role_column(role: Role, texts: Vec<(String, ratatui::style::Style)>) -> DialogColumn {
    DialogColumn {
        title: (labels::role_title(role).to_owned(), theme::role_style(role)),
        texts,
    }
}
