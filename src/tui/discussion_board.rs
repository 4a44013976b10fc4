//! The board of a discussion, over the whole height of the tabs: a column for each participant, a row for
//! each round, and the outcome or the current speaker above.
//!
//! Each contribution can be opened and read in full.
//!
//! Lays out only what is visible. Votes are counted and rounds decided elsewhere.

mod board_actions;
mod board_cell;
mod board_columns;
mod board_header;
mod board_model;
mod board_overlay;
mod board_reader;
mod discussion_labels;
mod round_grid;
mod vote_bars;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::clickable_keys::waiting_behind_line;
use super::text_wrap::{draw_line, wrap_trusted_text};
use super::theme;
use super::view_area::{gutter, inset, split_top};
use super::view_moves::ScrollMove;
use crate::domain::ids::{DiscussionId, UnixMillis};
pub use board_actions::BoardAction;
pub use board_cell::BoardCellContent;
pub use board_model::{BoardModel, DiscussionCounts};
pub use board_overlay::build_board_model;
use board_reader::BoardReader;
pub use discussion_labels::{attitude_label, describe_decision, describe_stop};

/// An item on the board that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoardTarget {
    Outcome,
    /// A round, by its index; the board's column says which participant.
    Round(usize),
    /// A check, by its index.
    Check(usize),
    /// The moderator's closing words in a debate.
    Closing,
}

#[derive(Debug)]
pub struct DiscussionBoard {
    pub id: DiscussionId,
    /// The selected item; `None` while the board follows the latest.
    target: Option<BoardTarget>,
    /// The selected participant, by column; `None` while the board follows the speaker.
    column: Option<usize>,
    reader: Option<BoardReader>,
    /// The areas of the items in the last frame, for the mouse.
    hit_areas: Vec<(Rect, BoardTarget, Option<usize>)>,
    /// The first visible column in the last frame.
    first_column: usize,
}

impl DiscussionBoard {
    /// Opens the board of a discussion; it follows the latest contribution.
    pub fn new(id: DiscussionId) -> Self {
        Self {
            id,
            target: None,
            column: None,
            reader: None,
            hit_areas: Vec::new(),
            first_column: 0,
        }
    }

    /// Returns the selected item, or the latest one.
    pub fn target(&self, minutes: &BoardModel<'_>) -> BoardTarget {
        let spot = self.target.filter(|spot| minutes.has_spot(*spot));
        spot.unwrap_or_else(|| minutes.latest_spot())
    }

    /// Returns the selected column, or the speaker's.
    pub fn pointed_column(&self, minutes: &BoardModel<'_>) -> usize {
        let column = self.column.or_else(|| minutes.speaking_column());
        let last = minutes.column_participants().len().saturating_sub(1);
        column.unwrap_or(0).min(last)
    }

    /// Draws the board; `waits` is what needs the user behind it.
    fn draw_board(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        minutes: Option<&BoardModel<'_>>,
        waits: Option<&str>,
        now: UnixMillis,
    ) {
        self.hit_areas.clear();
        let mut area = area;
        if let Some(waits) = waits.filter(|_| area.height > 3) {
            let line = waiting_behind_line(waits, "Esc", usize::from(area.width));
            frame.render_widget(line, split_top(&mut area, 1));
        }
        let Some(minutes) = minutes else {
            let text = "No discussion in this run.";
            let none = wrap_trusted_text(text, usize::from(area.width), theme::QUIET);
            draw_lines(frame, area, none);
            return;
        };
        if area.is_empty() {
            return;
        }
        let (spot, column) = (self.target(minutes), self.pointed_column(minutes));
        if let Some(reader) = &mut self.reader {
            reader.draw(frame, area, minutes, spot, column);
            return;
        }
        // The mark of what is selected stands at the margin.
        let mark = u16::from(gutter(frame.area().width) > 0);
        let mut area = inset(area, mark);
        let columns = usize::from(area.width);
        let whole = area.height;
        let top =
            board_header::header_lines(minutes, columns, header_rows(minutes, area.height), now);
        let rows = u16::try_from(top.len()).unwrap_or(u16::MAX);
        let place = split_top(&mut area, rows);
        self.hit_areas.push((place, BoardTarget::Outcome, None));
        draw_lines(frame, place, top);
        if spot == BoardTarget::Outcome && minutes.discussion.outcome.is_some() {
            draw_pointer(frame, place);
        }
        // In a tall window, a blank row separates the outcome from the rounds.
        let apart = u16::from(whole >= MIN_ROWS_FOR_BLANK_LINE);
        split_top(&mut area, apart);
        let chosen = round_grid::BoardSelection { spot, column };
        self.first_column = board_columns::first_visible_column(
            self.first_column,
            column,
            minutes.column_participants().len(),
            area.width,
        );
        let places = round_grid::draw(frame, area, minutes, chosen, self.first_column, now);
        self.hit_areas.extend(places);
    }

    /// Moves the selection, or scrolls the open contribution.
    fn move_selection(&mut self, to: ScrollMove, minutes: &BoardModel<'_>) {
        if let Some(reader) = &mut self.reader {
            return reader.scroll(to);
        }
        match to {
            ScrollMove::End => (self.target, self.column) = (None, None),
            ScrollMove::Top => self.point_at_row(0, minutes),
            ScrollMove::PageUp => self.move_round(BoardAction::PreviousRound, minutes),
            ScrollMove::PageDown => self.move_round(BoardAction::NextRound, minutes),
            ScrollMove::Up | ScrollMove::Down => {
                let at = self.pointed_row(minutes);
                let next = match to {
                    ScrollMove::Up => at.saturating_sub(1),
                    _ => at + 1,
                };
                self.point_at_row(next, minutes);
            }
        }
    }

    /// Performs an action that only moves or opens something; returns whether it was one.
    pub fn perform_action(&mut self, does: BoardAction, minutes: &BoardModel<'_>) -> bool {
        match does {
            BoardAction::PreviousParticipant | BoardAction::NextParticipant => {
                self.move_column(does, minutes)
            }
            BoardAction::PreviousRound | BoardAction::NextRound => self.move_round(does, minutes),
            BoardAction::Open => match &mut self.reader {
                Some(reader) => reader.scroll(ScrollMove::PageDown),
                None => {
                    self.target = Some(self.target(minutes));
                    self.column = Some(self.pointed_column(minutes));
                    self.reader = Some(BoardReader::default());
                }
            },
            _ => return false,
        }
        true
    }

    /// Returns the index of the selected row.
    fn pointed_row(&self, minutes: &BoardModel<'_>) -> usize {
        let spot = self.target(minutes);
        let row = minutes.spots().iter().position(|row| *row == spot);
        row.unwrap_or(0)
    }

    /// Selects a row if it exists; an open reader then shows the new selection.
    fn point_at_row(&mut self, row: usize, minutes: &BoardModel<'_>) {
        if let Some(spot) = minutes.spots().get(row) {
            self.column = Some(self.pointed_column(minutes));
            self.target = Some(*spot);
            self.reader = self.reader.take().map(|_| BoardReader::default());
        }
    }

    /// Moves to the previous or next row, skipping checks.
    fn move_round(&mut self, does: BoardAction, minutes: &BoardModel<'_>) {
        let (rows, at) = (minutes.spots(), self.pointed_row(minutes));
        let is_round = |row: &BoardTarget| !matches!(row, BoardTarget::Check(_));
        let next = match does {
            BoardAction::PreviousRound => rows.iter().take(at).rposition(is_round),
            _ => {
                let after = rows.iter().skip(at + 1).position(is_round);
                after.map(|after| at + 1 + after)
            }
        };
        if let Some(next) = next {
            self.point_at_row(next, minutes);
        }
    }

    fn move_column(&mut self, does: BoardAction, minutes: &BoardModel<'_>) {
        let last = minutes.column_participants().len().saturating_sub(1);
        let column = self.pointed_column(minutes);
        let column = match does {
            BoardAction::PreviousParticipant => column.saturating_sub(1),
            _ => (column + 1).min(last),
        };
        self.target = Some(self.target(minutes));
        self.column = Some(column);
        // The outcome and the checks have no participant, so moving sideways goes to the latest round.
        if let (Some(BoardTarget::Outcome), Some(last)) = (self.target, minutes.last_round()) {
            self.target = Some(last);
        }
        self.reader = self.reader.take().map(|_| BoardReader::default());
    }

    /// Closes the open contribution; returns whether there was one.
    pub fn close_speech(&mut self) -> bool {
        self.reader.take().is_some()
    }

    /// Selects the clicked item, or opens it if it is already selected.
    fn click_item(&mut self, at: Position, minutes: &BoardModel<'_>) {
        let hit = self
            .hit_areas
            .iter()
            .rev()
            .find(|(place, ..)| place.contains(at));
        let Some((_, spot, column)) = hit.copied() else {
            return;
        };
        let was = (self.target(minutes), self.pointed_column(minutes));
        let column = column.unwrap_or(was.1);
        (self.target, self.column) = (Some(spot), Some(column));
        if was == (spot, column) {
            self.reader.get_or_insert_default();
        }
    }

    /// Returns the open contribution as text to copy; `None` if none is open.
    fn open_speech_text(&self, minutes: &BoardModel<'_>) -> Option<String> {
        self.reader.as_ref()?;
        Some(board_reader::to_markdown(
            minutes,
            self.target(minutes),
            self.pointed_column(minutes),
        ))
    }
}

/// The height from which a blank row fits.
const MIN_ROWS_FOR_BLANK_LINE: u16 = 26;

/// Draws laid-out lines from the top of an area.
fn draw_lines(frame: &mut Frame, area: Rect, lines: Vec<Line<'static>>) {
    for (line, y) in lines.into_iter().zip(area.y..area.bottom()) {
        let place = Rect {
            y,
            height: 1,
            ..area
        };
        draw_line(frame, &line, place);
    }
}

/// Draws the selection mark in the column before an area.
fn draw_pointer(frame: &mut Frame, area: Rect) {
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
        frame.render_widget(Line::styled("▌", theme::ACCENT), place);
    }
}

/// Returns how many rows the header may take: an outcome gets more, because users look for it.
fn header_rows(minutes: &BoardModel<'_>, height: u16) -> usize {
    let height = usize::from(height);
    match minutes.discussion.outcome {
        Some(_) => (height * 3 / 5).max(4),
        None => (height / 3).clamp(2, 6),
    }
}
