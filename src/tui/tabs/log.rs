//! Tab: log.md, then the events since this program started or replayed them, one line each.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::domain::event::Event;
use crate::domain::ids::At;
use crate::tui::documents::Text;
use crate::tui::markdown;
use crate::tui::page::Page;
use crate::tui::theme;
use crate::tui::transcript::facts;
use crate::tui::words::Clock;
use crate::tui::wrap::{one_line, wrap, wrap_own};

/// How many events are kept.
const MAX_EVENTS: usize = 1_000;
/// How many lines of log.md's end are shown.
const N_LOG_LINES: usize = 500;

/// The events, one drawable line each.
#[derive(Debug, Default)]
pub struct Record {
    lines: VecDeque<(At, String)>,
    n_seen: u64,
}

impl Record {
    /// Takes an event in, where there is something to say of it.
    pub fn on_event(&mut self, at: At, event: &Event) {
        let mut add = |text: String| {
            self.n_seen += 1;
            self.lines.push_back((at, text));
        };
        match event {
            Event::ApprovalAsked(approval) => add(one_line(&format!(
                "asks {}: {}",
                approval.permission,
                approval.targets.join(", ")
            ))),
            Event::TurnStarted { turn, .. } => add(one_line(&format!("turn {turn} started"))),
            Event::TurnEnded { turn, .. } => add(one_line(&format!("turn {turn} ended"))),
            Event::Created(created) => add(one_line(&format!("run {}", created.run))),
            _ => {}
        }
        for fact in facts(event) {
            add(one_line(&fact));
        }
        while self.lines.len() > MAX_EVENTS {
            self.lines.pop_front();
        }
    }
}

impl Record {
    /// Puts what came earlier in front, as far as there is room.
    pub fn put_before(&mut self, earlier: Self) {
        self.n_seen += earlier.n_seen;
        for line in earlier.lines.into_iter().rev() {
            if self.lines.len() >= MAX_EVENTS {
                break;
            }
            self.lines.push_front(line);
        }
    }
}

/// Draws both; follows the end until the user scrolls.
pub fn draw(page: &mut Page, log: &Text, record: &Record, frame: &mut Frame, area: Rect) {
    let columns = usize::from(area.width);
    let mut hasher = DefaultHasher::new();
    (columns, log.revision, record.n_seen).hash(&mut hasher);
    page.lay_out(hasher.finish(), || lay_out(log, record, columns));
    page.draw(frame, area);
}

fn lay_out(log: &Text, record: &Record, columns: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("── log.md ", theme::QUIET)];
    match &log.text {
        Some(text) => {
            let n_lines = text.lines().count();
            let tail: Vec<&str> = text
                .lines()
                .skip(n_lines.saturating_sub(N_LOG_LINES))
                .collect();
            lines.extend(markdown::lay_out(&tail.join("\n"), columns, theme::PLAIN));
        }
        None => lines.extend(wrap_own("It is empty.", columns, theme::QUIET)),
    }
    lines.push(Line::default());
    lines.push(Line::styled("── events ", theme::QUIET));
    for (at, text) in &record.lines {
        let time = format!("{} ", Clock(0).second(*at));
        let spans = [
            Span::styled(time, theme::QUIET),
            Span::styled(text.as_str(), theme::PLAIN),
        ];
        lines.extend(wrap(&spans, columns, 10));
    }
    lines
}
