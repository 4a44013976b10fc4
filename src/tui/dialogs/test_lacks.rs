//! Dialogs: the tests fail for want of a network, or of a socket that is hidden from them.
//!
//! Enter gives nothing away: what an agent wrote would reach what listens on this machine, or command docker.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::{QuestionAnswer, tests_label};
use crate::domain::receipt::MissingSocket;
use crate::domain::run::RunState;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

const NETWORK: &str = "With the machine's network they reach the internet and all that listens on this machine, and so does what \
    an agent wrote into them. A socket such as docker's is named in test.sockets of your configuration instead.";
const SOCKET: &str = "Whoever reaches it can start containers that see all your files. Tests run what an agent wrote: let them reach it only where \
    you would run this step's code yourself. `test.sockets` of your configuration names sockets for every repository.";

pub(super) fn network(id: u32, step: u32, line: &str, state: &RunState) -> Sheet {
    let lacked = "the machine's network";
    let sheet = failing(id, (step, lacked), line, state)
        .says(NETWORK, theme::QUIET)
        .offers(
            'l',
            "keep them off it: they fail, now and in later runs in this repository",
            answer(id, QuestionAnswer::LoopbackNetwork),
        )
        .offers(
            'h',
            "give it to them, now and in later runs in this repository",
            answer(id, QuestionAnswer::HostNetwork),
        );
    ways_out(id, sheet)
}

pub(super) fn socket(id: u32, step: u32, lacked: &MissingSocket, state: &RunState) -> Sheet {
    let sheet = failing(id, (step, &lacked.path), &lacked.line, state)
        .says(SOCKET, theme::QUIET)
        .offers(
            'l',
            "leave it hidden: they fail, now and in later runs in this repository",
            answer(id, QuestionAnswer::HideSocket),
        )
        .offers(
            'r',
            "let them reach it, now and in later runs in this repository",
            answer(id, QuestionAnswer::ReachSocket),
        );
    ways_out(id, sheet)
}

/// What failed, and by which command: that of the step, or of the tests before the first one (step 0).
fn failing(id: u32, (step, lacked): (u32, &str), line: &str, state: &RunState) -> Sheet {
    let title = format!("{} fail without {lacked}", tests_label(step));
    let sheet = Sheet::new(identity(id), &title).says(line, theme::BAD);
    let execution = state.execution.as_ref();
    let receipt = execution.and_then(|execution| match step {
        0 => Some(&execution.baseline.as_ref()?.receipt),
        _ => execution.current.as_ref()?.receipt.as_ref(),
    });
    let Some(receipt) = receipt else {
        return sheet;
    };
    let mut sheet = sheet.says(&format!("$ {}", receipt.command), theme::CODE);
    sheet.whole = Some((title, receipt.output_tail.clone()));
    sheet
}

fn ways_out(id: u32, sheet: Sheet) -> Sheet {
    sheet
        .offers('b', "back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
