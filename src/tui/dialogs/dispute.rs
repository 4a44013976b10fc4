//! Dialog: reviewer and planner do not agree on a finding, so the user decides.
//!
//! It shows both texts side by side, what the program found of their evidence, and the judgement of a session that knows
//! only these texts. Enter only shows them in full; to decide, the user selects another choice.

use ratatui::style::Style;

use super::{answer_question, confirm_cancel, edit_plan, question_dialog_id};
use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::{DisputeSide, Finding};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::text::capitalize;
use crate::tui::action::{Action, DiscussionTopic};
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogColumn};
use crate::tui::labels;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, n: u32, state: &RunState) -> ChoiceDialog {
    let title = format!("Who is right about finding {n}?");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if let Some(finding) = state.findings.get(n) {
        sheet = sheet.with_prose(&finding.describe_in_line(), theme::PLAIN);
        let judgement = match finding.describe_judgement() {
            Some(judgement) => (judgement, theme::PLAIN),
            None => ("A fresh session gave no judgement".to_owned(), theme::QUIET),
        };
        // Both sides are read before the judgement.
        sheet = sheet
            .with_columns([reviewer_column(finding), planner_column(finding)])
            .with_prose(&capitalize(&judgement.0), judgement.1);
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
        .with_choice(
            'v',
            "Read both sides",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_choice('e', "Edit plan.md", edit_plan(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(3)
}

fn reviewer_column(finding: &Finding) -> DialogColumn {
    let (details, record) = (&finding.remark.details, &finding.record);
    let newest = record.new_evidence.as_ref();
    let said = [
        ("Scenario", details.scenario.as_str(), None),
        ("Evidence", &details.evidence, record.evidence.as_ref()),
        ("Suggests", &details.resolution, None),
        ("Insists", &record.last_word, None),
        (
            "New evidence",
            newest.map_or("", |newest| &newest.text),
            newest.map(|newest| &newest.check),
        ),
    ];
    let mut texts = Vec::new();
    for (label, text, check) in said {
        if !text.trim().is_empty() {
            let text = format!("{label}: {}", to_one_line(text));
            texts.push((text, theme::PLAIN));
        }
        texts.extend(check.and_then(describe_check));
    }
    let check = newest.map_or(record.evidence.as_ref(), |newest| Some(&newest.check));
    let in_short = match (record.last_word.as_str(), newest) {
        ("", _) if details.scenario.is_empty() => finding.remark.text.clone(),
        ("", _) => format!("{} {}", details.scenario, details.evidence),
        (word, None) => word.to_owned(),
        (word, Some(newest)) => format!("{word}. Evidence: {}", newest.text),
    };
    role_column(Role::Reviewer, check, &in_short, texts)
}

fn planner_column(finding: &Finding) -> DialogColumn {
    let mut texts = Vec::new();
    for (review, response) in finding.final_answers() {
        let stand: &str = response.stand.into();
        let reason = to_one_line(&response.reason);
        texts.push((
            format!("{} after review {review}: {reason}", capitalize(stand)),
            theme::PLAIN,
        ));
        texts.extend(response.check.as_ref().and_then(describe_check));
    }
    let last = finding.last_response();
    let check = last.and_then(|last| last.check.as_ref());
    let in_short = last.map_or("", |last| last.reason.as_str());
    role_column(Role::Planner, check, in_short, texts)
}

fn describe_check(check: &EvidenceCheck) -> Option<(String, Style)> {
    let found = to_one_line(&check.describe()?);
    Some((found, theme::check_style(check.is_verified())))
}

fn role_column(
    role: Role,
    check: Option<&EvidenceCheck>,
    in_short: &str,
    texts: Vec<(String, Style)>,
) -> DialogColumn {
    let title = labels::role_title(role);
    // The sign comes first, so that it stays where the text is cut.
    let sign = check.and_then(EvidenceCheck::symbol).unwrap_or(":");
    let gap = if sign == ":" { "" } else { " " };
    let summary = format!("{title}{gap}{sign} {}", to_one_line(in_short));
    DialogColumn {
        title: (title.to_owned(), theme::role_style(role)),
        summary: (summary, theme::PLAIN),
        texts,
    }
}
