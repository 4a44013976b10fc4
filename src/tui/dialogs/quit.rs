//! Dialog: leave, although something runs beside the workflow? It says what ends with the program, and what becomes of it.
//!
//! Of a turn of the workflow alone nothing is asked: the next start offers to go on with it.

use crate::domain::run::State;
use crate::domain::task::Child;
use crate::text::n_of;
use crate::tui::action::{Action, QuitStep};
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

/// The identity of the dialog.
pub const ID: &str = "confirm quit";
/// How many of those that run are named.
const MAX_NAMED: usize = 4;

/// The dialog, where tasks or discussions run; `key` is that of leaving.
pub fn sheet(state: &State, key: &str) -> Option<Sheet> {
    let is_task = |child: &&Child| child.is_running() && child.order.speaks.is_none();
    let tasks: Vec<&Child> = state.children.iter().filter(is_task).collect();
    let talks = state.discussions.iter().filter(|each| each.is_running());
    let talks: Vec<&str> = talks.map(|each| each.order.topic.as_str()).collect();
    let counts = [(tasks.len(), "task"), (talks.len(), "discussion")];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| n_of(n, what))
        .collect();
    if counts.is_empty() {
        return None;
    }
    let title = format!("leave, and end {}?", counts.join(" and "));
    let named = tasks.iter().map(|child| {
        let about = one_line(&child.order.description);
        format!("{}: {about}", child.order.name())
    });
    let talked = talks
        .iter()
        .map(|topic| format!("discussion: {}", one_line(topic)));
    let named: Vec<String> = named.chain(talked).collect();
    let mut sheet = Sheet::new(ID, &title)
        .until_closed()
        .says(&super::listed(&named, MAX_NAMED), theme::CODE);
    if !tasks.is_empty() {
        let text = "A task ends where it is. What it said stays in its session, which can be gone on with.";
        sheet = sheet.says(text, theme::PLAIN);
    }
    if !talks.is_empty() {
        let text = "A discussion keeps its finished rounds; /discuss-on goes on after them.";
        sheet = sheet.says(text, theme::PLAIN);
    }
    let leave = Then::ActAndBack(vec![Action::Quit(QuitStep::Ask)]);
    let sheet = sheet
        .says(
            "The run is saved; the next start offers to go on.",
            theme::QUIET,
        )
        .offers('y', &format!("leave, and end them ({key} too)"), leave)
        .offers('n', "no, back", Then::Back)
        .first(1);
    Some(sheet)
}
