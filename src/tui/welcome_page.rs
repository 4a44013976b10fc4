//! The welcome page in the chat before there is a run: what the program is, what is missing, first steps, recent runs.
//!
//! The program's own texts skip the cleaning, so that the first frame is fast.

mod centered_welcome;

pub use centered_welcome::CenteredWelcome;

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::markdown::style_code;
use super::read_only::{RunCompletion, RunListEntry};
use super::text_wrap::{text_width, to_one_line, truncate_to_columns, wrap_spans};
use super::theme;

/// What was found in the repository before there is a run; set with [`on_welcome`](super::Screen::on_welcome).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WelcomeInfo {
    pub ready: Vec<ReadyPart>,
    pub missing: Vec<MissingRequirement>,
    /// The last finished runs, the latest first.
    pub runs: Vec<RunListEntry>,
}

/// Something that a run needs and that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyPart {
    pub owner: ReadyOwner,
    /// The CLI with its version, or who commits.
    pub text: String,
}

/// What a ready part is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadyOwner {
    /// The agents of these roles, as in `Planner, executor`.
    Agents(String),
    /// Left out where there is little room: it says who commits, not whether a run can start.
    Git,
}

impl ReadyOwner {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Agents(roles) => roles,
            Self::Git => "Git",
        }
    }
}

/// Something that a run would need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRequirement {
    pub problem: String,
    pub remedy: String,
    /// Whether a run can start without it.
    pub severity: RequirementSeverity,
}

/// Whether a missing requirement prevents a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementSeverity {
    Blocking,
    /// A run can start, but with fewer features.
    Degrading,
}

impl RequirementSeverity {
    /// Returns its sign and style.
    fn sign_and_style(self) -> (&'static str, Style) {
        match self {
            Self::Blocking => ("✗ ", theme::BAD),
            Self::Degrading => ("○ ", theme::STRONG),
        }
    }
}

const MAX_COLUMNS: usize = 100;
/// The minimum height of the recent runs: the heading and one run.
const MIN_RUN_ROWS: usize = 2;
const MAX_LISTED_RUNS: usize = 5;
/// From this width on, the recent runs have columns of their own for date and end.
const MIN_RUN_TABLE_COLUMNS: usize = 60;

const ABOUT_TEXT: &str = "One agent plans, the other reviews, you approve.";
const SAFETY_TEXT: &str = "Nothing runs until you say so.";
const TIP_TEXT: &str = " plays a run with scripted agents. No key needed.";
const DEMO_COMMAND: &str = "agent-collab demo";
const DEMO_TEXT: &str = " needs none of this: no model, no key, no network";
/// What a user does in a run, a row each; the composer says how it begins.
const FIRST_STEPS: [&str; 3] = [
    "Agree on the goal",
    "Send each turn, or switch to Auto",
    "Run the plan, undo any step",
];

impl WelcomeInfo {
    /// Returns whether something is missing without which no run can start.
    pub fn has_blocker(&self) -> bool {
        let mut missing = self.missing.iter();
        missing.any(|one| one.severity == RequirementSeverity::Blocking)
    }

    /// Returns the blocking problems on the page that a message about a failed start names.
    pub fn named_problems(&self, why: &str) -> Vec<&str> {
        let stops = self
            .missing
            .iter()
            .filter(|one| one.severity == RequirementSeverity::Blocking);
        let problems = stops.map(|one| one.problem.as_str());
        problems.filter(|problem| why.contains(problem)).collect()
    }
}

/// The page, for one frame.
#[derive(Debug, Clone, Copy)]
pub struct WelcomePage<'a> {
    pub info: &'a WelcomeInfo,
    /// Whether notices have arrived in the meantime; they get a few rows.
    pub has_notices: bool,
    pub has_unfinished_run: bool,
    /// Whether a dialog lists the runs.
    pub is_run_list_open: bool,
}

impl WelcomePage<'_> {
    /// Draws the page; returns the area below it, and those of the recent runs by index.
    pub fn draw(&self, frame: &mut Frame, area: Rect) -> (Rect, Vec<(Rect, usize)>) {
        let area = Rect {
            x: area.x + 1,
            width: area.width.saturating_sub(2),
            ..area
        };
        let columns = usize::from(area.width).min(MAX_COLUMNS);
        let rows = usize::from(area.height);
        let kept = if self.has_notices { 4.min(rows / 3) } else { 0 };
        let (mut lines, runs) = self.lay_out(columns, rows - kept);
        lines.truncate(rows - kept);
        let row = |at: usize| Rect {
            y: area.y + u16::try_from(at).unwrap_or(area.height).min(area.height),
            height: u16::from(at < lines.len()),
            ..area
        };
        let runs = runs.zip(0..).map(|(at, n)| (row(at), n)).collect();
        let height = u16::try_from(lines.len()).unwrap_or(area.height);
        let place = Rect { height, ..area };
        frame.render_widget(Paragraph::new(lines), place);
        let below = Rect {
            x: area.x - 1,
            y: area.y + height,
            width: area.width + 2,
            height: area.height - height,
        };
        (below, runs)
    }

    /// Lays out the parts in the order of their value to a first-time user; in a low window, blank rows and
    /// explanations are dropped. Also returns the rows of the recent runs.
    fn lay_out(&self, columns: usize, rows: usize) -> (Vec<Line<'static>>, Range<usize>) {
        let WelcomeInfo { missing, runs, .. } = self.info;
        let (mut parts, is_low) = intro_lines(self.info, columns, rows);
        // With recent runs, the user knows how to start one, so the runs come before the first steps.
        let n_before = parts.len();
        parts.push(if self.is_run_list_open {
            Vec::new()
        } else {
            recent_run_lines(runs, columns)
        });
        if (!is_low || missing.is_empty()) && !self.has_unfinished_run {
            parts.push(first_step_lines());
        }
        if runs.is_empty() && missing.is_empty() {
            parts.push(wrap_spans(&tip_line().spans, columns, 2));
        }
        let mut lines = Vec::new();
        let mut of_runs = 0..0;
        for (n, mut part) in parts.into_iter().enumerate() {
            let gap = usize::from(!lines.is_empty() && !is_low);
            let left = rows.saturating_sub(lines.len() + gap);
            // If not all runs fit, the latest ones are enough.
            if n == n_before && left >= MIN_RUN_ROWS {
                part.truncate(left);
            }
            let fits = part.len() <= left || lines.is_empty();
            if part.is_empty() || !fits {
                continue;
            }
            lines.extend((0..gap).map(|_| Line::default()));
            if n == n_before {
                // The first row is the heading.
                of_runs = lines.len() + 1..lines.len() + part.len();
            }
            lines.extend(part);
        }
        (lines, of_runs)
    }
}

/// Returns the introduction and the requirements, and whether the window is low. If not everything fits,
/// blocking problems come first.
fn intro_lines(
    WelcomeInfo { ready, missing, .. }: &WelcomeInfo,
    columns: usize,
    rows: usize,
) -> (Vec<Vec<Line<'static>>>, bool) {
    let whole = requirement_lines(ready, missing, columns);
    let high = intro_heading(columns, false);
    // Remedies are worth more than blank rows and explanations.
    let is_low = rows < 16 || high.len() + 1 + whole.len() > rows;
    if !is_low {
        return (vec![high, whole], is_low);
    }
    let head = intro_heading(columns, true);
    if missing.is_empty() || head.len() + whole.len() <= rows {
        return (vec![head, whole], is_low);
    }
    let left = rows.saturating_sub(head.len());
    if missing.len() < left {
        return (
            vec![head, shorten_requirements(missing, columns, left)],
            is_low,
        );
    }
    let n_stops =
        sort_by_severity(missing).take_while(|one| one.severity == RequirementSeverity::Blocking);
    let name = if n_stops.count() < rows {
        vec![title_line()]
    } else {
        Vec::new()
    };
    let left = rows.saturating_sub(name.len());
    let named = shorten_requirements(missing, columns, left);
    (
        vec![
            name,
            named,
            wrap_paragraph(SAFETY_TEXT, columns, theme::QUIET),
        ],
        is_low,
    )
}

fn title_line() -> Line<'static> {
    Line::styled("What should we build?", theme::STRONG)
}

fn intro_heading(columns: usize, is_low: bool) -> Vec<Line<'static>> {
    let mut lines = if is_low {
        vec![title_line()]
    } else {
        vec![Line::default(), title_line()]
    };
    if !is_low {
        lines.extend(wrap_paragraph(ABOUT_TEXT, columns, theme::QUIET));
    }
    lines.extend(wrap_paragraph(SAFETY_TEXT, columns, theme::QUIET));
    lines
}

fn first_step_lines() -> Vec<Line<'static>> {
    let numbered = FIRST_STEPS.iter().zip(1..);
    numbered
        .map(|(step, n)| Line::styled(format!("{n}  {step}"), theme::QUIET))
        .collect()
}

fn tip_line() -> Line<'static> {
    Line::from(vec![
        Span::styled("● ", theme::KEY),
        Span::styled("Tip  ", theme::STRONG),
        Span::styled(DEMO_COMMAND, theme::CODE),
        Span::styled(TIP_TEXT, theme::QUIET),
    ])
}

/// Returns the missing requirements with their remedies, then what is available.
fn requirement_lines(
    ready: &[ReadyPart],
    missing: &[MissingRequirement],
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for one in missing {
        lines.extend(remedy_lines(one, columns));
    }
    lines.extend(other_ways_line(missing));
    if missing
        .iter()
        .any(|one| one.severity == RequirementSeverity::Blocking)
    {
        lines.extend(wrap_spans(
            &[
                Span::raw("  "),
                Span::styled(DEMO_COMMAND, theme::CODE),
                Span::styled(DEMO_TEXT, theme::QUIET),
            ],
            columns,
            2,
        ));
    }
    let told: Vec<String> = ready
        .iter()
        .filter(|part| part.owner != ReadyOwner::Git)
        .map(|part| format!("{} {}", part.owner.name(), to_one_line(&part.text)))
        .collect();
    let joined = told.join(" · ");
    let rows = match told.as_slice() {
        [] => Vec::new(),
        [_, _, ..] if text_width(&joined) + 2 > columns => told,
        [..] => vec![joined],
    };
    for row in rows {
        let spans = [
            Span::styled("✓ ", theme::GOOD),
            Span::styled(row, theme::QUIET),
        ];
        lines.extend(wrap_spans(&spans, columns, 2));
    }
    lines
}

/// Returns the first way out of several; `agent-collab doctor` names them all.
fn first_way(remedy: &str) -> &str {
    let ends = [", or set ", "; "].into_iter();
    let ends = ends.flat_map(|mark| remedy.match_indices(mark).map(|(at, _)| at));
    let is_in_code = |at: &usize| remedy[..*at].matches('`').count() % 2 == 1;
    let end = ends.filter(|at| !is_in_code(at)).min();
    end.map_or(remedy, |end| &remedy[..end])
}

/// Returns the row that says where the other ways are, if one was left out.
fn other_ways_line(missing: &[MissingRequirement]) -> Option<Line<'static>> {
    let is_cut = |one: &MissingRequirement| first_way(&one.remedy).len() < one.remedy.len();
    let spans = style_code("More ways to fix it: `agent-collab doctor`", theme::QUIET);
    missing.iter().any(is_cut).then(|| Line::from(spans))
}

fn remedy_lines(one: &MissingRequirement, columns: usize) -> Vec<Line<'static>> {
    let (sign, style) = one.severity.sign_and_style();
    let what = format!("{sign}{}", to_one_line(&one.problem));
    let remedy = format!("  {}", to_one_line(first_way(&one.remedy)));
    let mut lines = wrap_spans(&[Span::styled(what, style)], columns, 2);
    lines.extend(wrap_spans(&style_code(&remedy, theme::PLAIN), columns, 2));
    lines
}

/// Returns the blocking problems, then the others.
fn sort_by_severity(missing: &[MissingRequirement]) -> impl Iterator<Item = &MissingRequirement> {
    let of = |weight| missing.iter().filter(move |one| one.severity == weight);
    of(RequirementSeverity::Blocking).chain(of(RequirementSeverity::Degrading))
}

/// Lays out the missing requirements in a limited number of rows: every problem is named before any remedy is shown.
fn shorten_requirements(
    missing: &[MissingRequirement],
    columns: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    // One row for each, and one that says where to find the rest.
    let mut left = rows.saturating_sub(missing.len() + 1);
    let mut is_whole = true;
    for one in sort_by_severity(missing) {
        let whole = remedy_lines(one, columns);
        let n_more = whole.len().saturating_sub(1);
        if n_more <= left {
            left -= n_more;
            lines.extend(whole);
            continue;
        }
        is_whole = false;
        let (sign, style) = one.severity.sign_and_style();
        let what = format!("{sign}{}", to_one_line(&one.problem));
        lines.push(Line::styled(truncate_to_columns(&what, columns), style));
    }
    if !is_whole {
        let how = truncate_to_columns("  Run `agent-collab doctor` to see what to do", columns);
        lines.extend(wrap_spans(&style_code(&how, theme::QUIET), columns, 2));
    }
    lines.truncate(rows);
    lines
}

fn recent_run_lines(runs: &[RunListEntry], columns: usize) -> Vec<Line<'static>> {
    if runs.is_empty() {
        return Vec::new();
    }
    let title = Span::styled("Recent runs", theme::STRONG);
    let hint = Span::styled("  Open one with a click or /history", theme::QUIET);
    let has_room = title.width() + hint.width() <= columns;
    let hint = Some(hint).filter(|_| has_room);
    let mut lines = vec![Line::from_iter(std::iter::once(title).chain(hint))];
    let widest = |of: fn(&RunListEntry) -> &str| {
        let widths = runs
            .iter()
            .take(MAX_LISTED_RUNS)
            .map(|run| text_width(&to_one_line(of(run))));
        widths.max().unwrap_or(0)
    };
    let (dates, ends) = (widest(|run| &run.date), widest(|run| &run.ended));
    if columns < MIN_RUN_TABLE_COLUMNS {
        let runs = runs.iter().take(MAX_LISTED_RUNS);
        lines.extend(runs.map(|run| centered_welcome::run_line(run, columns)));
        return lines;
    }
    for run in runs.iter().take(MAX_LISTED_RUNS) {
        let pad = |text: &str, columns: usize| {
            let text = to_one_line(text);
            let gap = columns.saturating_sub(text_width(&text)) + 2;
            format!("{text}{}", " ".repeat(gap))
        };
        let (date, ended) = (pad(&run.date, dates), pad(&run.ended, ends));
        let room = columns.saturating_sub(text_width(&date) + text_width(&ended));
        let how_far = to_one_line(&run.progress);
        let about = truncate_to_columns(&to_one_line(&run.about), room);
        let left = room.saturating_sub(text_width(&about));
        let how_far = if text_width(&how_far) + 2 <= left && !how_far.is_empty() {
            format!("  {how_far}")
        } else {
            String::new()
        };
        let style = match run.completion {
            RunCompletion::Done => theme::GOOD,
            RunCompletion::Complete | RunCompletion::Unfinished => theme::QUIET,
        };
        lines.push(Line::from(vec![
            Span::styled(date, theme::QUIET),
            Span::styled(ended, style),
            Span::styled(about, theme::PLAIN),
            Span::styled(how_far, theme::QUIET),
        ]));
    }
    lines
}

fn wrap_paragraph(text: &'static str, columns: usize, style: Style) -> Vec<Line<'static>> {
    wrap_spans(&[Span::styled(text, style)], columns, 0)
}
