//! Dialog: the next turn waits at the gate; here is what it will send.

use super::{Known, confirm, identity};
use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::turn::{TurnOrder, TurnRetryReason};
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::command::Command;
use crate::tui::sheet::{FromComposer, Sheet, Then};
use crate::tui::theme;

/// How many lines of the prompt are laid out here; the whole is a key away.
const N_LINES: usize = 12;

pub(super) fn sheet(id: u32, order: &TurnOrder, state: &RunState, known: &Known<'_>) -> Sheet {
    let role = order.purpose.role();
    let adapter = state.session(role).map_or("", |session| &session.adapter);
    let title = format!(
        "{} ({adapter}) {}: release?",
        role.name(),
        order.purpose.describe()
    );
    let mut sheet = Sheet::new(identity(id), &title);
    if let Some(again) = &order.again {
        sheet = sheet.says(&again_in_words(again), theme::BAD);
    }
    sheet = match known.preview {
        Some(prompt) => {
            let lines = pluralize(prompt.whole.lines().count(), "line");
            let about = match (prompt.is_first, prompt.fresh.is_empty()) {
                (_, true) => format!("{lines} will be sent, V shows them; nothing in them is new"),
                (true, _) => {
                    format!("{lines} will be sent, V shows them all; what they are about:")
                }
                (false, _) => format!("{lines} will be sent, V shows them all; new in them:"),
            };
            let first: Vec<&str> = prompt.fresh.iter().map(String::as_str).collect();
            let shown = first.get(..N_LINES).unwrap_or(&first);
            let mut sheet = sheet
                .says(&about, theme::QUIET)
                .says(&shown.join("\n"), theme::PLAIN);
            if first.len() > N_LINES {
                sheet = sheet.says("…", theme::QUIET);
            }
            sheet.whole = Some((title.clone(), prompt.whole.clone()));
            sheet
        }
        None => sheet.says("the prompt is being prepared", theme::QUIET),
    };
    for kept in state.queued_messages_for(&order.turn) {
        let said = match kept.to {
            Some(to) => format!("you said to the {}: {}", to.name(), kept.text),
            None => format!("you say: {}", kept.text),
        };
        sheet = sheet.says(&said, theme::YOU);
    }
    let release = Then::Act(vec![Action::Event(Event::TurnSendConfirmed)]);
    let release = if known.confirm_enter {
        Then::Confirm(Box::new(confirm::release(&title)))
    } else {
        release
    };
    sheet.from_composer = FromComposer::Yes;
    let auto = Action::Event(Event::GateChanged { gate: Gate::Auto });
    let mut sheet = sheet.offers('g', "release this turn", release);
    if sheet.whole.is_some() {
        sheet = sheet.offers('v', "read the whole prompt", Then::Do(Command::View));
    }
    sheet.offers(
        'a',
        "release it and all that follow (auto)",
        Then::Act(vec![auto]),
    )
}

fn again_in_words(again: &TurnRetryReason) -> String {
    match again {
        TurnRetryReason::NoDocument { reason } => {
            format!("asked again, for the last turn brought no document: {reason}")
        }
        TurnRetryReason::AskedBack { reason } => format!("asked back: {reason}"),
        TurnRetryReason::Answered { answer } => format!("asked again with your answer: {answer}"),
        TurnRetryReason::StepTried => {
            "asked again, for its last turn did not do the step".to_owned()
        }
        TurnRetryReason::Undone { step } => {
            format!("asked anew: you undid from step {step} on, and the prompt says so")
        }
        TurnRetryReason::Failed => {
            "asked again, for the last turn failed or was interrupted".to_owned()
        }
    }
}
