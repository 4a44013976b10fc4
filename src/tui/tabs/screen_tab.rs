//! What a tab can do: the trait that every tab implements.
//!
//! A tab owns its view state and returns what it asks of the screen; it never reaches into another tab.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, UnixMillis};
use crate::domain::plan_thread::UserNote;
use crate::domain::run::RunState;
use crate::tui::clickable_keys::mark_hint;
use crate::tui::command_table::changes_run;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::labels::LocalClock;
use crate::tui::scroll_view::{ScrollTarget, ScrollView};
use crate::tui::searchable_view::SearchableView;
use crate::tui::theme;
use crate::tui::truncated_call::TruncatedToolCall;
use crate::tui::view_moves::{ScrollMove, SelectionMove};

/// The maximum width of a page.
const MAX_PAGE_COLUMNS: u16 = 116;

/// Actions with a short label; related actions share one.
pub type TabHints = &'static [(&'static [&'static str], &'static str)];

/// What a tab can see of the run and of the user's settings.
#[derive(Debug, Clone, Copy)]
pub struct TabContext<'a> {
    pub state: Option<&'a RunState>,
    pub documents: &'a DisplayDocuments,
    pub keymap: &'a ActiveKeymap,
    /// Converts times to the user's time zone.
    pub clock: LocalClock,
    /// Path of the repository, which is removed from other paths.
    pub repository: &'a str,
    /// Shown by a tab that has nothing else to show.
    pub empty_note: &'static str,
    /// Whether the keys apply to the tab; of two panes, only that one names its keys.
    pub has_keys: bool,
    /// Whether letters are commands, not a text in the composer.
    pub takes_letters: bool,
    /// Whether the tab is the second pane beside the comments.
    pub is_beside_comments: bool,
    /// Whether the run is only looked at.
    pub is_read_only: bool,
}

impl<'a> TabContext<'a> {
    /// Returns the key of an action outside the composer.
    pub fn key(&self, action: &str) -> String {
        self.keymap.key_label(action, ComposerFocus::Unfocused)
    }

    /// Names actions with their keys, for a row below the selected entry; nothing while letters are no commands here.
    pub fn action_spans(&self, actions: &[(&str, &str)]) -> Vec<(String, Style)> {
        let mut spans = Vec::new();
        let actions = actions.iter();
        for (action, what) in actions.filter(|_| self.has_keys && self.takes_letters) {
            let found = self.keymap.action_key(action, ComposerFocus::Unfocused);
            let Some((key, command)) = found else {
                continue;
            };
            if self.is_read_only && changes_run(&command) {
                continue;
            }
            if !spans.is_empty() {
                spans.push(("   ".to_owned(), theme::PLAIN));
            }
            spans.push((key, mark_hint(theme::KEY)));
            spans.push((format!(" {what}"), mark_hint(theme::QUIET)));
        }
        spans
    }

    /// Returns the keys to name on the page: none, if another pane has the keys.
    pub fn page_keys(&self) -> Option<&'a ActiveKeymap> {
        Some(self.keymap).filter(|_| self.has_keys)
    }
}

/// The result of selecting the next or the previous entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionStep {
    /// This entry is selected now.
    Selected(ScrollTarget),
    /// There is no entry in that direction.
    AtEdge,
    /// There is nothing to select yet, for this reason.
    Empty(&'static str),
    /// The tab has no entries.
    NoList,
}

/// What opening the selected entry asks of the screen.
#[derive(Debug, PartialEq, Eq)]
pub enum OpenedEntry {
    /// Nothing: the tab opened or folded it.
    InPlace,
    Text {
        title: String,
        text: String,
    },
    Diff(DiffScope),
    Discussion(DiscussionId),
    /// It cannot be opened, for this reason.
    Refused(&'static str),
    /// Something has to be selected first; this says what.
    NotSelected(&'static str),
    /// The tab has no entries.
    NoList,
}

/// A tab of the screen.
pub trait ScreenTab: SearchableView {
    /// Returns the actions that apply to the tab, with short labels, for the footer.
    fn hints(&self) -> TabHints {
        &[]
    }

    /// Returns the actions that apply to the tab, for the palette and the help.
    fn actions(&self) -> TabHints {
        self.hints()
    }

    /// Names what up and down select.
    fn entries_label(&self) -> &'static str {
        "select"
    }

    /// Returns whether one of its hints makes sense now.
    fn is_hint_useful(&self, _label: &str, _context: &TabContext<'_>) -> bool {
        true
    }

    /// Applies a recorded event, live or replayed.
    fn on_event(&mut self, _at: UnixMillis, _event: &Event) {}

    /// Returns a number that grows when there is something new to read; always 0 for a tab that changes with
    /// every event.
    fn revision(&self, _documents: &DisplayDocuments) -> u64 {
        0
    }

    /// Returns the count behind the title; may be empty.
    fn count(&self, _state: &RunState) -> String {
        String::new()
    }

    /// Returns the page that the tab scrolls; the chat scrolls itself.
    fn page(&mut self) -> Option<&mut ScrollView>;

    /// Returns the part of an area that its page takes.
    fn page_area(&self, area: Rect) -> Rect {
        limit_page_width(area)
    }

    /// Draws the tab into its page area.
    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, now: UnixMillis);

    /// Scrolls; `page_rows` is the height of the window.
    fn scroll(&mut self, to: ScrollMove, _page_rows: u16) {
        if let Some(page) = self.page() {
            page.scroll(to);
        }
    }

    /// Returns what decides whether a target of its page is an entry of its list.
    fn entry_filter(&self) -> fn(ScrollTarget) -> bool {
        |_| false
    }

    /// Returns the selected entry of its list.
    fn selected_entry(&self, _context: &TabContext<'_>) -> Option<ScrollTarget> {
        None
    }

    /// Returns whether anything is selected that can be opened.
    fn has_selection(&self, context: &TabContext<'_>) -> bool {
        self.selected_entry(context).is_some()
    }

    /// Selects a target, if it is an entry of its list.
    fn select(&mut self, _mark: ScrollTarget) {}

    /// Selects the next or the previous entry, and scrolls to it.
    fn select_adjacent(
        &mut self,
        _along: SelectionMove,
        _context: &TabContext<'_>,
    ) -> SelectionStep {
        SelectionStep::NoList
    }

    /// Shows what the pane beside it is about.
    fn follow_selection_beside(&mut self, _mark: ScrollTarget) {}

    /// Clears the selection, and what else Esc ends; returns whether there was anything.
    fn clear_selection(&mut self, _context: &TabContext<'_>) -> bool {
        false
    }

    /// Selects the entry at a position; returns whether the click opens it.
    fn click(&mut self, _at: Position) -> bool {
        false
    }

    /// Opens or folds the selected entry.
    fn open_selection(&mut self, _context: &TabContext<'_>) -> OpenedEntry {
        OpenedEntry::NoList
    }

    /// Switches to the next filter; `None` if the tab has none.
    ///
    /// # Errors
    /// Why the filter cannot be switched.
    fn cycle_filter(&mut self, _context: &TabContext<'_>) -> Option<Result<(), &'static str>> {
        None
    }

    /// Returns the text of the selected entry, for copying.
    fn selected_text(&self, _context: &TabContext<'_>) -> Option<String> {
        None
    }

    /// Returns the text of the tab, for copying when nothing is selected.
    ///
    /// # Errors
    /// Why there is none.
    fn whole_text(&mut self, context: &TabContext<'_>) -> Result<String, String>;

    /// Returns the texts whose code blocks can be copied when nothing is selected; `None`: those of the tab's text.
    fn agent_texts(&self) -> Option<Vec<String>> {
        None
    }

    /// Returns the selected discussion.
    fn selected_discussion(&self) -> Option<&DiscussionId> {
        None
    }

    /// Returns the selected call, if only a part of its output is shown.
    fn selected_truncated_call(&self) -> Option<TruncatedToolCall> {
        None
    }

    /// Returns the line of the plan that the selection is about, from 1, and its text.
    fn noted_place(&self, _context: &TabContext<'_>) -> Option<UserNote> {
        None
    }
}

/// Limits the width of a page: long lines are hard to read.
pub fn limit_page_width(area: Rect) -> Rect {
    Rect {
        width: area.width.min(MAX_PAGE_COLUMNS),
        ..area
    }
}

/// Selects the entry above or below with the line keys; returns whether the selection changed. An entry longer than
/// the window is scrolled to its end first.
pub fn step_entry(tab: &mut dyn ScreenTab, is_next: bool, context: &TabContext<'_>) -> bool {
    let before = tab.selected_entry(context);
    let shown = tab
        .page()
        .and_then(|page| before.filter(|mark| page.is_target_visible(*mark)));
    let Some(mark) = shown else {
        return select_visible_entry(tab, is_next);
    };
    if tab
        .page()
        .is_some_and(|page| page.extends_beyond_view(mark, is_next))
    {
        return false;
    }
    let along = if is_next {
        SelectionMove::Next
    } else {
        SelectionMove::Previous
    };
    tab.select_adjacent(along, context);
    let now = tab.selected_entry(context);
    if let (Some(mark), Some(page)) = (now, tab.page()) {
        page.reveal(mark);
    }
    now != before
}

/// Selects the first or the last visible entry; returns whether there is one.
fn select_visible_entry(tab: &mut dyn ScreenTab, is_next: bool) -> bool {
    // In a list that follows its end, the latest entry is the most interesting.
    let is_first = is_next && !tab.starts_at_end();
    let is_entry = tab.entry_filter();
    let visible = tab
        .page()
        .and_then(|page| page.visible_target(is_first, is_entry));
    let Some(mark) = visible else {
        return false;
    };
    if let Some(page) = tab.page() {
        page.reveal(mark);
    }
    tab.select(mark);
    true
}
