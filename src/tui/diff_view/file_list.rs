//! The files of a diff with their counts, at the left of the text; the file of the first visible row is marked.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::text::unified_diff::FileDiff;
use crate::tui::text_wrap::{text_width, truncate_middle};
use crate::tui::theme::{self, Surface};

/// The area of each file that a click opens, by the file's index.
pub type FileAreas = Vec<(Rect, usize)>;

/// Draws the files around the chosen one, on a panel over the whole height; returns the areas that can be clicked.
pub fn draw(files: &[FileDiff], chosen: usize, frame: &mut Frame, area: Rect) -> FileAreas {
    Surface::Panel.fill(frame.buffer_mut(), area);
    let columns = usize::from(area.width);
    // The first row stays empty, beside the first heading.
    let n_rows = usize::from(area.height).saturating_sub(1);
    let first = (chosen + 1).saturating_sub(n_rows);
    let mut areas = Vec::new();
    for (n, file) in files.iter().enumerate().skip(first).take(n_rows) {
        let row = u16::try_from(n - first + 1).unwrap_or(u16::MAX);
        let place = Rect {
            y: area.y.saturating_add(row),
            height: 1,
            ..area
        };
        if n == chosen {
            frame.buffer_mut().set_style(place, theme::PICKED);
        }
        frame.render_widget(file_line(file, columns), place);
        areas.push((place, n));
    }
    areas
}

/// Returns a file's name and, at the right end of the row, its counts.
fn file_line(file: &FileDiff, columns: usize) -> Line<'static> {
    let counts = match file.added + file.removed {
        0 => vec![Span::styled(file.notes.clone(), theme::QUIET)],
        _ => count_spans(file.added, file.removed),
    };
    let used: usize = counts.iter().map(|span| text_width(&span.content)).sum();
    let room = columns.saturating_sub(used + 2);
    let name = truncate_middle(&file.name, room.saturating_sub(1));
    let gap = room.saturating_sub(text_width(&name));
    let mut spans = vec![Span::raw(format!(" {name}{}", " ".repeat(gap)))];
    spans.extend(counts);
    Line::from(spans)
}

/// Returns the counts of lines in their colours, each after a blank; those of nothing are left out.
pub fn count_spans(added: usize, removed: usize) -> Vec<Span<'static>> {
    let counts = [
        (added, format!(" +{added}"), theme::GOOD),
        (removed, format!(" −{removed}"), theme::BAD),
    ];
    let counts = counts.into_iter().filter(|(n, ..)| *n > 0);
    counts
        .map(|(_, text, style)| Span::styled(text, style))
        .collect()
}
