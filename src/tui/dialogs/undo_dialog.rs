//! Dialog: undo or redo steps? It says exactly what would happen, and to whose files.
//!
//! Enter does nothing: to restore files, the user selects another choice.

use super::list_names;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::reversal_plan::{FileReversalKind, ReversalPreview, UndoDirection};
use crate::tui::action::Action;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight};
use crate::tui::labels::short_commit;
use crate::tui::theme;

/// How many files are listed before the rest is counted.
const MAX_LISTED_FILES: usize = 6;

/// Builds the dialog of the first offer; the other offers become further choices.
pub fn build_dialog(offers: &[ReversalPreview], phase: Phase) -> Option<ChoiceDialog> {
    let (offer, others) = offers.split_first()?;
    let what = offer.way.label_with_steps(&offer.steps);
    let mut sheet = base_dialog(offer, phase);
    sheet = sheet.with_choice(
        'y',
        &what,
        ChoiceAction::ActAndClose(vec![undo_action(offer)]),
    );
    for (key, other) in ['o', 't'].into_iter().zip(others) {
        let key = match other.way {
            UndoDirection::Undo { .. } => key,
            UndoDirection::Redo => 'r',
        };
        let label = format!("{} instead…", other.way.label_with_steps(&other.steps));
        let instead = build_further_dialog(other, phase);
        sheet = sheet.with_choice(key, &label, ChoiceAction::Confirm(Box::new(instead)));
    }
    Some(add_final_choices(sheet, offer))
}

fn build_further_dialog(offer: &ReversalPreview, phase: Phase) -> ChoiceDialog {
    let what = offer.way.label_with_steps(&offer.steps);
    let sheet = base_dialog(offer, phase).with_choice(
        'y',
        &what,
        ChoiceAction::ActAndClose(vec![undo_action(offer)]),
    );
    add_final_choices(sheet, offer)
}

fn add_final_choices(sheet: ChoiceDialog, offer: &ReversalPreview) -> ChoiceDialog {
    let scope = match offer.steps.as_slice() {
        [only] => DiffScope::Step(*only),
        _ => DiffScope::All,
    };
    let sheet = match offer.way {
        UndoDirection::Undo { .. } => sheet.with_choice(
            'd',
            "Read the diff",
            ChoiceAction::RunCommand(ScreenCommand::Diff(scope)),
        ),
        UndoDirection::Redo => sheet,
    };
    let sheet = sheet.with_choice('n', "No, change nothing", ChoiceAction::Close);
    let last = sheet.choices.len().saturating_sub(1);
    sheet.with_first_choice(last)
}

fn undo_action(offer: &ReversalPreview) -> Action {
    Action::Event(Event::UndoAsked {
        way: offer.way,
        seen: offer.inspected_tree.clone(),
    })
}

fn base_dialog(offer: &ReversalPreview, phase: Phase) -> ChoiceDialog {
    let title = format!("{}?", offer.way.label_with_steps(&offer.steps));
    let id = format!("{} {}", title.to_lowercase(), offer.inspected_tree);
    let names: Vec<String> = offer.files.iter().map(describe_file).collect();
    let mut sheet = ChoiceDialog::new(id, &title).with_weight(DialogWeight::Destructive);
    // This goes first, so that a small window still shows what the user would lose.
    if !offer.user_edited.is_empty() {
        let yours = format!(
            "Changed since by you or another program, and overwritten anyway:\n{}",
            list_names(&offer.user_edited, MAX_LISTED_FILES)
        );
        sheet = sheet.with_text(&yours, theme::BAD);
    }
    if let Some(step) = offer.unfinished {
        let unfinished = format!(
            "Step {step} is not finished. All changes since its start are removed, yours too."
        );
        sheet = sheet.with_text(&unfinished, theme::BAD);
    }
    sheet = sheet.with_text(&describe_files(offer), theme::PLAIN);
    if !names.is_empty() {
        sheet = sheet.with_text(&list_names(&names, MAX_LISTED_FILES), theme::CODE);
    }
    sheet = sheet
        .with_prose(&describe_commits(offer), theme::PLAIN)
        .with_text(describe_other_files(offer), theme::PLAIN)
        .with_text(&describe_run_effect(offer, phase), theme::PLAIN);
    sheet.full_text = Some((title, full_text(offer, phase, &names)));
    sheet
}

fn describe_files(offer: &ReversalPreview) -> String {
    let n = offer.files.len();
    let files = if n == 1 {
        "1 file"
    } else {
        &format!("{n} files")
    };
    match (offer.way, offer.files.is_empty()) {
        (_, true) => "No files change. The working tree is already like that.".to_owned(),
        (UndoDirection::Undo { step }, false) => {
            format!("The working tree returns to before step {step}: {files}")
        }
        (UndoDirection::Redo, false) => {
            format!("The undone changes return to the working tree: {files}")
        }
    }
}

fn describe_file((fate, name): &(FileReversalKind, String)) -> String {
    match fate {
        FileReversalKind::Modify => format!("~ {name}"),
        FileReversalKind::Restore => format!("+ {name} (restored)"),
        FileReversalKind::Delete => format!("- {name} (removed)"),
    }
}

fn describe_commits(offer: &ReversalPreview) -> String {
    if offer.commit_subject.is_none() {
        return "No new commit, because none of this was committed.".to_owned();
    }
    let commits: Vec<String> = offer
        .commits
        .iter()
        .map(|(commit, subject)| format!("{} {subject}", short_commit(commit)))
        .collect();
    // The commit's text repeats the step's; the mark says which step it is.
    let mark = offer.way.label_with_steps(&offer.steps);
    format!(
        "One new commit, `[{mark}]`, reverts these (history is kept):\n{}",
        list_names(&commits, MAX_LISTED_FILES)
    )
}

fn describe_other_files(offer: &ReversalPreview) -> &'static str {
    match offer.way {
        UndoDirection::Undo { .. } => {
            "Your other files stay. The current state is kept, and /redo restores it."
        }
        UndoDirection::Redo => "Your other files stay. The current state is kept.",
    }
}

fn describe_run_effect(offer: &ReversalPreview, phase: Phase) -> String {
    let (steps, next) = match offer.steps.len() {
        1 => ("This step is", "It is the next turn"),
        _ => ("These steps are", "The first of them is the next turn"),
    };
    let (mark, next) = match offer.way {
        UndoDirection::Undo { .. } => ("open again", next),
        UndoDirection::Redo => ("marked done", "The next turn waits for you"),
    };
    let run = match phase {
        Phase::Execute => format!("{next}, in Manual."),
        phase if phase.is_final() => "The run stays finished.".to_owned(),
        phase => format!("The run stays in {}.", phase.label()),
    };
    format!("{steps} {mark}. {run}")
}

fn full_text(offer: &ReversalPreview, phase: Phase, names: &[String]) -> String {
    let list = |names: &[String]| {
        let lines = names.iter().map(|name| format!("    {name}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut parts = vec![describe_files(offer), list(names)];
    if !offer.user_edited.is_empty() {
        parts.push("Changed since by you or another program:".to_owned());
        parts.push(list(&offer.user_edited));
    }
    parts.extend([
        describe_commits(offer),
        describe_other_files(offer).to_owned(),
        describe_run_effect(offer, phase),
        "The kept state is in git under refs/agent-collab/, and the step log names it.".to_owned(),
    ]);
    parts.join("\n\n")
}
