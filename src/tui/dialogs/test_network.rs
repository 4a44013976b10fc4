//! Dialog: the tests of a step fail for want of a network.
//!
//! Enter gives nothing away: what an agent wrote would reach what listens on this machine.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::Answer;
use crate::domain::run::State;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

const GIVEN: &str = "With the machine's network they reach the internet and all that listens on this machine, and so does what \
    an agent wrote into them. A socket such as docker's is named in test.sockets of your configuration instead.";

pub(super) fn sheet(id: u32, step: u32, line: &str, state: &State) -> Sheet {
    let when = match step {
        0 => "before step 1".to_owned(),
        step => format!("step {step}"),
    };
    let title = format!("{when}: the tests fail without the machine's network");
    let mut sheet = Sheet::new(identity(id), &title).says(line, theme::BAD);
    let execution = state.execution.as_ref();
    let receipt = execution.and_then(|execution| match step {
        0 => Some(&execution.baseline.as_ref()?.receipt),
        _ => execution.current.as_ref()?.receipt.as_ref(),
    });
    if let Some(receipt) = receipt {
        sheet = sheet.says(&format!("$ {}", receipt.command), theme::CODE);
        sheet.whole = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .says(GIVEN, theme::QUIET)
        .offers(
            'l',
            "keep them off it: they fail, now and in later runs in this repository",
            answer(id, Answer::LoopbackNetwork),
        )
        .offers(
            'h',
            "give it to them, now and in later runs in this repository",
            answer(id, Answer::HostNetwork),
        )
        .offers('b', "back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
