//! Dialog: the tests of a step still fail after all fix turns.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

/// How many lines of the output the dialog shows.
const MAX_OUTPUT_LINES: usize = 10;
/// How many lines, counted from the end of the output, are searched for the start of a failure.
const MAX_SEARCHED_LINES: usize = 40;
/// Words that start a failure report of a test runner.
const FAILURE_MARKERS: [&str; 9] = [
    "not ok",
    "FAIL",
    "panicked at",
    "Error:",
    "error:",
    "error[",
    "AssertionError",
    "✗",
    "✕",
];

/// Returns the end of an output, from the start of the failure report on if it can be found.
pub(super) fn output_from_failure(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let begins = |line: &&&str| {
        line.starts_with("E  ") || FAILURE_MARKERS.iter().any(|word| line.contains(word))
    };
    let near_end = lines.len().saturating_sub(MAX_SEARCHED_LINES);
    let found = lines.iter().skip(near_end).position(|line| begins(&line));
    let last = lines.len().saturating_sub(MAX_OUTPUT_LINES);
    let from = found.map_or(last, |at| at + near_end);
    let shown: Vec<&str> = lines
        .into_iter()
        .skip(from)
        .take(MAX_OUTPUT_LINES)
        .collect();
    shown.join("\n")
}

pub(super) fn build_dialog(id: u32, step: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let execution = state.execution.as_ref();
    let current = execution.and_then(|execution| execution.current.as_ref());
    let receipt = current.and_then(|current| current.receipt.as_ref());
    let before = execution.zip(receipt);
    let title = match before.and_then(|(execution, now)| execution.matching_baseline_failure(now)) {
        Some(_) => format!("Step {step}: tests fail as they did before step 1"),
        None => format!("Step {step}: tests still fail"),
    };
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text(found, theme::BAD);
    if let Some(receipt) = receipt {
        sheet = sheet
            .with_text(&format!("$ {}", receipt.command), theme::CODE)
            .with_text(&output_from_failure(&receipt.output_tail), theme::QUIET);
        sheet.full_text = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .with_choice(
            'r',
            "Try to fix it again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice(
            'w',
            "Continue without a commit",
            answer_question(id, QuestionAnswer::SkipTests),
        )
        .with_choice(
            'y',
            "Commit anyway",
            answer_question(id, QuestionAnswer::AcceptAsIs),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_told_from_the_beginning_of_a_failure_on() {
        let mut output: Vec<String> = (1..=30).map(|n| format!("ok {n}")).collect();
        output.push("not ok 31 - counts".to_owned());
        output.extend((1..=12).map(|n| format!("  # line {n} 空")));
        let shown = output_from_failure(&output.join("\n"));
        assert!(
            shown.starts_with("not ok 31 - counts\n  # line 1 空"),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), MAX_OUTPUT_LINES);
        let plain = output_from_failure("a\nb");
        assert_eq!(plain, "a\nb");
    }
}
