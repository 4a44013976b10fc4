//! How what is offered is drawn: a list above the composer, in whose frame stands what Enter and Tab do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{Offer, What};
use crate::tui::wrap::cut;
use crate::tui::{fuzzy, popup, theme};

/// How many rows of them are seen.
const ROWS: u16 = 8;

/// What Enter does while something is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnEnter {
    /// It takes what is pointed at.
    Takes,
    /// It sends what is written.
    Sends,
}

impl Offer {
    /// What is offered, and what Enter and Tab do with it.
    fn title(&self, enter: OnEnter) -> String {
        let what = match self.what {
            What::Answers if self.rows.is_empty() => return "answers · Esc closes".to_owned(),
            What::Answers => "answers to what is asked",
            What::Commands => "commands",
            What::Presets => "presets of discussions",
            What::Values => "what it takes",
            What::Files => "files",
            What::Both => "agents and files",
        };
        let text = self
            .texts
            .get(self.chosen)
            .map_or("", |text| text.trim_end());
        let keys = match (enter, self.what) {
            (OnEnter::Sends, What::Commands) => {
                format!("Enter carries out {} · Tab completes", self.typed)
            }
            (OnEnter::Takes, What::Commands) => format!("Tab or Enter completes {text}"),
            (OnEnter::Sends, _) => "Enter sends the line · Tab takes one".to_owned(),
            (OnEnter::Takes, _) => "Tab or Enter takes one".to_owned(),
        };
        format!("{what} · {keys} · Esc closes")
    }

    pub(super) fn draw(
        &self,
        frame: &mut Frame,
        composer: Rect,
        enter: OnEnter,
    ) -> Vec<(Rect, usize)> {
        let n_rows = u16::try_from(self.rows.len())
            .unwrap_or(ROWS)
            .clamp(1, ROWS);
        let height = (n_rows + 2).min(composer.y);
        if height < 3 {
            return Vec::new();
        }
        let area = Rect {
            y: composer.y - height,
            height,
            width: composer.width.min(100),
            ..composer
        };
        let title = format!("{}{}", self.title(enter), self.cut);
        let inner = popup::draw(frame, area, &title, "");
        if self.rows.is_empty() {
            let note = cut(&self.note, usize::from(inner.width));
            frame.render_widget(Line::styled(note, theme::QUIET), inner);
        }
        fuzzy::draw_rows(frame, inner, &self.rows, self.chosen)
    }
}
