//! Tab: the plan, its boxes with what became of each step.
//!
//! A box is ticked by what the program recorded, never by what the text claims.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::execution::{Current, Execution, Stage, StepOutcome, StepRecord};
use crate::domain::findings::Finding;
use crate::domain::plan::Plan;
use crate::domain::run::State;
use crate::text::front_matter;
use crate::tui::anchors::{self, is_box_of};
use crate::tui::documents::Text;
use crate::tui::markdown::{Markdown, inline};
use crate::tui::page::{Marked, Page};
use crate::tui::theme;
use crate::tui::words::short_commit;
use crate::tui::wrap::{one_line, width, wrap, wrap_own};

/// Draws the plan.
pub fn draw(page: &mut Page, text: &Text, frame: &mut Frame, area: Rect, state: Option<&State>) {
    let columns = usize::from(area.width);
    let marks = marks(state);
    let open = match (state, &text.text) {
        (Some(state), Some(text)) => anchors::of_open(state, text),
        _ => Vec::new(),
    };
    let open: Vec<Remark> = open.into_iter().map(remark).collect();
    let mut hasher = DefaultHasher::new();
    (columns, text.revision, &marks, &open).hash(&mut hasher);
    page.lay_out(hasher.finish(), || match &text.text {
        Some(text) => lay_out(text, &marks, &open, columns),
        None => wrap_own("There is no plan yet.", columns, theme::QUIET).into(),
    });
    page.draw(frame, area);
}

/// What is to be said of a step beside its box.
#[derive(Debug, Hash)]
struct Mark {
    n: u32,
    text: String,
    sign: &'static str,
    tone: Tone,
    note: String,
}

#[derive(Debug, Clone, Copy, Hash)]
enum Tone {
    Waits,
    Runs,
    Done,
    Odd,
}

fn marks(state: Option<&State>) -> Vec<Mark> {
    let Some(file) = state.and_then(|state| state.plan.as_ref()) else {
        return Vec::new();
    };
    let execution = state.and_then(|state| state.execution.as_ref());
    marks_of(&file.plan, execution)
}

fn marks_of(plan: &Plan, execution: Option<&Execution>) -> Vec<Mark> {
    plan.steps
        .iter()
        .map(|step| {
            let record = execution.and_then(|e| e.done.iter().find(|record| record.n == step.n));
            let current = execution
                .and_then(|e| e.current.as_ref())
                .filter(|current| current.n == step.n);
            let (sign, tone, note) = match (record, current) {
                (Some(record), _) => done(record),
                (None, Some(current)) => ("▶", Tone::Runs, stage(current)),
                (None, None) if step.done => ("✓", Tone::Done, String::new()),
                (None, None) => (" ", Tone::Waits, String::new()),
            };
            Mark {
                n: step.n,
                text: one_line(&step.text),
                sign,
                tone,
                note,
            }
        })
        .collect()
}

fn done(record: &StepRecord) -> (&'static str, Tone, String) {
    let tested = record.tested_in_words();
    let passes = record
        .receipt
        .as_ref()
        .is_none_or(crate::domain::receipt::Receipt::lets_pass);
    let tone = if passes { Tone::Done } else { Tone::Odd };
    match &record.outcome {
        StepOutcome::Committed { commit, .. } => {
            ("✓", tone, format!("{} · {tested}", short_commit(commit)))
        }
        StepOutcome::Uncommitted { reason } => (
            "✓",
            Tone::Odd,
            format!("not committed: {} · {tested}", one_line(reason)),
        ),
        StepOutcome::NoChange => ("–", Tone::Odd, "changed nothing".to_owned()),
    }
}

fn stage(current: &Current) -> String {
    let what = match current.stage {
        Stage::Code => "the agent works",
        Stage::Audit => "the program looks at the changes",
        Stage::Test => "the program runs the tests",
        Stage::Fix => "the agent mends",
        Stage::Commit => "the program commits",
        Stage::Record => "the program writes it down",
    };
    match current.fix_turns {
        0 => what.to_owned(),
        n => format!("{what} (fix turn {n})"),
    }
}

/// An open finding, as it stands below a line.
#[derive(Debug, Hash)]
struct Remark {
    n: u32,
    style: Style,
    text: String,
    line: Option<usize>,
}

fn remark((finding, line): (&Finding, Option<usize>)) -> Remark {
    let remark = &finding.remark;
    let text = one_line(&remark.text);
    let text = format!("○ {} [{}] {text}", remark.n, remark.severity.word());
    Remark {
        n: remark.n,
        style: theme::severity(remark.severity),
        text,
        line,
    }
}

fn lay_out(text: &str, marks: &[Mark], open: &[Remark], columns: usize) -> Marked {
    let body = front_matter::split(text).body.trim_start_matches('\n');
    // Lines are counted over the whole file, as a review counts them.
    let n_before = text.lines().count().saturating_sub(body.lines().count());
    let mut markdown = Markdown::default();
    let mut left: Vec<&Mark> = marks.iter().collect();
    let mut laid = Marked::default();
    let astray = |remark: &&Remark| remark.line.is_none_or(|line| line < n_before);
    for remark in open.iter().filter(astray) {
        add_remark(&mut laid, remark, (columns, ""));
    }
    if !laid.lines.is_empty() {
        laid.lines.push(Line::default());
    }
    for (at, line) in (n_before..).zip(body.lines()) {
        let trimmed = line.trim_start();
        let step = left
            .iter()
            .position(|mark| is_box_of(trimmed, mark.n) && !markdown.is_in_fence());
        match step {
            Some(step) => laid.lines.extend(step_lines(left.remove(step), columns)),
            None => laid
                .lines
                .extend(markdown.line(line, columns, theme::PLAIN)),
        }
        for remark in open.iter().filter(|remark| remark.line == Some(at)) {
            add_remark(&mut laid, remark, (columns, "    "));
        }
    }
    laid
}

/// Puts a finding below the line that it speaks of.
fn add_remark(laid: &mut Marked, remark: &Remark, (columns, lead): (usize, &str)) {
    laid.marks.insert(remark.n, laid.lines.len());
    let spans = [
        Span::raw(lead.to_owned()),
        Span::styled(remark.text.as_str(), remark.style),
    ];
    laid.lines.extend(wrap(&spans, columns, lead.len() + 2));
}

fn step_lines(mark: &Mark, columns: usize) -> Vec<Line<'static>> {
    let style = tone_style(mark.tone);
    let head = format!("[{}] {}. ", mark.sign, mark.n);
    let indent = width(&head);
    let mut spans = vec![Span::styled(head, style)];
    spans.extend(inline(&mark.text, text_style(mark.tone)));
    let mut lines = wrap(&spans, columns, indent);
    if !mark.note.is_empty() {
        let lead = " ".repeat(indent);
        let spans = [Span::raw(lead), Span::styled(mark.note.as_str(), style)];
        lines.extend(wrap(&spans, columns, indent));
    }
    lines
}

fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Waits => theme::PLAIN,
        Tone::Runs => theme::NEEDS_YOU,
        Tone::Done => theme::GOOD,
        Tone::Odd => theme::BAD,
    }
}

fn text_style(tone: Tone) -> Style {
    match tone {
        Tone::Runs => theme::STRONG,
        Tone::Waits | Tone::Done | Tone::Odd => theme::PLAIN,
    }
}
