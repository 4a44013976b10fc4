//! The board of a discussion, over the whole height of the tabs: a column for each participant, the rounds as rows,
//! above them the outcome or, while it runs, who is awaited; and any speech to be read whole.
//!
//! Lays out what is visible and nothing else. Refuses to count votes and to decide what comes next.

mod cell;
mod columns;
mod does;
mod grid;
mod minutes;
mod reader;
mod top;
mod votes;
mod words;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::command::Move;
use super::layout::{take_above, waits_behind};
use super::theme;
use super::wrap::{put, wrap_own};
use crate::domain::ids::{DiscussionId, UnixMillis};
pub use cell::Entry;
pub use does::Does;
pub use minutes::{Counted, Minutes};
use reader::Reader;
pub use words::{attitude, decided, stopped};

/// Something on the board that can be pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spot {
    /// What came of it.
    Outcome,
    /// A round, by its place; of which participant, the board's column says.
    Round(usize),
    /// A check, by its place.
    Check(usize),
    /// The moderator's last word in a debate.
    Closing,
}

/// The open board.
#[derive(Debug)]
pub struct Board {
    /// The discussion.
    pub id: DiscussionId,
    /// What is pointed at; `None` while it follows what comes.
    spot: Option<Spot>,
    /// The participant that is pointed at, by its column; `None` while it follows who speaks.
    column: Option<usize>,
    reader: Option<Reader>,
    /// Where things stand in the last frame, for the mouse.
    places: Vec<(Rect, Spot, Option<usize>)>,
    /// The first column in the last frame.
    first: usize,
}

impl Board {
    /// Opens the board of a discussion; it follows what comes.
    pub fn new(id: DiscussionId) -> Self {
        Self {
            id,
            spot: None,
            column: None,
            reader: None,
            places: Vec::new(),
            first: 0,
        }
    }

    /// What is pointed at.
    pub fn spot(&self, minutes: &Minutes<'_>) -> Spot {
        let spot = self.spot.filter(|spot| minutes.has(*spot));
        spot.unwrap_or_else(|| minutes.latest())
    }

    /// The column that is pointed at.
    pub fn column(&self, minutes: &Minutes<'_>) -> usize {
        let column = self.column.or_else(|| minutes.speaking_column());
        let last = minutes.seats().len().saturating_sub(1);
        column.unwrap_or(0).min(last)
    }

    /// Draws it; `waits` is what needs the user behind it.
    pub fn draw(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        (minutes, waits): (Option<&Minutes<'_>>, Option<&str>),
        now: UnixMillis,
    ) {
        self.places.clear();
        let mut area = area;
        if let Some(waits) = waits.filter(|_| area.height > 3) {
            let line = waits_behind(waits, "Esc", usize::from(area.width));
            frame.render_widget(line, take_above(&mut area, 1));
        }
        let Some(minutes) = minutes else {
            let text = "There is no discussion in this run.";
            let none = wrap_own(text, usize::from(area.width), theme::QUIET);
            draw_lines(frame, area, none);
            return;
        };
        if area.is_empty() {
            return;
        }
        let (spot, column) = (self.spot(minutes), self.column(minutes));
        if let Some(reader) = &mut self.reader {
            reader.draw(frame, area, (minutes, spot, column));
            return;
        }
        let columns = usize::from(area.width);
        let whole = area.height;
        let top = top::lines(minutes, (columns, rows_of_top(minutes, area.height)), now);
        let rows = u16::try_from(top.len()).unwrap_or(u16::MAX);
        let place = take_above(&mut area, rows);
        self.places.push((place, Spot::Outcome, None));
        draw_lines(frame, place, top);
        if spot == Spot::Outcome && minutes.discussion.outcome.is_some() {
            mark(frame, place);
        }
        // Where there is room, what it came to and who said what stand apart.
        let apart = u16::from(whole >= ROOMY);
        take_above(&mut area, apart);
        let chosen = grid::Chosen { spot, column };
        self.first = columns::first(self.first, column, minutes.seats().len(), area.width);
        let places = grid::draw(frame, area, (minutes, chosen, self.first), now);
        self.places.extend(places);
    }

    /// Moves what is pointed at, or the speech that is read.
    pub fn scroll(&mut self, to: Move, minutes: &Minutes<'_>) {
        if let Some(reader) = &mut self.reader {
            return reader.scroll(to);
        }
        match to {
            Move::End => (self.spot, self.column) = (None, None),
            Move::Top => self.point_at(0, minutes),
            Move::PageUp => self.step_round(Does::Before, minutes),
            Move::PageDown => self.step_round(Does::After, minutes),
            Move::Up | Move::Down => {
                let at = self.row(minutes);
                let next = match to {
                    Move::Up => at.saturating_sub(1),
                    _ => at + 1,
                };
                self.point_at(next, minutes);
            }
        }
    }

    /// Does what only moves or opens; tells whether it was that.
    pub fn step(&mut self, does: Does, minutes: &Minutes<'_>) -> bool {
        match does {
            Does::Left | Does::Right => self.step_column(does, minutes),
            Does::Before | Does::After => self.step_round(does, minutes),
            Does::Open => match &mut self.reader {
                Some(reader) => reader.scroll(Move::PageDown),
                None => {
                    self.spot = Some(self.spot(minutes));
                    self.column = Some(self.column(minutes));
                    self.reader = Some(Reader::default());
                }
            },
            _ => return false,
        }
        true
    }

    /// Which of the rows is pointed at.
    fn row(&self, minutes: &Minutes<'_>) -> usize {
        let spot = self.spot(minutes);
        let row = minutes.rows().iter().position(|row| *row == spot);
        row.unwrap_or(0)
    }

    /// Points at a row where there is one; what was read gives way to what is read now.
    fn point_at(&mut self, row: usize, minutes: &Minutes<'_>) {
        if let Some(spot) = minutes.rows().get(row) {
            self.column = Some(self.column(minutes));
            self.spot = Some(*spot);
            self.reader = self.reader.take().map(|_| Reader::default());
        }
    }

    /// To the round before or behind, or what else is no check.
    fn step_round(&mut self, does: Does, minutes: &Minutes<'_>) {
        let (rows, at) = (minutes.rows(), self.row(minutes));
        let is_round = |row: &Spot| !matches!(row, Spot::Check(_));
        let next = match does {
            Does::Before => rows.iter().take(at).rposition(is_round),
            _ => {
                let after = rows.iter().skip(at + 1).position(is_round);
                after.map(|after| at + 1 + after)
            }
        };
        if let Some(next) = next {
            self.point_at(next, minutes);
        }
    }

    fn step_column(&mut self, does: Does, minutes: &Minutes<'_>) {
        let last = minutes.seats().len().saturating_sub(1);
        let column = self.column(minutes);
        let column = match does {
            Does::Left => column.saturating_sub(1),
            _ => (column + 1).min(last),
        };
        self.spot = Some(self.spot(minutes));
        self.column = Some(column);
        // The outcome and the checks are nobody's: from them one comes to what was said last.
        if let (Some(Spot::Outcome), Some(last)) = (self.spot, minutes.last_round()) {
            self.spot = Some(last);
        }
        self.reader = self.reader.take().map(|_| Reader::default());
    }

    /// Tells whether a speech is read.
    pub fn is_reading(&self) -> bool {
        self.reader.is_some()
    }

    /// Closes the speech that is read; tells whether one was.
    pub fn close_speech(&mut self) -> bool {
        self.reader.take().is_some()
    }

    /// Points at what was clicked, and opens it where it was pointed at already.
    pub fn click(&mut self, at: Position, minutes: &Minutes<'_>) {
        let hit = self
            .places
            .iter()
            .rev()
            .find(|(place, ..)| place.contains(at));
        let Some((_, spot, column)) = hit.copied() else {
            return;
        };
        let was = (self.spot(minutes), self.column(minutes));
        let column = column.unwrap_or(was.1);
        (self.spot, self.column) = (Some(spot), Some(column));
        if was == (spot, column) {
            self.reader.get_or_insert_default();
        }
    }

    /// What is read, as one would copy it; `None` where nothing is.
    pub fn read_text(&self, minutes: &Minutes<'_>) -> Option<String> {
        self.reader.as_ref()?;
        Some(reader::text(
            minutes,
            self.spot(minutes),
            self.column(minutes),
        ))
    }
}

/// From how many rows on there is room for a blank one.
const ROOMY: u16 = 26;

/// Draws lines that are laid out, from the top of an area.
fn draw_lines(frame: &mut Frame, area: Rect, lines: Vec<Line<'static>>) {
    for (line, y) in lines.into_iter().zip(area.y..area.bottom()) {
        let place = Rect {
            y,
            height: 1,
            ..area
        };
        put(frame, &line, place);
    }
}

/// The mark of what is pointed at, in the column before it.
fn mark(frame: &mut Frame, area: Rect) {
    let Some(x) = area.x.checked_sub(1) else {
        return;
    };
    for y in area.y..area.bottom() {
        let place = Rect {
            x,
            y,
            width: 1,
            height: 1,
        };
        frame.render_widget(Line::styled("▌", theme::KEY), place);
    }
}

/// How many rows the head may take: an outcome is what one looks for.
fn rows_of_top(minutes: &Minutes<'_>, height: u16) -> usize {
    let height = usize::from(height);
    match minutes.discussion.outcome {
        Some(_) => (height * 3 / 5).max(4),
        None => (height / 3).clamp(2, 6),
    }
}
