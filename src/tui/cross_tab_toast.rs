//! A short notice about news in Chat while the user reads another tab.
//!
//! It shows for a moment at the end of the composer's row, where it covers no keys. Tabs that show the event
//! themselves do not get it.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::keymap::ComposerFocus;
use super::tabs::TabKind;
use super::text_wrap::{draw_line, line_width, text_width, to_one_line, truncate_to_columns};
use super::theme;
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

impl Screen {
    /// Stores a notice about an event that the user is waiting for.
    pub(super) fn note_cross_tab_event(&mut self, at: UnixMillis, event: &Event) {
        let Some(shown_by) = tabs_showing_event(event) else {
            return;
        };
        // The result of a step is in the transcript, which has its whole history.
        let told = match event {
            Event::StepRecorded { .. } => self.tabs.chat.transcript.last_fact_line(),
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
        if !text.is_empty() {
            self.toast.cross_tab = Some(CrossTabToast { text, at, shown_by });
        }
    }

    /// Returns the notice while it is shown; replayed events are too old to show.
    pub(super) fn cross_tab_text(&self) -> Option<&str> {
        let side = self.tabs.view.side_area.map(|(_, tab)| tab);
        let is_seen = |tab: TabKind| tab == self.tabs.view.shown || Some(tab) == side;
        let elsewhere = self
            .toast
            .cross_tab
            .as_ref()
            .filter(|_| self.tabs.view.shown != TabKind::Chat)?;
        let is_shown = elsewhere.shown_by.iter().any(|tab| is_seen(*tab));
        let stands = self.toast_remaining(elsewhere).filter(|_| !is_shown);
        stands.map(|_| elsewhere.text.as_str())
    }

    /// Returns how much longer the notice is shown.
    pub fn cross_tab_toast_remaining(&self) -> Option<Duration> {
        self.toast_remaining(self.toast.cross_tab.as_ref()?)
    }

    fn toast_remaining(&self, elsewhere: &CrossTabToast) -> Option<Duration> {
        let age = self
            .dialogs
            .current_time()?
            .0
            .saturating_sub(elsewhere.at.0);
        let left = u64::try_from(TOAST_MS.saturating_sub(age)).ok()?;
        ((0..TOAST_MS).contains(&age)).then(|| Duration::from_millis(left))
    }

    /// Draws the notice at the end of a row with `n_taken` occupied columns; returns its area. Draws nothing
    /// if there is too little room: the title of the Chat tab shows that it has news.
    pub(super) fn draw_cross_tab_toast(
        &self,
        frame: &mut Frame,
        row: Rect,
        n_taken: usize,
    ) -> Option<Rect> {
        let text = self.cross_tab_text()?;
        let room = usize::from(row.width).saturating_sub(n_taken + 2);
        if room < MIN_TOAST_COLUMNS {
            return None;
        }
        let key = self
            .keymap()
            .key_label("show-chat", ComposerFocus::Unfocused);
        let opens = format!(" opens {} ", TabKind::Chat.title());
        let n_opens = text_width(&key) + text_width(&opens) + 3;
        let mut spans = vec![Span::styled(
            format!(" {} ", truncate_to_columns(text, room)),
            theme::STRONG,
        )];
        // While the user writes, the key would be typed into the text.
        if self.composer.focus == ComposerFocus::Unfocused && text_width(text) + n_opens <= room {
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
