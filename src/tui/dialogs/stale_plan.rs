//! Dialog: the plan on disk is not the plan that was reviewed.
//!
//! It says what changed. Enter only shows the changes: an accidental key press must never accept an
//! unreviewed plan.

use similar::TextDiff;

use super::edit_preview::EditPreview;
use super::{
    DialogContext, answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id,
};
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::plan;
use crate::domain::plan_change::PlanChange;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::{PlanFileState, RunState};
use crate::text::{capitalize, count_changed_lines, describe_line_changes, front_matter};
use crate::tui::action::DocumentKind;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::tab_kind::TabKind;
use crate::tui::text_versions::TextPair;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

pub(super) fn build_dialog(
    id: u32,
    reviewed: &Sha256,
    fault: Option<&str>,
    change: Option<&PlanChange>,
    state: &RunState,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), "Plan changed after its review");
    let file = state.plan.as_ref();
    let is_plan = file.is_some_and(|file| file.reading == PlanFileState::Plan);
    if !is_plan {
        // This goes first: it explains why the plan cannot be accepted, and the list of changes may be
        // long.
        let text = format!("{}.", describe_parse_error(known.documents));
        sheet = sheet.with_plan_text(&text, theme::BAD);
    }
    if let Some(fault) = fault {
        let text = format!(
            "{}. Change it back before you accept the rest.",
            to_one_line(fault)
        );
        sheet = sheet.with_text(&text, theme::BAD);
    }
    if let Some(change) = change {
        sheet = sheet.with_text(&change.describe(), theme::WARNING);
    }
    let changed = find_text_pair(reviewed, known.documents);
    match &changed {
        Some(pair) => {
            let edit = parse_changes(pair);
            // Of a long diff the preview has only the first lines.
            let (n_more, n_less) = count_changed_lines(&pair.old.1, &pair.new.1);
            let counts = describe_line_changes(n_more, n_less);
            sheet = sheet.with_subject(&format!("plan.md  {counts}"));
            sheet.edit = Some(edit);
        }
        None => {
            let text = "The reviewed version is no longer available";
            sheet = sheet.with_text(text, theme::QUIET);
        }
    }
    if is_plan && fault.is_none() {
        let accept = answer_question(id, QuestionAnswer::AcceptAsIs);
        sheet = sheet.with_choice('y', "Accept it as it is", accept);
    } else {
        let edit = ScreenCommand::Edit(DocumentKind::Plan);
        sheet = sheet.with_choice('e', "Edit plan.md", ChoiceAction::RunCommand(edit));
    }
    let executes = state.phase == Phase::Execute;
    if !executes || (is_plan && state.reviewer.is_some()) {
        let label = if executes {
            "Have the change reviewed"
        } else {
            "Review it again"
        };
        let again = answer_question(id, QuestionAnswer::ReviewAgain);
        sheet = sheet.with_choice('r', label, again);
    }
    let n_before = sheet.choices.len();
    let (look, see) = match changed {
        Some(_) => ("See all changes", ScreenCommand::ViewFullText),
        None => ("Read the plan", ScreenCommand::Show(TabKind::Plan)),
    };
    sheet
        .with_choice('v', look, ChoiceAction::RunCommand(see))
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(n_before)
}

/// Explains why the file on disk is not a valid plan.
fn describe_parse_error(texts: &DisplayDocuments) -> String {
    match texts.plan.text.as_deref().map(plan::parse) {
        Some(Err(why)) => capitalize(&why.to_string()),
        Some(Ok(_)) | None => "It is no longer a plan".to_owned(),
    }
}

/// How many lines of the diff the dialog has at most; no window is higher.
const MAX_DIFF_LINES: usize = 500;

/// Returns the reviewed plan and the plan on disk, if the open question is about their difference.
pub fn open_text_pair(state: &RunState, documents: &DisplayDocuments) -> Option<TextPair> {
    match &state.current_question()?.kind {
        QuestionKind::StalePlan { reviewed, .. } if state.approvals.is_empty() => {
            find_text_pair(reviewed, documents)
        }
        _ => None,
    }
}

/// Returns the reviewed plan and the plan on disk; `None` when the reviewed text is not stored.
fn find_text_pair(reviewed: &Sha256, texts: &DisplayDocuments) -> Option<TextPair> {
    let now = texts.plan.text.as_deref()?;
    let now = front_matter::parse_document(now)
        .body
        .trim_start_matches('\n');
    let old = texts
        .plan_versions
        .iter()
        .rfind(|old| old.approval == *reviewed)?;
    Some(TextPair {
        old: (
            format!("The plan, reviewed in {}", old.label),
            old.text.clone(),
        ),
        new: ("The plan, now".to_owned(), now.to_owned()),
    })
}

/// Returns what changed, with one line around each change.
fn parse_changes(pair: &TextPair) -> EditPreview {
    let diff = TextDiff::from_lines(&pair.old.1, &pair.new.1);
    let diff = diff.unified_diff().context_radius(1).to_string();
    let lines: Vec<&str> = diff.lines().take(MAX_DIFF_LINES).collect();
    let name = "plan.md";
    EditPreview::parse(name, &[name.to_owned()], &lines.join("\n"))
}
