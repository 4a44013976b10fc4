//! Dialog: the tests of a step fail after all fix turns.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

/// How many lines of the output are shown here.
const N_LINES: usize = 10;
/// How many lines from the output's end on the beginning of a failure is looked for.
const N_SEARCHED: usize = 40;
/// Words by which test runners begin to tell of a failure.
const BEGINNINGS: [&str; 9] = [
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

/// The end of an output from where it begins to tell of a failure, as far as that can be told.
fn from_a_failure(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let begins =
        |line: &&&str| line.starts_with("E  ") || BEGINNINGS.iter().any(|word| line.contains(word));
    let near_end = lines.len().saturating_sub(N_SEARCHED);
    let found = lines.iter().skip(near_end).position(|line| begins(&line));
    let last = lines.len().saturating_sub(N_LINES);
    let from = found.map_or(last, |at| at + near_end);
    let shown: Vec<&str> = lines.into_iter().skip(from).take(N_LINES).collect();
    shown.join("\n")
}

pub(super) fn sheet(id: u32, step: u32, found: &str, state: &RunState) -> Sheet {
    let execution = state.execution.as_ref();
    let current = execution.and_then(|execution| execution.current.as_ref());
    let receipt = current.and_then(|current| current.receipt.as_ref());
    let before = execution.zip(receipt);
    let title = match before.and_then(|(execution, now)| execution.matching_baseline_failure(now)) {
        Some(_) => format!("step {step}: the tests fail as they did before step 1"),
        None => format!("step {step}: the tests fail after all fix turns"),
    };
    let mut sheet = Sheet::new(identity(id), &title).says(found, theme::BAD);
    if let Some(receipt) = receipt {
        sheet = sheet
            .says(&format!("$ {}", receipt.command), theme::CODE)
            .says(&from_a_failure(&receipt.output_tail), theme::QUIET);
        sheet.whole = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .offers(
            'r',
            "let the agent mend it again",
            answer(id, QuestionAnswer::Retry),
        )
        .offers(
            'w',
            "go on without a commit: what the step changed stays in the tree",
            answer(id, QuestionAnswer::SkipTests),
        )
        .offers(
            'y',
            "commit the step although its tests fail",
            answer(id, QuestionAnswer::AcceptAsIs),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_told_from_the_beginning_of_a_failure_on() {
        let mut output: Vec<String> = (1..=30).map(|n| format!("ok {n}")).collect();
        output.push("not ok 31 - counts".to_owned());
        output.extend((1..=12).map(|n| format!("  # line {n} 空")));
        let shown = from_a_failure(&output.join("\n"));
        assert!(
            shown.starts_with("not ok 31 - counts\n  # line 1 空"),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), N_LINES);
        let plain = from_a_failure("a\nb");
        assert_eq!(plain, "a\nb");
    }
}
