//! Tab: the plan, its boxes with what became of each step.
//!
//! A box is ticked by what the program recorded, never by what the text claims.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::execution::{Current, Execution, Stage, StepOutcome, StepRecord};
use crate::domain::plan::Plan;
use crate::domain::run::State;
use crate::text::front_matter;
use crate::tui::documents::Text;
use crate::tui::markdown::Markdown;
use crate::tui::page::Page;
use crate::tui::theme;
use crate::tui::words::short_commit;
use crate::tui::wrap::{one_line, width, wrap, wrap_own};

/// Draws the plan.
pub fn draw(page: &mut Page, text: &Text, frame: &mut Frame, area: Rect, state: Option<&State>) {
    let columns = usize::from(area.width);
    let marks = marks(state);
    let mut hasher = DefaultHasher::new();
    (columns, text.revision, &marks).hash(&mut hasher);
    page.lay_out(hasher.finish(), || match &text.text {
        Some(text) => lay_out(text, &marks, columns),
        None => wrap_own("There is no plan yet.", columns, theme::QUIET),
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

fn lay_out(text: &str, marks: &[Mark], columns: usize) -> Vec<Line<'static>> {
    let body = front_matter::split(text).body;
    let mut markdown = Markdown::default();
    let mut left: Vec<&Mark> = marks.iter().collect();
    let mut lines = Vec::new();
    for line in body.trim_start_matches('\n').lines() {
        let trimmed = line.trim_start();
        let at = left
            .iter()
            .position(|mark| is_box_of(trimmed, mark.n) && !markdown.is_in_fence());
        match at {
            Some(at) => lines.extend(step_lines(left.remove(at), columns)),
            None => lines.extend(markdown.line(line, columns, theme::PLAIN)),
        }
    }
    lines
}

fn is_box_of(line: &str, n: u32) -> bool {
    let rest = line.strip_prefix(&n.to_string());
    let rest = rest.and_then(|rest| rest.strip_prefix(['.', ')']));
    rest.is_some_and(|rest| rest.trim_start().starts_with('['))
}

fn step_lines(mark: &Mark, columns: usize) -> Vec<Line<'static>> {
    let style = tone_style(mark.tone);
    let head = format!("[{}] {}. ", mark.sign, mark.n);
    let indent = width(&head);
    let spans = [
        Span::styled(head, style),
        Span::styled(mark.text.as_str(), text_style(mark.tone)),
    ];
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
