//! Draws the suggestions: a list right above or below the composer, as wide as it; the title says what Enter and Tab do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{CompletionKind, CompletionList};
use crate::tui::text_wrap::truncate_to_columns;
use crate::tui::theme::{self, ColorTheme};
use crate::tui::{fuzzy_picker, popup};

/// How many suggestions are visible.
const MAX_ROWS: u16 = 8;

/// What Enter does while suggestions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnterEffect {
    AcceptsEntry,
    SendsText,
}

impl CompletionList {
    /// Returns the title: the kind of suggestions, and what Enter and Tab do.
    fn title(&self, enter: EnterEffect) -> String {
        let what = match self.kind {
            CompletionKind::Answers if self.rows.is_empty() => {
                return "answers · Esc closes".to_owned();
            }
            CompletionKind::Answers => "answers to what is asked",
            CompletionKind::Commands => "commands",
            CompletionKind::Presets => "discussion presets",
            CompletionKind::Values => "arguments",
            CompletionKind::Files => "files",
            CompletionKind::AgentsAndFiles => "agents and files",
        };
        let keys = match (enter, self.kind) {
            // The composer says what Enter does.
            (_, CompletionKind::Commands) => "Tab completes",
            (EnterEffect::SendsText, _) => "Enter sends the line · Tab inserts one",
            (EnterEffect::AcceptsEntry, _) => "Tab or Enter inserts one",
        };
        format!("{what}{} · {keys} · Esc closes", self.truncation_note)
    }

    pub(super) fn draw(
        &self,
        frame: &mut Frame,
        composer: Rect,
        enter: EnterEffect,
        theme: &ColorTheme,
    ) -> Vec<(Rect, usize)> {
        let n_rows = u16::try_from(self.rows.len())
            .unwrap_or(MAX_ROWS)
            .clamp(1, MAX_ROWS);
        let n_below = frame.area().bottom().saturating_sub(composer.bottom() + 1);
        let is_below = n_below > composer.y;
        let height = (n_rows + 2).min(if is_below { n_below } else { composer.y });
        if height < 3 {
            return Vec::new();
        }
        let y = if is_below {
            composer.bottom()
        } else {
            composer.y - height
        };
        let area = Rect {
            y,
            height,
            ..composer
        };
        let title = self.title(enter);
        let inner = popup::draw(frame, area, &title, theme);
        if self.rows.is_empty() {
            let note = truncate_to_columns(&self.note, usize::from(inner.width));
            frame.render_widget(Line::styled(note, theme::QUIET), inner);
        }
        fuzzy_picker::draw_rows(frame, inner, &self.rows, self.chosen)
    }
}
