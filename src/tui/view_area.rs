//! Splits areas of the window.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

/// Takes up to `rows` rows from the bottom of an area.
pub fn split_bottom(area: &mut Rect, rows: usize) -> Rect {
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(area.height);
    area.height -= rows;
    Rect {
        y: area.y + area.height,
        height: rows,
        ..*area
    }
}

/// Takes up to `rows` rows from the top of an area.
pub fn split_top(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    let taken = Rect {
        height: rows,
        ..*area
    };
    area.y += rows;
    area.height -= rows;
    taken
}

/// Takes up to `columns` columns from the right of an area.
pub fn split_right(area: &mut Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width);
    area.width -= columns;
    Rect {
        x: area.x + area.width,
        width: columns,
        ..*area
    }
}

/// Returns the area without one column at each side.
pub fn inset_columns(area: Rect) -> Rect {
    let free = u16::from(area.width > 2);
    Rect {
        x: area.x + free,
        width: area.width - 2 * free,
        ..area
    }
}

/// Returns how many columns stay empty at each side of a window of this width.
pub fn gutter(columns: u16) -> u16 {
    match columns {
        0..60 => 0,
        60..100 => 1,
        100.. => 2,
    }
}

/// Returns the area without `columns` columns at each side.
pub fn inset(area: Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width / 2);
    Rect {
        x: area.x + columns,
        width: area.width - 2 * columns,
        ..area
    }
}

/// Returns the cells of an area's first row, as far as they are in the buffer. For many cells it is cheaper than to ask the
/// buffer for each.
pub fn row_cells(buffer: &mut Buffer, area: Rect) -> &mut [Cell] {
    let row = Rect { height: 1, ..area }.intersection(buffer.area);
    if row.is_empty() {
        return &mut [];
    }
    let first = buffer.index_of(row.x, row.y);
    let cells = buffer
        .content
        .get_mut(first..first + usize::from(row.width));
    cells.unwrap_or_default()
}
