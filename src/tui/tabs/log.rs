//! Tab: log.md, then the events as rows, which can be filtered and selected. The details of the selected
//! event are shown beside the list, or below it where there is little room.

mod event_detail;
mod event_summary;
mod log_tab;
mod older_events;

pub use log_tab::LogTab;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::domain::event::{AgentActivity, Event};
use crate::domain::event_wording::{CallDescriptions, short_path};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::text::truncate;
use crate::tui::clickable_keys;
use crate::tui::document_texts::DisplayDocument;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::labels::LocalClock;
use crate::tui::log_range::LogRange;
use crate::tui::markdown;
use crate::tui::scroll_view::{ScrollContent, ScrollTarget, ScrollView, add_gutter};
use crate::tui::search_highlight;
use crate::tui::text_wrap::{
    text_width, truncate_to_columns, wrap_spans, wrap_text, wrap_trusted_text,
};
use crate::tui::theme;
use crate::tui::transcript::LogSearchProgress;
use crate::tui::view_area::split_bottom;
use event_detail::EventDetail;
use event_summary::{EventAuthor, EventCategory, EventSummary, summarize_event};
use older_events::OlderEvents;

/// How many of the latest events are kept.
const MAX_EVENTS: usize = 1_000;
/// How many earlier events are kept as well while the user reads or searches them.
const MAX_OLDER_EVENTS: usize = 10_000;
/// How many bytes of an agent's text are kept with its event.
const MAX_TEXT: usize = 4_096;
/// How many lines of log.md's end are shown.
const MAX_LOG_LINES: usize = 500;
/// From this width on, the details are beside the list.
const MIN_SIDE_BY_SIDE_COLUMNS: u16 = 119;
/// Maximum width of a row of the list.
const MAX_LIST_COLUMNS: u16 = 116;
/// Width of the time and the name.
const TIME_AND_NAME_COLUMNS: usize = 19;

/// The list of events.
#[derive(Debug, Default)]
pub struct EventLogList {
    rows: VecDeque<EventLogRow>,
    /// The part of the log that `rows` covers.
    range: LogRange,
    older: OlderEvents,
    /// Whether it is a chunk of earlier events, to be prepended to another list.
    is_chunk: bool,
    n_seen: u64,
    filter: EventLogFilter,
    selected: Option<i64>,
    /// Descriptions of approval requests that have no answer yet.
    calls: CallDescriptions,
}

#[derive(Debug)]
struct EventLogRow {
    /// Its number on this screen; earlier events have lower numbers.
    n: i64,
    /// The number of its event in the log; 0 if the event belongs to a previous log.
    seq: u64,
    at: UnixMillis,
    summary: EventSummary,
    event: Event,
}

impl EventLogRow {
    /// Returns its author and text if they contain the search text, given in lower case.
    fn match_query(
        &self,
        find: &str,
        state: Option<&RunState>,
    ) -> Option<(&Self, EventAuthor, String)> {
        let (who, text) = self.summary.author_and_text(state);
        let has =
            find.is_empty() || who.label().contains(find) || text.to_lowercase().contains(find);
        has.then_some((self, who, text))
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
enum EventLogFilter {
    #[default]
    All,
    Only(EventCategory),
}

impl EventLogFilter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Only(EventCategory::User),
            Self::Only(EventCategory::User) => Self::Only(EventCategory::Agent),
            Self::Only(EventCategory::Agent) => Self::Only(EventCategory::Program),
            Self::Only(EventCategory::Program) => Self::Only(EventCategory::Problem),
            Self::Only(EventCategory::Problem) => Self::All,
        }
    }

    fn matches(self, row: &EventLogRow) -> bool {
        match self {
            Self::All => true,
            Self::Only(kind) => row.summary.kind == kind,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Only(EventCategory::User) => "what you did",
            Self::Only(EventCategory::Agent) => "what agents did",
            Self::Only(EventCategory::Program) => "what the program did",
            Self::Only(EventCategory::Problem) => "trouble",
        }
    }
}

impl EventLogList {
    /// Adds an event, if it has a summary.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        if let Event::RunCreated(_) = event {
            // A new log starts; the events of the previous one can no longer be loaded from it.
            self.rows.iter_mut().for_each(|row| row.seq = 0);
            self.range = LogRange::from_start();
            self.older = OlderEvents::default();
        }
        self.range.count_event();
        let Some(told) = summarize_event(event, &mut self.calls) else {
            return;
        };
        self.n_seen += 1;
        let n = self.rows.back().map_or(0, |last| last.n + 1);
        self.rows.push_back(EventLogRow {
            n,
            seq: self.range.last_event(),
            at,
            summary: told,
            event: truncate_event(event),
        });
        while self.rows.len() > MAX_EVENTS && !self.is_chunk {
            self.drop_first();
        }
    }

    /// Switches to the next filter.
    pub fn next_filter(&mut self) {
        self.filter = self.filter.next();
        self.selected = None;
        self.older = OlderEvents::default();
    }

    /// Selects the next or the previous listed event that matches the search text, given in lower case.
    pub fn move_selection(
        &mut self,
        is_next: bool,
        find: &str,
        state: Option<&RunState>,
    ) -> Option<ScrollTarget> {
        let listed: Vec<i64> = self
            .listed_rows(find, state)
            .map(|(row, ..)| row.n)
            .collect();
        let at = listed.iter().position(|n| Some(*n) == self.selected);
        let next = match (at, is_next) {
            // The first move selects the latest event.
            (None, _) => listed.len().checked_sub(1)?,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1)?,
        };
        self.selected = Some(*listed.get(next)?);
        self.selected.map(ScrollTarget::Row)
    }

    /// Returns whether a filter hides some of the events.
    pub fn is_filtered(&self) -> bool {
        self.filter != EventLogFilter::All
    }

    /// Selects an event by its number.
    pub fn select_event(&mut self, n: i64) {
        self.selected = Some(n);
    }

    /// Restores an earlier selection.
    pub fn restore_selection(&mut self, picked: Option<i64>) {
        self.selected = picked;
    }

    /// Returns the position of the selected event among the matches, from 1, and their count; the position
    /// is 0 if the selection is no match. The search text is given in lower case.
    pub fn match_position(&self, find: &str, state: Option<&RunState>) -> (usize, usize) {
        let listed: Vec<i64> = self
            .listed_rows(find, state)
            .map(|(row, ..)| row.n)
            .collect();
        let at = listed.iter().position(|n| Some(*n) == self.selected);
        (at.map_or(0, |at| at + 1), listed.len())
    }

    /// Returns the number of the selected event.
    pub fn selected_event(&self) -> Option<i64> {
        self.selected
    }

    /// Clears the selection; returns whether there was one.
    pub fn clear_selection(&mut self) -> bool {
        self.selected.take().is_some()
    }

    /// Returns the selected event's author and time, and all its details.
    pub fn selected_detail(
        &self,
        state: Option<&RunState>,
        clock: LocalClock,
        repository: &str,
    ) -> Option<(String, String)> {
        let row = self.selected_row()?;
        let (who, words) = row.summary.author_and_text(state);
        let detail = EventDetail::new(&row.event, &words);
        let title = format!("{}, {}", who.label(), clock.time_with_seconds(row.at));
        Some((title, localize_text(&detail.to_text(), clock, repository)))
    }

    fn selected_row(&self) -> Option<&EventLogRow> {
        let picked = self.selected?;
        self.all_rows().find(|row| row.n == picked)
    }

    /// Returns the listed rows with their author and text.
    fn listed_rows<'a>(
        &'a self,
        find: &'a str,
        state: Option<&'a RunState>,
    ) -> impl Iterator<Item = (&'a EventLogRow, EventAuthor, String)> + 'a {
        let listed = self.all_rows().filter(move |row| self.filter.matches(row));
        listed.filter_map(move |row| row.match_query(find, state))
    }

    /// Returns all rows, earlier events first.
    fn all_rows(&self) -> impl Iterator<Item = &EventLogRow> {
        self.older.rows.iter().chain(&self.rows)
    }
}

/// What the Log tab shows beside the events.
#[derive(Debug, Clone, Copy)]
struct LogTabContext<'a> {
    pub log: &'a DisplayDocument,
    /// Search text that an event must contain, in lower case.
    pub query: &'a str,
    pub state: Option<&'a RunState>,
    /// Converts times to the user's time zone.
    pub clock: LocalClock,
    pub keymap: &'a ActiveKeymap,
    /// Path of the repository, which is removed from other paths.
    pub repository: &'a str,
}

/// Draws the log and the events; follows the end until the user scrolls.
fn draw(
    page: &mut ScrollView,
    record: &mut EventLogList,
    frame: &mut Frame,
    area: Rect,
    about: LogTabContext<'_>,
) {
    let mut area = area;
    record.filter_older(about.query, about.state);
    if let Some(row) = record.selected_row().filter(|_| area.height > 8) {
        let pane = if area.width >= MIN_SIDE_BY_SIDE_COLUMNS {
            (take_detail_area(&mut area), Borders::LEFT | Borders::TOP)
        } else {
            let rows = (area.height / 3).clamp(4, 16);
            (split_bottom(&mut area, usize::from(rows)), Borders::TOP)
        };
        draw_detail(row, frame, pane.0, pane.1, about);
    }
    area.width = area.width.min(MAX_LIST_COLUMNS);
    let columns = usize::from(area.width);
    let n_turns = about
        .state
        .map_or(0, |state| state.course.total_turn_count());
    let mut hasher = DefaultHasher::new();
    (columns, about.log.revision, record.n_seen, n_turns).hash(&mut hasher);
    record.older.last_unread.hash(&mut hasher);
    (record.filter, record.selected, about.query, about.clock).hash(&mut hasher);
    record.search_progress().hash(&mut hasher);
    page.lay_out_keeping_view(hasher.finish(), || lay_out(record, about, columns));
    page.set_status_text(&match record.filter {
        EventLogFilter::All => String::new(),
        filter => format!("listed: {}", filter.label()),
    });
    page.draw(frame, area);
    record.on_shown(page.is_scrolled_away(), about.query);
}

/// Shortens an event for storage: the chat shows the long text in full.
fn truncate_event(event: &Event) -> Event {
    match event {
        Event::Agent {
            turn,
            role,
            news: AgentActivity::Text { text },
        } => Event::Agent {
            turn: turn.clone(),
            role: *role,
            news: AgentActivity::Text {
                text: truncate::to_bytes(text, MAX_TEXT),
            },
        },
        event => event.clone(),
    }
}

/// Splits the area for the details off the right side.
fn take_detail_area(area: &mut Rect) -> Rect {
    let width = area.width * 9 / 20;
    area.width -= width;
    Rect {
        x: area.right(),
        width,
        ..*area
    }
}

/// Draws the details of an event, as far as they fit.
fn draw_detail(
    row: &EventLogRow,
    frame: &mut Frame,
    area: Rect,
    sides: Borders,
    about: LogTabContext<'_>,
) {
    let (who, words) = row.summary.author_and_text(about.state);
    let key = about.keymap.key_label("open", ComposerFocus::Unfocused);
    let title = format!(
        " {}, {} · ",
        who.label(),
        about.clock.time_with_seconds(row.at)
    );
    let hint = format!("{key} shows all ");
    let room = usize::from(area.width).saturating_sub(text_width(&hint));
    let block = Block::new()
        .borders(sides)
        .border_style(theme::QUIET)
        .title(Line::from(vec![
            Span::styled(truncate_to_columns(&title, room), theme::QUIET),
            Span::styled(hint, clickable_keys::mark_hint(theme::QUIET)),
        ]));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let columns = usize::from(inner.width).saturating_sub(1);
    let words = shorten_draft_paths(&localize_text(&words, about.clock, about.repository));
    let mut lines = EventDetail::new(&row.event, &words).lines(columns);
    let rows = usize::from(inner.height);
    if lines.len() > rows {
        lines.truncate(rows.saturating_sub(1));
        lines.push(Line::styled(
            truncate_to_columns(&format!("… {key} shows all"), columns),
            theme::QUIET,
        ));
    }
    frame.render_widget(Paragraph::new(add_gutter(lines, false)), inner);
}

/// Shortens the paths of document drafts in a row's text.
fn shorten_draft_paths(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(short_path).collect();
    words.join(" ")
}

/// Makes paths relative to the repository and converts times to the user's time zone.
fn localize_text(text: &str, clock: LocalClock, repository: &str) -> String {
    let text = match repository {
        "" => text.to_owned(),
        root => text.replace(&format!("{}/", root.trim_end_matches('/')), ""),
    };
    clock.localize_utc_times(&text)
}

fn lay_out(record: &EventLogList, about: LogTabContext<'_>, columns: usize) -> ScrollContent {
    let columns = columns.saturating_sub(1);
    let mut laid = ScrollContent::default();
    let mut push = |lines: Vec<Line<'static>>| laid.lines.extend(add_gutter(lines, false));
    if record.rows.is_empty() && about.log.text.is_none() {
        let none = "No log yet. It starts with a run.";
        push(wrap_trusted_text(none, columns, theme::QUIET));
        return laid;
    }
    push(vec![Line::styled("── Step log ", theme::QUIET)]);
    match &about.log.text {
        Some(text) => {
            let n_lines = text.lines().count();
            let tail: Vec<&str> = text
                .lines()
                .skip(n_lines.saturating_sub(MAX_LOG_LINES))
                .collect();
            push(markdown::lay_out(&tail.join("\n"), columns, theme::PLAIN));
        }
        None => push(wrap_trusted_text("It is empty.", columns, theme::QUIET)),
    }
    let listed = match (record.filter, about.query) {
        (EventLogFilter::All, "") => String::new(),
        (filter, "") => format!("· listed: {} ", filter.label()),
        (filter, find) => format!("· listed: {} with \"{find}\" ", filter.label()),
    };
    push(vec![
        Line::default(),
        Line::styled(
            truncate_to_columns(&format!("── events {listed}"), columns),
            theme::QUIET,
        ),
    ]);
    if let Some(words) = record.describe_range(about.query, about.keymap) {
        push(wrap_text(&words, columns, theme::QUIET));
    }
    let n_before = laid.lines.len();
    for (row, who, text) in record.listed_rows(about.query, about.state) {
        laid.targets
            .insert(ScrollTarget::Row(row.n), laid.lines.len());
        let text = shorten_draft_paths(&localize_text(&text, about.clock, about.repository));
        let lines = row_lines(row, who, &text, about.clock, columns);
        let lines =
            search_highlight::highlight_lines(lines, about.query, record.selected == Some(row.n));
        laid.lines
            .extend(add_gutter(lines, record.selected == Some(row.n)));
    }
    if laid.lines.len() == n_before && record.search_progress() == LogSearchProgress::Complete {
        let key = about.keymap.key_label("filter", ComposerFocus::Unfocused);
        let none = if record.rows.is_empty() {
            "None yet.".to_owned()
        } else {
            format!("None. Press {key} for others.")
        };
        let none = wrap_spans(&clickable_keys::hint_spans(&none, theme::QUIET), columns, 0);
        laid.lines.extend(add_gutter(none, false));
    }
    laid
}

fn row_lines(
    row: &EventLogRow,
    author: EventAuthor,
    text: &str,
    clock: LocalClock,
    columns: usize,
) -> Vec<Line<'static>> {
    let sign = match row.summary.kind {
        EventCategory::Problem => "! ",
        EventCategory::User | EventCategory::Agent | EventCategory::Program => "",
    };
    // Where there is little room, the author is dropped before the time.
    let head = if columns < 60 {
        format!("{} ", clock.time_with_minutes(row.at))
    } else {
        format!("{} ", clock.time_with_seconds(row.at))
    };
    let who = if columns < 60 {
        format!("{:<4} ", author.short_label())
    } else {
        format!("{:<9} ", author.label())
    };
    let used = crate::tui::text_wrap::text_width(&head) + crate::tui::text_wrap::text_width(&who);
    let text = format!("{sign}{text}");
    let text = truncate_to_columns(
        &text,
        columns.saturating_sub(used.min(TIME_AND_NAME_COLUMNS)),
    );
    let spans = vec![
        Span::styled(head, theme::QUIET),
        Span::styled(who, author.style()),
        Span::styled(
            text,
            match row.summary.kind {
                EventCategory::Problem => theme::BAD,
                EventCategory::User | EventCategory::Agent | EventCategory::Program => theme::PLAIN,
            },
        ),
    ];
    vec![Line::from(spans)]
}
