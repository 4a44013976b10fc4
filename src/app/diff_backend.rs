//! What goes to the terminal of a frame: rows that only move are moved by the terminal itself, a short gap between
//! two changes is written over, and what is there already is left out.
//!
//! It keeps what the terminal shows, once it was told. Refuses to decide what is drawn.

use std::io::{self, Write};
use std::ops::Range;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Size};

/// A frame with fewer changed cells is not looked through for rows that moved.
const MIN_CHANGES_FOR_SCROLL: usize = 400;
/// To go over a gap takes up to nine bytes; to write what stands in it takes one a cell.
const MAX_BRIDGED_GAP: u16 = 3;

/// A terminal that is told as little as possible.
pub struct DiffBackend<W: Write> {
    inner: CrosstermBackend<W>,
    /// What the terminal shows; `None` where nobody told.
    shown: Option<Buffer>,
    /// Room for what it showed before, used again and again.
    before: Buffer,
    /// How many cells of each row of what it shows are not blank; `None` where nobody counted since it changed.
    filled_cell_counts: Vec<Option<usize>>,
    cursor: CursorState,
}

/// What is known of the cursor.
#[derive(Debug, Default)]
struct CursorState {
    is_visible: Option<bool>,
    at: Option<Position>,
}

impl<W: Write> DiffBackend<W> {
    /// A terminal of which nothing is known yet.
    pub fn new(out: W) -> Self {
        Self {
            inner: CrosstermBackend::new(out),
            shown: None,
            before: Buffer::default(),
            filled_cell_counts: Vec::new(),
            cursor: CursorState::default(),
        }
    }

    /// Tells whether it was told what the terminal shows.
    pub fn knows_frame(&self) -> bool {
        self.shown.is_some()
    }

    /// Tells it what the terminal shows: half a megabyte on a large one, which pays as soon as text streams.
    pub fn learn_frame(&mut self, shown: Buffer) {
        self.shown = Some(shown);
        self.filled_cell_counts.clear();
    }

    fn write_scroll(&mut self, moved: &RowScroll) -> io::Result<()> {
        let (top, bottom) = (moved.rows.start + 1, moved.rows.end);
        write!(self.inner, "\x1b[{top};{bottom}r")?;
        match moved.direction {
            // A line end in the last row moves the rows up, its opposite in the first one moves them down.
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
                moved.apply_to(&mut self.before);
                let left = self.before.diff(&shown);
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

    /// The size that the system knows of: the library opens the terminal anew to ask, for each frame.
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

/// Makes one the same as the other, in the room that it has.
fn copy_buffer(from: &Buffer, to: &mut Buffer) {
    to.area = from.area;
    to.content.clone_from(&from.content);
}

/// Notes changed cells.
fn apply_changes(shown: &mut Buffer, changed: &[(u16, u16, &Cell)]) {
    for (x, y, cell) in changed {
        if let Some(place) = shown.cell_mut((*x, *y)) {
            place.clone_from(cell);
        }
        // What a wide letter lies on is blank.
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

/// The same changes, with what stands in short gaps between them.
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

/// Rows that stand elsewhere, as they are.
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
    /// Finds rows that moved, where that saves more than half of these changes. With each buffer comes how many cells
    /// of each of its rows are not blank.
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
                    // What came from elsewhere leaves blanks behind.
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

    /// The rows into which nothing moves.
    fn exposed_rows(&self) -> Range<u16> {
        match self.direction {
            ScrollDirection::Up => self.rows.end - self.distance..self.rows.end,
            ScrollDirection::Down => self.rows.start..self.rows.start + self.distance,
        }
    }

    /// Moves them as the terminal does: where they came from it is blank.
    fn apply_to(&self, shown: &mut Buffer) {
        let width = usize::from(shown.area.width);
        let place = |row: u16| usize::from(row) * width;
        let (begin, end) = (place(self.rows.start), place(self.rows.end));
        let by = place(self.distance);
        let Some(rows) = shown.content.get_mut(begin..end) else {
            return;
        };
        let by = by.min(rows.len());
        let left = match self.direction {
            ScrollDirection::Up => {
                rows.rotate_left(by);
                rows.len() - by..rows.len()
            }
            ScrollDirection::Down => {
                rows.rotate_right(by);
                0..by
            }
        };
        if let Some(left) = rows.get_mut(left) {
            left.fill(Cell::EMPTY);
        }
    }
}

/// How many cells of each row are not blank; what is counted already is not counted again.
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

/// Takes back what was counted of rows that changed.
fn invalidate_counts(written: &mut [Option<usize>], changed: &[(u16, u16, &Cell)]) {
    for (_, y, _) in changed {
        if let Some(n) = written.get_mut(usize::from(*y)) {
            *n = None;
        }
    }
}

/// Tells whether a cell is anything but blank; most are told apart by their sign alone.
fn is_filled(cell: &Cell) -> bool {
    cell.symbol() != " " || *cell != Cell::EMPTY
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

    /// Every cell of what a terminal shows that was told these bytes.
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

    /// A frame of these lines, each in its style.
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

    /// Lines of either many colours or wide letters: terminals differ in what is left of the ground below half
    /// of a letter.
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
