//! The rounds as rows and the participants as columns: the round that is pointed at shows what was said, those
//! around it where everybody stood. Where not all columns fit, those around the one that is pointed at do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::cell::{self, Form};
use super::columns::{self, Column};
use super::{Minutes, Spot, draw_lines, mark, words};
use crate::domain::ids::UnixMillis;
use crate::text::pluralize;
use crate::tui::layout::take_above;
use crate::tui::theme;
use crate::tui::wrap::{cut, one_line, put, width};

/// How wide a text gets that has the whole width.
const WIDEST: usize = 112;
/// How many rows the round that is pointed at gets at least, where there are so many.
const LEAST: usize = 8;
/// How many checks of a round that is not pointed at are shown.
const CHECKS: usize = 2;

/// What is pointed at.
#[derive(Debug, Clone, Copy)]
pub struct Chosen {
    /// What.
    pub spot: Spot,
    /// In which column.
    pub column: usize,
}

/// A row of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// A round, by its place, with its checks.
    Round(usize),
    /// The moderator's last word.
    Closing,
}

/// Draws it; gives what stands where.
pub fn draw(
    frame: &mut Frame,
    area: Rect,
    (minutes, chosen, first): (&Minutes<'_>, Chosen, usize),
    now: UnixMillis,
) -> Vec<(Rect, Spot, Option<usize>)> {
    let mut area = area;
    let mut grid = Grid {
        minutes,
        chosen,
        now,
        columns: columns::places(area, minutes.seats().len(), first),
        places: Vec::new(),
    };
    if area.height < 2 {
        return grid.places;
    }
    let heading = take_above(&mut area, 1);
    columns::draw_heading(frame, heading, (minutes, &grid.columns), chosen.column);
    grid.draw_blocks(frame, area);
    grid.places
}

struct Grid<'a> {
    minutes: &'a Minutes<'a>,
    chosen: Chosen,
    now: UnixMillis,
    columns: Vec<Column>,
    places: Vec<(Rect, Spot, Option<usize>)>,
}

impl Grid<'_> {
    fn blocks(&self) -> Vec<Block> {
        let rounds = (0..self.minutes.discussion.rounds.len()).map(Block::Round);
        let mut blocks: Vec<Block> = rounds.collect();
        blocks.extend(self.minutes.closer().map(|_| Block::Closing));
        blocks
    }

    /// The block with what is pointed at.
    fn focus(&self, blocks: &[Block]) -> usize {
        let wanted = match self.chosen.spot {
            Spot::Round(n) => Some(Block::Round(n)),
            Spot::Check(n) => {
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
                    .map(Block::Round)
            }
            Spot::Closing => Some(Block::Closing),
            // Whoever looks at the outcome sees on what it stands.
            Spot::Outcome => {
                Some(Block::Closing).filter(|_| self.minutes.discussion.closing.is_some())
            }
        };
        let at = wanted.and_then(|wanted| blocks.iter().position(|block| *block == wanted));
        let last_round = self.minutes.discussion.rounds.len().saturating_sub(1);
        at.unwrap_or(last_round)
    }

    fn draw_blocks(&mut self, frame: &mut Frame, area: Rect) {
        let blocks = self.blocks();
        let rows = usize::from(area.height);
        if blocks.is_empty() || rows == 0 {
            return;
        }
        let focus = self.focus(&blocks);
        let (from, heights) = self.heights(&blocks, focus, rows);
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
            let place = take_above(&mut area, u16::try_from(*height).unwrap_or(u16::MAX));
            // What has more rows than in brief shows more.
            let brief = self.height(*block, Form::Brief, rows);
            let form = if at == focus || *height > brief {
                Form::Open
            } else {
                Form::Brief
            };
            self.draw_block(frame, place, (*block, form), &hidden);
        }
    }

    /// Which blocks are visible, from which on, and how high each is.
    fn heights(&self, blocks: &[Block], focus: usize, rows: usize) -> (usize, Vec<usize>) {
        let brief = |at: usize| {
            blocks
                .get(at)
                .map(|block| self.height(*block, Form::Brief, rows))
        };
        let whole = blocks
            .get(focus)
            .map(|block| self.height(*block, Form::Open, rows));
        let mut left = rows.saturating_sub(whole.unwrap_or(rows).min(LEAST));
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
            .map(|block| self.height(*block, Form::Open, room));
        if let Some(height) = heights.get_mut(focus - from) {
            *height = open.unwrap_or(room).min(room);
        }
        let left = room.saturating_sub(open.unwrap_or(room));
        (
            from,
            self.spread(blocks, (from, focus), heights.into(), left),
        )
    }

    /// Gives rows that are left to the blocks around the one that is pointed at, the latest first.
    fn spread(
        &self,
        blocks: &[Block],
        (from, focus): (usize, usize),
        mut heights: Vec<usize>,
        left: usize,
    ) -> Vec<usize> {
        let mut left = left;
        for (n, height) in heights.iter_mut().enumerate().rev() {
            let at = from + n;
            let Some(block) = blocks.get(at).filter(|_| at != focus && left > 0) else {
                continue;
            };
            let open = self.height(*block, Form::Open, *height + left);
            let more = open.saturating_sub(*height).min(left);
            *height += more;
            left -= more;
        }
        heights
    }

    /// How high a block is at the most, its heading with it.
    fn height(&self, block: Block, form: Form, rows: usize) -> usize {
        let room = rows.saturating_sub(1);
        match block {
            Block::Closing => 1 + self.closing_lines(room, form).len(),
            Block::Round(n) => {
                let checks = self.check_lines(n, form).len();
                let room = room.saturating_sub(checks);
                let cells = self.cells(n, room, form);
                1 + cells.iter().map(Vec::len).max().unwrap_or(0) + checks
            }
        }
    }

    fn cells(&self, round: usize, rows: usize, form: Form) -> Vec<Vec<Line<'static>>> {
        let seats = self.minutes.seats();
        let of = |(n, _, wide): &Column| {
            let entry = seats
                .get(*n)
                .map(|seat| self.minutes.entry(round, &seat.name));
            let size = (usize::from(*wide).min(WIDEST), rows);
            entry.map_or_else(Vec::new, |entry| cell::lines(entry, size, form, self.now))
        };
        self.columns.iter().map(of).collect()
    }

    fn closing_lines(&self, rows: usize, form: Form) -> Vec<Line<'static>> {
        let (Some((_, from, _)), Some((_, x, wide))) = (self.columns.first(), self.columns.last())
        else {
            return Vec::new();
        };
        let columns = usize::from(x + wide - from).min(WIDEST);
        cell::lines(self.minutes.closing(), (columns, rows), form, self.now)
    }

    /// The checks after a round, a line each, with the place of each that is over.
    fn check_lines(&self, round: usize, form: Form) -> Vec<(Line<'static>, Option<usize>)> {
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
                let (sign, word, style) = words::check(&check.end);
                let end = format!("  {sign} {word}");
                let by = format!(" · {}", check.asked_by.join(", "));
                let line = check_line(&check.order.command, (&end, style), &by, columns);
                (line, Some(at))
            })
            .collect();
        if let (Some(order), true) = (&discussion.checking, round + 1 == discussion.rounds.len()) {
            let line = check_line(&order.command, ("  ◌ runs", theme::KEY), "", columns);
            lines.push((line, None));
        }
        if form == Form::Brief && lines.len() > CHECKS {
            let more = lines.len() + 1 - CHECKS;
            lines.truncate(CHECKS - 1);
            let text = format!("$ … {} more", pluralize(more, "check"));
            lines.push((Line::styled(text, theme::QUIET), None));
        }
        lines
    }

    fn draw_block(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        (block, form): (Block, Form),
        hidden: &str,
    ) {
        let mut area = area;
        if area.is_empty() {
            return;
        }
        let rule = take_above(&mut area, 1);
        let (text, style) = self.rule(block, usize::from(rule.width), hidden);
        frame.render_widget(Line::styled(text, style), rule);
        match block {
            Block::Closing => self.draw_closing(frame, area, form),
            Block::Round(n) => self.draw_round(frame, area, (n, form)),
        }
    }

    /// The line above a block: its name, what is particular to it, how much is hidden.
    fn rule(&self, block: Block, columns: usize, hidden: &str) -> (String, ratatui::style::Style) {
        let (name, is_chosen) = match block {
            Block::Closing => {
                let closer = self.minutes.closer();
                let who = closer.map_or(String::new(), |closer| {
                    format!(
                        ": {} · {}",
                        one_line(&closer.name),
                        one_line(&closer.adapter)
                    )
                });
                (
                    format!("the last word{who}"),
                    self.chosen.spot == Spot::Closing,
                )
            }
            Block::Round(n) => {
                let round = self.minutes.discussion.rounds.get(n);
                let about = match round {
                    Some(round) if round.n == 1 => " · each alone".to_owned(),
                    Some(round) => round.attacker.as_ref().map_or(String::new(), |name| {
                        let leading = self.minutes.discussion.leading_proposal(round.n);
                        let what = leading.map_or("what seems strongest", |_| "what leads");
                        format!(" · {} attacks {what}", one_line(name))
                    }),
                    None => String::new(),
                };
                let n = round.map_or(0, |round| round.n);
                (format!("round {n}{about}"), self.is_chosen_round(block))
            }
        };
        let name = cut(&name, columns.saturating_sub(5 + width(hidden)));
        let line = format!("── {name} ");
        let rest = columns.saturating_sub(width(&line) + width(hidden));
        let style = if is_chosen { theme::KEY } else { theme::QUIET };
        (format!("{line}{}{hidden}", "─".repeat(rest)), style)
    }

    fn is_chosen_round(&self, block: Block) -> bool {
        matches!((block, self.chosen.spot), (Block::Round(n), Spot::Round(chosen)) if n == chosen)
    }

    fn draw_closing(&mut self, frame: &mut Frame, area: Rect, form: Form) {
        let lines = self.closing_lines(usize::from(area.height), form);
        self.places.push((area, Spot::Closing, None));
        if self.chosen.spot == Spot::Closing {
            mark(frame, area);
        }
        draw_lines(frame, area, lines);
    }

    fn draw_round(&mut self, frame: &mut Frame, area: Rect, (n, form): (usize, Form)) {
        let checks = self.check_lines(n, form);
        let mut area = area;
        let rows = area
            .height
            .saturating_sub(u16::try_from(checks.len()).unwrap_or(u16::MAX));
        // The cells stay before the checks where there is no room for both.
        let rows = rows.max(area.height.min(1));
        let cells = take_above(&mut area, rows);
        let lines = self.cells(n, usize::from(cells.height), form);
        for ((column, x, wide), lines) in std::iter::zip(self.columns.clone(), lines) {
            let place = Rect {
                x,
                width: wide,
                ..cells
            };
            self.places.push((place, Spot::Round(n), Some(column)));
            if self.chosen.spot == Spot::Round(n) && self.chosen.column == column {
                mark(frame, place);
            }
            let is_last = self
                .columns
                .last()
                .is_some_and(|(last, ..)| *last == column);
            if !is_last {
                part(frame, place);
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
                self.places.push((place, Spot::Check(check), None));
                if self.chosen.spot == Spot::Check(check) {
                    mark(frame, place);
                }
            }
            put(frame, &line, place);
        }
    }
}

/// A check: the command, how it went, who wanted it.
fn check_line(
    command: &str,
    (end, style): (&str, ratatui::style::Style),
    by: &str,
    columns: usize,
) -> Line<'static> {
    let end = cut(end, columns / 2);
    let by = cut(by, columns.saturating_sub(width(&end) + 14));
    let room = columns.saturating_sub(2 + width(&end) + width(&by));
    Line::from(vec![
        Span::styled("$ ", theme::QUIET),
        Span::styled(cut(&one_line(command), room), theme::CODE),
        Span::styled(end, style),
        Span::styled(by, theme::QUIET),
    ])
}

/// What parts a column from the next one.
fn part(frame: &mut Frame, area: Rect) {
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
