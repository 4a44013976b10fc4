//! The Log tab: what selecting, opening and searching mean in it.

use super::{EventLogList, LogTabContext, draw};
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::scroll_view::{ScrollTarget, ScrollView};
use crate::tui::searchable_view::SearchableView;
use crate::tui::tabs::screen_tab::{OpenedEntry, ScreenTab, SelectionStep, TabContext};
use crate::tui::tabs::{POINT_HINT, TabHints};
use crate::tui::transcript::LogSearchProgress;
use crate::tui::view_moves::{ScrollMove, SelectionMove};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};

#[derive(Debug)]
pub struct LogTab {
    pub page: ScrollView,
    pub events: EventLogList,
    /// The letters that a listed event must contain, in lower case; empty without a search.
    query: String,
    /// The event that was selected when the open search began.
    selected_before: Option<i64>,
}

impl Default for LogTab {
    fn default() -> Self {
        Self {
            page: ScrollView::following_end(),
            events: EventLogList::default(),
            query: String::new(),
            selected_before: None,
        }
    }
}

impl SearchableView for LogTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        Some(&self.page)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn begin_search(&mut self) {
        self.page.begin_search();
        self.selected_before = self.events.selected_event();
    }

    fn search(&mut self, letters: &str) {
        // The list is filtered by the letters when it is drawn.
        self.query = letters.to_lowercase();
    }

    fn step_match(&mut self, is_next: bool, state: Option<&RunState>) {
        if let Some(mark) = self.events.move_selection(is_next, &self.query, state) {
            self.page.scroll_to(mark);
        }
    }

    fn match_position(&self, state: Option<&RunState>) -> (usize, usize) {
        self.events.match_position(&self.query, state)
    }

    fn searched_name(&self) -> &'static str {
        // `log.md`, shown above the events, is not searched.
        if self.events.is_filtered() {
            "the listed events"
        } else {
            "the events"
        }
    }

    fn search_progress(&self) -> LogSearchProgress {
        self.events.search_progress()
    }

    fn starts_at_end(&self) -> bool {
        true
    }

    fn cancel_search(&mut self) {
        self.page.cancel_search();
        self.events.restore_selection(self.selected_before);
    }

    fn end_search(&mut self) {
        self.page.end_search();
        self.query.clear();
    }
}

impl ScreenTab for LogTab {
    fn hints(&self) -> TabHints {
        &[POINT_HINT, (&["open"], "open"), (&["filter"], "filter")]
    }

    fn is_hint_useful(&self, _label: &str, _context: &TabContext<'_>) -> bool {
        !self.events.rows.is_empty()
    }

    fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.events.on_event(at, event);
    }

    fn page(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn page_area(&self, area: Rect) -> Rect {
        // The log limits the length of its rows itself.
        Rect {
            width: area.width.saturating_sub(1),
            ..area
        }
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, _now: UnixMillis) {
        self.page.set_page_keys(context.page_keys());
        let about = LogTabContext {
            log: &context.documents.log,
            query: &self.query,
            state: context.state,
            clock: context.clock,
            keymap: context.keymap,
            repository: context.repository,
        };
        draw(&mut self.page, &mut self.events, frame, area, about);
    }

    fn scroll(&mut self, to: ScrollMove, _page_rows: u16) {
        let is_at_top = to == ScrollMove::PageUp && self.page.is_first_target_visible();
        if is_at_top && self.events.request_older() {
            return;
        }
        self.page.scroll(to);
    }

    fn entry_filter(&self) -> fn(ScrollTarget) -> bool {
        |mark| matches!(mark, ScrollTarget::Row(_))
    }

    fn selected_entry(&self, _context: &TabContext<'_>) -> Option<ScrollTarget> {
        self.events.selected_event().map(ScrollTarget::Row)
    }

    fn select(&mut self, mark: ScrollTarget) {
        if let ScrollTarget::Row(n) = mark {
            self.events.select_event(n);
        }
    }

    fn select_adjacent(&mut self, along: SelectionMove, context: &TabContext<'_>) -> SelectionStep {
        let is_next = along.is_forward();
        match self
            .events
            .move_selection(is_next, &self.query, context.state)
        {
            Some(mark) => {
                self.page.scroll_to(mark);
                SelectionStep::Selected(mark)
            }
            None => SelectionStep::AtEdge,
        }
    }

    fn clear_selection(&mut self, _context: &TabContext<'_>) -> bool {
        self.events.clear_selection()
    }

    fn click(&mut self, at: Position) -> bool {
        let Some(ScrollTarget::Row(n)) = self.page.target_at(at) else {
            return false;
        };
        let was = self.events.selected_event() == Some(n);
        self.events.select_event(n);
        was
    }

    fn open_selection(&mut self, context: &TabContext<'_>) -> OpenedEntry {
        let TabContext {
            state,
            clock,
            repository,
            ..
        } = *context;
        match self.events.selected_detail(state, clock, repository) {
            Some((title, text)) => OpenedEntry::Text { title, text },
            None => OpenedEntry::NotSelected("an event"),
        }
    }

    fn cycle_filter(&mut self, _context: &TabContext<'_>) -> Option<Result<(), &'static str>> {
        self.events.next_filter();
        Some(Ok(()))
    }

    fn selected_text(&self, context: &TabContext<'_>) -> Option<String> {
        let TabContext {
            state,
            clock,
            repository,
            ..
        } = *context;
        let detail = self.events.selected_detail(state, clock, repository);
        detail.map(|(_, text)| text)
    }

    fn whole_text(&mut self, context: &TabContext<'_>) -> Result<String, String> {
        let (before, next) = (context.key("previous-block"), context.key("next-block"));
        Err(format!("Select an event first with {before} and {next}."))
    }
}
