//! The rounds as rows and the participants as columns. The selected round shows the messages, the rounds
//! around it only the stances. Where not all columns fit, those around the selected one are shown.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::board_cell::{self, BoardCellDetail};
use super::board_columns::{self, BoardColumn};
use super::{BoardModel, BoardTarget, discussion_labels, draw_lines, draw_pointer};
use crate::domain::ids::UnixMillis;
use crate::text::pluralize;
use crate::tui::text_wrap::{draw_line, text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;
use crate::tui::view_area::split_top;

/// Maximum width of a text that has the whole width.
const MAX_TEXT_COLUMNS: usize = 112;
/// Minimum height of the selected round, if the area has that many rows.
const MIN_FOCUSED_ROWS: usize = 8;
/// How many checks a round shows that is not selected.
const MAX_BRIEF_CHECKS: usize = 2;

/// The selected item of the board.
#[derive(Debug, Clone, Copy)]
pub struct BoardSelection {
    pub spot: BoardTarget,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoardRow {
    /// A round, by its index, with its checks.
    Round(usize),
    /// The moderator's final message.
    Closing,
}

/// Draws the grid and returns which target is at which place.
pub fn draw(
    frame: &mut Frame,
    area: Rect,
    minutes: &BoardModel<'_>,
    chosen: BoardSelection,
    first: usize,
    now: UnixMillis,
) -> Vec<(Rect, BoardTarget, Option<usize>)> {
    let mut area = area;
    let mut grid = RoundGrid {
        minutes,
        selection: chosen,
        now,
        columns: board_columns::visible_columns(area, minutes.column_participants().len(), first),
        hit_areas: Vec::new(),
    };
    if area.height < 2 {
        return grid.hit_areas;
    }
    let heading = split_top(&mut area, 1);
    board_columns::draw_heading(frame, heading, minutes, &grid.columns, chosen.column);
    grid.draw_rows(frame, area);
    grid.hit_areas
}

struct RoundGrid<'a> {
    minutes: &'a BoardModel<'a>,
    selection: BoardSelection,
    now: UnixMillis,
    columns: Vec<BoardColumn>,
    hit_areas: Vec<(Rect, BoardTarget, Option<usize>)>,
}

impl RoundGrid<'_> {
    fn board_rows(&self) -> Vec<BoardRow> {
        let rounds = (0..self.minutes.discussion.rounds.len()).map(BoardRow::Round);
        let mut blocks: Vec<BoardRow> = rounds.collect();
        blocks.extend(self.minutes.closing_moderator().map(|_| BoardRow::Closing));
        blocks
    }

    /// Returns the block that contains the selection.
    fn focused_row(&self, blocks: &[BoardRow]) -> usize {
        let wanted = match self.selection.spot {
            BoardTarget::Round(n) => Some(BoardRow::Round(n)),
            BoardTarget::Check(n) => {
                let of = self
                    .minutes
                    .discussion
                    .checks
                    .get(n)
                    .map(|check| check.round);
                let rounds = &self.minutes.discussion.rounds;
                rounds
                    .iter()
                    .position(|round| Some(round.n) == of)
                    .map(BoardRow::Round)
            }
            BoardTarget::Closing => Some(BoardRow::Closing),
            // With the outcome selected, the final message that it is based on is expanded.
            BoardTarget::Outcome => {
                Some(BoardRow::Closing).filter(|_| self.minutes.discussion.closing.is_some())
            }
        };
        let at = wanted.and_then(|wanted| blocks.iter().position(|block| *block == wanted));
        let last_round = self.minutes.discussion.rounds.len().saturating_sub(1);
        at.unwrap_or(last_round)
    }

    fn draw_rows(&mut self, frame: &mut Frame, area: Rect) {
        let blocks = self.board_rows();
        let rows = usize::from(area.height);
        if blocks.is_empty() || rows == 0 {
            return;
        }
        let focus = self.focused_row(&blocks);
        let (from, heights) = self.visible_heights(&blocks, focus, rows);
        let spare = rows.saturating_sub(heights.iter().sum());
        // A blank row before each block, where no text is lost by it.
        let gap = u16::from(spare > heights.len());
        let mut area = area;
        for (n, height) in heights.iter().enumerate() {
            let at = from + n;
            let Some(block) = blocks.get(at) else {
                break;
            };
            let hidden = match n {
                0 if from > 0 => format!("↑ {from} more "),
                _ if n + 1 == heights.len() && at + 1 < blocks.len() => {
                    format!("↓ {} more ", blocks.len() - at - 1)
                }
                _ => String::new(),
            };
            split_top(&mut area, gap);
            let place = split_top(&mut area, u16::try_from(*height).unwrap_or(u16::MAX));
            // A block with more rows than its brief form needs shows its messages, too.
            let brief = self.row_height(*block, BoardCellDetail::Brief, rows);
            let form = if at == focus || *height > brief {
                BoardCellDetail::Full
            } else {
                BoardCellDetail::Brief
            };
            self.draw_row(frame, place, *block, form, &hidden);
        }
    }

    /// Returns the first visible block and the height of each visible block.
    fn visible_heights(
        &self,
        blocks: &[BoardRow],
        focus: usize,
        rows: usize,
    ) -> (usize, Vec<usize>) {
        let brief = |at: usize| {
            blocks
                .get(at)
                .map(|block| self.row_height(*block, BoardCellDetail::Brief, rows))
        };
        let whole = blocks
            .get(focus)
            .map(|block| self.row_height(*block, BoardCellDetail::Full, rows));
        let mut left = rows.saturating_sub(whole.unwrap_or(rows).min(MIN_FOCUSED_ROWS));
        let (mut from, mut to) = (focus, focus + 1);
        let mut heights = std::collections::VecDeque::from([0]);
        loop {
            let before = from
                .checked_sub(1)
                .and_then(brief)
                .filter(|height| *height <= left);
            if let Some(height) = before {
                from -= 1;
                left -= height;
                heights.push_front(height);
            }
            let after = brief(to).filter(|height| *height <= left);
            if let Some(height) = after {
                to += 1;
                left -= height;
                heights.push_back(height);
            }
            if before.is_none() && after.is_none() {
                break;
            }
        }
        let others: usize = heights.iter().sum();
        let room = rows.saturating_sub(others);
        let open = blocks
            .get(focus)
            .map(|block| self.row_height(*block, BoardCellDetail::Full, room));
        if let Some(height) = heights.get_mut(focus - from) {
            *height = open.unwrap_or(room).min(room);
        }
        let left = room.saturating_sub(open.unwrap_or(room));
        (
            from,
            self.distribute_rows(blocks, from, focus, heights.into(), left),
        )
    }

    /// Gives the remaining rows to the blocks around the selected one, the latest first.
    fn distribute_rows(
        &self,
        blocks: &[BoardRow],
        from: usize,
        focus: usize,
        mut heights: Vec<usize>,
        left: usize,
    ) -> Vec<usize> {
        let mut left = left;
        for (n, height) in heights.iter_mut().enumerate().rev() {
            let at = from + n;
            let Some(block) = blocks.get(at).filter(|_| at != focus && left > 0) else {
                continue;
            };
            let open = self.row_height(*block, BoardCellDetail::Full, *height + left);
            let more = open.saturating_sub(*height).min(left);
            *height += more;
            left -= more;
        }
        heights
    }

    /// Returns the maximum height of a block, with its heading.
    fn row_height(&self, block: BoardRow, form: BoardCellDetail, rows: usize) -> usize {
        let room = rows.saturating_sub(1);
        match block {
            BoardRow::Closing => 1 + self.closing_lines(room, form).len(),
            BoardRow::Round(n) => {
                let checks = self.check_lines(n, form).len();
                let room = room.saturating_sub(checks);
                let cells = self.round_cells(n, room, form);
                1 + cells.iter().map(Vec::len).max().unwrap_or(0) + checks
            }
        }
    }

    fn round_cells(
        &self,
        round: usize,
        rows: usize,
        form: BoardCellDetail,
    ) -> Vec<Vec<Line<'static>>> {
        let seats = self.minutes.column_participants();
        let of = |(n, _, wide): &BoardColumn| {
            let entry = seats
                .get(*n)
                .map(|seat| self.minutes.cell_content(round, &seat.name));
            let size = (usize::from(*wide).min(MAX_TEXT_COLUMNS), rows);
            entry.map_or_else(Vec::new, |entry| {
                board_cell::cell_lines(entry, size.0, size.1, form, self.now)
            })
        };
        self.columns.iter().map(of).collect()
    }

    fn closing_lines(&self, rows: usize, form: BoardCellDetail) -> Vec<Line<'static>> {
        let (Some((_, from, _)), Some((_, x, wide))) = (self.columns.first(), self.columns.last())
        else {
            return Vec::new();
        };
        let columns = usize::from(x + wide - from).min(MAX_TEXT_COLUMNS);
        board_cell::cell_lines(
            self.minutes.closing_content(),
            columns,
            rows,
            form,
            self.now,
        )
    }

    /// Renders the checks after a round, one line each, with the index of each finished check.
    fn check_lines(
        &self,
        round: usize,
        form: BoardCellDetail,
    ) -> Vec<(Line<'static>, Option<usize>)> {
        let discussion = self.minutes.discussion;
        let Some(n) = discussion.rounds.get(round).map(|round| round.n) else {
            return Vec::new();
        };
        let columns = match (self.columns.first(), self.columns.last()) {
            (Some((_, from, _)), Some((_, x, wide))) => usize::from(x + wide - from),
            _ => return Vec::new(),
        };
        let of_round = discussion.checks.iter().enumerate();
        let of_round = of_round.filter(|(_, check)| check.round == n);
        let mut lines: Vec<(Line<'static>, Option<usize>)> = of_round
            .map(|(at, check)| {
                let (sign, word, style) = discussion_labels::check_label(&check.end);
                let end = format!("  {sign} {word}");
                let by = format!(" · {}", check.asked_by.join(", "));
                let line = check_line(&check.order.command, &end, style, &by, columns);
                (line, Some(at))
            })
            .collect();
        if let (Some(order), true) = (&discussion.checking, round + 1 == discussion.rounds.len()) {
            let line = check_line(&order.command, "  ◐ running", theme::ACCENT, "", columns);
            lines.push((line, None));
        }
        if form == BoardCellDetail::Brief && lines.len() > MAX_BRIEF_CHECKS {
            let more = lines.len() + 1 - MAX_BRIEF_CHECKS;
            lines.truncate(MAX_BRIEF_CHECKS - 1);
            let text = format!("$ … {} more", pluralize(more, "check"));
            lines.push((Line::styled(text, theme::QUIET), None));
        }
        lines
    }

    fn draw_row(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        block: BoardRow,
        form: BoardCellDetail,
        hidden: &str,
    ) {
        let mut area = area;
        if area.is_empty() {
            return;
        }
        let rule = split_top(&mut area, 1);
        let (text, style) = self.rule_text(block, usize::from(rule.width), hidden);
        frame.render_widget(Line::styled(text, style), rule);
        match block {
            BoardRow::Closing => self.draw_closing(frame, area, form),
            BoardRow::Round(n) => self.draw_round(frame, area, n, form),
        }
    }

    /// Renders the line above a block: its name, its details, how much is hidden.
    fn rule_text(
        &self,
        block: BoardRow,
        columns: usize,
        hidden: &str,
    ) -> (String, ratatui::style::Style) {
        let (name, is_chosen) = match block {
            BoardRow::Closing => {
                let closer = self.minutes.closing_moderator();
                let who = closer.map_or(String::new(), |closer| {
                    format!(
                        ": {} · {}",
                        to_one_line(&closer.name),
                        to_one_line(&closer.adapter)
                    )
                });
                (
                    format!("final words{who}"),
                    self.selection.spot == BoardTarget::Closing,
                )
            }
            BoardRow::Round(n) => {
                let round = self.minutes.discussion.rounds.get(n);
                let about = match round {
                    Some(round) if round.n == 1 => " · separately".to_owned(),
                    Some(round) => round.attacker.as_ref().map_or(String::new(), |name| {
                        let leading = self.minutes.discussion.leading_proposal(round.n);
                        let what =
                            leading.map_or("what seems strongest", |_| "the leading proposal");
                        format!(" · {} attacks {what}", to_one_line(name))
                    }),
                    None => String::new(),
                };
                let n = round.map_or(0, |round| round.n);
                (format!("round {n}{about}"), self.is_selected_round(block))
            }
        };
        let name = truncate_to_columns(&name, columns.saturating_sub(5 + text_width(hidden)));
        let line = format!("── {name} ");
        let rest = columns.saturating_sub(text_width(&line) + text_width(hidden));
        let style = if is_chosen {
            theme::ACCENT
        } else {
            theme::QUIET
        };
        (format!("{line}{}{hidden}", "─".repeat(rest)), style)
    }

    fn is_selected_round(&self, block: BoardRow) -> bool {
        matches!((block, self.selection.spot), (BoardRow::Round(n), BoardTarget::Round(chosen)) if n == chosen)
    }

    fn draw_closing(&mut self, frame: &mut Frame, area: Rect, form: BoardCellDetail) {
        let lines = self.closing_lines(usize::from(area.height), form);
        self.hit_areas.push((area, BoardTarget::Closing, None));
        if self.selection.spot == BoardTarget::Closing {
            draw_pointer(frame, area);
        }
        draw_lines(frame, area, lines);
    }

    fn draw_round(&mut self, frame: &mut Frame, area: Rect, n: usize, form: BoardCellDetail) {
        let checks = self.check_lines(n, form);
        let mut area = area;
        let rows = area
            .height
            .saturating_sub(u16::try_from(checks.len()).unwrap_or(u16::MAX));
        // Where there is no room for both, the cells are shown and the checks are not.
        let rows = rows.max(area.height.min(1));
        let cells = split_top(&mut area, rows);
        let lines = self.round_cells(n, usize::from(cells.height), form);
        for ((column, x, wide), lines) in std::iter::zip(self.columns.clone(), lines) {
            let place = Rect {
                x,
                width: wide,
                ..cells
            };
            self.hit_areas
                .push((place, BoardTarget::Round(n), Some(column)));
            if self.selection.spot == BoardTarget::Round(n) && self.selection.column == column {
                draw_pointer(frame, place);
            }
            let is_last = self
                .columns
                .last()
                .is_some_and(|(last, ..)| *last == column);
            if !is_last {
                draw_column_divider(frame, place);
            }
            draw_lines(frame, place, lines);
        }
        for ((line, check), y) in checks.into_iter().zip(area.y..area.bottom()) {
            let place = Rect {
                y,
                height: 1,
                ..area
            };
            if let Some(check) = check {
                self.hit_areas
                    .push((place, BoardTarget::Check(check), None));
                if self.selection.spot == BoardTarget::Check(check) {
                    draw_pointer(frame, place);
                }
            }
            draw_line(frame, &line, place);
        }
    }
}

/// Renders a check: the command, its outcome, who requested it.
fn check_line(
    command: &str,
    end: &str,
    style: ratatui::style::Style,
    by: &str,
    columns: usize,
) -> Line<'static> {
    let end = truncate_to_columns(end, columns / 2);
    let by = truncate_to_columns(by, columns.saturating_sub(text_width(&end) + 14));
    let room = columns.saturating_sub(2 + text_width(&end) + text_width(&by));
    Line::from(vec![
        Span::styled("$ ", theme::QUIET),
        Span::styled(
            truncate_to_columns(&to_one_line(command), room),
            theme::CODE,
        ),
        Span::styled(end, style),
        Span::styled(by, theme::QUIET),
    ])
}

/// Draws the divider between a column and the next.
fn draw_column_divider(frame: &mut Frame, area: Rect) {
    for y in area.y..area.bottom() {
        let place = Rect {
            x: area.right() + 1,
            y,
            width: 1,
            height: 1,
        };
        let place = place.intersection(frame.area());
        frame.render_widget(Line::styled("│", theme::QUIET), place);
    }
}
