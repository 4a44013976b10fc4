//! The bars of Status: who worked when, and when the user was waited for, one row each over the same time.
//!
//! Time in which no program worked on the run takes no room. Refuses to know turns by more than their times.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::run_timeline::RunTimeline;
use crate::domain::turn::Role;
use crate::tui::theme;
use crate::tui::words::{Clock, span};
use crate::tui::wrap::{cut, width};

/// Columns of the names at the left.
const NAMES: usize = 11;
/// Columns of the sums at the right.
const SUMS: usize = 22;
/// The fewest columns that make a bar.
const LEAST: usize = 12;

/// A time from and to, in milliseconds since the run began, pauses left out.
type Piece = (i64, i64);

/// The time of a run without its pauses.
struct Axis {
    from: UnixMillis,
    pauses: Vec<(UnixMillis, UnixMillis)>,
    length: i64,
}

impl Axis {
    fn of(course: &RunTimeline, created: UnixMillis, now: UnixMillis) -> Self {
        let pauses = course.pauses().iter();
        let pauses: Vec<(UnixMillis, UnixMillis)> = pauses
            .map(|pause| (pause.from, pause.to.unwrap_or(now)))
            .collect();
        let mut axis = Self {
            from: created,
            pauses,
            length: 0,
        };
        axis.length = axis.place(now).max(1);
        axis
    }

    /// Where an instant is, in milliseconds.
    fn place(&self, at: UnixMillis) -> i64 {
        let paused = self.pauses.iter().map(|(from, to)| {
            let to = (*to).min(at);
            to.0.saturating_sub(from.0).max(0)
        });
        let since = at.0.saturating_sub(self.from.0);
        since.saturating_sub(paused.sum()).max(0)
    }

    fn piece(&self, from: UnixMillis, to: Option<UnixMillis>, now: UnixMillis) -> Piece {
        (self.place(from), self.place(to.unwrap_or(now)))
    }
}

/// A row: its name, what it shows and its sum.
struct Row {
    name: &'static str,
    style: Style,
    full: char,
    part: char,
    pieces: Vec<Piece>,
    /// Pieces that did not end well, and their sign.
    marked: Vec<i64>,
    sum: String,
}

/// The bars with their legend; none where nothing was kept.
pub fn lines(
    state: &RunState,
    (now, clock): (UnixMillis, Clock),
    columns: usize,
) -> Vec<Line<'static>> {
    let course = &state.course;
    if course.turns().is_empty() && course.waits().is_empty() {
        return Vec::new();
    }
    let axis = Axis::of(course, state.created, now);
    let has_sums = columns >= NAMES + LEAST + SUMS;
    let bar = columns.saturating_sub(NAMES + 1 + if has_sums { SUMS } else { 0 });
    let mut lines = Vec::new();
    for row in rows(state, &axis, now) {
        lines.push(row.lay_out(&axis, bar, has_sums));
    }
    lines.push(scale(&axis, (now, clock), bar));
    let legend = "█ works  ▒ waits for you  × did not end well  ┊ the program did not run";
    lines.extend(crate::tui::wrap::wrap(
        &[
            Span::raw(" ".repeat(NAMES)),
            Span::styled(legend, theme::QUIET),
        ],
        columns,
        NAMES,
    ));
    lines
}

fn rows(state: &RunState, axis: &Axis, now: UnixMillis) -> Vec<Row> {
    let course = &state.course;
    let of_role = |role: Role| {
        let n = course.turn_count(role);
        Row {
            name: role.name(),
            style: theme::role(role),
            full: '█',
            part: '▄',
            pieces: course
                .work_times(role, now)
                .into_iter()
                .map(|(from, to)| axis.piece(from, Some(to), now))
                .collect(),
            marked: course
                .failure_times(role)
                .map(|at| axis.place(at))
                .collect(),
            sum: format!(
                "{} in {n} {}",
                span(course.work_millis(role, now)),
                if n == 1 { "turn" } else { "turns" }
            ),
        }
    };
    let waits = course.wait_times(now);
    let mut rows = vec![of_role(Role::Planner)];
    rows.extend(state.reviewer.iter().map(|_| of_role(Role::Reviewer)));
    rows.push(Row {
        name: "you",
        style: theme::YOU,
        full: '▒',
        part: '▒',
        pieces: waits
            .map(|(from, to)| axis.piece(from, Some(to), now))
            .collect(),
        marked: Vec::new(),
        sum: format!(
            "{} asked {}×",
            span(course.wait_millis(now)),
            course.wait_count()
        ),
    });
    rows
}

impl Row {
    fn lay_out(&self, axis: &Axis, bar: usize, has_sum: bool) -> Line<'static> {
        let mut cells: Vec<char> = vec![' '; bar];
        let n = i64::try_from(bar.max(1)).unwrap_or(1);
        let edge = |column: i64| axis.length.saturating_mul(column) / n;
        for (column, cell) in (0..).zip(&mut cells) {
            let (from, to) = (edge(column), edge(column + 1).max(edge(column) + 1));
            let filled: i64 = self
                .pieces
                .iter()
                .map(|piece| piece.1.min(to).saturating_sub(piece.0.max(from)).max(0))
                .sum();
            if filled * 2 >= to - from {
                *cell = self.full;
            } else if filled > 0 {
                *cell = self.part;
            }
        }
        for pause in &axis.pauses {
            put(&mut cells, axis.place(pause.0), axis.length, '┊');
        }
        for at in &self.marked {
            put(&mut cells, *at, axis.length, '×');
        }
        let name = format!("  {:<1$}", self.name, NAMES - 2);
        let mut spans = vec![
            Span::styled(name, self.style),
            Span::styled(cells.into_iter().collect::<String>(), self.style),
        ];
        if has_sum {
            let sum = cut(&self.sum, SUMS - 2);
            let gap = (SUMS - 1).saturating_sub(width(&sum));
            spans.push(Span::raw(" ".repeat(gap)));
            spans.push(Span::styled(sum, theme::QUIET));
        }
        Line::from(spans)
    }
}

/// Puts a sign at the column of an instant.
fn put(cells: &mut [char], at: i64, length: i64, sign: char) {
    let n = i64::try_from(cells.len()).unwrap_or(0);
    let column = (at.saturating_mul(n) / length).min(n - 1).max(0);
    if let Some(cell) = usize::try_from(column).ok().and_then(|n| cells.get_mut(n)) {
        *cell = sign;
    }
}

/// The time of day at both ends.
fn scale(axis: &Axis, (now, clock): (UnixMillis, Clock), bar: usize) -> Line<'static> {
    let (from, to) = (clock.minute(axis.from), clock.minute(now));
    let gap = bar.saturating_sub(width(&from) + width(&to));
    let text = format!("{}{from}{}{to}", " ".repeat(NAMES), " ".repeat(gap));
    Line::styled(cut(&text, NAMES + bar), theme::QUIET)
}
