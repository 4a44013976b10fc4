//! What stands beside a step's box: how far it is, what its tests said, its commit, how long it took.
//!
//! By what the program recorded, never by what the text claims.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::UnixMillis;
use crate::domain::plan::{self, Step};
use crate::domain::plan_execution::{
    CurrentStep, PlanExecution, StepAssessment, StepOutcome, StepRecord, StepStage,
};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::run::RunState;
use crate::domain::run_timeline::elapsed_millis;
use crate::domain::turn::Role;
use crate::tui::markdown::inline;
use crate::tui::theme;
use crate::tui::words::{self, receipt_short, short_commit, span};
use crate::tui::wrap::{one_line, width, wrap};

/// What is to be said of a step beside its box.
#[derive(Debug, Hash)]
pub struct Mark {
    /// The step's number.
    pub n: u32,
    /// Whether its box is ticked and the program did not do it.
    is_by_hand: bool,
    text: String,
    sign: &'static str,
    tone: Tone,
    /// What stands in the line below, each in its parts with their styles.
    notes: Notes,
    well: Option<Well>,
}

/// How a step was finished of which nothing has to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Well {
    /// It is committed, and the tests passed.
    Tested,
    /// It is committed, and there were no tests.
    Untested,
}

#[derive(Debug, Clone, Copy, Hash)]
enum Tone {
    Waits,
    Runs,
    Done,
    /// Nothing came of it, and nothing went wrong.
    Still,
    Odd,
}

impl Mark {
    /// Tells whether it is of the step that a line of the plan holds.
    pub fn is_of(&self, step: &Step) -> bool {
        self.n == step.n && self.text == one_line(&step.text)
    }

    /// Tells whether it is worked on.
    pub fn runs(&self) -> bool {
        matches!(self.tone, Tone::Runs)
    }

    /// Tells whether its turn is still to come.
    pub fn waits(&self) -> bool {
        matches!(self.tone, Tone::Waits)
    }

    /// How it was finished, where nothing else has to be known of it.
    pub fn well(&self) -> Option<Well> {
        self.well.filter(|_| matches!(self.tone, Tone::Done))
    }
}

/// What is wrong with a plan as it lies there: it would be no plan, or a box claims what was not done.
pub fn flaws(text: &str, marks: &[Mark]) -> Vec<String> {
    let read = match plan::parse(text) {
        Ok(read) => read,
        Err(why) => return vec![why.to_string()],
    };
    let is_waiting = |n: u32| marks.iter().any(|mark| mark.n == n && mark.is_by_hand);
    let ticked = read
        .steps
        .iter()
        .filter(|step| step.done && is_waiting(step.n));
    let flaw = |n: u32| format!("step {n} is ticked by hand: that counts for nothing");
    ticked.map(|step| flaw(step.n)).collect()
}

/// The steps of the plan with what became of each.
pub fn marks(state: Option<&RunState>, now: UnixMillis) -> Vec<Mark> {
    let Some((state, file)) = state.and_then(|state| Some((state, state.plan.as_ref()?))) else {
        return Vec::new();
    };
    let execution = state.execution.as_ref();
    let steps = file.plan.steps.iter();
    steps
        .map(|step| {
            let record = execution
                .and_then(|execution| execution.done.iter().find(|record| record.n == step.n));
            let (sign, tone, notes) = match execution.map(|execution| at(execution, step.n)) {
                Some(Far::Done(record)) => done(record, state, now),
                Some(Far::Current(current)) => ("▶", Tone::Runs, running(current, state, now)),
                Some(Far::Ahead) | None => (" ", Tone::Waits, Vec::new()),
            };
            Mark {
                is_by_hand: step.done && record.is_none(),
                n: step.n,
                text: one_line(&step.text),
                sign,
                tone,
                notes,
                well: record.and_then(well),
            }
        })
        .collect()
}

fn well(record: &StepRecord) -> Option<Well> {
    let is_committed = matches!(record.outcome, StepOutcome::Committed { .. });
    let passed = |receipt: &Receipt| receipt.outcome == TestOutcome::Passed;
    is_committed.then(|| match record.receipt.as_ref().is_some_and(passed) {
        true => Well::Tested,
        false => Well::Untested,
    })
}

/// How far a step is.
enum Far<'a> {
    Done(&'a StepRecord),
    Current(&'a CurrentStep),
    Ahead,
}

fn at(execution: &PlanExecution, n: u32) -> Far<'_> {
    let done = execution.done.iter().find(|record| record.n == n);
    let current = execution.current.as_ref().filter(|current| current.n == n);
    match (done, current) {
        (Some(record), _) => Far::Done(record),
        (None, Some(current)) => Far::Current(current),
        (None, None) => Far::Ahead,
    }
}

/// Parts of a text with their styles.
type Note = Vec<(String, Style)>;

type Notes = Vec<Note>;

fn done(record: &StepRecord, state: &RunState, now: UnixMillis) -> (&'static str, Tone, Notes) {
    let came = record.assessment();
    let tone = match came {
        StepAssessment::Committed => Tone::Done,
        StepAssessment::Unchanged => Tone::Still,
        StepAssessment::Uncommitted | StepAssessment::Failing => Tone::Odd,
    };
    let mut notes = Vec::new();
    match &record.outcome {
        StepOutcome::Committed { commit, .. } => {
            notes.push(vec![(short_commit(commit), theme::CODE)]);
        }
        StepOutcome::Uncommitted { reason } => {
            let text = format!("not committed: {}", one_line(reason));
            notes.push(vec![(text, theme::BAD)]);
        }
        StepOutcome::NoChange => {
            notes.push(vec![(record.describe_tests(), theme::QUIET)]);
            return (came.symbol(), tone, notes);
        }
    }
    let style = words::came(came);
    match &record.receipt {
        Some(receipt) => notes.push(vec![(receipt_short(receipt), style)]),
        None => notes.push(vec![("not tested".to_owned(), theme::PLAIN)]),
    }
    notes.extend(files(record.changed.len()));
    notes.extend(fixes(record.fix_turns));
    notes.extend(took(record.n, state, now));
    (came.symbol(), tone, notes)
}

fn running(current: &CurrentStep, state: &RunState, now: UnixMillis) -> Notes {
    let mut notes = vec![stages(current.stage)];
    if let Some(receipt) = &current.receipt {
        let style = match receipt.allows_next_step() {
            true => theme::GOOD,
            false => theme::BAD,
        };
        notes.push(vec![(receipt_short(receipt), style)]);
    }
    notes.extend(files(current.changed.len()));
    notes.extend(fixes(current.fix_turns));
    notes.extend(took(current.n, state, now));
    notes
}

/// The stages of a step; the present one is lit and in brackets.
fn stages(stage: StepStage) -> Note {
    let names = ["agent", "look", "tests", "commit", "record"];
    let at = match stage {
        StepStage::Code | StepStage::Fix => 0,
        StepStage::Audit => 1,
        StepStage::Test => 2,
        StepStage::Commit => 3,
        StepStage::Record => 4,
    };
    let mut parts = Note::new();
    for (n, name) in names.into_iter().enumerate() {
        if n > 0 {
            parts.push((" › ".to_owned(), theme::QUIET));
        }
        let present = theme::role(Role::Planner);
        parts.push(match n == at {
            true if stage == StepStage::Fix => ("[agent mends]".to_owned(), present),
            true => (format!("[{name}]"), present),
            false => (name.to_owned(), theme::QUIET),
        });
    }
    parts
}

fn files(n: usize) -> Option<Note> {
    let text = match n {
        0 => return None,
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    Some(vec![(text, theme::PLAIN)])
}

fn fixes(n: u32) -> Option<Note> {
    let text = match n {
        0 => return None,
        1 => "mended once".to_owned(),
        n => format!("mended {n} times"),
    };
    Some(vec![(text, theme::PLAIN)])
}

fn took(n: u32, state: &RunState, now: UnixMillis) -> Option<Note> {
    let step = state.course.step_span(n)?;
    let text = span(elapsed_millis(step.from, step.to, now));
    Some(vec![(text, theme::QUIET)])
}

/// What stands before the text of a step.
fn head(mark: &Mark) -> String {
    format!("[{}] {}. ", mark.sign, mark.n)
}

/// At which column the text of a step begins.
pub fn indent(mark: &Mark) -> usize {
    width(&head(mark))
}

/// The lines of a step.
pub fn lines(mark: &Mark, columns: usize) -> Vec<Line<'static>> {
    let head = head(mark);
    let indent = indent(mark);
    let mut spans = vec![Span::styled(head, tone_style(mark.tone))];
    spans.extend(inline(&mark.text, text_style(mark.tone)));
    let mut lines = wrap(&spans, columns, indent);
    if !mark.notes.is_empty() {
        let mut spans = vec![Span::raw(" ".repeat(indent))];
        for (n, parts) in mark.notes.iter().enumerate() {
            if n > 0 {
                spans.push(Span::styled(" · ", theme::QUIET));
            }
            let parts = parts.iter();
            spans.extend(parts.map(|(text, style)| Span::styled(text.clone(), *style)));
        }
        lines.extend(wrap(&spans, columns, indent));
    }
    lines
}

fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Waits => theme::PLAIN,
        Tone::Runs => theme::role(Role::Planner),
        Tone::Done => theme::GOOD,
        Tone::Still => theme::QUIET,
        Tone::Odd => theme::BAD,
    }
}

fn text_style(tone: Tone) -> Style {
    match tone {
        Tone::Runs => theme::STRONG,
        Tone::Waits | Tone::Done | Tone::Still | Tone::Odd => theme::PLAIN,
    }
}
