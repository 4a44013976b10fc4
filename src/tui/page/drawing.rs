//! What of a page stands in the window, and how far that is.
//!
//! Refuses to lay anything out.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::{Anchor, Near, Page};
use crate::tui::wrap::cut;
use crate::tui::{hints, theme};

impl Page {
    /// Draws the visible lines, and how far they are where not all fit.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect) {
        let has_more = self.lines.len() > usize::from(area.height) && area.height > 2;
        self.rows = usize::from(area.height) - usize::from(has_more);
        // In other columns it stands in another row.
        self.brings_found |= self.place.width != area.width;
        self.place = Rect {
            height: area.height - u16::from(has_more),
            ..area
        };
        let last = self.last();
        if self.anchor == Anchor::End && !self.away {
            self.from = last;
        }
        let followed = self.row_of_followed().filter(|_| !self.away);
        self.from = followed.unwrap_or(self.from);
        self.found.settle(&self.lines, self.version);
        let found = self.found.row();
        let found = found.filter(|_| std::mem::take(&mut self.brings_found));
        let wanted = self.wanted.take();
        let wanted = wanted.and_then(|(mark, near)| Some((self.rows_of(mark)?, near)));
        let found = found.map(|line| ((line, line + 1), Near::Amid));
        if let Some(((line, end), near)) = found.or(wanted) {
            self.away |= self.followed.is_some();
            let is_out = !(self.from..self.from + self.rows).contains(&line);
            let to = match near {
                Near::Amid if is_out => line.saturating_sub(self.rows / 3),
                Near::Edge if line < self.from => line,
                Near::Edge => self.from.max(end.saturating_sub(self.rows)).min(line),
                Near::Amid => self.from,
            };
            self.away |= to != self.from;
            self.from = to;
        }
        self.from = self.from.min(last);
        let lines = self.lines.iter().enumerate();
        let visible: Vec<Line<'_>> = lines
            .skip(self.from)
            .take(self.rows)
            .map(|(row, line)| self.found.light(row, line.clone()))
            .collect();
        frame.render_widget(Paragraph::new(visible), area);
        if has_more {
            let percent = self.from * 100 / last.max(1);
            let again = match self.followed.is_some() && self.away {
                true => format!("{} follows again · ", self.end),
                false => String::new(),
            };
            let aside = &self.aside;
            let label = match self.keys.is_empty() {
                true => format!("── {percent}% {aside}"),
                false => format!("── {percent}% {aside}· {again}{} ", self.keys),
            };
            let below = Rect {
                y: area.bottom().saturating_sub(1),
                height: 1,
                ..area
            };
            let label = cut(&label, usize::from(area.width));
            frame.render_widget(Line::from(hints::spans(&label, theme::QUIET)), below);
        }
    }
}
