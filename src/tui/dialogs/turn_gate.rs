//! Dialog: the next turn waits at the gate; it shows what the turn will send.

use super::{DialogContext, confirmations, question_dialog_id};
use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnOrder, TurnPurpose, TurnRetryReason};
use crate::text::{first_clause, pluralize};
use crate::tui::action::Action;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight, EmptyComposerEnter};
use crate::tui::markdown::to_plain_line;
use crate::tui::prompt_preview::PromptPreview;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// How many lines of the prompt the dialog shows if it is to show some; a key opens the whole prompt.
const MAX_PROMPT_LINES: usize = 12;

pub(super) fn build_dialog(
    id: u32,
    order: &TurnOrder,
    state: &RunState,
    known: &DialogContext<'_>,
) -> ChoiceDialog {
    let role = order.purpose.role();
    let adapter = state.session(role).map_or("", |session| &session.adapter);
    let adapter = to_one_line(adapter);
    let title = describe_send(&order.purpose);
    let mut sheet =
        ChoiceDialog::new(question_dialog_id(id), &title).with_weight(DialogWeight::Routine);
    if let Some(step) = title_of_step(&order.purpose, state) {
        sheet = sheet.with_subject(&step);
    }
    if let Some(again) = &order.again {
        sheet = sheet.with_text(&describe_retry_reason(again), theme::BAD);
    }
    let about = match known.preview {
        Some(prompt) => {
            let lines = pluralize(prompt.full_text.lines().count(), "line");
            format!("{adapter} · {lines}")
        }
        None => "Preparing the prompt".to_owned(),
    };
    let what = describe_turn(&order.purpose);
    let new = known.preview.map_or(String::new(), describe_new_lines);
    sheet = sheet
        .with_about(&about)
        .with_text(&format!("{what}{new}"), theme::QUIET);
    if let Some(prompt) = known.preview {
        if known.shows_prompt {
            sheet = with_excerpt(sheet, &prompt.new_lines);
        }
        sheet.full_text = Some((title.clone(), prompt.full_text.clone()));
    }
    let is_about_plan = matches!(order.purpose, TurnPurpose::Review | TurnPurpose::Respond);
    let threads = state.threads.all().iter();
    let unsent = threads.filter(|thread| thread.has_unsent_message());
    match unsent.count() {
        n_threads if is_about_plan && n_threads > 0 => {
            let text = format!("With your notes in {}", pluralize(n_threads, "thread"));
            sheet = sheet.with_text(&text, theme::YOU);
        }
        _ => {}
    }
    let queued = state.kept.for_turn(&order.turn, state.running.as_ref());
    let queued: Vec<_> = queued
        .filter(|_| !order.purpose.is_isolated())
        .map(|kept| kept.to)
        .collect();
    for to in [None, Some(Role::Planner), Some(Role::Reviewer)] {
        // The chat has the texts.
        let of_whom = to.map_or(String::new(), |to| format!(" to the {}", to.name()));
        let text = match queued.iter().filter(|one| **one == to).count() {
            0 => continue,
            1 => format!("With your message{of_whom}"),
            n => format!("With your {n} messages{of_whom}"),
        };
        sheet = sheet.with_text(&text, theme::YOU);
    }
    let release = ChoiceAction::Act(vec![Action::Event(Event::TurnSendConfirmed)]);
    let release = if known.confirm_enter {
        ChoiceAction::Confirm(Box::new(confirmations::send_turn(&title)))
    } else {
        release
    };
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutChoice;
    let auto = Action::Event(Event::GateChanged { gate: Gate::Auto });
    let mut sheet = sheet.with_choice('g', "Send", release);
    if sheet.full_text.is_some() {
        sheet = sheet.with_choice(
            'v',
            "Read the prompt",
            ChoiceAction::RunCommand(ScreenCommand::ViewFullText),
        );
    }
    sheet.with_choice('a', "Send all automatically", ChoiceAction::Act(vec![auto]))
}

/// Says how much of a prompt the agent has not had in an earlier one.
fn describe_new_lines(prompt: &PromptPreview) -> String {
    if prompt.is_first {
        return String::new();
    }
    let is_heading = |line: &&String| line.starts_with('#');
    let n_lines = prompt.new_lines.iter().filter(|line| !is_heading(line));
    match n_lines.count() {
        0 => " Nothing in the prompt is new.".to_owned(),
        n_lines => format!(" New in the prompt: {}.", pluralize(n_lines, "line")),
    }
}

/// Adds the first lines that the agent has not had yet.
fn with_excerpt(sheet: ChoiceDialog, new_lines: &[String]) -> ChoiceDialog {
    let shown = new_lines.get(..MAX_PROMPT_LINES).unwrap_or(new_lines);
    let sheet = sheet.with_text(&shown.join("\n"), theme::PLAIN);
    if new_lines.len() > MAX_PROMPT_LINES {
        sheet.with_text("…", theme::QUIET)
    } else {
        sheet
    }
}

/// Asks whether to send the turn.
fn describe_send(purpose: &TurnPurpose) -> String {
    match purpose {
        TurnPurpose::RefineGoal { .. } => {
            format!("Send your message to the {}?", purpose.agent_name())
        }
        TurnPurpose::WritePlan => "Send the goal to the planner?".to_owned(),
        TurnPurpose::Review => "Send the plan to the reviewer?".to_owned(),
        TurnPurpose::Respond => "Send the review to the planner?".to_owned(),
        TurnPurpose::Judge => "Let a fresh session judge the dispute?".to_owned(),
        TurnPurpose::Step { n } => format!("Start step {n}?"),
        TurnPurpose::Fix { n, attempt: 1 } => format!("Let the planner fix step {n}?"),
        TurnPurpose::Fix { n, attempt } => {
            format!("Let the planner fix step {n}, attempt {attempt}?")
        }
        TurnPurpose::Summary => "Ask the planner for a summary?".to_owned(),
    }
}

/// Says what the agent does in the turn.
fn describe_turn(purpose: &TurnPurpose) -> &'static str {
    match purpose {
        TurnPurpose::RefineGoal { .. } => "The agent answers and may change the goal.",
        TurnPurpose::WritePlan => "The planner writes the plan and changes nothing else.",
        TurnPurpose::Review => "The reviewer looks for faults in the plan.",
        TurnPurpose::Respond => "The planner answers each finding and may change the plan.",
        TurnPurpose::Judge => "It sees both texts side by side and nothing of the history.",
        TurnPurpose::Step { .. } => "The planner changes files. Tests and the commit follow.",
        TurnPurpose::Fix { .. } => "The planner sees what failed and changes the code.",
        TurnPurpose::Summary => "The planner sums up what was done and changes nothing.",
    }
}

/// Returns the title of the step that a turn is about.
fn title_of_step(purpose: &TurnPurpose, state: &RunState) -> Option<String> {
    let (TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. }) = purpose else {
        return None;
    };
    let mut steps = state.plan.iter().flat_map(|file| &file.plan.steps);
    let step = steps.find(|step| step.n == *n)?;
    Some(to_plain_line(first_clause(&step.text)))
}

fn describe_retry_reason(again: &TurnRetryReason) -> String {
    match again {
        TurnRetryReason::NoDocument { reason } => {
            format!("Asked again: the last turn returned no document: {reason}")
        }
        TurnRetryReason::AskedBack { reason } => format!("Asked back: {reason}"),
        TurnRetryReason::Answered { answer } => format!("Asked again with your answer: {answer}"),
        TurnRetryReason::StepTried => "Asked again: the last turn did not do the step".to_owned(),
        TurnRetryReason::Undone { step } => {
            format!("Asked again: you undid step {step} and later, and the prompt says so")
        }
        TurnRetryReason::Failed => {
            "Asked again: the last turn failed or was interrupted".to_owned()
        }
    }
}
