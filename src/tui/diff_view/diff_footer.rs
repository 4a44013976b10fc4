//! What the footer shows for a diff: its hints, and the position in it once the run is over.

use crate::domain::run::RunState;
use crate::tui::keymap::KeyHint;

/// The labels of the hints, in their order.
const HINTS: [&str; 5] = ["step", "file", "side by side", "undo step", "close"];
/// From this width on, the footer has room for the position.
const MIN_COLUMNS: u16 = 80;

/// Where the position in the diff is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionPlace {
    /// In the footer, in place of what happens now: the run is over.
    Footer,
    LastRow,
}

/// Returns where the position in a diff is shown in a window of this width.
pub fn position_place(state: Option<&RunState>, columns: u16) -> PositionPlace {
    let is_over = state.is_some_and(RunState::is_over);
    if is_over && columns >= MIN_COLUMNS {
        PositionPlace::Footer
    } else {
        PositionPlace::LastRow
    }
}

/// Chooses the hints that have an effect now.
pub fn choose_hints(all: &[KeyHint]) -> Vec<KeyHint> {
    let named = |label| all.iter().find(|hint| hint.label == label).cloned();
    HINTS.into_iter().filter_map(named).collect()
}
