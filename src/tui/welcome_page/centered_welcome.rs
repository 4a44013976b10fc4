//! The welcome page in a large window: the composer in the middle, below a question, above what is ready and the recent
//! runs.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{
    ABOUT_TEXT, MAX_LISTED_RUNS, ReadyPart, SAFETY_TEXT, WelcomeInfo, WelcomePage,
    first_step_lines, other_ways_line, remedy_lines, sort_by_severity, tip_line, title_line,
};
use crate::domain::phase::Phase;
use crate::tui::read_only::RunListEntry;
use crate::tui::text_wrap::{
    join_columns, text_width, to_one_line, truncate_to_columns, wrap_spans,
};
use crate::tui::theme;

/// The width of the page.
const PAGE_COLUMNS: u16 = 80;
/// The width of each of the two columns below the composer.
const COLUMN_COLUMNS: usize = 38;
const MIN_WINDOW_COLUMNS: u16 = 96;
/// Rows that stay blank at least above and below the page.
const MIN_BLANK_ROWS: u16 = 4;
/// The question, what the program is, and a blank row.
const HEAD_ROWS: u16 = 3;
/// Between the composer and what is below it: the keys, and a blank row.
const GAP_ROWS: u16 = 2;

/// Where the parts of the page stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CenteredWelcome {
    head: Rect,
    pub composer: Rect,
    below: Rect,
}

impl CenteredWelcome {
    /// The width of the page, and so of the composer.
    pub const COLUMNS: u16 = PAGE_COLUMNS;
}

impl WelcomePage<'_> {
    /// Returns where the parts stand; `None` if the window is too small for them.
    pub fn centered(&self, area: Rect, composer_rows: u16) -> Option<CenteredWelcome> {
        if area.width < MIN_WINDOW_COLUMNS || self.has_notices || self.has_unfinished_run {
            return None;
        }
        let (lines, _) = below_lines(self.info);
        let n_below = u16::try_from(lines.len()).ok()?;
        let n_rows = HEAD_ROWS + composer_rows + GAP_ROWS + n_below;
        let left = area.height.checked_sub(n_rows + MIN_BLANK_ROWS)?;
        let row = |y: u16, height: u16| Rect {
            x: area.x + (area.width - PAGE_COLUMNS) / 2,
            y,
            width: PAGE_COLUMNS,
            height,
        };
        // A little above the middle, where the eye expects it.
        let top = area.y + (left + MIN_BLANK_ROWS) * 2 / 5;
        let composer = row(top + HEAD_ROWS, composer_rows);
        Some(CenteredWelcome {
            head: row(top, HEAD_ROWS - 1),
            composer,
            below: row(composer.bottom() + GAP_ROWS, n_below),
        })
    }

    /// Draws everything but the composer, with the keys right below it; returns the areas of the recent runs, by index.
    pub fn draw_centered(
        &self,
        frame: &mut Frame,
        places: &CenteredWelcome,
        keys: &Line<'static>,
    ) -> Vec<(Rect, usize)> {
        let row = Rect {
            y: places.composer.bottom(),
            height: 1,
            ..places.composer
        };
        frame.render_widget(keys.clone().right_aligned(), row);
        let about = Line::styled(format!("{ABOUT_TEXT} {SAFETY_TEXT}"), theme::QUIET);
        frame.render_widget(Paragraph::new(vec![title_line(), about]), places.head);
        let (lines, runs) = below_lines(self.info);
        frame.render_widget(Paragraph::new(lines), places.below);
        let run = |(n, row): (usize, usize)| {
            let row = u16::try_from(row).ok()?;
            let place = Rect {
                y: places.below.y.checked_add(row)?,
                height: 1,
                ..places.below
            };
            Some((place, n))
        };
        runs.into_iter().enumerate().filter_map(run).collect()
    }
}

/// Lays out what stands below the composer; also returns the rows of the recent runs.
fn below_lines(info: &WelcomeInfo) -> (Vec<Line<'static>>, Vec<usize>) {
    let mut lines = Vec::new();
    for one in sort_by_severity(&info.missing) {
        lines.extend(remedy_lines(one, usize::from(PAGE_COLUMNS)));
    }
    lines.extend(other_ways_line(&info.missing));
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    let n_above = lines.len();
    let left = ready_lines(&info.ready);
    let right = if info.runs.is_empty() {
        // With nothing beside them, the steps take the whole width.
        let columns = if left.is_empty() {
            usize::from(PAGE_COLUMNS)
        } else {
            COLUMN_COLUMNS
        };
        let mut lines = vec![heading("How it works")];
        lines.extend(first_step_lines(columns));
        lines
    } else {
        run_lines(&info.runs)
    };
    if left.is_empty() {
        lines.extend(right);
    } else {
        let column = usize::from(PAGE_COLUMNS) - COLUMN_COLUMNS;
        lines.extend(join_columns(left, right, column));
    }
    let n_runs = info.runs.len().min(MAX_LISTED_RUNS);
    let rows = (n_above + 1..=n_above + n_runs).collect();
    if info.runs.is_empty() {
        lines.push(Line::default());
        lines.push(tip_line());
    }
    (lines, rows)
}

fn heading(text: &'static str) -> Line<'static> {
    Line::styled(text, theme::STRONG)
}

fn ready_lines(ready: &[ReadyPart]) -> Vec<Line<'static>> {
    if ready.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("Ready")];
    let names = ready.iter().map(|part| text_width(&part.name));
    let n_columns = names.max().unwrap_or(0) + 2;
    for part in ready {
        let gap = n_columns.saturating_sub(text_width(&part.name));
        let spans = [
            Span::styled("✓ ", theme::GOOD),
            Span::styled(part.name.clone(), theme::PLAIN),
            Span::raw(" ".repeat(gap)),
            Span::styled(to_one_line(&part.text), theme::QUIET),
        ];
        lines.extend(wrap_spans(&spans, COLUMN_COLUMNS, n_columns + 2));
    }
    lines
}

fn run_lines(runs: &[RunListEntry]) -> Vec<Line<'static>> {
    let mut lines = vec![heading("Recent runs")];
    lines.extend(runs.iter().take(MAX_LISTED_RUNS).map(run_line));
    lines.push(Line::styled("/history shows all", theme::QUIET));
    lines
}

fn run_line(run: &RunListEntry) -> Line<'static> {
    let (sign, style): (&str, Style) = match run.ended.as_str() {
        ended if ended == Phase::Done.label() => ("✓ ", theme::GOOD),
        _ => ("■ ", theme::QUIET),
    };
    let date = to_one_line(&run.date);
    let room = COLUMN_COLUMNS.saturating_sub(text_width(sign) + text_width(&date) + 2);
    let about = truncate_to_columns(&to_one_line(&run.about), room);
    let gap = room.saturating_sub(text_width(&about)) + 2;
    Line::from(vec![
        Span::styled(sign, style),
        Span::styled(about, theme::PLAIN),
        Span::raw(" ".repeat(gap)),
        Span::styled(date, theme::QUIET),
    ])
}
