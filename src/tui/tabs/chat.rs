//! Tab: what was said and done, by both agents, the user and the program, in one stream.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::tui::found;
use crate::tui::hints;
use crate::tui::panes::{Voices, WIDE};
use crate::tui::theme;
use crate::tui::transcript::{Row, Transcript, Wide};
use crate::tui::wrap::{cut, put, wrap_own};

/// Longer lines are hard to read.
const WIDEST: u16 = 120;

/// Draws the end of the stream, or where the user scrolled to; `empty` stands where there is none yet, and
/// `find` is lit where it is found. `keys` go to its beginning and to its end, where it has any.
pub fn draw(
    transcript: &mut Transcript,
    frame: &mut Frame,
    area: Rect,
    (empty, find, keys): (&'static str, &str, Option<[String; 2]>),
    voices: Voices,
) {
    let is_beside = voices == Voices::Beside && area.width >= WIDE;
    let widest = match is_beside {
        true => 2 * WIDEST,
        false => WIDEST,
    };
    // A column at the left, for the mark of what is pointed at; the same at the right.
    let area = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2).min(widest),
        ..area
    };
    let columns = usize::from(area.width);
    let wide = match is_beside {
        true => Wide::Halves(columns),
        false => Wide::Whole(columns),
    };
    if transcript.is_empty() {
        let lines = wrap_own(empty, columns, theme::QUIET);
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let is_scrolled = !transcript.follows() && area.height > 2;
    let n_rows = usize::from(area.height);
    let mut rows = transcript.visible(wide, n_rows - usize::from(is_scrolled));
    // Laying out may have found that the end is reached: then nothing stands below it.
    let has_line = is_scrolled && !transcript.follows();
    if is_scrolled && !has_line {
        rows = transcript.visible(wide, n_rows);
    }
    for (row, y) in lit(rows, find).into_iter().zip(area.y..) {
        let indent = u16::try_from(row.indent).unwrap_or(0).min(area.width);
        let place = Rect {
            x: area.x + indent,
            y,
            width: area.width - indent,
            height: 1,
        };
        put(frame, &row.line, place);
        if row.is_picked {
            let mark = Rect {
                x: place.x - 1,
                width: 1,
                ..place
            };
            frame.render_widget(Line::styled("▌", theme::KEY), mark);
        }
    }
    if has_line {
        let text = below(transcript, keys);
        let last = Rect {
            y: area.bottom() - 1,
            height: 1,
            ..area
        };
        let text = cut(&text, columns);
        frame.render_widget(Line::from(hints::spans(&text, theme::QUIET)), last);
    }
}

/// What stands below the window while it does not follow the end: what is new there, and the keys.
fn below(transcript: &Transcript, keys: Option<[String; 2]>) -> String {
    let new = match transcript.n_new() {
        0 => String::new(),
        n => format!(" · ↓ {n} new"),
    };
    let keys = keys.map_or_else(String::new, |[top, end]| {
        let earlier = match (transcript.wants_earlier(), transcript.has_earlier()) {
            (Some(_), _) => "; reading what came before …".to_owned(),
            (None, true) => format!("; {top} goes to the beginning"),
            (None, false) => String::new(),
        };
        format!(" · {end} follows again{earlier}")
    });
    format!("── earlier{new}{keys} ")
}

/// Rows with the places lit that have these letters, given in lower case; those of the block that is pointed at
/// as what is at hand.
fn lit(rows: Vec<Row>, letters: &str) -> Vec<Row> {
    if letters.is_empty() {
        return rows;
    }
    let mut all = Vec::with_capacity(rows.len());
    for block in rows.chunk_by(|one, other| one.is_picked == other.is_picked) {
        let is_picked = block.first().is_some_and(|row| row.is_picked);
        let lines = block.iter().map(|row| row.line.clone()).collect();
        let lines = found::lit(lines, letters, is_picked);
        all.extend(block.iter().zip(lines).map(|(row, line)| Row {
            line,
            is_picked: row.is_picked,
            indent: row.indent,
        }));
    }
    all
}
