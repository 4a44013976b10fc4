//! Dialog: the tests of a step fail after all fix turns.

use super::{answer, cancel, identity};
use crate::domain::question::Answer;
use crate::domain::run::State;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

/// How many lines of the output's end are shown here.
const N_LINES: usize = 8;

pub(super) fn sheet(id: u32, step: u32, found: &str, state: &State) -> Sheet {
    let title = format!("step {step}: the tests fail after all fix turns");
    let mut sheet = Sheet::new(identity(id), &title).says(found, theme::BAD);
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    if let Some(receipt) = current.and_then(|current| current.receipt.as_ref()) {
        let tail: Vec<&str> = receipt.output_tail.lines().rev().take(N_LINES).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        sheet = sheet
            .says(&format!("$ {}", receipt.command), theme::CODE)
            .says(&tail.join("\n"), theme::QUIET);
        sheet.whole = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .offers(
            'r',
            "let the agent mend it again",
            answer(id, Answer::Retry),
        )
        .offers(
            'w',
            "skip: go on without tests for this step",
            answer(id, Answer::SkipTests),
        )
        .offers(
            'y',
            "accept the step with failing tests",
            answer(id, Answer::AcceptAsIs),
        )
        .offers('b', "stop, back to the goal", answer(id, Answer::Stop))
        .offers('c', "cancel the run", cancel())
}
