//! Dialogs: the tests fail because they need network access, or a socket that the sandbox hides.
//!
//! Enter grants nothing: agent-written code would reach services that listen on this machine, or control
//! docker.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::{QuestionAnswer, tests_label};
use crate::domain::receipt::MissingSocket;
use crate::domain::run::RunState;
use crate::tui::dialog::{ChoiceDialog, DialogWeight};
use crate::tui::theme;

const NETWORK_RISK: &str = "The machine's network includes the internet and every service on this machine, and code \
that an agent wrote can reach them all. To allow only a socket such as docker's, add it to test.sockets.";
const SOCKET_RISK: &str = "Anything that reaches this socket can start containers that see all your files. \
Tests run code that an agent wrote: allow it only if you would run this step's code yourself. To allow sockets \
for every repository, use `test.sockets` in your configuration.";

pub(super) fn build_network_dialog(
    id: u32,
    step: u32,
    line: &str,
    state: &RunState,
) -> ChoiceDialog {
    let lacked = "the machine's network";
    let sheet = base_dialog(id, step, lacked, line, state)
        .with_text(NETWORK_RISK, theme::QUIET)
        .with_choice(
            'l',
            "Keep tests offline here",
            answer_question(id, QuestionAnswer::LoopbackNetwork),
        )
        .with_choice(
            'h',
            "Always allow the network here",
            answer_question(id, QuestionAnswer::HostNetwork),
        );
    add_other_choices(id, sheet)
}

pub(super) fn build_socket_dialog(
    id: u32,
    step: u32,
    lacked: &MissingSocket,
    state: &RunState,
) -> ChoiceDialog {
    let sheet = base_dialog(id, step, &lacked.path, &lacked.line, state)
        .with_text(SOCKET_RISK, theme::QUIET)
        .with_choice(
            'l',
            "Keep the socket hidden here",
            answer_question(id, QuestionAnswer::HideSocket),
        )
        .with_choice(
            'r',
            "Always allow the socket here",
            answer_question(id, QuestionAnswer::ReachSocket),
        );
    add_other_choices(id, sheet)
}

/// Names the failure and its command: the step's, or that of the tests before the first step (step 0).
fn base_dialog(id: u32, step: u32, lacked: &str, line: &str, state: &RunState) -> ChoiceDialog {
    let title = format!("{} fail without {lacked}", tests_label(step));
    let sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_weight(DialogWeight::Permission)
        .with_text(line, theme::BAD);
    let execution = state.execution.as_ref();
    let receipt = execution.and_then(|execution| match step {
        0 => Some(&execution.baseline.as_ref()?.receipt),
        _ => execution.current.as_ref()?.receipt.as_ref(),
    });
    let Some(receipt) = receipt else {
        return sheet;
    };
    let mut sheet = sheet.with_text(&format!("$ {}", receipt.command), theme::CODE);
    sheet.full_text = Some((title, receipt.output_tail.clone()));
    sheet
}

fn add_other_choices(id: u32, sheet: ChoiceDialog) -> ChoiceDialog {
    sheet
        .with_choice('b', "Back to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
