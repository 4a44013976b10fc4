//! Dialog: the review does not end by itself, so the user decides.

use super::{
    MAX_FINDING_COLUMNS, answer_question, confirm_cancel, confirmations, edit_plan,
    question_dialog_id,
};
use crate::domain::findings::plan_blocks::BlockLabel;
use crate::domain::findings::{Finding, FindingSeverity, ResidualReason, describe_places};
use crate::domain::question::{ArbitrationReason, QuestionAnswer};
use crate::domain::run::RunState;
use crate::text::capitalize;
use crate::text::pluralize;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft};
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::{to_one_line, truncate_to_columns};
use crate::tui::theme;

const MAX_LISTED_FINDINGS: usize = 8;
/// From this many fixes in a row, each with a finding on its text, the review goes in a circle.
const CIRCLE_DEPTH: u32 = 2;

pub(super) fn build_dialog(
    id: u32,
    reason: ArbitrationReason,
    open: usize,
    state: &RunState,
) -> ChoiceDialog {
    let title = dialog_title(reason, open, state);
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if let Some(why) = describe_reason(reason, state) {
        sheet = sheet.with_reason(&why, theme::QUIET);
    }
    let listed = listed_findings(reason, state);
    // The chat has the last review right above, Comments has each finding.
    let are_told_last = listed
        .iter()
        .all(|finding| state.findings.is_in_last_review(finding));
    let add_line = |sheet: ChoiceDialog, line: &str, style| {
        if are_told_last && reason != ArbitrationReason::ResidualBlocker {
            sheet.with_text_of_tabs(&[TabKind::Chat, TabKind::Comments], line, style)
        } else {
            sheet.with_prose(line, style)
        }
    };
    for finding in listed.iter().take(MAX_LISTED_FINDINGS) {
        sheet = match reason {
            ArbitrationReason::ResidualBlocker => add_whole_finding(sheet, finding),
            _ => {
                let line = truncate_to_columns(&finding.describe_in_line(), MAX_FINDING_COLUMNS);
                add_line(sheet, &line, theme::PLAIN)
            }
        };
    }
    if listed.len() > MAX_LISTED_FINDINGS {
        let n = listed.len() - MAX_LISTED_FINDINGS;
        let line = format!("… and {n} more, in Comments (3)");
        sheet = add_line(sheet, &line, theme::QUIET);
    }
    let force = ChoiceAction::Confirm(Box::new(confirmations::force_pass(id, open)));
    let sheet = if reason == ArbitrationReason::ResidualBlocker {
        let answers = answer_question(id, QuestionAnswer::MoreIterations { n: 1 });
        sheet
            .with_choice('f', "Approve anyway (marked forced)", force)
            .with_choice('p', "Let the planner answer it", answers)
    } else {
        let more = ChoiceAction::WriteDraft(ComposerDraft::More { id });
        sheet
            .with_choice('f', "Approve anyway (marked forced)", force)
            .with_choice('m', "Allow more reviews…", more)
    };
    sheet
        .with_choice('e', "Edit plan.md", edit_plan(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(1)
}

fn dialog_title(reason: ArbitrationReason, open: usize, state: &RunState) -> String {
    let open_text = pluralize(open, "finding");
    match reason {
        ArbitrationReason::Cap => format!(
            "Review limit reached ({} of {}), {open_text} open",
            state.iteration,
            state.iteration_limit()
        ),
        ArbitrationReason::Stall => format!(
            "No progress in {}, {open_text} open",
            pluralize(usize::try_from(state.stall).unwrap_or(usize::MAX), "review"),
        ),
        ArbitrationReason::ApprovedBeside => {
            format!("Approved with {open_text} open")
        }
        ArbitrationReason::LeftOut => "The review leaves findings out".to_owned(),
        ArbitrationReason::UnprovenFix => "Called fixed, and nothing quoted".to_owned(),
        ArbitrationReason::NothingHolds => "Nothing holds the plan up".to_owned(),
        ArbitrationReason::Circle => "The review goes in a circle".to_owned(),
        ArbitrationReason::ResidualBlocker => "A late blocking finding is true".to_owned(),
    }
}

/// Describes what led to the question, where the findings do not show it.
fn describe_reason(reason: ArbitrationReason, state: &RunState) -> Option<String> {
    match reason {
        ArbitrationReason::Cap | ArbitrationReason::Stall => None,
        ArbitrationReason::ApprovedBeside => {
            Some("Still approved when the reviewer was asked again, beside these:".to_owned())
        }
        ArbitrationReason::LeftOut => {
            let left_out = left_out_findings(state);
            let numbers: Vec<String> = left_out.map(|f| f.remark.n.to_string()).collect();
            let numbers = numbers.join(", ");
            Some(format!(
                "No word on {numbers}, also when the reviewer was asked again"
            ))
        }
        ArbitrationReason::UnprovenFix => {
            Some("The reviewer quotes no text that changed, also when asked again".to_owned())
        }
        ArbitrationReason::NothingHolds => {
            Some("The reviewer requires changes all the same, also when asked again".to_owned())
        }
        ArbitrationReason::Circle => describe_circle(state),
        ArbitrationReason::ResidualBlocker => Some(describe_residual_reasons(state)),
    }
}

fn describe_circle(state: &RunState) -> Option<String> {
    let reverted = state.last_review().map(|review| review.reverted.as_slice());
    if let Some(places) = reverted.and_then(describe_places) {
        return Some(format!("Back to an earlier text in {places}"));
    }
    let deep = state.findings.holding();
    let deep = deep.filter(|finding| finding.record.fix_depth >= CIRCLE_DEPTH);
    let mut blocks: Vec<BlockLabel> = deep.filter_map(|f| f.record.block.clone()).collect();
    blocks.sort();
    blocks.dedup();
    let places = describe_places(&blocks)?;
    Some(format!(
        "In {places} each fix raises a new finding on its own text"
    ))
}

/// Says why a blocking finding does not hold the plan up by itself.
fn describe_residual_reasons(state: &RunState) -> String {
    let blockers = listed_findings(ArbitrationReason::ResidualBlocker, state);
    let reasons = blockers.iter().filter_map(|f| f.record.residual);
    let mut reasons: Vec<&str> = reasons.map(ResidualReason::describe).collect();
    reasons.dedup();
    let reasons = capitalize(&reasons.join("; "));
    format!("{reasons}, so it does not hold the plan up")
}

/// Returns the findings that the last review left out.
fn left_out_findings(state: &RunState) -> impl Iterator<Item = &Finding> {
    let review = state.findings.review_count();
    let active = state.findings.active();
    active.filter(move |finding| finding.holds() && finding.last_in < review)
}

fn listed_findings(reason: ArbitrationReason, state: &RunState) -> Vec<&Finding> {
    let findings = &state.findings;
    match reason {
        ArbitrationReason::Cap | ArbitrationReason::Stall | ArbitrationReason::Circle => {
            findings.open().collect()
        }
        ArbitrationReason::ApprovedBeside => findings.open().collect(),
        ArbitrationReason::LeftOut => left_out_findings(state).collect(),
        ArbitrationReason::UnprovenFix => findings.unproven_fixes().collect(),
        ArbitrationReason::NothingHolds => {
            let review = findings.review_count();
            let all = findings.open().chain(findings.residual());
            all.filter(|finding| finding.last_in == review).collect()
        }
        ArbitrationReason::ResidualBlocker => {
            let residual = findings.residual();
            residual.filter(|f| f.is_residual_blocker()).collect()
        }
    }
}

/// Adds a finding with its scenario and evidence, and what the program found.
fn add_whole_finding(sheet: ChoiceDialog, finding: &Finding) -> ChoiceDialog {
    let details = &finding.remark.details;
    let style = theme::severity_style(FindingSeverity::Blocking);
    let mut sheet = sheet.with_prose(&finding.describe_in_line(), style);
    for (label, text) in [
        ("Place", &details.place),
        ("Scenario", &details.scenario),
        ("Evidence", &details.evidence),
    ] {
        if !text.trim().is_empty() {
            let line = format!("{label}: {}", to_one_line(text));
            sheet = sheet.with_prose(&line, theme::PLAIN);
        }
    }
    match finding.evidence_check() {
        Some(check) => sheet.with_text(
            &to_one_line(&check.describe().unwrap_or_default()),
            theme::check_style(check.is_verified()),
        ),
        None => sheet,
    }
}
