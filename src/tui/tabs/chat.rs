//! Tab: the conversation of both agents, the user and the program, in one stream.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::tui::clickable_keys;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::panes::{ChatArrangement, WIDE};
use crate::tui::search_highlight;
use crate::tui::text_wrap::{draw_line, truncate_to_columns, wrap_trusted_text};
use crate::tui::theme;
use crate::tui::transcript::{ChatTranscript, TranscriptColumns, TranscriptRow};

/// Longer lines are hard to read.
const MAX_TEXT_COLUMNS: u16 = 120;

/// Draws the end of the stream, or the position that the user scrolled to. `empty` is shown while there are
/// no messages, and matches of `find` are highlighted. With `keymap`, the keys that scroll are named.
pub fn draw(
    transcript: &mut ChatTranscript,
    frame: &mut Frame,
    area: Rect,
    empty: &'static str,
    find: &str,
    keymap: Option<&ActiveKeymap>,
    voices: ChatArrangement,
) {
    let is_beside = voices == ChatArrangement::SideBySide && area.width >= WIDE;
    let widest = if is_beside {
        2 * MAX_TEXT_COLUMNS
    } else {
        MAX_TEXT_COLUMNS
    };
    // The left column is for the selection mark; the right one keeps the margins equal.
    let area = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2).min(widest),
        ..area
    };
    let columns = usize::from(area.width);
    let wide = if is_beside {
        TranscriptColumns::SideBySide(columns)
    } else {
        TranscriptColumns::Single(columns)
    };
    if transcript.is_empty() {
        let lines = wrap_trusted_text(empty, columns, theme::QUIET);
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let is_scrolled = !transcript.follows_end() && area.height > 2;
    let n_rows = usize::from(area.height);
    let mut rows = transcript.visible_rows(wide, n_rows - usize::from(is_scrolled));
    // The layout may have reached the end; then there is nothing below the window and no hint.
    let has_line = is_scrolled && !transcript.follows_end();
    if is_scrolled && !has_line {
        rows = transcript.visible_rows(wide, n_rows);
    }
    for (row, y) in highlight_matches(rows, find).into_iter().zip(area.y..) {
        let indent = u16::try_from(row.indent).unwrap_or(0).min(area.width);
        let place = Rect {
            x: area.x + indent,
            y,
            width: area.width - indent,
            height: 1,
        };
        draw_line(frame, &row.line, place);
        if row.is_selected {
            let mark = Rect {
                x: place.x - 1,
                width: 1,
                ..place
            };
            frame.render_widget(Line::styled("▌", theme::KEY), mark);
        }
    }
    if has_line {
        let text = scroll_hint(transcript, keymap);
        let last = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        let text = truncate_to_columns(&text, columns);
        frame.render_widget(
            Line::from(clickable_keys::hint_spans(&text, theme::QUIET)),
            last,
        );
    }
}

/// Returns the hint below a window that does not follow the end: the count of new blocks, and the keys.
fn scroll_hint(transcript: &ChatTranscript, keymap: Option<&ActiveKeymap>) -> String {
    let new = match transcript.new_block_count() {
        0 => String::new(),
        n => format!(" · ↓ {n} new"),
    };
    let keys = keymap.map_or_else(String::new, |keymap| {
        let key = |action| keymap.key_label(action, ComposerFocus::Unfocused);
        let (top, end) = (key("top"), key("end"));
        let earlier = match (transcript.wanted_scrollback(), transcript.has_scrollback()) {
            (Some(_), _) => ", loading earlier messages …".to_owned(),
            (None, true) => format!(", {top} goes to the start"),
            (None, false) => String::new(),
        };
        format!(" · {end} follows again{earlier}")
    });
    format!("── earlier{new}{keys} ")
}

/// Highlights the matches of `letters`, given in lower case; those in the selected block as the current
/// match.
fn highlight_matches(rows: Vec<TranscriptRow>, letters: &str) -> Vec<TranscriptRow> {
    if letters.is_empty() {
        return rows;
    }
    let mut all = Vec::with_capacity(rows.len());
    for block in rows.chunk_by(|one, other| one.is_selected == other.is_selected) {
        let is_picked = block.first().is_some_and(|row| row.is_selected);
        let lines = block.iter().map(|row| row.line.clone()).collect();
        let lines = search_highlight::highlight_lines(lines, letters, is_picked);
        all.extend(block.iter().zip(lines).map(|(row, line)| TranscriptRow {
            line,
            is_selected: row.is_selected,
            indent: row.indent,
        }));
    }
    all
}
