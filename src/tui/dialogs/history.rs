//! Dialogs: the finished runs, one of which can be opened; and an unfinished one of them, taken up again.

use crate::text::pluralize;
use crate::tui::action::Action;
use crate::tui::read_only::{PastRun, Rest};
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;

/// The keys of the first runs; those after them are reached by the arrows.
const KEYS: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
/// In the place of a key.
const NO_KEY: char = '·';

/// Lets one of the runs be chosen, the latest first.
pub fn sheet(runs: &[PastRun]) -> Sheet {
    let title = format!(
        "{}: open which one, read-only?",
        pluralize(runs.len(), "finished run")
    );
    let mut sheet = Sheet::list("history", &title);
    for (at, run) in runs.iter().enumerate() {
        let open = Then::ActAndBack(vec![Action::OpenRun(run.name.clone())]);
        sheet = sheet.offers(key(at), &in_a_line(run), open);
    }
    let unfinished = runs.iter().filter(|run| run.rest == Rest::Unfinished);
    let unfinished: Vec<&PastRun> = unfinished.collect();
    match unfinished.as_slice() {
        [] => sheet,
        [only] => {
            let label = format!("take up again: {}", only.about);
            sheet.offers('r', &label, Then::Confirm(Box::new(take_up(only))))
        }
        several => {
            let which = Then::Confirm(Box::new(which(several)));
            sheet.offers('r', "take an unfinished one up again …", which)
        }
    }
}

/// Which of several unfinished runs is taken up again?
fn which(runs: &[&PastRun]) -> Sheet {
    let mut sheet = Sheet::list("history again", "take which one up again?");
    for (at, run) in runs.iter().enumerate() {
        let ask = Then::Confirm(Box::new(take_up(run)));
        sheet = sheet.offers(key(at), &in_a_line(run), ask);
    }
    sheet
}

/// Is this unfinished run taken up again?
pub fn take_up(run: &PastRun) -> Sheet {
    let facts = [&run.date, &run.ended, &run.how_far].into_iter();
    let facts: Vec<&str> = facts
        .filter(|fact| !fact.is_empty())
        .map(String::as_str)
        .collect();
    Sheet::list("take up again", "take this run up again?")
        .says(&run.about, theme::STRONG)
        .says(&facts.join(" · "), theme::PLAIN)
        .says(
            "It goes on where it was left, with every turn waiting for you. A finished run that lies here goes to the history.",
            theme::PLAIN,
        )
        .offers(
            'y',
            "take it up again",
            Then::ActAndBack(vec![Action::BringBack(run.name.clone())]),
        )
        .offers('n', "no, back", Then::Back)
}

fn key(at: usize) -> char {
    KEYS.get(at).copied().unwrap_or(NO_KEY)
}

fn in_a_line(run: &PastRun) -> String {
    let parts = [&run.date, &run.ended, &run.about, &run.how_far];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join(" · ")
}
