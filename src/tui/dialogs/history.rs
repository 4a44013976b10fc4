//! Dialog: the finished runs, one of which can be opened.

use crate::text::n_of;
use crate::tui::action::Action;
use crate::tui::read_only::PastRun;
use crate::tui::sheet::{Sheet, Then};

/// The keys of the first runs; those after them are reached by the arrows.
const KEYS: [char; 9] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
/// In the place of a key.
const NO_KEY: char = '·';

/// Lets one of the runs be chosen, the latest first.
pub fn sheet(runs: &[PastRun]) -> Sheet {
    let title = format!(
        "{}: open which one, read-only?",
        n_of(runs.len(), "finished run")
    );
    let mut sheet = Sheet::list("history", &title);
    for (at, run) in runs.iter().enumerate() {
        let key = KEYS.get(at).copied().unwrap_or(NO_KEY);
        let parts = [&run.date, &run.ended, &run.about, &run.how_far];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let label = parts.map(String::as_str).collect::<Vec<_>>().join(" · ");
        let open = vec![Action::OpenRun(run.name.clone())];
        sheet = sheet.offers(key, &label, Then::ActAndBack(open));
    }
    sheet
}
