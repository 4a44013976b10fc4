//! Draws the visible lines of a scroll view, and the scroll position.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{RevealPlacement, ScrollAnchor, ScrollView};
use crate::text::pluralize;
use crate::tui::clickable_keys;
use crate::tui::text_wrap::{draw_line, truncate_to_columns};
use crate::tui::theme;

impl ScrollView {
    /// Draws the visible lines, and the scroll position if not all lines fit.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect) {
        let has_more = self.lines.len() > usize::from(area.height) && area.height > 2;
        self.height = usize::from(area.height) - usize::from(has_more);
        // With another width the match is in another row.
        self.scrolls_to_match |= self.area.width != area.width;
        self.area = Rect {
            height: area.height - u16::from(has_more),
            ..area
        };
        let last = self.last_first_row();
        if self.anchor == ScrollAnchor::End && !self.is_scrolled_away {
            self.first_row = last;
        }
        let followed = self.followed_row().filter(|_| !self.is_scrolled_away);
        self.first_row = followed.unwrap_or(self.first_row);
        self.matches.update_matches(&self.lines, self.version);
        let found = self.matches.current_row();
        let found = found.filter(|_| std::mem::take(&mut self.scrolls_to_match));
        let wanted = self.pending_scroll.take();
        let wanted = wanted.and_then(|(mark, near)| Some((self.target_rows(mark)?, near)));
        let found = found.map(|line| ((line, line + 1), RevealPlacement::UpperThird));
        if let Some(((line, end), near)) = found.or(wanted) {
            self.is_scrolled_away |= self.followed_target.is_some();
            let is_out = !(self.first_row..self.first_row + self.height).contains(&line);
            let to = match near {
                RevealPlacement::UpperThird if is_out => line.saturating_sub(self.height / 3),
                RevealPlacement::NearestEdge if line < self.first_row => line,
                RevealPlacement::NearestEdge => self
                    .first_row
                    .max(end.saturating_sub(self.height))
                    .min(line),
                RevealPlacement::UpperThird => self.first_row,
            };
            self.is_scrolled_away |= to != self.first_row;
            self.first_row = to;
        }
        self.first_row = self.first_row.min(last);
        let lines = self.lines.iter().enumerate();
        let visible: Vec<Line<'_>> = lines
            .skip(self.first_row)
            .take(self.height)
            .map(|(row, line)| self.matches.highlight_row(row, line.clone()))
            .collect();
        for (line, row) in visible.iter().zip(area.rows()) {
            draw_line(frame, line, row);
        }
        if has_more {
            let position = match self.first_row {
                0 => format!("▾ {}", pluralize(last, "more row")),
                first => format!("── {}%", first * 100 / last.max(1)),
            };
            let again = if self.followed_target.is_some() && self.is_scrolled_away {
                format!("{} follows again · ", self.end_key)
            } else {
                String::new()
            };
            let aside = &self.status_text;
            let [up, down] = &self.page_keys;
            let label = match self.first_row {
                _ if down.is_empty() => format!("{position} {aside}"),
                0 => format!("{position} {aside}· {again}{down} "),
                _ => format!("{position} {aside}· {again}{up} {down} "),
            };
            let below = Rect {
                y: area.bottom().saturating_sub(1),
                height: 1,
                ..area
            };
            let label = truncate_to_columns(&label, usize::from(area.width));
            frame.render_widget(
                Line::from(clickable_keys::hint_spans(&label, theme::QUIET)),
                below,
            );
        }
    }
}
