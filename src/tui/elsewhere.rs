//! A word on what happened in Chat, for whoever looks at another tab: it stands for a moment at the end of the
//! composer's row, which is free there.
//!
//! Refuses to move anything or to take the place of keys, and to say what the tab shows that is looked at.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::keymap::IsWriting;
use super::tabs::Tab;
use super::theme;
use super::transcript::facts;
use super::wrap::{cut, line_width, put, width};
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;

/// How long it stands, in milliseconds.
const STANDS_MS: i64 = 4_000;
/// How many columns it needs to say something.
const LEAST: usize = 12;

/// What happened, and when.
#[derive(Debug)]
pub(super) struct Elsewhere {
    text: String,
    at: UnixMillis,
    /// The tabs that show it themselves.
    shown_by: &'static [Tab],
}

impl Screen {
    /// Keeps the word on an event that the user waits for.
    pub(super) fn note_elsewhere(&mut self, at: UnixMillis, event: &Event) {
        let Some(shown_by) = shown_by(event) else {
            return;
        };
        // What came of a step is known where all of it was told.
        let told = match event {
            Event::StepRecorded { .. } => self.transcript.last_fact(),
            _ => None,
        };
        let text = told.unwrap_or_else(|| {
            let facts = facts(event);
            let firsts = facts.iter().filter_map(|fact| fact.lines().next());
            let text: Vec<&str> = firsts.collect();
            match text.is_empty() {
                true => String::new(),
                false => format!("{}{}", sign(event), text.join(" · ")),
            }
        });
        if !text.is_empty() {
            self.elsewhere = Some(Elsewhere { text, at, shown_by });
        }
    }

    /// The word, while it stands; a replayed event is long over.
    pub(super) fn elsewhere(&self) -> Option<&str> {
        let side = self.places.side.map(|(_, tab)| tab);
        let is_seen = |tab: Tab| tab == self.tab || Some(tab) == side;
        let elsewhere = self.elsewhere.as_ref().filter(|_| self.tab != Tab::Chat)?;
        let is_shown = elsewhere.shown_by.iter().any(|tab| is_seen(*tab));
        let stands = self.left_of(elsewhere).filter(|_| !is_shown);
        stands.map(|_| elsewhere.text.as_str())
    }

    /// How long it still stands.
    pub fn elsewhere_for(&self) -> Option<Duration> {
        self.left_of(self.elsewhere.as_ref()?)
    }

    fn left_of(&self, elsewhere: &Elsewhere) -> Option<Duration> {
        let age = self.time()?.0.saturating_sub(elsewhere.at.0);
        let left = u64::try_from(STANDS_MS.saturating_sub(age)).ok()?;
        ((0..STANDS_MS).contains(&age)).then(|| Duration::from_millis(left))
    }

    /// Draws the word at the end of a row of which that many columns are taken; gives its place. Where there is too
    /// little room nothing is drawn: the tab of the chat tells that it has news.
    pub(super) fn draw_elsewhere(
        &self,
        frame: &mut Frame,
        row: Rect,
        n_taken: usize,
    ) -> Option<Rect> {
        let text = self.elsewhere()?;
        let room = usize::from(row.width).saturating_sub(n_taken + 2);
        if room < LEAST {
            return None;
        }
        let key = self.keymap().named("show-chat", IsWriting::No);
        let opens = format!(" opens {} ", Tab::Chat.title());
        let n_opens = width(&key) + width(&opens) + 3;
        let mut spans = vec![Span::styled(
            format!(" {} ", cut(text, room)),
            theme::STRONG,
        )];
        // Whoever writes would write the key.
        if self.writing == IsWriting::No && width(text) + n_opens <= room {
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
        put(frame, &line, place);
        Some(place)
    }
}

/// The tabs that show an event themselves; none for an event that nobody waits for.
fn shown_by(event: &Event) -> Option<&'static [Tab]> {
    Some(match event {
        Event::PlanCommitted { .. } | Event::CommitSkipped { .. } => &[Tab::Plan, Tab::Log],
        Event::ResponseCommitted { .. } => &[Tab::Plan, Tab::Comments, Tab::Log],
        Event::ReviewCommitted { .. } => &[Tab::Comments, Tab::Status, Tab::Log],
        Event::TestsRan { .. } | Event::StepRecorded { .. } => &[Tab::Plan, Tab::Status, Tab::Log],
        Event::BaselineRan(_) => &[Tab::Log],
        Event::SessionMoved { .. } | Event::TaskEnded(_) => &[Tab::Status, Tab::Log],
        _ => return None,
    })
}

fn sign(event: &Event) -> &'static str {
    match event {
        Event::TestsRan { receipt, .. } if !receipt.allows_next_step() => "✗ ",
        Event::BaselineRan(baseline) if !baseline.receipt.allows_next_step() => "✗ ",
        Event::PlanCommitted { .. } | Event::ResponseCommitted { .. } => "✓ ",
        _ => "",
    }
}
