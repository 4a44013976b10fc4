//! A short notice about news in Chat while the user reads another tab.
//!
//! It shows for a moment at the end of the composer's row, where it covers no keys. Tabs that show the event
//! themselves do not get it.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::tab_kind::TabKind;
use super::tabs::TabView;
use super::text_wrap::{draw_line, line_width, text_width, to_one_line, truncate_to_columns};
use super::theme;
use super::transcript::ChatTranscript;
use crate::domain::event::Event;
use crate::domain::event_wording::{EventTone, word_event};
use crate::domain::ids::UnixMillis;

const TOAST_MS: i64 = 4_000;
/// How many columns the text needs to be useful.
const MIN_TOAST_COLUMNS: usize = 12;

/// The notice, and when it appeared.
#[derive(Debug)]
pub(super) struct CrossTabToast {
    text: String,
    at: UnixMillis,
    /// The tabs that show the event themselves.
    shown_by: &'static [TabKind],
}

impl CrossTabToast {
    /// Creates the notice about an event that the user is waiting for; `None` for any other event.
    pub(super) fn from_event(at: UnixMillis, event: &Event, chat: &ChatTranscript) -> Option<Self> {
        let shown_by = tabs_showing_event(event)?;
        // The result of a step is in the transcript, which has its whole history.
        let told = match event {
            Event::StepRecorded { .. } => chat.last_fact_line(),
            _ => None,
        };
        let text = told.unwrap_or_else(|| {
            word_event(event).map_or(String::new(), |wording| {
                let first = wording.text.lines().next().unwrap_or_default();
                let sign = match wording.tone {
                    EventTone::Good => "✓ ",
                    EventTone::Bad => "✗ ",
                    _ => "",
                };
                format!("{sign}{}", to_one_line(first))
            })
        });
        (!text.is_empty()).then_some(Self { text, at, shown_by })
    }

    /// Returns the text while it is shown; replayed events are too old to show.
    pub(super) fn visible_text(&self, view: &TabView, now: Option<UnixMillis>) -> Option<&str> {
        let is_seen = |tab: &TabKind| *tab == view.shown || Some(*tab) == view.side_tab();
        let is_shown = view.shown == TabKind::Chat || self.shown_by.iter().any(is_seen);
        self.remaining(now).filter(|_| !is_shown)?;
        Some(self.text.as_str())
    }

    /// Returns how much longer it is shown.
    pub(super) fn remaining(&self, now: Option<UnixMillis>) -> Option<Duration> {
        let age = now?.0.saturating_sub(self.at.0);
        let left = u64::try_from(TOAST_MS.saturating_sub(age)).ok()?;
        ((0..TOAST_MS).contains(&age)).then(|| Duration::from_millis(left))
    }
}

/// Draws the notice at the end of a row with `n_taken` occupied columns; returns its area. Draws nothing if there is
/// too little room: the title of the Chat tab shows that it has news. `key` opens Chat; `None` while the user writes,
/// when it would be typed into the text.
pub(super) fn draw_toast(
    text: &str,
    key: Option<String>,
    frame: &mut Frame,
    row: Rect,
    n_taken: usize,
) -> Option<Rect> {
    let room = usize::from(row.width).saturating_sub(n_taken + 2);
    if room < MIN_TOAST_COLUMNS {
        return None;
    }
    let mut spans = vec![Span::styled(
        format!(" {} ", truncate_to_columns(text, room)),
        theme::STRONG,
    )];
    let opens = format!(" opens {} ", TabKind::Chat.title());
    let fits = |key: &String| text_width(text) + text_width(key) + text_width(&opens) + 3 <= room;
    if let Some(key) = key.filter(fits) {
        spans.extend([
            Span::styled("· ", theme::QUIET),
            Span::styled(key, theme::KEY),
            Span::styled(opens, theme::QUIET),
        ]);
    }
    let line = Line::from(spans);
    let columns = u16::try_from(line_width(&line)).unwrap_or(row.width);
    let place = Rect {
        x: row.right().saturating_sub(columns),
        width: columns,
        height: 1,
        ..row
    };
    draw_line(frame, &line, place);
    Some(place)
}

/// Returns the tabs that show an event themselves; `None` for an event that needs no notice.
fn tabs_showing_event(event: &Event) -> Option<&'static [TabKind]> {
    Some(match event {
        Event::PlanCommitted { .. } | Event::CommitSkipped { .. } => &[TabKind::Plan, TabKind::Log],
        Event::ResponseCommitted { .. } => &[TabKind::Plan, TabKind::Comments, TabKind::Log],
        Event::ReviewCommitted { .. } => &[TabKind::Comments, TabKind::Status, TabKind::Log],
        Event::TestsRan { .. } | Event::StepRecorded { .. } => {
            &[TabKind::Plan, TabKind::Status, TabKind::Log]
        }
        Event::BaselineRan(_) => &[TabKind::Log],
        Event::SessionMoved { .. } | Event::TaskEnded(_) => &[TabKind::Status, TabKind::Log],
        _ => return None,
    })
}
