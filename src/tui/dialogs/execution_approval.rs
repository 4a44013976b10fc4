//! Dialog: execute the approved plan? It lists everything that is approved with it.
//!
//! Enter only shows the plan; to execute it, the user selects another choice.

use super::{
    MAX_FINDING_COLUMNS, answer_question, confirm_back_to_goal, confirm_cancel, list_names,
    question_dialog_id,
};
use crate::domain::event::Event;
use crate::domain::findings::{Finding, FindingOutcome, FindingSeverity};
use crate::domain::phase::{Gate, Mode};
use crate::domain::plan::Plan;
use crate::domain::plan::proof_lines::ProofClaim;
use crate::domain::question::{CommitTarget, ExecutionTerms, LeftoverFiles, QuestionAnswer};
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::domain::test_command::TestCommand;
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{BriefText, ChoiceAction, ChoiceDialog, ComposerDraft};
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::{to_one_line, truncate_to_columns};
use crate::tui::theme;

/// How many findings that are left open, and how many rejected ones, are listed.
const MAX_LISTED_FINDINGS: usize = 3;
/// The label of the findings that are left open, with the blanks after it.
const LEFT_OPEN: &str = "Left open  ";

pub(super) fn build_dialog(id: u32, terms: &ExecutionTerms, state: &RunState) -> ChoiceDialog {
    let title = dialog_title(state);
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    // The header has the goal's title.
    let goal = state.goal.as_ref().map(|goal| goal.title.as_str());
    let plan = state.plan.as_ref().map(|file| file.plan.title.as_str());
    if let Some(title) = plan.filter(|title| Some(*title) != goal) {
        sheet = sheet.with_plan_text(&to_one_line(title), theme::STRONG);
    }
    if let Some(change) = &terms.change {
        sheet = sheet.with_text(&change.describe(), theme::WARNING);
    }
    if state.verdict.as_ref().is_some_and(|verdict| verdict.forced) {
        sheet = sheet.with_text("You forced this plan past its review", theme::BAD);
    }
    sheet = add_review_end(sheet, state);
    let n_unanswered = state.threads.unanswered().count();
    if n_unanswered > 0 {
        let notes = pluralize(n_unanswered, "note");
        let text =
            format!("The planner has not answered {notes} of yours. Press S to send them first");
        sheet = sheet.with_text(&text, theme::BAD);
    }
    let n_unseen = state.threads.open().count() - n_unanswered;
    if n_unseen > 0 {
        let notes = pluralize(n_unseen, "note");
        let text =
            format!("The reviewer has not yet checked how the planner used {notes} of yours");
        sheet = sheet.with_text(&text, theme::BAD);
    }
    let tests_style = if terms.test.is_some() {
        theme::PLAIN
    } else {
        theme::BAD
    };
    let (commits_label, commits) = describe_commits(&terms.commits);
    sheet = sheet
        .with_field(commits_label, &commits, theme::PLAIN)
        .with_whole_field("Tests   ", &describe_tests(terms), tests_style)
        .with_field("Access  ", describe_mode(state.mode), theme::PLAIN);
    sheet = add_dirty_files(sheet, terms);
    sheet = add_left_open(sheet, state);
    sheet = add_waivers(sheet, terms, state);
    // Steps and rejected findings come last: where the window is small they are cut, the findings first, which the chat
    // counts right above; a key shows them in full.
    sheet = add_steps(sheet.with_gap(), terms, state);
    sheet = add_rejected(sheet, state);
    // The label of this choice is cut where the window is narrow.
    if let Some(other) = &terms.other_test {
        sheet = sheet.with_full_text_line(&describe_other_test(other));
    }
    sheet = sheet
        .with_body_as_full_text("What you approve")
        .with_choice(
            'v',
            "Read it all",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        )
        .with_choice('y', "Run all steps", run_plan(id, Gate::Auto, state))
        .with_choice('m', "Step by step", run_plan(id, Gate::Manual, state))
        .with_choice(
            'n',
            "Ask for changes…",
            ChoiceAction::WriteDraft(ComposerDraft::Changes { id }),
        );
    if n_unanswered > 0 {
        let label = format!("Send {} to the planner", pluralize(n_unanswered, "note"));
        sheet = sheet.with_choice('s', &label, answer_question(id, QuestionAnswer::SendNotes));
    }
    if let Some(other) = &terms.other_test {
        let label = format!("Test with {} instead", other.describe());
        sheet = sheet.with_choice('o', &label, answer_question(id, QuestionAnswer::SwitchTest));
    }
    sheet
        .with_note(&describe_undo(&terms.commits))
        .with_choice('b', "Back to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}

/// Starts the execution, after the switch to the gate if it is another one now.
fn run_plan(id: u32, gate: Gate, state: &RunState) -> ChoiceAction {
    let switch = (state.gate != gate).then_some(Event::GateChanged { gate });
    let answer = Event::QuestionAnswered {
        id,
        answer: QuestionAnswer::Execute,
    };
    let events = switch.into_iter().chain([answer]);
    ChoiceAction::Act(events.map(Action::Event).collect())
}

fn dialog_title(state: &RunState) -> String {
    let n_steps = state.plan.as_ref().map_or(0, |plan| plan.plan.steps.len());
    match state.ended_steps().count() {
        0 => format!("Run this plan ({})?", pluralize(n_steps, "step")),
        n => format!("Continue with the changed plan ({n} of {n_steps} steps ended)?"),
    }
}

/// Adds what the plan does without: steps that nothing proves, and old tests that change.
fn add_waivers(mut sheet: ChoiceDialog, terms: &ExecutionTerms, state: &RunState) -> ChoiceDialog {
    if !state.settings.proves_steps {
        return sheet;
    }
    let plan = state.plan.as_ref().filter(|_| terms.runs_plan_test());
    let plan = plan.map(|file| &file.plan);
    let untested = plan.and_then(Plan::steps_before_tests);
    let n_untested = untested.map_or(0, <[_]>::len);
    if let Some(first) = plan.and_then(|plan| plan.steps.get(n_untested))
        && n_untested > 0
    {
        let line = format!(
            "Tests begin with step {}, nothing tests those before it",
            first.n
        );
        sheet = sheet.with_plan_text(&line, theme::WARNING);
    }
    for step in state.plan.iter().flat_map(|file| &file.plan.steps) {
        if state.ended_steps().any(|record| record.n == step.n) {
            continue;
        }
        for note in &step.proof.notes {
            let line = format!("Step {}: {}", step.n, to_one_line(note));
            sheet = sheet.with_plan_text(&line, theme::WARNING);
        }
        if let ProofClaim::NoTest(reason) = &step.proof.claim {
            let line = format!("Step {}: no test, {}", step.n, to_one_line(reason));
            sheet = sheet.with_plan_text(&line, theme::WARNING);
        }
        for change in &step.proof.changes_tests {
            let why = to_one_line(&change.why);
            let line = format!(
                "Step {}: changes tests in {}, {why}",
                step.n,
                to_one_line(&change.path)
            );
            sheet = sheet.with_plan_text(&line, theme::WARNING);
        }
    }
    sheet
}

/// Adds the steps of the plan, and which of them have ended or changed.
fn add_steps(mut sheet: ChoiceDialog, terms: &ExecutionTerms, state: &RunState) -> ChoiceDialog {
    let changed = terms.change.iter().flat_map(|change| &change.changed);
    let changed: Vec<&u32> = changed.collect();
    for step in state.plan.iter().flat_map(|file| &file.plan.steps) {
        let is_ended = state.ended_steps().any(|record| record.n == step.n);
        let (mark, style) = if is_ended {
            (" (ended)", theme::QUIET)
        } else if changed.contains(&&step.n) {
            (" (changed)", theme::WARNING)
        } else {
            ("", theme::PLAIN)
        };
        let line = format!("{}. {}{mark}", step.n, to_one_line(&step.text));
        sheet = sheet.with_plan_text(&line, style);
        if state.settings.proves_steps && step.proof.files.is_empty() && !is_ended {
            let line = format!("   Step {} may write anywhere", step.n);
            sheet = sheet.with_plan_text(&line, theme::QUIET);
        }
    }
    sheet
}

/// Adds why the review ended, and what the reviewer did not open.
fn add_review_end(mut sheet: ChoiceDialog, state: &RunState) -> ChoiceDialog {
    // A forced plan says so above.
    let is_forced = state.verdict.as_ref().is_some_and(|verdict| verdict.forced);
    if let Some(end) = state.describe_review_end().filter(|_| !is_forced) {
        let tabs = &[TabKind::Chat, TabKind::Comments];
        sheet = sheet.with_field_of_tabs(tabs, "Review  ", &end);
    }
    match state.last_review().and_then(ReviewSpan::describe_unopened) {
        Some(unopened) => {
            let text = format!("The reviewer {unopened}");
            sheet.with_text_of_tabs(&[TabKind::Chat, TabKind::Comments], &text, theme::WARNING)
        }
        None => sheet,
    }
}

/// Returns the findings of an outcome, the gravest first: a blocking one that counts as minor must be among those that are
/// listed.
fn gravest_first(outcome: FindingOutcome, state: &RunState) -> Vec<&Finding> {
    let findings = state.findings.all().iter();
    let mut findings: Vec<&Finding> = findings
        .filter(|finding| finding.outcome() == outcome)
        .collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.stated_severity()));
    findings
}

/// Describes a finding in one row.
fn finding_value(finding: &Finding) -> String {
    truncate_to_columns(&finding.describe_in_line(), MAX_FINDING_COLUMNS)
}

/// Adds a row for each of the first findings that are left open.
fn add_left_open(mut sheet: ChoiceDialog, state: &RunState) -> ChoiceDialog {
    let left = gravest_first(FindingOutcome::LeftOpen, state);
    if left.is_empty() {
        return sheet;
    }
    for (n, finding) in left.iter().take(MAX_LISTED_FINDINGS).enumerate() {
        let label = if n == 0 { LEFT_OPEN } else { "" };
        let label = format!("{label:<0$}", LEFT_OPEN.len());
        let value = finding_value(finding);
        let text = if n == 0 {
            format!("{label}{}", count_with_numbers(&left))
        } else {
            String::new()
        };
        sheet = sheet
            .with_field(&label, &value, theme::PLAIN)
            .with_brief_text(BriefText {
                text,
                subject: to_one_line(&finding.remark.text),
            });
    }
    let n_more = left.len().saturating_sub(MAX_LISTED_FINDINGS);
    if n_more > 0 {
        let label = " ".repeat(LEFT_OPEN.len());
        sheet = sheet
            .with_field(&label, &format!("and {n_more} more"), theme::PLAIN)
            .with_brief_text(BriefText {
                text: String::new(),
                subject: String::new(),
            });
    }
    let text = format!(
        "{} left open, passed on to the planner",
        pluralize(left.len(), "finding")
    );
    sheet
        .with_full_text_line(&text)
        .with_label_columns(LEFT_OPEN.len())
}

/// Counts findings and names their numbers: `2 findings (4, 6)`.
fn count_with_numbers(findings: &[&Finding]) -> String {
    let numbers: Vec<String> = findings
        .iter()
        .map(|one| one.remark.n.to_string())
        .collect();
    let is_minor = |one: &&Finding| one.stated_severity() == FindingSeverity::Minor;
    let what = if findings.iter().all(is_minor) {
        "minor finding"
    } else {
        "finding"
    };
    format!(
        "{} ({})",
        pluralize(findings.len(), what),
        numbers.join(", ")
    )
}

/// Adds the rejected findings, and a gap before them.
fn add_rejected(sheet: ChoiceDialog, state: &RunState) -> ChoiceDialog {
    let rejected = gravest_first(FindingOutcome::Rejected, state);
    if rejected.is_empty() {
        return sheet;
    }
    let lines = rejected.iter().map(|finding| finding_value(finding));
    let text = format!(
        "{} rejected with reason\n{}",
        pluralize(rejected.len(), "finding"),
        list_names(&lines.collect::<Vec<_>>(), MAX_LISTED_FINDINGS)
    );
    let is_in_last_review = |finding: &&Finding| state.findings.is_in_last_review(finding);
    let sheet = sheet.with_gap();
    // Comments folds what is rejected.
    if rejected.iter().all(is_in_last_review) {
        sheet.with_text_of_tabs(&[TabKind::Chat], &text, theme::PLAIN)
    } else {
        sheet.with_text(&text, theme::PLAIN)
    }
}

/// Returns a label, and where the commits go.
fn describe_commits(terms: &CommitTarget) -> (&'static str, String) {
    match terms {
        CommitTarget::Off { reason } => ("Commits ", format!("none ({reason})")),
        CommitTarget::Current { branch } => {
            let how = "one commit per step. For a new branch, run git switch first";
            ("Branch  ", format!("{branch} (current), {how}"))
        }
        CommitTarget::New { branch, from } => {
            let from = from.as_deref().map(to_one_line);
            let left = from.map(|from| format!("; {from} is not touched"));
            let left = left.unwrap_or_default();
            let text = format!("{branch} (new{left}), one commit per step");
            ("Branch  ", text)
        }
    }
}

/// Says how the steps are taken back.
fn describe_undo(commits: &CommitTarget) -> String {
    match commits {
        CommitTarget::Off { .. } => String::new(),
        CommitTarget::Current { .. } | CommitTarget::New { .. } => {
            "Undo any step later with /undo.".to_owned()
        }
    }
}

fn describe_tests(terms: &ExecutionTerms) -> String {
    let Some(test) = &terms.test else {
        return "none. No test command found, so nothing is tested".to_owned();
    };
    format!(
        "{} after each step, {}",
        to_one_line(&test.command),
        test.origin.describe()
    )
}

fn describe_other_test(other: &TestCommand) -> String {
    format!(
        "Not run: {} ({})",
        to_one_line(&other.command),
        other.origin.describe()
    )
}

fn describe_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "Read-only. Edits are denied",
        Mode::Default => "Ask. Your rules decide, everything else asks you",
        Mode::AutoEdit => {
            "Auto-edit. Edits in the repository run without asking, your rules decide the rest"
        }
        Mode::Yolo => "Full access. Nothing asks you except what the hard limits stop",
    }
}

/// Adds what is not committed, or that nothing is.
fn add_dirty_files(mut sheet: ChoiceDialog, terms: &ExecutionTerms) -> ChoiceDialog {
    let (yours, left) = LeftoverFiles::partition_paths(terms.left.as_ref(), &terms.dirty);
    let add = |sheet: ChoiceDialog, whose: &str, files: &[&String]| {
        let names: Vec<String> = files.iter().copied().cloned().collect();
        let n_files = pluralize(names.len(), "file");
        let text = format!("{whose} in {n_files}. You are asked if a step edits them:");
        let sheet = sheet.with_field("Tree    ", &text, theme::PLAIN);
        sheet.with_text(&list_names(&names, 5), theme::PLAIN)
    };
    if let Some(LeftoverFiles { step, .. }) = &terms.left
        && !left.is_empty()
    {
        let whose = format!("uncommitted changes from stopped step {step}");
        sheet = add(sheet, &whose, &left);
    }
    if !yours.is_empty() {
        sheet = add(sheet, "your uncommitted changes", &yours);
    }
    if left.is_empty() && yours.is_empty() {
        sheet = sheet.with_field("Tree    ", "clean", theme::PLAIN);
    }
    sheet
}
