//! What the search bar can search: a tab, a long text, a diff.

use super::transcript::LogSearchProgress;
use crate::domain::run::RunState;

/// A view that can be searched. The search bar calls `begin_search` first and `end_search` last.
pub trait SearchableView {
    /// Remembers the position and the selection, where the search starts.
    fn begin_search(&mut self);

    /// Searches for letters, ignoring case, from where the search began; without letters, goes back there.
    fn search(&mut self, letters: &str);

    /// Goes to the next or the previous match.
    fn step_match(&mut self, is_next: bool, state: Option<&RunState>);

    /// Returns which match is current, from 1, and how many there are.
    fn match_position(&self, state: Option<&RunState>) -> (usize, usize);

    /// Returns what is searched, as in "no match in this text".
    fn searched_name(&self) -> &'static str;

    /// Returns how much of the view was searched; most views are loaded in full.
    fn search_progress(&self) -> LogSearchProgress {
        LogSearchProgress::Complete
    }

    /// Returns whether the view follows its end, so that a search starts there and goes up.
    fn starts_at_end(&self) -> bool {
        false
    }

    /// Selects the current match, so that the next keys apply to it.
    fn accept_match(&mut self) {}

    /// Goes back to where the search began.
    fn cancel_search(&mut self);

    /// Ends the search; the view stays where it is.
    fn end_search(&mut self);
}
