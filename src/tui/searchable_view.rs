//! What the search bar can search: a tab, a long text, a diff.

use super::scroll_view::ScrollView;
use super::transcript::LogSearchProgress;
use crate::domain::run::RunState;

/// A view that can be searched. The search bar calls `begin_search` first and `end_search` last. A view whose text is
/// one page only names the page; the others search by themselves.
pub trait SearchableView {
    /// Returns the page that is searched.
    fn searched_page(&self) -> Option<&ScrollView>;

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView>;

    /// Remembers the position and the selection, where the search starts.
    fn begin_search(&mut self) {
        if let Some(page) = self.searched_page_mut() {
            page.begin_search();
        }
    }

    /// Searches for letters, ignoring case, from where the search began; without letters, goes back there.
    fn search(&mut self, letters: &str) {
        if let Some(page) = self.searched_page_mut() {
            page.search(letters);
        }
    }

    /// Goes to the next or the previous match.
    fn step_match(&mut self, is_next: bool, _state: Option<&RunState>) {
        if let Some(page) = self.searched_page_mut() {
            page.step_match(is_next);
        }
    }

    /// Returns which match is current, from 1, and how many there are.
    fn match_position(&self, _state: Option<&RunState>) -> (usize, usize) {
        self.searched_page()
            .map_or((0, 0), ScrollView::match_position)
    }

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
    fn cancel_search(&mut self) {
        if let Some(page) = self.searched_page_mut() {
            page.cancel_search();
        }
    }

    /// Ends the search; the view stays where it is.
    fn end_search(&mut self) {
        if let Some(page) = self.searched_page_mut() {
            page.end_search();
        }
    }
}
