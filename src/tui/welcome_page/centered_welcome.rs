//! The welcome page in a large window: the composer in the middle, below a question, above what is ready and the recent
//! runs.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{
    ABOUT_TEXT, MAX_LISTED_RUNS, ReadyOwner, ReadyPart, SAFETY_TEXT, WelcomeInfo, WelcomePage,
    first_step_lines, other_ways_line, remedy_lines, sort_by_severity, tip_line, title_line,
};
use crate::tui::dialog::ChoiceDialog;
use crate::tui::dialog::dialog_size::{TabReading, dialog_rows};
use crate::tui::read_only::{RunCompletion, RunListEntry};
use crate::tui::text_wrap::{
    join_columns, text_width, to_one_line, truncate_to_columns, wrap_spans,
};
use crate::tui::theme;

/// The width of the page where there is room.
const PAGE_COLUMNS: u16 = 80;
const MIN_WINDOW_COLUMNS: u16 = 80;
/// Blank columns at the left and right of the page together.
const MARGIN_COLUMNS: u16 = 4;
/// Between the two columns below the composer.
const COLUMN_GAP: u16 = 4;
/// Between the composer and what is below it: the keys, and a blank row.
const GAP_ROWS: u16 = 2;
/// As it should be, then the least.
const SPACINGS: [PageSpacing; 2] = [
    PageSpacing {
        n_gap: 1,
        n_around: 4,
    },
    PageSpacing {
        n_gap: 1,
        n_around: 2,
    },
];

/// How many runs are listed where there is little room; `/history` shows all.
const MAX_RUNS_IN_SHORT: usize = 2;

/// The blank rows of the page.
#[derive(Debug, Clone, Copy)]
struct PageSpacing {
    /// Between the head and the composer.
    n_gap: u16,
    /// Above and below the page, together.
    n_around: u16,
}

/// Where the parts of the page stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CenteredWelcome {
    head: Rect,
    /// The composer's place, or that of a dialog.
    pub composer: Rect,
    below: Rect,
    detail: WelcomeDetail,
}

/// How much is below the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WelcomeDetail {
    Whole,
    /// What a newcomer can do without is left out, and the earlier of the recent runs.
    Short,
    /// A dialog is there.
    None,
}

impl WelcomeDetail {
    fn max_runs(self) -> usize {
        match self {
            Self::Whole => MAX_LISTED_RUNS,
            Self::Short | Self::None => MAX_RUNS_IN_SHORT,
        }
    }
}

impl CenteredWelcome {
    /// Returns the width of the page, and so of the composer, in a window of this width.
    pub fn columns(window: u16) -> u16 {
        PAGE_COLUMNS.min(window.saturating_sub(MARGIN_COLUMNS))
    }

    /// Returns the places with a dialog in place of the composer and of what is below it; `None` if that has no room there.
    pub fn with_dialog(self, sheet: &ChoiceDialog, area: Rect) -> Option<Self> {
        let window = Rect {
            width: self.composer.width,
            ..area
        };
        let n_rows = dialog_rows(sheet, window, TabReading::DialogOnly);
        let composer = Rect {
            height: u16::try_from(n_rows).ok()?,
            ..self.composer
        };
        (composer.bottom() <= area.bottom()).then_some(Self {
            composer,
            detail: WelcomeDetail::None,
            ..self
        })
    }
}

impl WelcomePage<'_> {
    /// Returns where the parts stand; `None` if the window is too small for them.
    pub fn centered(&self, area: Rect, composer_rows: u16) -> Option<CenteredWelcome> {
        if area.width < MIN_WINDOW_COLUMNS || self.has_notices || self.has_unfinished_run {
            return None;
        }
        let details = [WelcomeDetail::Whole, WelcomeDetail::Short].into_iter();
        let mut choices = details.flat_map(|detail| SPACINGS.map(|spacing| (detail, spacing)));
        choices.find_map(|(detail, spacing)| self.place(area, composer_rows, detail, spacing))
    }

    /// Returns where the parts are with these blank rows; `None` if they do not fit.
    fn place(
        &self,
        area: Rect,
        composer_rows: u16,
        detail: WelcomeDetail,
        spacing: PageSpacing,
    ) -> Option<CenteredWelcome> {
        let columns = CenteredWelcome::columns(area.width);
        let n_head = u16::try_from(head_lines(columns).len()).ok()?;
        let n_below = u16::try_from(below_lines(self.info, columns, detail).0.len()).ok()?;
        let PageSpacing { n_gap, n_around } = spacing;
        let n_rows = n_head + n_gap + composer_rows + GAP_ROWS + n_below;
        let left = area.height.checked_sub(n_rows)?;
        if left < n_around {
            return None;
        }
        let row = |y: u16, height: u16| Rect {
            x: area.x + (area.width - columns) / 2,
            y,
            width: columns,
            height,
        };
        // A little above the middle, where the eye expects it.
        let top = area.y + (left * 2 / 5).max(n_around / 2);
        let composer = row(top + n_head + n_gap, composer_rows);
        Some(CenteredWelcome {
            head: row(top, n_head),
            composer,
            below: row(composer.bottom() + GAP_ROWS, n_below),
            detail,
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
        let columns = places.composer.width;
        frame.render_widget(Paragraph::new(head_lines(columns)), places.head);
        let (lines, runs) = below_lines(self.info, columns, places.detail);
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

/// Returns the question and what the program is, in one row or two.
fn head_lines(columns: u16) -> Vec<Line<'static>> {
    let about = format!("{ABOUT_TEXT} {SAFETY_TEXT}");
    let about = if text_width(&about) <= usize::from(columns) {
        vec![about]
    } else {
        vec![ABOUT_TEXT.to_owned(), SAFETY_TEXT.to_owned()]
    };
    let about = about.into_iter();
    let about = about.map(|text| Line::styled(text, theme::QUIET));
    std::iter::once(title_line()).chain(about).collect()
}

/// Lays out what stands below the composer; also returns the rows of the recent runs.
fn below_lines(
    info: &WelcomeInfo,
    columns: u16,
    detail: WelcomeDetail,
) -> (Vec<Line<'static>>, Vec<usize>) {
    if detail == WelcomeDetail::None {
        return (Vec::new(), Vec::new());
    }
    let mut parts = vec![missing_lines(info, usize::from(columns))];
    let is_short = detail == WelcomeDetail::Short;
    let has_runs = !info.runs.is_empty();
    // A user who cannot start a run needs the demo more than the steps of a run.
    if has_runs || !is_short || !info.has_blocker() {
        parts.push(column_lines(info, columns, detail));
    }
    let n_above = parts.first().map_or(0, Vec::len);
    if !is_short || (info.has_blocker() && !has_runs) {
        parts.push(vec![tip_line()]);
    }
    parts.retain(|part| !part.is_empty());
    let lines = parts.join(&Line::default());
    let n_runs = info.runs.len().min(detail.max_runs());
    // The heading of the columns is in the first row.
    let first = if n_above > 0 { n_above + 2 } else { 1 };
    (lines, (first..first + n_runs).collect())
}

fn missing_lines(info: &WelcomeInfo, columns: usize) -> Vec<Line<'static>> {
    let missing = sort_by_severity(&info.missing);
    let mut lines: Vec<Line<'static>> =
        missing.flat_map(|one| remedy_lines(one, columns)).collect();
    lines.extend(other_ways_line(&info.missing));
    lines
}

/// Returns two columns: what is there at the left, the recent runs or what happens in a run at the right.
fn column_lines(info: &WelcomeInfo, columns: u16, detail: WelcomeDetail) -> Vec<Line<'static>> {
    let width = usize::from((columns - COLUMN_GAP) / 2);
    let is_whole = detail == WelcomeDetail::Whole;
    let parts = info.ready.iter();
    let parts = parts.filter(|part| is_whole || part.owner != ReadyOwner::Git);
    let left = ready_lines(&parts.collect::<Vec<_>>(), width);
    let right = if info.runs.is_empty() {
        let mut lines = vec![heading("How it works")];
        lines.extend(first_step_lines());
        lines
    } else {
        run_lines(info.runs.iter().take(detail.max_runs()), width)
    };
    if left.is_empty() {
        right
    } else {
        join_columns(left, right, usize::from(columns) - width)
    }
}

fn heading(text: &'static str) -> Line<'static> {
    Line::styled(text, theme::STRONG)
}

fn ready_lines(ready: &[&ReadyPart], columns: usize) -> Vec<Line<'static>> {
    if ready.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("Setup")];
    let names = ready.iter().map(|part| text_width(part.owner.name()));
    let n_columns = names.max().unwrap_or(0) + 2;
    for part in ready {
        let gap = n_columns.saturating_sub(text_width(part.owner.name()));
        let mut text = to_one_line(&part.text);
        if part.owner == ReadyOwner::Git {
            // Of a long name the beginning is enough.
            text = truncate_to_columns(&text, columns.saturating_sub(n_columns + 2));
        }
        let spans = [
            Span::styled("✓ ", theme::GOOD),
            Span::styled(part.owner.name().to_owned(), theme::PLAIN),
            Span::raw(" ".repeat(gap)),
            Span::styled(text, theme::QUIET),
        ];
        lines.extend(wrap_spans(&spans, columns, n_columns + 2));
    }
    lines
}

fn run_lines<'a>(
    runs: impl Iterator<Item = &'a RunListEntry>,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![heading("Recent runs")];
    lines.extend(runs.map(|run| run_line(run, columns)));
    lines.push(Line::styled("/history shows all", theme::QUIET));
    lines
}

pub(super) fn run_line(run: &RunListEntry, columns: usize) -> Line<'static> {
    let (sign, style): (&str, Style) = match run.completion {
        RunCompletion::Done => ("✓ ", theme::GOOD),
        RunCompletion::Complete | RunCompletion::Unfinished => ("■ ", theme::QUIET),
    };
    let about = to_one_line(&run.about);
    let date = to_one_line(&run.date);
    let facts = [to_one_line(&run.short_result), date.clone()].join(" · ");
    let room_beside =
        |facts: &str| columns.saturating_sub(text_width(sign) + text_width(facts) + 2);
    // The title is worth more than how far the run got.
    let is_whole = text_width(&about) <= room_beside(&facts);
    let facts = if is_whole { facts } else { date };
    let room = room_beside(&facts);
    let about = truncate_to_columns(&about, room);
    let gap = room.saturating_sub(text_width(&about)) + 2;
    Line::from(vec![
        Span::styled(sign, style),
        Span::styled(about, theme::PLAIN),
        Span::raw(" ".repeat(gap)),
        Span::styled(facts, theme::QUIET),
    ])
}
