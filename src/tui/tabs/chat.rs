//! Tab: the conversation of both agents, the user and the program, in one stream.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::screen_tab::{OpenedEntry, ScreenTab, SelectionStep, TabContext};
use super::{POINT_HINT, TabHints, WIDE};
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, UnixMillis};
use crate::domain::run::RunState;
use crate::tui::clickable_keys;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::scroll_view::ScrollView;
use crate::tui::search_highlight;
use crate::tui::searchable_view::SearchableView;
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::{draw_line, truncate_to_columns, wrap_trusted_text};
use crate::tui::theme::{self, Surface};
use crate::tui::transcript::{
    BlockAuthor, ChatTranscript, LEAD_COLUMNS, LogSearchProgress, LogSearchResult,
    ScrollbackDemand, TranscriptColumns, TranscriptFinder, TranscriptRow, TranscriptWindow,
};
use crate::tui::truncated_call::TruncatedToolCall;
use crate::tui::view_area::{gutter, inset};
use crate::tui::view_moves::{ScrollMove, SelectionMove};

/// The page height of the chat when its area is unknown.
const FALLBACK_PAGE_LINES: isize = 10;

/// Which code block was copied last: a hash of all blocks that it was chosen from, and its index counted from the
/// last one.
pub type CopiedCodeBlock = Option<(u64, usize)>;

#[derive(Debug, Default)]
pub struct ChatTab {
    pub transcript: ChatTranscript,
    pub arrangement: ChatArrangement,
    pub finder: TranscriptFinder,
    /// The block of code that was copied last, so that the next copy takes the one before it.
    pub last_copied_code: CopiedCodeBlock,
}

/// How the agents' messages are arranged in the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChatArrangement {
    #[default]
    Stacked,
    /// In two columns if the window is wide enough, still in the order of time.
    SideBySide,
}

impl ChatArrangement {
    /// Switches to the other arrangement.
    pub fn toggle(&mut self) {
        *self = match self {
            Self::Stacked => Self::SideBySide,
            Self::SideBySide => Self::Stacked,
        };
    }
}

impl ChatTab {
    /// Returns the part of the log to search next.
    pub fn wanted_log_search(&self) -> Option<ScrollbackDemand> {
        self.finder.wanted_log_search(&self.transcript)
    }

    /// Handles the search result for a piece of the log.
    pub fn on_log_search_result(&mut self, result: &LogSearchResult) {
        self.finder
            .on_log_search_result(&mut self.transcript, result);
    }

    /// Goes to a match in older events once they are loaded.
    pub fn go_to_loaded_match(&mut self) {
        self.finder.go_to_loaded_match(&mut self.transcript);
    }

    /// Stops searching older events, because the log cannot be read.
    pub fn stop_log_search(&mut self) {
        self.finder.stop_log_search(&mut self.transcript);
    }
}

impl SearchableView for ChatTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        None
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        None
    }

    fn begin_search(&mut self) {
        self.finder.begin(&self.transcript);
    }

    fn search(&mut self, letters: &str) {
        self.finder.search(&mut self.transcript, letters);
    }

    fn step_match(&mut self, is_next: bool, _state: Option<&RunState>) {
        self.finder.step_match(&mut self.transcript, is_next);
    }

    fn match_position(&self, _state: Option<&RunState>) -> (usize, usize) {
        self.finder.match_position(&self.transcript)
    }

    fn searched_name(&self) -> &'static str {
        TabKind::Chat.title()
    }

    fn search_progress(&self) -> LogSearchProgress {
        self.finder.progress(&self.transcript)
    }

    fn starts_at_end(&self) -> bool {
        true
    }

    fn cancel_search(&mut self) {
        self.finder.cancel(&mut self.transcript);
    }

    fn end_search(&mut self) {
        self.finder.end(&mut self.transcript);
    }
}

impl ScreenTab for ChatTab {
    fn actions(&self) -> TabHints {
        CHAT_HINTS
    }

    fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.transcript.on_event(at, event);
    }

    fn revision(&self, _documents: &DisplayDocuments) -> u64 {
        self.transcript.total_blocks()
    }

    fn page(&mut self) -> Option<&mut ScrollView> {
        None
    }

    fn page_area(&self, area: Rect) -> Rect {
        area
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, _now: UnixMillis) {
        let style = TranscriptStyle {
            empty_note: context.empty_note,
            query: self.finder.query(),
            keymap: context.page_keys(),
            arrangement: self.arrangement,
        };
        draw_transcript(&mut self.transcript, frame, area, &style);
    }

    fn scroll(&mut self, to: ScrollMove, page_rows: u16) {
        scroll_transcript(&mut self.transcript, to, page_rows);
    }

    fn has_selection(&self, _context: &TabContext<'_>) -> bool {
        self.transcript.selected_text().is_some()
    }

    fn select_adjacent(
        &mut self,
        along: SelectionMove,
        _context: &TabContext<'_>,
    ) -> SelectionStep {
        self.transcript.move_selection(along);
        SelectionStep::AtEdge
    }

    fn clear_selection(&mut self, _context: &TabContext<'_>) -> bool {
        self.transcript.clear_selection()
    }

    fn open_selection(&mut self, _context: &TabContext<'_>) -> OpenedEntry {
        if let Some(id) = self.transcript.selected_discussion().cloned() {
            return OpenedEntry::Discussion(id);
        }
        toggle_block(&mut self.transcript)
    }

    fn selected_text(&self, _context: &TabContext<'_>) -> Option<String> {
        self.transcript.selected_text()
    }

    fn whole_text(&mut self, _context: &TabContext<'_>) -> Result<String, String> {
        let said = self.transcript.last_agent_text().map(str::to_owned);
        said.ok_or_else(|| "No agent has answered yet.".to_owned())
    }

    fn agent_texts(&self) -> Option<Vec<String>> {
        Some(self.transcript.agent_texts().map(str::to_owned).collect())
    }

    fn selected_discussion(&self) -> Option<&DiscussionId> {
        self.transcript.selected_discussion()
    }

    fn selected_truncated_call(&self) -> Option<TruncatedToolCall> {
        self.transcript.selected_truncated_call()
    }
}

/// The hints for reading the chat.
pub const CHAT_HINTS: TabHints = &[
    POINT_HINT,
    (&["open"], "open"),
    (&["copy"], "copy"),
    (&["find"], "find"),
];

/// Opens or folds the selected block of a transcript.
pub fn toggle_block(transcript: &mut ChatTranscript) -> OpenedEntry {
    if transcript.toggle_selected() {
        OpenedEntry::InPlace
    } else {
        OpenedEntry::NotSelected("a call or a thought")
    }
}

/// Scrolls a transcript; `page_rows` is the height of its window.
pub fn scroll_transcript(transcript: &mut ChatTranscript, to: ScrollMove, page_rows: u16) {
    let page = isize::try_from(page_rows.saturating_sub(2))
        .unwrap_or(FALLBACK_PAGE_LINES)
        .max(1);
    match to {
        ScrollMove::Up => transcript.scroll_by(-1),
        ScrollMove::Down => transcript.scroll_by(1),
        ScrollMove::PageUp => transcript.scroll_by(-page),
        ScrollMove::PageDown => transcript.scroll_by(page),
        ScrollMove::Top => transcript.go_to_top(),
        ScrollMove::End => transcript.go_to_end(),
    }
}

/// What is drawn around the rows of a transcript.
#[derive(Debug, Clone, Copy)]
pub struct TranscriptStyle<'a> {
    /// Shown while there are no messages.
    pub empty_note: &'static str,
    /// Letters to highlight, in lower case; may be empty.
    pub query: &'a str,
    /// Set if the keys that scroll are named.
    pub keymap: Option<&'a ActiveKeymap>,
    pub arrangement: ChatArrangement,
}

/// Below this height the step after the current one is not named.
const MIN_NEXT_STEP_ROWS: u16 = 14;

/// Below this height of the whole window, the heading of the current step scrolls away.
const MIN_PINNING_WINDOW_ROWS: u16 = 20;
/// The same for the height of the chat.
const MIN_PINNING_ROWS: u16 = 8;

/// Longer lines are hard to read.
const MAX_TEXT_COLUMNS: u16 = 120;

/// Draws a row behind the bar of its speaker. What the user said and the current step's heading have a ground of
/// their own.
fn draw_row(frame: &mut Frame, row: &TranscriptRow, place: Rect, lead: u16) {
    let (bar, style) = match row.speaker {
        Some(BlockAuthor::Agent(role)) => ("▎", theme::role_style(role)),
        Some(BlockAuthor::Subagent) => ("▎", theme::STRONG),
        Some(BlockAuthor::User | BlockAuthor::TaskGiver) => ("▌", theme::YOU),
        Some(BlockAuthor::System) if row.is_step_card => ("▌", theme::RUNNING),
        Some(BlockAuthor::System) | None => ("", theme::PLAIN),
    };
    let row_area = Rect {
        width: place.width + lead,
        ..place
    };
    let text = if bar.is_empty() || row.is_step_card {
        row_area
    } else {
        Rect {
            x: place.x + lead,
            ..place
        }
    };
    let mark = Rect { width: 1, ..place };
    if bar == "▌" {
        Surface::Raised.fill(frame.buffer_mut(), row_area);
    }
    draw_line(frame, &row.line, text);
    frame.render_widget(Line::styled(bar, style), mark);
    if row.is_selected {
        let mark = Rect {
            x: if bar.is_empty() {
                mark.x.saturating_sub(1)
            } else {
                mark.x
            },
            ..mark
        };
        frame.render_widget(Line::styled("▌", theme::ACCENT), mark);
    }
}

/// Draws the end of the stream, or the position that the user scrolled to.
pub fn draw_transcript(
    transcript: &mut ChatTranscript,
    frame: &mut Frame,
    area: Rect,
    style: &TranscriptStyle<'_>,
) {
    let is_beside = style.arrangement == ChatArrangement::SideBySide && area.width >= WIDE;
    let widest = if is_beside {
        2 * MAX_TEXT_COLUMNS
    } else {
        MAX_TEXT_COLUMNS
    };
    // The first columns are for the bar that says who speaks, and for the selection mark.
    let margin = gutter(frame.area().width);
    let bar_area = inset(area, margin);
    let lead = u16::try_from(LEAD_COLUMNS).unwrap_or(u16::MAX);
    let lead = lead.min(bar_area.width);
    let area = Rect {
        width: (bar_area.width - lead).min(widest),
        ..bar_area
    };
    let columns = usize::from(area.width);
    let wide = if is_beside {
        TranscriptColumns::SideBySide(columns)
    } else {
        TranscriptColumns::Single(columns)
    };
    if transcript.is_empty() {
        let lines = wrap_trusted_text(style.empty_note, columns, theme::QUIET);
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let is_scrolled = !transcript.follows_end() && area.height > 2;
    let next_step = transcript
        .next_step_line(columns + LEAD_COLUMNS)
        .filter(|_| area.height >= MIN_NEXT_STEP_ROWS);
    let area = Rect {
        height: area.height - if next_step.is_some() { 2 } else { 0 },
        ..area
    };
    let n_rows = usize::from(area.height);
    let window = TranscriptWindow {
        rows: n_rows,
        pins_step: frame.area().height >= MIN_PINNING_WINDOW_ROWS
            && area.height >= MIN_PINNING_ROWS,
    };
    let mut rows = transcript.visible_rows(wide, window.without_rows(usize::from(is_scrolled)));
    // The layout may have reached the end; then there is nothing below the window and no hint.
    let has_line = is_scrolled && !transcript.follows_end();
    if is_scrolled && !has_line {
        rows = transcript.visible_rows(wide, window);
    }
    if let Some(line) = next_step {
        // It stays where it is when the first row is blank and left out.
        let is_full = rows.len() + 2 > n_rows;
        let n_above = if is_full { n_rows } else { rows.len() };
        draw_next_step(frame, &line, bar_area, area.y, n_above);
    }
    for (row, y) in highlight_matches(rows, style.query)
        .into_iter()
        .zip(area.y..)
    {
        let indent = u16::try_from(row.indent).unwrap_or(0).min(area.width);
        let place = Rect {
            x: area.x + indent,
            y,
            width: area.width - indent,
            height: 1,
        };
        draw_row(frame, &row, place, lead);
    }
    if has_line {
        let last = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..bar_area
        };
        draw_scroll_hint(transcript, frame, last, style.keymap);
    }
}

/// Draws the step after the current one below the rows of the stream and a blank row.
fn draw_next_step(frame: &mut Frame, line: &Line<'static>, area: Rect, top: u16, n_above: usize) {
    let below = Rect {
        y: top + u16::try_from(n_above).unwrap_or(area.height) + 1,
        height: 1,
        ..area
    };
    draw_line(frame, line, below);
}

fn draw_scroll_hint(
    transcript: &ChatTranscript,
    frame: &mut Frame,
    row: Rect,
    keymap: Option<&ActiveKeymap>,
) {
    let text = scroll_hint(transcript, keymap);
    let text = truncate_to_columns(&text, usize::from(row.width));
    let hint = Line::from(clickable_keys::hint_spans(&text, theme::QUIET));
    frame.render_widget(hint, row);
}

/// Returns the hint below a window that does not follow the end: the count of new blocks, and the keys.
fn scroll_hint(transcript: &ChatTranscript, keymap: Option<&ActiveKeymap>) -> String {
    let new = match transcript.new_block_count() {
        0 => String::new(),
        n => format!(" · ↓ {n} new"),
    };
    let keys = keymap.map_or_else(String::new, |keymap| {
        let key = |action| keymap.key_label(action, ComposerFocus::Unfocused);
        let (top, end) = (key("top"), key("end"));
        let earlier = match (transcript.wanted_scrollback(), transcript.has_scrollback()) {
            (Some(_), _) => ", loading earlier messages …".to_owned(),
            (None, true) => format!(", {top} goes to the start"),
            (None, false) => String::new(),
        };
        format!(" · {end} follows again{earlier}")
    });
    format!("── earlier{new}{keys} ")
}

/// Highlights the matches of `letters`, given in lower case; those in the selected block as the current
/// match.
fn highlight_matches(rows: Vec<TranscriptRow>, letters: &str) -> Vec<TranscriptRow> {
    if letters.is_empty() {
        return rows;
    }
    let mut all = Vec::with_capacity(rows.len());
    for block in rows.chunk_by(|one, other| one.is_selected == other.is_selected) {
        let is_picked = block.first().is_some_and(|row| row.is_selected);
        let lines = block.iter().map(|row| row.line.clone()).collect();
        let lines = search_highlight::highlight_lines(lines, letters, is_picked);
        all.extend(
            block
                .iter()
                .zip(lines)
                .map(|(row, line)| TranscriptRow { line, ..*row }),
        );
    }
    all
}
