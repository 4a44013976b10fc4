//! Dialogs: the list of earlier runs, to open one, and the resume of an archived unfinished run.

use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::read_only::{RunCompletion, RunListEntry};
use crate::tui::theme;

pub const DIALOG_ID: &str = "history";
/// Keys of the first runs; the arrow keys reach the others.
const RUN_KEYS: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
/// Shown instead of a key.
const NO_KEY_SIGN: char = '·';

/// Builds the list of runs to open, latest first.
pub fn build_dialog(runs: &[RunListEntry]) -> ChoiceDialog {
    let title = format!("{} (read-only)", pluralize(runs.len(), "earlier run"));
    let mut sheet = ChoiceDialog::list(DIALOG_ID, &title);
    for (at, run) in runs.iter().enumerate() {
        let open = ChoiceAction::ActAndClose(vec![Action::OpenRun(run.name.clone())]);
        sheet = sheet.with_choice(choice_key(at), &summarize_run(run), open);
    }
    let unfinished = runs
        .iter()
        .filter(|run| run.completion == RunCompletion::Unfinished);
    let unfinished: Vec<&RunListEntry> = unfinished.collect();
    match unfinished.as_slice() {
        [] => sheet,
        [only] => {
            let label = format!("Resume: {}", only.about);
            sheet.with_choice(
                'r',
                &label,
                ChoiceAction::Confirm(Box::new(build_unarchive_dialog(only))),
            )
        }
        several => {
            let which = ChoiceAction::Confirm(Box::new(build_unarchive_choice(several)));
            sheet.with_choice('r', "Resume an unfinished one…", which)
        }
    }
}

/// Asks which of several unfinished runs to resume.
fn build_unarchive_choice(runs: &[&RunListEntry]) -> ChoiceDialog {
    let mut sheet = ChoiceDialog::list("history again", "Resume which one?");
    for (at, run) in runs.iter().enumerate() {
        let ask = ChoiceAction::Confirm(Box::new(build_unarchive_dialog(run)));
        sheet = sheet.with_choice(choice_key(at), &summarize_run(run), ask);
    }
    sheet
}

/// Asks whether to resume this unfinished run.
pub fn build_unarchive_dialog(run: &RunListEntry) -> ChoiceDialog {
    let facts = [&run.date, &run.ended, &run.progress].into_iter();
    let facts: Vec<&str> = facts
        .filter(|fact| !fact.is_empty())
        .map(String::as_str)
        .collect();
    ChoiceDialog::list("take up again", "Resume this run?")
        .with_prose(&run.about, theme::STRONG)
        .with_text(&facts.join(" · "), theme::PLAIN)
        .with_text(
            "It continues where it stopped, and every turn waits for you. A finished run here moves to the history.",
            theme::PLAIN,
        )
        .with_choice(
            'y',
            "Resume the run",
            ChoiceAction::ActAndClose(vec![Action::BringBack(run.name.clone())]),
        )
        .with_choice('n', "No, change nothing", ChoiceAction::Close)
}

fn choice_key(at: usize) -> char {
    RUN_KEYS.get(at).copied().unwrap_or(NO_KEY_SIGN)
}

fn summarize_run(run: &RunListEntry) -> String {
    let parts = [&run.date, &run.ended, &run.about, &run.progress];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join(" · ")
}
