//! The timeline of the Status tab: who worked when, and when the run waited for the user, one row each on
//! the same time axis.
//!
//! Time in which no program worked on the run is left out.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::domain::run_timeline::RunTimeline;
use crate::domain::turn::Role;
use crate::text::{format_duration, pluralize};
use crate::tui::labels::{self, LocalClock, format_millis};
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// Width of the names at the left.
const NAME_COLUMNS: usize = 12;
/// Width of the totals at the right.
const SUM_COLUMNS: usize = 22;
/// Minimum width of a bar.
const MIN_BAR_COLUMNS: usize = 12;

/// Start and end in milliseconds since the run started, without pauses.
type TimelineSegment = (i64, i64);

/// The time axis of a run, without its pauses.
struct TimelineAxis {
    from: UnixMillis,
    pauses: Vec<(UnixMillis, UnixMillis)>,
    length: i64,
}

impl TimelineAxis {
    fn new(course: &RunTimeline, created: UnixMillis, now: UnixMillis) -> Self {
        let pauses = course.pauses().iter();
        let pauses: Vec<(UnixMillis, UnixMillis)> = pauses
            .map(|pause| (pause.from, pause.to.unwrap_or(now)))
            .collect();
        let mut axis = Self {
            from: created,
            pauses,
            length: 0,
        };
        axis.length = axis.offset_of(now).max(1);
        axis
    }

    /// Converts an instant to its offset on the axis, in milliseconds.
    fn offset_of(&self, at: UnixMillis) -> i64 {
        let paused = self.pauses.iter().map(|(from, to)| {
            let to = (*to).min(at);
            to.0.saturating_sub(from.0).max(0)
        });
        let since = at.0.saturating_sub(self.from.0);
        since.saturating_sub(paused.sum()).max(0)
    }

    fn segment(
        &self,
        from: UnixMillis,
        to: Option<UnixMillis>,
        now: UnixMillis,
    ) -> TimelineSegment {
        (self.offset_of(from), self.offset_of(to.unwrap_or(now)))
    }
}

/// A row: its name, its segments and their total.
struct TimelineRow {
    name: &'static str,
    style: Style,
    sign: char,
    segments: Vec<TimelineSegment>,
    /// Ends of segments that failed; they get a sign of their own.
    failed_at: Vec<i64>,
    sum: String,
}

/// Renders the bars; empty if no turn and no wait was recorded.
pub fn timeline_lines(state: &RunState, now: UnixMillis, columns: usize) -> Vec<Line<'static>> {
    let course = &state.course;
    if course.turns().is_empty() && course.waits().is_empty() {
        return Vec::new();
    }
    let axis = TimelineAxis::new(course, state.created, now);
    let has_sums = columns >= NAME_COLUMNS + MIN_BAR_COLUMNS + SUM_COLUMNS;
    let bar = columns.saturating_sub(NAME_COLUMNS + 1 + if has_sums { SUM_COLUMNS } else { 0 });
    let rows = timeline_rows(state, &axis, now).into_iter();
    rows.map(|row| row.lay_out(&axis, bar, has_sums)).collect()
}

/// Returns how long each worked, and how long the run waited for the user, in words.
pub fn time_sums(state: &RunState, now: UnixMillis) -> Vec<String> {
    let axis = TimelineAxis::new(&state.course, state.created, now);
    let rows = timeline_rows(state, &axis, now).into_iter();
    rows.map(|row| format!("{}: {}", row.name, row.sum))
        .collect()
}

/// Describes the axis for its heading: from when to when, and what the signs mean that are on it.
pub fn axis_remark(state: &RunState, now: UnixMillis, clock: LocalClock) -> String {
    let course = &state.course;
    let from = clock.time_with_minutes(state.created);
    let to = clock.time_with_minutes(now);
    let span = if from == to {
        let axis = TimelineAxis::new(course, state.created, now);
        format!("{from} · {}", format_duration(axis.length))
    } else {
        format!("{from} to {to}")
    };
    let roles = [Role::Planner, Role::Reviewer];
    let has_failed = |role| course.failure_times(role).next().is_some();
    let signs = [
        (true, "█ working"),
        (course.wait_count() > 0, "▒ waiting for you"),
        (roles.into_iter().any(has_failed), "× failed"),
        (!course.pauses().is_empty(), "┊ not running"),
    ];
    let signs = signs.into_iter().filter(|(is_there, _)| *is_there);
    signs.fold(span, |text, (_, sign)| format!("{text}  {sign}"))
}

fn timeline_rows(state: &RunState, axis: &TimelineAxis, now: UnixMillis) -> Vec<TimelineRow> {
    let course = &state.course;
    let of_role = |role: Role| {
        let n = course.turn_count(role);
        TimelineRow {
            name: labels::role_title(role),
            style: theme::role_style(role),
            sign: '█',
            segments: course
                .work_times(role, now)
                .into_iter()
                .map(|(from, to)| axis.segment(from, Some(to), now))
                .collect(),
            failed_at: course
                .failure_times(role)
                .map(|at| axis.offset_of(at))
                .collect(),
            sum: format!(
                "{} in {}",
                format_millis(course.work_millis(role, now)),
                pluralize(n, "turn")
            ),
        }
    };
    let waits = course.wait_times(now);
    // What has not happened has no row.
    let roles = [Role::Planner, Role::Reviewer].into_iter();
    let roles = roles.filter(|role| course.turn_count(*role) > 0);
    let mut rows: Vec<TimelineRow> = roles.map(of_role).collect();
    rows.extend((course.wait_count() > 0).then(|| {
        TimelineRow {
            name: "You",
            style: theme::YOU,
            sign: '▒',
            segments: waits
                .map(|(from, to)| axis.segment(from, Some(to), now))
                .collect(),
            failed_at: Vec::new(),
            sum: format!(
                "{} in {}",
                format_millis(course.wait_millis(now)),
                pluralize(course.wait_count(), "question")
            ),
        }
    }));
    rows
}

impl TimelineRow {
    fn lay_out(&self, axis: &TimelineAxis, bar: usize, has_sum: bool) -> Line<'static> {
        let mut cells: Vec<char> = vec![' '; bar];
        let n = i64::try_from(bar.max(1)).unwrap_or(1);
        let edge = |column: i64| axis.length.saturating_mul(column) / n;
        for (column, cell) in (0..).zip(&mut cells) {
            let (from, to) = (edge(column), edge(column + 1).max(edge(column) + 1));
            let is_filled = self
                .segments
                .iter()
                .any(|piece| piece.0.max(from) < piece.1.min(to));
            if is_filled {
                *cell = self.sign;
            }
        }
        for pause in &axis.pauses {
            mark_column(&mut cells, axis.offset_of(pause.0), axis.length, '┊');
        }
        for at in &self.failed_at {
            mark_column(&mut cells, *at, axis.length, '×');
        }
        let name = format!("  {:<1$}", self.name, NAME_COLUMNS - 2);
        let mut spans = vec![
            Span::styled(name, self.style),
            Span::styled(cells.into_iter().collect::<String>(), self.style),
        ];
        if has_sum {
            let sum = truncate_to_columns(&self.sum, SUM_COLUMNS - 2);
            let gap = (SUM_COLUMNS - 1).saturating_sub(text_width(&sum));
            spans.push(Span::raw(" ".repeat(gap)));
            spans.push(Span::styled(sum, theme::QUIET));
        }
        Line::from(spans)
    }
}

/// Puts a sign at the column of an instant.
fn mark_column(cells: &mut [char], at: i64, length: i64, sign: char) {
    let n = i64::try_from(cells.len()).unwrap_or(0);
    let column = (at.saturating_mul(n) / length).min(n - 1).max(0);
    if let Some(cell) = usize::try_from(column).ok().and_then(|n| cells.get_mut(n)) {
        *cell = sign;
    }
}
