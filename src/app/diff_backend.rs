//! A ratatui backend that writes fewer bytes: it scrolls rows that only moved, writes over short gaps between two
//! changes, and leaves out what the terminal shows already.
//!
//! Keeps a copy of the frame that the terminal shows. Does not decide what is drawn.

use std::io::{self, Write};
use std::ops::Range;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Size};

/// Frames with fewer changed cells are not searched for moved rows.
const MIN_CHANGES_FOR_SCROLL: usize = 400;
/// Moving the cursor over a gap takes up to nine bytes; writing the cells of the gap takes one byte each.
const MAX_BRIDGED_GAP: u16 = 3;

/// A terminal backend that sends as few bytes as possible.
pub struct DiffBackend<W: Write> {
    inner: CrosstermBackend<W>,
    /// The frame that the terminal shows; `None` if unknown.
    shown: Option<Buffer>,
    /// Buffer for the previous frame, reused for every frame.
    before: Buffer,
    /// Number of cells that are not blank, per row of `shown`; `None` if the row changed since the last count.
    filled_cell_counts: Vec<Option<usize>>,
    cursor: CursorState,
}

/// The known state of the cursor.
#[derive(Debug, Default)]
struct CursorState {
    is_visible: Option<bool>,
    at: Option<Position>,
}

impl<W: Write> DiffBackend<W> {
    /// Creates a backend that does not know yet what the terminal shows.
    pub fn new(out: W) -> Self {
        Self {
            inner: CrosstermBackend::new(out),
            shown: None,
            before: Buffer::default(),
            filled_cell_counts: Vec::new(),
            cursor: CursorState::default(),
        }
    }

    /// Returns whether it knows what the terminal shows.
    pub fn knows_frame(&self) -> bool {
        self.shown.is_some()
    }

    /// Stores the frame that the terminal shows. The copy takes half a megabyte for a large terminal; that pays off as
    /// soon as text streams.
    pub fn learn_frame(&mut self, shown: Buffer) {
        self.shown = Some(shown);
        self.filled_cell_counts.clear();
    }

    fn write_scroll(&mut self, moved: &RowScroll) -> io::Result<()> {
        let (top, bottom) = (moved.rows.start + 1, moved.rows.end);
        write!(self.inner, "\x1b[{top};{bottom}r")?;
        match moved.direction {
            // A line feed in the last row scrolls up; a reverse index in the first row scrolls down.
            ScrollDirection::Up => {
                write!(self.inner, "\x1b[{bottom};1H")?;
                (0..moved.distance).try_for_each(|_| self.inner.write_all(b"\n"))?;
            }
            ScrollDirection::Down => {
                write!(self.inner, "\x1b[{top};1H")?;
                (0..moved.distance).try_for_each(|_| self.inner.write_all(b"\x1bM"))?;
            }
        }
        self.inner.write_all(b"\x1b[r")
    }
}

impl<W: Write> Backend for DiffBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let changed: Vec<_> = content.collect();
        if changed.is_empty() {
            return Ok(());
        }
        self.cursor.at = None;
        let Some(mut shown) = self.shown.take() else {
            return self.inner.draw(changed.into_iter());
        };
        let is_much = changed.len() >= MIN_CHANGES_FOR_SCROLL;
        let were = is_much.then(|| {
            copy_buffer(&shown, &mut self.before);
            count_filled_cells(&mut self.filled_cell_counts, &shown)
        });
        apply_changes(&mut shown, &changed);
        invalidate_counts(&mut self.filled_cell_counts, &changed);
        let moved = were.and_then(|were| {
            let are = count_filled_cells(&mut self.filled_cell_counts, &shown);
            RowScroll::detect(&self.before, &were, &shown, &are, &changed)
        });
        match moved {
            None => self.inner.draw(bridge_gaps(&changed, &shown).into_iter())?,
            Some(moved) => {
                self.write_scroll(&moved)?;
                let left = moved.cells_left(&shown, &changed);
                self.inner.draw(bridge_gaps(&left, &shown).into_iter())?;
            }
        }
        self.shown = Some(shown);
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        match self.cursor.is_visible.replace(false) {
            Some(false) => Ok(()),
            _ => self.inner.hide_cursor(),
        }
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        match self.cursor.is_visible.replace(true) {
            Some(true) => Ok(()),
            _ => self.inner.show_cursor(),
        }
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.cursor.at.replace(position) == Some(position) {
            return Ok(());
        }
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, what: ClearType) -> io::Result<()> {
        self.cursor.at = None;
        self.shown = None;
        self.filled_cell_counts.clear();
        self.inner.clear_region(what)
    }

    /// Asks the operating system for the size: crossterm would open the terminal again for every frame.
    fn size(&self) -> io::Result<Size> {
        match rustix::termios::tcgetwinsize(io::stdout()) {
            Ok(size) => Ok(Size::new(size.ws_col, size.ws_row)),
            Err(_) => self.inner.size(),
        }
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

/// Copies a buffer into the memory of another one.
fn copy_buffer(from: &Buffer, to: &mut Buffer) {
    to.area = from.area;
    to.content.clone_from(&from.content);
}

/// Applies changed cells to the stored frame.
fn apply_changes(shown: &mut Buffer, changed: &[(u16, u16, &Cell)]) {
    for (x, y, cell) in changed {
        if let Some(place) = shown.cell_mut((*x, *y)) {
            place.clone_from(cell);
        }
        // The cells that a wide letter covers are blank.
        for x in (x + 1..).take(cell_width(cell).saturating_sub(1)) {
            if let Some(place) = shown.cell_mut((x, *y)) {
                place.reset();
            }
        }
    }
}

fn cell_width(cell: &Cell) -> usize {
    unicode_width::UnicodeWidthStr::width(cell.symbol())
}

/// Adds the unchanged cells of short gaps to the changes.
fn bridge_gaps<'a>(
    changed: &[(u16, u16, &'a Cell)],
    shown: &'a Buffer,
) -> Vec<(u16, u16, &'a Cell)> {
    let mut all: Vec<(u16, u16, &Cell)> = Vec::with_capacity(changed.len() + changed.len() / 4);
    for &(x, y, cell) in changed {
        if let Some(&(last_x, last_y, last)) = all.last()
            && last_y == y
            && x > last_x + 1
            && x - last_x <= MAX_BRIDGED_GAP + 1
        {
            let gap = (last_x + 1..x).map(|x| Some((x, y, shown.cell((x, y))?)));
            let gap: Option<Vec<_>> = gap.collect();
            let is_plain = |(_, _, cell): &(u16, u16, &Cell)| {
                cell.symbol().is_ascii() && cell.style() == last.style()
            };
            if let Some(gap) = gap.filter(|gap| cell_width(last) == 1 && gap.iter().all(is_plain)) {
                all.extend(gap);
            }
        }
        all.push((x, y, cell));
    }
    all
}

/// Rows that moved up or down unchanged.
#[derive(Debug, PartialEq, Eq)]
struct RowScroll {
    /// The rows within which they moved.
    rows: Range<u16>,
    distance: u16,
    direction: ScrollDirection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScrollDirection {
    Up,
    Down,
}

impl RowScroll {
    /// Finds moved rows, if scrolling them saves more than half of the changes. `were` and `are` are the numbers of
    /// cells per row that are not blank, before and after.
    fn detect(
        before: &Buffer,
        were: &[usize],
        after: &Buffer,
        are: &[usize],
        changed: &[(u16, u16, &Cell)],
    ) -> Option<Self> {
        let height = after.area.height;
        let mut costs = vec![0; usize::from(height)];
        for (_, y, _) in changed {
            if let Some(cost) = costs.get_mut(usize::from(*y)) {
                *cost += 1;
            }
        }
        let cost = |y: u16| costs.get(usize::from(y)).copied().unwrap_or_default();
        if were.iter().all(|n| *n == 0) {
            return None;
        }
        let is_same = |from: u16, to: u16| {
            let n = were.get(usize::from(from));
            let is_blank = n == Some(&0);
            n == are.get(usize::from(to))
                && (is_blank || row_cells(before, from) == row_cells(after, to))
        };
        let mut best = (changed.len() / 2, None);
        for by in 1..height {
            for way in [ScrollDirection::Up, ScrollDirection::Down] {
                let mut begin = 0;
                let mut saved = 0;
                for y in 0..height - by {
                    let (from, to) = match way {
                        ScrollDirection::Up => (y + by, y),
                        ScrollDirection::Down => (y, y + by),
                    };
                    if !is_same(from, to) {
                        (begin, saved) = (y + 1, 0);
                        continue;
                    }
                    saved += cost(to);
                    if saved <= best.0 {
                        continue;
                    }
                    let moved = Self {
                        rows: begin..y + by + 1,
                        distance: by,
                        direction: way,
                    };
                    // Scrolling leaves blank rows behind, which must be drawn.
                    let anew = |y: u16| are.get(usize::from(y)).copied().unwrap_or_default();
                    let lost = moved
                        .exposed_rows()
                        .map(|y| anew(y).saturating_sub(cost(y)));
                    let gain = saved.saturating_sub(lost.sum());
                    if gain > best.0 {
                        best = (gain, Some(moved));
                    }
                }
            }
        }
        best.1
    }

    /// The rows that are blank after the scroll.
    fn exposed_rows(&self) -> Range<u16> {
        match self.direction {
            ScrollDirection::Up => self.rows.end - self.distance..self.rows.end,
            ScrollDirection::Down => self.rows.start..self.rows.start + self.distance,
        }
    }

    /// Returns what is to be drawn after the scroll: what changed in the other rows, and the exposed ones, which are
    /// blank. The rows that moved are as they are to be.
    fn cells_left<'a>(
        &self,
        shown: &'a Buffer,
        changed: &[(u16, u16, &'a Cell)],
    ) -> Vec<(u16, u16, &'a Cell)> {
        let exposed = self.exposed_rows();
        let above = changed.iter().filter(|(_, y, _)| *y < self.rows.start);
        let below = changed.iter().filter(|(_, y, _)| *y >= self.rows.end);
        let drawn = exposed.flat_map(|y| {
            let mut covered_to = 0;
            let cells = (shown.area.x..).zip(row_cells(shown, y));
            cells.filter_map(move |(x, cell)| {
                let is_covered = x < covered_to;
                if !is_covered {
                    covered_to = x.saturating_add(u16::try_from(cell_width(cell)).unwrap_or(1));
                }
                (!is_covered && is_filled(cell)).then_some((x, y, cell))
            })
        });
        above.copied().chain(drawn).chain(below.copied()).collect()
    }
}

/// Counts the cells per row that are not blank; known counts are reused.
fn count_filled_cells(written: &mut Vec<Option<usize>>, buffer: &Buffer) -> Vec<usize> {
    written.resize(usize::from(buffer.area.height), None);
    let count = |y| {
        row_cells(buffer, y)
            .iter()
            .filter(|cell| is_filled(cell))
            .count()
    };
    let rows = (0..buffer.area.height).zip(written);
    rows.map(|(y, n)| *n.get_or_insert_with(|| count(y)))
        .collect()
}

/// Drops the counts of rows that changed.
fn invalidate_counts(written: &mut [Option<usize>], changed: &[(u16, u16, &Cell)]) {
    for (_, y, _) in changed {
        if let Some(n) = written.get_mut(usize::from(*y)) {
            *n = None;
        }
    }
}

/// Returns whether a cell is not blank; the symbol alone settles most cases.
fn is_filled(cell: &Cell) -> bool {
    cell.symbol() != " " || cell.style() != Cell::EMPTY.style()
}

fn row_cells(buffer: &Buffer, y: u16) -> &[Cell] {
    let width = usize::from(buffer.area.width);
    let begin = usize::from(y) * width;
    buffer.content.get(begin..begin + width).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use proptest::prelude::*;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Modifier, Style};

    use super::*;

    const AREA: Rect = Rect::new(0, 0, 40, 16);

    /// Every cell of a terminal that received these bytes.
    fn seen(bytes: &[u8]) -> Vec<String> {
        let size = |n| NonZero::new(n).unwrap();
        let mut parser = vt100::Parser::new(size(AREA.height), size(AREA.width), 0);
        parser.process(bytes);
        let screen = parser.screen();
        let places = (0..AREA.height).flat_map(|y| (0..AREA.width).map(move |x| (y, x)));
        let told = places.map(|(y, x)| {
            let cell = screen.cell(y, x).unwrap();
            // The second half of a wide letter looks like the first one.
            if cell.is_wide_continuation() {
                return format!("{y},{x}");
            }
            let ground = (cell.bgcolor(), cell.inverse());
            match cell.contents() {
                "" | " " => format!("{y},{x}: {ground:?}"),
                text => {
                    let letter = (cell.fgcolor(), cell.bold());
                    format!("{y},{x}: {ground:?} {text:?} {letter:?}")
                }
            }
        });
        told.collect()
    }

    /// A frame of these lines, each with its style.
    fn frame(lines: &[(String, u8)]) -> Buffer {
        let mut buffer = Buffer::empty(AREA);
        for (y, (line, style)) in (0..AREA.height).zip(lines) {
            let style = match style % 4 {
                0 => Style::new(),
                1 => Style::new().fg(Color::Indexed(*style)),
                2 => Style::new().add_modifier(Modifier::BOLD),
                _ => Style::new().bg(Color::Blue),
            };
            buffer.set_stringn(0, y, line, usize::from(AREA.width), style);
        }
        buffer
    }

    fn encode_frames(frames: &[Buffer]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut terminal = DiffBackend::new(&mut out);
        let mut before = Buffer::empty(AREA);
        terminal.learn_frame(before.clone());
        for after in frames {
            terminal.draw(before.diff(after).into_iter()).unwrap();
            before = after.clone();
        }
        drop(terminal);
        out
    }

    /// Lines with either many colours or wide letters, never both: terminals differ in the background that they leave
    /// below half a letter.
    fn lines() -> impl Strategy<Value = Vec<(String, u8)>> {
        let line = || {
            prop_oneof![
                "[a-e ]{0,50}",
                Just(String::new()),
                Just("a b c d e f g h i ".repeat(2))
            ]
        };
        let wide = || prop_oneof![line(), "[a-e漢é🎉 ]{0,50}".boxed()];
        prop_oneof![
            proptest::collection::vec((line(), 0..8u8), 60),
            proptest::collection::vec((wide(), 0..3u8), 60),
        ]
    }

    fn rows(from: usize) -> Vec<(String, u8)> {
        let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
        let line = |n: usize| (0..40).map(|x| letter(n * n + x * (n + 1))).collect();
        (from..from + 16).map(|n| (line(n), 0)).collect()
    }

    #[test]
    fn lines_that_move_are_not_sent_again() {
        let first = encode_frames(&[frame(&rows(0))]).len();
        for (from, to) in [(0, 2), (2, 0), (0, 1), (5, 0)] {
            let both = encode_frames(&[frame(&rows(from)), frame(&rows(to))]).len();
            assert!(both - first < first / 2, "{from} to {to}: {first}, {both}");
        }
    }

    #[test]
    fn nothing_new_is_nothing_sent() {
        let mut out = Vec::new();
        let mut terminal = DiffBackend::new(&mut out);
        terminal.show_cursor().unwrap();
        terminal.set_cursor_position((1, 2)).unwrap();
        let n_bytes = b"\x1b[?25h\x1b[3;2H".len();
        terminal.draw(std::iter::empty()).unwrap();
        terminal.show_cursor().unwrap();
        terminal.set_cursor_position((1, 2)).unwrap();
        drop(terminal);
        assert_eq!(out.len(), n_bytes);
    }

    proptest! {
        #[test]
        fn the_terminal_shows_what_was_drawn(lines in lines(), from in proptest::collection::vec(0..44usize, 1..6)) {
            let frames: Vec<Buffer> = from.iter().map(|from| frame(&lines[*from..])).collect();
            let mut plain = Vec::new();
            let last = Buffer::empty(AREA).diff(frames.last().unwrap());
            CrosstermBackend::new(&mut plain).draw(last.into_iter()).unwrap();
            let (told, plain) = (seen(&encode_frames(&frames)), seen(&plain));
            let differs = told.into_iter().zip(plain).find(|(told, plain)| told != plain);
            prop_assert_eq!(differs, None);
        }
    }
}
