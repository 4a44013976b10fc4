//! What stands in the chat before there is a run: what this is, what is missing, the first steps, the runs
//! before.
//!
//! Texts of the program itself need no cleaning: the first frame waits for nothing.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Screen;
use super::read_only::PastRun;
use super::theme;
use super::wrap::{cut, one_line, width, wrap};

/// What was found in the repository before there is a run; comes by [`Screen::on_welcome`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Welcome {
    /// What is there, each in a few words.
    pub ready: Vec<String>,
    /// What is missing.
    pub missing: Vec<Missing>,
    /// The last finished runs, the latest first.
    pub runs: Vec<PastRun>,
}

/// Something that a run would need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// Whether a run can begin all the same.
    pub weight: Weight,
}

/// Whether something stands in the way of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It does.
    Stops,
    /// A run has less.
    Lessens,
}

impl Weight {
    /// Its sign and how it is written.
    fn shown(self) -> (&'static str, Style) {
        match self {
            Self::Stops => ("✗ ", theme::BAD),
            Self::Lessens => ("○ ", theme::STRONG),
        }
    }
}

/// How wide its lines get.
const WIDEST: usize = 100;
/// How many rows the runs of before take at least: the heading and one of them.
const LEAST_RUNS: usize = 2;
/// How many runs are listed.
const N_RUNS: usize = 5;

const ABOUT: &str = "Two agents, one goal: a planner writes the plan, a reviewer finds what is wrong with it, \
you approve, and the planner executes it step by step.";
const SAFE: &str = "Nothing is sent, changed or committed before you say so.";
const DEMO: &str =
    "  `agent-collab demo` plays a whole run without any of this: no model, no key, no network";
const STEPS: [&str; 3] = [
    "Write the goal below, in a sentence or a page; the planner asks what is open.",
    "Confirm it. Each turn waits for you, with exactly what will be sent: release it, or let all of them go (auto).",
    "Approve the plan. Each step is tested and committed on a branch of its own; undo takes it back.",
];

impl Screen {
    /// Takes what was found in the repository.
    pub fn on_welcome(&mut self, welcome: Welcome) {
        self.dirty = true;
        self.welcome = welcome;
    }

    /// Says why no run began; of what the page names already, with what to do about it, a word is enough.
    pub fn on_refused(&mut self, why: &str) {
        let missing = self.welcome.missing.iter();
        let stops = missing.filter(|one| one.weight == Weight::Stops);
        let named: Vec<&str> = stops
            .filter(|one| why.contains(one.what.as_str()))
            .map(|one| one.what.as_str())
            .collect();
        match named.as_slice() {
            [] => self.on_notice(why),
            named => {
                let named = named.join(", ");
                self.on_word(&format!("not yet, do first what stands above: {named}"));
            }
        }
    }

    /// Draws the page where there is no run yet; gives what is left below it.
    pub(super) fn draw_welcome(&mut self, frame: &mut Frame, area: Rect) -> Rect {
        let area = Rect {
            x: area.x + 1,
            width: area.width.saturating_sub(2),
            ..area
        };
        let columns = usize::from(area.width).min(WIDEST);
        let rows = usize::from(area.height);
        // What was told meanwhile keeps a few rows.
        let kept = match self.transcript.is_empty() {
            true => 0,
            false => 4.min(rows / 3),
        };
        let (mut lines, runs) = self.welcome_lines(columns, rows - kept);
        lines.truncate(rows - kept);
        let row = |at: usize| Rect {
            y: area.y + u16::try_from(at).unwrap_or(area.height).min(area.height),
            height: u16::from(at < lines.len()),
            ..area
        };
        self.places.runs = runs.zip(0..).map(|(at, n)| (row(at), n)).collect();
        let height = u16::try_from(lines.len()).unwrap_or(area.height);
        let place = Rect { height, ..area };
        frame.render_widget(Paragraph::new(lines), place);
        Rect {
            x: area.x - 1,
            y: area.y + height,
            width: area.width + 2,
            height: area.height - height,
        }
    }

    /// Parts come in the order of what they are worth to somebody who is here for the first time; where
    /// the window is low, blanks and explanations go. Gives the rows of the runs of before, too.
    fn welcome_lines(&self, columns: usize, rows: usize) -> (Vec<Line<'static>>, Range<usize>) {
        let Welcome { missing, runs, .. } = &self.welcome;
        let (mut parts, is_low) = first_parts(&self.welcome, columns, rows);
        // Whoever had a run here knows how to begin one: what was done stands before that.
        let n_before = parts.len();
        parts.push(recent(runs, columns));
        if (!is_low || missing.is_empty()) && self.unfinished.is_none() {
            parts.push(steps(columns));
        }
        let mut lines = Vec::new();
        let mut of_runs = 0..0;
        for (n, mut part) in parts.into_iter().enumerate() {
            let gap = usize::from(!lines.is_empty() && !is_low);
            let left = rows.saturating_sub(lines.len() + gap);
            // Of several runs the last ones are enough.
            if n == n_before && left >= LEAST_RUNS {
                part.truncate(left);
            }
            let fits = part.len() <= left || lines.is_empty();
            if part.is_empty() || !fits {
                continue;
            }
            lines.extend((0..gap).map(|_| Line::default()));
            if n == n_before {
                // The first row says what they are.
                of_runs = lines.len() + 1..lines.len() + part.len();
            }
            lines.extend(part);
        }
        (lines, of_runs)
    }
}

/// What this is and what is missing, and whether the window is low; where not all of it fits, what stops a run stands
/// first.
fn first_parts(
    Welcome { ready, missing, .. }: &Welcome,
    columns: usize,
    rows: usize,
) -> (Vec<Vec<Line<'static>>>, bool) {
    let whole = found(ready, missing, columns);
    let high = head(columns, false);
    // What to do about it is worth more than blanks and explanations.
    let is_low = rows < 16 || high.len() + 1 + whole.len() > rows;
    if !is_low {
        return (vec![high, whole], is_low);
    }
    let head = head(columns, true);
    if missing.is_empty() || head.len() + whole.len() <= rows {
        return (vec![head, whole], is_low);
    }
    let left = rows.saturating_sub(head.len());
    if missing.len() < left {
        return (vec![head, shortened(missing, columns, left)], is_low);
    }
    let n_stops = in_order(missing).take_while(|one| one.weight == Weight::Stops);
    let name = match n_stops.count() < rows {
        true => vec![name()],
        false => Vec::new(),
    };
    let left = rows.saturating_sub(name.len());
    let named = shortened(missing, columns, left);
    (vec![name, named, text(SAFE, columns, theme::QUIET)], is_low)
}

fn name() -> Line<'static> {
    Line::from(vec![
        Span::styled("agent-collab", theme::KEY),
        Span::styled(concat!("  ", env!("CARGO_PKG_VERSION")), theme::QUIET),
    ])
}

fn head(columns: usize, is_low: bool) -> Vec<Line<'static>> {
    let mut lines = match is_low {
        true => vec![name()],
        false => vec![Line::default(), name()],
    };
    if !is_low {
        lines.extend(text(ABOUT, columns, theme::PLAIN));
    }
    lines.extend(text(SAFE, columns, theme::QUIET));
    lines
}

fn steps(columns: usize) -> Vec<Line<'static>> {
    let numbered = STEPS.iter().zip(1..).map(|(step, n)| {
        let spans = [
            Span::styled(format!("{n}  "), theme::KEY),
            Span::styled(*step, theme::PLAIN),
        ];
        wrap(&spans, columns, 3)
    });
    numbered.flatten().collect()
}

/// What is missing with what to do about it, else what is there.
fn found(ready: &[String], missing: &[Missing], columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for one in missing {
        lines.extend(with_remedy(one, columns));
    }
    if missing.iter().any(|one| one.weight == Weight::Stops) {
        lines.extend(wrap(&[Span::styled(DEMO, theme::QUIET)], columns, 2));
    }
    if !ready.is_empty() {
        let told: Vec<String> = ready.iter().map(|one| one_line(one)).collect();
        let told = format!("✓ {}", told.join(" · "));
        lines.extend(wrap(&[Span::styled(told, theme::GOOD)], columns, 2));
    }
    lines
}

fn with_remedy(one: &Missing, columns: usize) -> Vec<Line<'static>> {
    let (sign, style) = one.weight.shown();
    let what = format!("{sign}{}", one_line(&one.what));
    let remedy = format!("  {}", one_line(&one.remedy));
    let mut lines = wrap(&[Span::styled(what, style)], columns, 2);
    lines.extend(wrap(&[Span::styled(remedy, theme::PLAIN)], columns, 2));
    lines
}

/// What stops a run, then what lessens it.
fn in_order(missing: &[Missing]) -> impl Iterator<Item = &Missing> {
    let of = |weight| missing.iter().filter(move |one| one.weight == weight);
    of(Weight::Stops).chain(of(Weight::Lessens))
}

/// What is missing in that many rows: all of it is named before it is said what to do about the first of it.
fn shortened(missing: &[Missing], columns: usize, rows: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    // A row for each, and one that says where the rest is.
    let mut left = rows.saturating_sub(missing.len() + 1);
    let mut is_whole = true;
    for one in in_order(missing) {
        let whole = with_remedy(one, columns);
        let n_more = whole.len().saturating_sub(1);
        if n_more <= left {
            left -= n_more;
            lines.extend(whole);
            continue;
        }
        is_whole = false;
        let (sign, style) = one.weight.shown();
        let what = format!("{sign}{}", one_line(&one.what));
        lines.push(Line::styled(cut(&what, columns), style));
    }
    if !is_whole {
        let how = cut("  agent-collab doctor says what to do", columns);
        lines.push(Line::styled(how, theme::QUIET));
    }
    lines.truncate(rows);
    lines
}

fn recent(runs: &[PastRun], columns: usize) -> Vec<Line<'static>> {
    if runs.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::from(vec![
        Span::styled("Recent runs", theme::STRONG),
        Span::styled("  a click or /history opens one", theme::QUIET),
    ])];
    let widest = |of: fn(&PastRun) -> &str| {
        let widths = runs
            .iter()
            .take(N_RUNS)
            .map(|run| width(&one_line(of(run))));
        widths.max().unwrap_or(0)
    };
    let (dates, ends) = (widest(|run| &run.date), widest(|run| &run.ended));
    for run in runs.iter().take(N_RUNS) {
        let pad = |text: &str, columns: usize| {
            let text = one_line(text);
            let gap = columns.saturating_sub(width(&text)) + 2;
            format!("{text}{}", " ".repeat(gap))
        };
        let (date, ended) = (pad(&run.date, dates), pad(&run.ended, ends));
        let room = columns.saturating_sub(width(&date) + width(&ended));
        let how_far = one_line(&run.how_far);
        let about = cut(&one_line(&run.about), room);
        let left = room.saturating_sub(width(&about));
        let how_far = match width(&how_far) + 2 <= left && !how_far.is_empty() {
            true => format!("  {how_far}"),
            false => String::new(),
        };
        let style = match run.ended.as_str() {
            "DONE" => theme::GOOD,
            _ => theme::QUIET,
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

fn text(text: &'static str, columns: usize, style: Style) -> Vec<Line<'static>> {
    wrap(&[Span::styled(text, style)], columns, 0)
}
