//! Tab: what was said and done, by both agents, the user and the program, in one stream.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::tui::theme;
use crate::tui::transcript::Transcript;
use crate::tui::wrap::{cut, wrap_own};

/// What a user sees who has not started yet.
pub const WELCOME: &str = "Two agents, one goal: a planner writes plan.md, a reviewer of the other vendor \
writes comments.md, they go on until the review is settled, you approve, and the planner executes step by step.\n\
\n\
Nothing is sent, changed or committed before you say so. Write the goal below; /help lists every key.";

/// Draws the end of the stream, or where the user scrolled to; `empty` stands where there is none yet.
pub fn draw(transcript: &mut Transcript, frame: &mut Frame, area: Rect, empty: &'static str) {
    let columns = usize::from(area.width);
    if transcript.is_empty() {
        let lines = wrap_own(empty, columns, theme::QUIET);
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let has_line = !transcript.follows() && area.height > 2;
    let rows = usize::from(area.height) - usize::from(has_line);
    let lines = transcript.visible(columns, rows);
    frame.render_widget(Paragraph::new(lines), area);
    // Laying out may have found that the end is reached.
    if has_line && !transcript.follows() {
        let earlier = match (transcript.wants_earlier(), transcript.has_earlier()) {
            (Some(_), _) => "; reading what came before …",
            (None, true) => "; Home goes to the beginning",
            (None, false) => "",
        };
        let text = format!("── scrolled: End follows again{earlier} ");
        let last = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        frame.render_widget(Line::styled(cut(&text, columns), theme::NEEDS_YOU), last);
    }
}
