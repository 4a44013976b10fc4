//! Dialog: the next turn waits at the gate; it shows what the turn will send.

use super::{DialogContext, confirmations, question_dialog_id};
use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::turn::{TurnOrder, TurnRetryReason};
use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, EmptyComposerEnter};
use crate::tui::theme;

/// How many lines of the prompt the dialog shows; a key opens the whole prompt.
const MAX_PROMPT_LINES: usize = 12;

pub(super) fn build_dialog(
    id: u32,
    order: &TurnOrder,
    state: &RunState,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let role = order.purpose.role();
    let adapter = state.session(role).map_or("", |session| &session.adapter);
    let title = format!(
        "{} ({adapter}) {}: release?",
        role.name(),
        order.purpose.describe()
    );
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if let Some(again) = &order.again {
        sheet = sheet.with_text(&describe_retry_reason(again), theme::BAD);
    }
    sheet = match known.preview {
        Some(prompt) => {
            let lines = pluralize(prompt.full_text.lines().count(), "line");
            let about = match (prompt.is_first, prompt.new_lines.is_empty()) {
                (_, true) => format!("{lines} will be sent, V shows them; nothing in them is new"),
                (true, _) => {
                    format!("{lines} will be sent, V shows them all; what they are about:")
                }
                (false, _) => format!("{lines} will be sent, V shows them all; new in them:"),
            };
            let first: Vec<&str> = prompt.new_lines.iter().map(String::as_str).collect();
            let shown = first.get(..MAX_PROMPT_LINES).unwrap_or(&first);
            let mut sheet = sheet
                .with_text(&about, theme::QUIET)
                .with_text(&shown.join("\n"), theme::PLAIN);
            if first.len() > MAX_PROMPT_LINES {
                sheet = sheet.with_text("…", theme::QUIET);
            }
            sheet.full_text = Some((title.clone(), prompt.full_text.clone()));
            sheet
        }
        None => sheet.with_text("the prompt is being prepared", theme::QUIET),
    };
    for kept in state.queued_messages_for(&order.turn) {
        let said = match kept.to {
            Some(to) => format!("you said to the {}: {}", to.name(), kept.text),
            None => format!("you say: {}", kept.text),
        };
        sheet = sheet.with_text(&said, theme::YOU);
    }
    let release = ChoiceAction::Act(vec![Action::Event(Event::TurnSendConfirmed)]);
    let release = if known.confirm_enter {
        ChoiceAction::Confirm(Box::new(confirmations::send_turn(&title)))
    } else {
        release
    };
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutChoice;
    let auto = Action::Event(Event::GateChanged { gate: Gate::Auto });
    let mut sheet = sheet.with_choice('g', "release this turn", release);
    if sheet.full_text.is_some() {
        sheet = sheet.with_choice(
            'v',
            "read the whole prompt",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        );
    }
    sheet.with_choice(
        'a',
        "release it and all that follow (auto)",
        ChoiceAction::Act(vec![auto]),
    )
}

fn describe_retry_reason(again: &TurnRetryReason) -> String {
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
