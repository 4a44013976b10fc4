//! A ratatui backend that writes fewer bytes: it scrolls rows that only moved, writes over short gaps between two
//! changes, and leaves out what the terminal shows already.
//!
//! Keeps the frame that the terminal shows. Does not decide what is drawn.

use std::cell::RefCell;
use std::io::{self, Write};
use std::mem;
use std::ops::Range;
use std::rc::Rc;

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

/// Frames with fewer changed cells are not searched for moved rows.
const MIN_CHANGES_FOR_SCROLL: usize = 400;
/// Moving the cursor over a gap takes up to nine bytes; writing the cells of the gap takes one byte each.
const MAX_BRIDGED_GAP: u16 = 3;

/// Modifiers that are seen on a blank.
const SEEN_ON_BLANK: Modifier = Modifier::REVERSED
    .union(Modifier::UNDERLINED)
    .union(Modifier::CROSSED_OUT);

/// Behind a sign, makes it an emoji: some terminals leave its second column as it was.
const EMOJI_STYLE: char = '\u{FE0F}';

/// A cell that the terminal does not show yet, behind its column and row.
type ChangedCell<'a> = (u16, u16, &'a Cell);

/// A terminal backend that sends as few bytes as possible.
pub struct DiffBackend<W: Write> {
    inner: CrosstermBackend<W>,
    frames: FrameHandover,
    /// Number of cells that are not blank, per row of the shown frame; `None` if the row changed since the last count.
    filled_cell_counts: Vec<Option<usize>>,
    cursor: CursorState,
}

/// Hands finished frames to the backend, which compares them with what the terminal shows.
///
/// The library's own comparison, the iterator that a backend gets, was a third of a frame's cost; it is only
/// used where the terminal's frame is not known.
#[derive(Debug, Clone, Default)]
pub struct FrameHandover(Rc<RefCell<FramePair>>);

#[derive(Debug, Default)]
struct FramePair {
    /// The finished frame, until the backend draws it.
    finished: Option<Buffer>,
    /// The frame that the terminal shows; `None` if unknown.
    shown: Option<Buffer>,
    /// The memory of an earlier frame.
    spare: Buffer,
}

impl FrameHandover {
    /// Takes the content of a finished frame and leaves that of an earlier one in its place. Four buffers are in use then,
    /// of half a megabyte each for a large terminal; that pays off as soon as text streams.
    pub fn take_frame(&self, frame: &mut Buffer) {
        let mut frames = self.0.borrow_mut();
        let finished = if frames.has_shown(frame) {
            let mut spare = mem::take(&mut frames.spare);
            spare.resize(frame.area);
            mem::replace(frame, spare)
        } else {
            // The library compares it with the one before it.
            frame.clone()
        };
        frames.finished = Some(finished);
    }
}

impl FramePair {
    /// Returns whether the terminal's frame is known and has the size of another one.
    fn has_shown(&self, other: &Buffer) -> bool {
        let shown = self.shown.as_ref();
        shown.is_some_and(|shown| shown.area == other.area)
    }
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
            frames: FrameHandover::default(),
            filled_cell_counts: Vec::new(),
            cursor: CursorState::default(),
        }
    }

    /// Returns where frames are handed over that it is to compare; without, the library compares them.
    pub fn frames(&self) -> FrameHandover {
        self.frames.clone()
    }

    /// Sends what differs between the frame that the terminal shows and the next one.
    fn draw_changes(&mut self, before: &Buffer, after: &Buffer) -> io::Result<()> {
        let changed = changed_cells(before, after);
        if changed.is_empty() {
            return Ok(());
        }
        self.cursor.at = None;
        let counts = &mut self.filled_cell_counts;
        let is_much = changed.len() >= MIN_CHANGES_FOR_SCROLL;
        let were = is_much.then(|| count_filled_cells(counts, before));
        invalidate_counts(counts, &changed);
        let moved = were.and_then(|were| {
            let are = count_filled_cells(counts, after);
            RowScroll::detect(before, &were, after, &are, &changed)
        });
        match moved {
            None => self.inner.draw(bridge_gaps(&changed, after).into_iter()),
            Some(moved) => {
                self.write_scroll(&moved)?;
                let left = moved.cells_left(after, &changed);
                self.inner.draw(bridge_gaps(&left, after).into_iter())
            }
        }
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
        let (finished, shown) = {
            let mut frames = self.frames.0.borrow_mut();
            (frames.finished.take(), frames.shown.take())
        };
        if let (Some(finished), Some(shown)) = (&finished, &shown)
            && finished.area == shown.area
        {
            self.draw_changes(shown, finished)?;
        } else {
            self.filled_cell_counts.clear();
            let changed: Vec<_> = content.collect();
            if !changed.is_empty() {
                self.cursor.at = None;
                self.inner.draw(changed.into_iter())?;
            }
        }
        let mut frames = self.frames.0.borrow_mut();
        frames.shown = finished;
        if let Some(spare) = shown {
            frames.spare = spare;
        }
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
        self.frames.0.borrow_mut().shown = None;
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

/// Returns the cells to send so that a terminal that shows one frame shows another one of the same size.
fn changed_cells<'a>(before: &Buffer, after: &'a Buffer) -> Vec<ChangedCell<'a>> {
    let mut changed = Vec::new();
    for y in 0..after.area.height {
        push_row_changes(&mut changed, y, row_cells(before, y), row_cells(after, y));
    }
    changed
}

/// Adds the changed cells of a row, which are those that the library finds.
fn push_row_changes<'a>(
    changed: &mut Vec<ChangedCell<'a>>,
    y: u16,
    before: &[Cell],
    after: &'a [Cell],
) {
    let mut next = 0;
    // Up to here the ground of a wide letter may still be seen, whatever is there now.
    let mut stale_to = 0;
    for (x, (old, new)) in (0..).zip(before.iter().zip(after)) {
        // What a wide letter covers is not compared.
        if x < next {
            continue;
        }
        let is_same = is_same_cell(old, new);
        let is_stale = x < stale_to;
        if is_same && !is_stale && new.symbol().len() == 1 {
            continue;
        }
        next = x + cell_width(new).max(1);
        if is_stale {
            changed.push((x, y, new));
            stale_to = stale_to.max(next);
        } else if !is_same {
            changed.push((x, y, new));
            if next == x + 1 && is_seen_when_blank(old) {
                stale_to = x + cell_width(old);
            }
            if next > x + 1 && new.symbol().contains(EMOJI_STYLE) {
                let covered = (x + 1..next).zip(before.iter().zip(after).skip(usize::from(x) + 1));
                let stale = covered.filter(|(_, (old, new))| old.symbol() != new.symbol());
                changed.extend(stale.map(|(x, (_, new))| (x, y, new)));
            }
        }
    }
}

fn is_seen_when_blank(cell: &Cell) -> bool {
    cell.bg != Color::Reset || cell.modifier.intersects(SEEN_ON_BLANK)
}

/// Returns whether two cells look the same.
#[inline]
fn is_same_cell(one: &Cell, other: &Cell) -> bool {
    one.fg == other.fg
        && one.bg == other.bg
        && one.modifier == other.modifier
        && match (one.symbol().as_bytes(), other.symbol().as_bytes()) {
            ([one], [other]) => one == other,
            (one, other) => one == other,
        }
}

fn is_same_row(one: &[Cell], other: &[Cell]) -> bool {
    let mut cells = one.iter().zip(other);
    one.len() == other.len() && cells.all(|(one, other)| is_same_cell(one, other))
}

fn cell_width(cell: &Cell) -> u16 {
    cell.symbol().cell_width()
}

/// Adds the unchanged cells of short gaps to the changes.
fn bridge_gaps<'a>(changed: &[ChangedCell<'a>], shown: &'a Buffer) -> Vec<ChangedCell<'a>> {
    let mut all: Vec<ChangedCell<'_>> = Vec::with_capacity(changed.len() + changed.len() / 4);
    for &(x, y, cell) in changed {
        if let Some(&(last_x, last_y, last)) = all.last()
            && last_y == y
            && x > last_x + 1
            && x - last_x <= MAX_BRIDGED_GAP + 1
        {
            let gap = (last_x + 1..x).map(|x| Some((x, y, shown.cell((x, y))?)));
            let gap: Option<Vec<_>> = gap.collect();
            let is_plain = |(_, _, cell): &ChangedCell<'_>| {
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
        changed: &[ChangedCell<'_>],
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
                && (is_blank || is_same_row(row_cells(before, from), row_cells(after, to)))
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
        changed: &[ChangedCell<'a>],
    ) -> Vec<ChangedCell<'a>> {
        let exposed = self.exposed_rows();
        let above = changed.iter().filter(|(_, y, _)| *y < self.rows.start);
        let below = changed.iter().filter(|(_, y, _)| *y >= self.rows.end);
        let drawn = exposed.flat_map(|y| {
            let mut covered_to = 0;
            let cells = (shown.area.x..).zip(row_cells(shown, y));
            cells.filter_map(move |(x, cell)| {
                let is_covered = x < covered_to;
                if !is_covered {
                    covered_to = x.saturating_add(cell_width(cell));
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
fn invalidate_counts(written: &mut [Option<usize>], changed: &[ChangedCell<'_>]) {
    for (_, y, _) in changed {
        if let Some(n) = written.get_mut(usize::from(*y)) {
            *n = None;
        }
    }
}

/// Returns whether a cell is not blank; the symbol alone settles most cases.
fn is_filled(cell: &Cell) -> bool {
    cell.symbol() != " "
        || cell.bg != Color::Reset
        || cell.fg != Color::Reset
        || !cell.modifier.is_empty()
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
        for after in std::iter::once(&before.clone()).chain(frames) {
            let mut drawn = after.clone();
            terminal.frames().take_frame(&mut drawn);
            // The library would compare what was left in the place of the frame.
            terminal.draw(before.diff_iter(&drawn)).unwrap();
            before = drawn;
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
    fn a_frame_is_sent_whole_after_the_window_was_cleared_or_resized() {
        let small = Rect::new(0, 0, 20, 16);
        // The size of the frame, whether the window is cleared before, and whether the frame is sent.
        let steps = [
            (AREA, false, true),
            (AREA, false, false),
            (AREA, true, true),
            (small, true, true),
            (small, false, false),
            (AREA, false, true),
        ];
        // Without a blank, which is not sent.
        let text = "text";
        let count_sent = |n_steps: usize| {
            let mut out = Vec::new();
            let mut terminal = DiffBackend::new(&mut out);
            for (area, is_cleared, _) in steps.into_iter().take(n_steps) {
                if is_cleared {
                    terminal.clear().unwrap();
                }
                let mut drawn = Buffer::empty(area);
                drawn.set_string(0, 0, text, Style::new());
                terminal.frames().take_frame(&mut drawn);
                let blank = Buffer::empty(area);
                terminal.draw(blank.diff_iter(&drawn)).unwrap();
            }
            drop(terminal);
            String::from_utf8(out).unwrap().matches(text).count()
        };
        for (n, (area, _, is_sent)) in steps.into_iter().enumerate() {
            let n_sent = count_sent(n + 1) - count_sent(n);
            assert_eq!(n_sent == 1, is_sent, "{n} {area:?}");
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

    /// Two frames of a row each, of letters that are narrow, wide or emoji, on several grounds.
    fn rows_with_letters() -> impl Strategy<Value = [Buffer; 2]> {
        let letters = ["a", "b", " ", "漢", "é", "🎉", "⚠\u{fe0f}", "e\u{301}"];
        let sign = (proptest::sample::select(letters.to_vec()), 0..5u8);
        let row = proptest::collection::vec(sign, 0..20).prop_map(|signs| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
            let mut x = 0;
            for (sign, style) in signs {
                let style = match style {
                    0 => Style::new(),
                    1 => Style::new().fg(Color::Red),
                    2 => Style::new().add_modifier(Modifier::REVERSED),
                    3 => Style::new().add_modifier(Modifier::BOLD),
                    _ => Style::new().bg(Color::Blue),
                };
                (x, _) = buffer.set_stringn(x, 0, sign, usize::from(12 - x), style);
            }
            buffer
        });
        [row.clone(), row]
    }

    proptest! {
        #[test]
        fn the_changes_are_those_that_the_library_finds([before, after] in rows_with_letters()) {
            prop_assert_eq!(changed_cells(&before, &after), before.diff(&after));
        }

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
