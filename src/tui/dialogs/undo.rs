//! Dialog: shall steps be undone or redone? It says exactly what would happen, and to whose files.
//!
//! Enter does nothing: what puts files back takes a choice of its own.

use super::listed;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::reversal_plan::{FileReversalKind, ReversalPreview, UndoDirection, steps_label};
use crate::tui::action::Action;
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::words::short_commit;

/// How many files are named before the rest is counted.
const N_FILES: usize = 6;

/// The dialog of the first offer; the others are its further choices.
pub fn sheet(offers: &[ReversalPreview], phase: Phase) -> Option<Sheet> {
    let (offer, others) = offers.split_first()?;
    let what = format!("{} {}", offer.way.verb(), steps_label(&offer.steps));
    let mut sheet = body(offer, phase);
    sheet = sheet.offers('y', &what, Then::ActAndBack(vec![asked(offer)]));
    for (key, other) in ['o', 't'].into_iter().zip(others) {
        let key = match other.way {
            UndoDirection::Undo { .. } => key,
            UndoDirection::Redo => 'r',
        };
        let label = format!(
            "{} {} instead …",
            other.way.verb(),
            steps_label(&other.steps)
        );
        let instead = sheet_of(other, phase);
        sheet = sheet.offers(key, &label, Then::Confirm(Box::new(instead)));
    }
    Some(ends(sheet, offer))
}

fn sheet_of(offer: &ReversalPreview, phase: Phase) -> Sheet {
    let what = format!("{} {}", offer.way.verb(), steps_label(&offer.steps));
    let sheet = body(offer, phase).offers('y', &what, Then::ActAndBack(vec![asked(offer)]));
    ends(sheet, offer)
}

fn ends(sheet: Sheet, offer: &ReversalPreview) -> Sheet {
    let scope = match offer.steps.as_slice() {
        [only] => DiffScope::Step(*only),
        _ => DiffScope::All,
    };
    let sheet = match offer.way {
        UndoDirection::Undo { .. } => {
            sheet.offers('d', "read the diff", Then::Do(Command::Diff(scope)))
        }
        UndoDirection::Redo => sheet,
    };
    let sheet = sheet.offers('n', "no, back", Then::Back);
    let last = sheet.choices.len().saturating_sub(1);
    sheet.first(last)
}

fn asked(offer: &ReversalPreview) -> Action {
    Action::Event(Event::UndoAsked {
        way: offer.way,
        seen: offer.inspected_tree.clone(),
    })
}

fn body(offer: &ReversalPreview, phase: Phase) -> Sheet {
    let title = format!("{} {}?", offer.way.verb(), steps_label(&offer.steps));
    let id = format!("{title} {}", offer.inspected_tree);
    let names: Vec<String> = offer.files.iter().map(file).collect();
    let mut sheet = Sheet::new(id, &title);
    // Where the window is small, what the user would lose is what is seen.
    if !offer.user_edited.is_empty() {
        let yours = format!(
            "CHANGED SINCE by you or another program, and put back all the same:\n{}",
            listed(&offer.user_edited, N_FILES)
        );
        sheet = sheet.says(&yours, theme::BAD);
    }
    if let Some(step) = offer.unfinished {
        let unfinished = format!(
            "Step {step} is not through: all that changed since it began goes, what you changed too."
        );
        sheet = sheet.says(&unfinished, theme::BAD);
    }
    sheet = sheet.says(&about_files(offer), theme::PLAIN);
    if !names.is_empty() {
        sheet = sheet.says(&listed(&names, N_FILES), theme::CODE);
    }
    sheet = sheet
        .says(&about_commits(offer), theme::PLAIN)
        .says(about_others(offer), theme::PLAIN)
        .says(about_run(offer, phase), theme::PLAIN);
    sheet.whole = Some((title, whole(offer, phase, &names)));
    sheet
}

fn about_files(offer: &ReversalPreview) -> String {
    let n = offer.files.len();
    let files = if n == 1 {
        "1 file"
    } else {
        &format!("{n} files")
    };
    match (offer.way, offer.files.is_empty()) {
        (_, true) => "No file changes: the tree is that way already.".to_owned(),
        (UndoDirection::Undo { step }, false) => {
            format!("The tree goes back to before step {step}: {files}")
        }
        (UndoDirection::Redo, false) => format!("The tree goes to what was undone: {files}"),
    }
}

fn file((fate, name): &(FileReversalKind, String)) -> String {
    match fate {
        FileReversalKind::Modify => format!("~ {name}"),
        FileReversalKind::Restore => format!("+ {name} (comes back)"),
        FileReversalKind::Delete => format!("- {name} (goes away)"),
    }
}

fn about_commits(offer: &ReversalPreview) -> String {
    let Some(subject) = &offer.commit_subject else {
        return "No commit is made: nothing of this was committed.".to_owned();
    };
    let commits: Vec<String> = offer
        .commits
        .iter()
        .map(|(commit, subject)| format!("{} {subject}", short_commit(commit)))
        .collect();
    // Its text is that of the step; the mark says which one.
    let mark = subject
        .split_once(']')
        .map_or(subject.as_str(), |(mark, _)| mark);
    format!(
        "One new commit, `{mark}]`, takes back what these did; history stays as it is:\n{}",
        listed(&commits, N_FILES)
    )
}

fn about_others(offer: &ReversalPreview) -> &'static str {
    match offer.way {
        UndoDirection::Undo { .. } => {
            "Your other files stay. All that lies there now is kept; /redo brings it back."
        }
        UndoDirection::Redo => "Your other files stay. All that lies there now is kept.",
    }
}

fn about_run(offer: &ReversalPreview, phase: Phase) -> &'static str {
    match (phase, offer.way) {
        (Phase::Execute, UndoDirection::Undo { .. }) => {
            "The boxes are opened; the first of these steps is the next turn, at the manual gate."
        }
        (Phase::Execute, UndoDirection::Redo) => {
            "The boxes are ticked; the next turn waits at the manual gate."
        }
        (_, UndoDirection::Undo { .. }) => "The boxes are opened; the run stays as it is.",
        (_, UndoDirection::Redo) => "The boxes are ticked; the run stays as it is.",
    }
}

fn whole(offer: &ReversalPreview, phase: Phase, names: &[String]) -> String {
    let list = |names: &[String]| {
        let lines = names.iter().map(|name| format!("    {name}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut parts = vec![about_files(offer), list(names)];
    if !offer.user_edited.is_empty() {
        parts.push("Changed since by you or another program:".to_owned());
        parts.push(list(&offer.user_edited));
    }
    parts.extend([
        about_commits(offer),
        about_others(offer).to_owned(),
        about_run(offer, phase).to_owned(),
        "What is kept lies under refs/agent-collab/ in git; the log of the steps names its tree."
            .to_owned(),
    ]);
    parts.join("\n\n")
}
