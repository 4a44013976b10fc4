//! Progress of each plan step beside its box: stage, test result, commit, duration.
//!
//! It comes from what the program recorded, never from what the plan's text claims.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::UnixMillis;
use crate::domain::plan::{self, Step};
use crate::domain::plan_execution::{
    CurrentStep, PlanExecution, StepAssessment, StepOutcome, StepRecord,
};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::run::RunState;
use crate::domain::run_timeline::elapsed_millis;
use crate::text::capitalize;
use crate::tui::labels::{self, format_millis, short_commit, summarize_receipt};
use crate::tui::markdown::style_inline;
use crate::tui::proof_board::ProofBoard;
use crate::tui::step_trail::StepTrail;
use crate::tui::text_wrap::{text_width, to_one_line, wrap_prose, wrap_spans};
use crate::tui::theme;

/// The progress of a step, shown beside its box.
#[derive(Debug, Hash)]
pub struct PlanStepMark {
    pub n: u32,
    /// Whether its box is ticked although the program did not do the step.
    is_ticked_by_hand: bool,
    text: String,
    sign: &'static str,
    tone: StepTone,
    /// Notes for the line below, each split into styled parts.
    notes: StepNotes,
    /// The test runs that prove it, in the line below the notes.
    proof_runs: Vec<(String, Style)>,
    clean_finish: Option<CleanFinish>,
}

/// How a step finished, if it finished without anything to note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CleanFinish {
    /// Committed, and the tests passed.
    Tested,
    /// Committed, and there were no tests.
    Untested,
}

#[derive(Debug, Clone, Copy, Hash)]
enum StepTone {
    Pending,
    Running,
    Done,
    /// Without changes and without problems.
    Unchanged,
    Problem,
}

impl PlanStepMark {
    /// Returns whether it belongs to this step of the plan text.
    pub fn matches_step(&self, step: &Step) -> bool {
        self.n == step.n && self.text == to_one_line(&step.text)
    }

    /// Returns the step's text, in one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the sign of its progress, and the sign's style.
    pub fn sign_and_style(&self) -> (&'static str, Style) {
        match self.tone {
            StepTone::Pending => ("○", theme::QUIET),
            tone => (self.sign, tone_style(tone)),
        }
    }

    /// Returns whether the step is being worked on.
    pub fn is_running(&self) -> bool {
        matches!(self.tone, StepTone::Running)
    }

    /// Returns whether the step has not started yet.
    pub fn is_pending(&self) -> bool {
        matches!(self.tone, StepTone::Pending)
    }

    /// Returns how the step finished, if there is nothing else to note.
    pub fn clean_finish(&self) -> Option<CleanFinish> {
        self.clean_finish
            .filter(|_| matches!(self.tone, StepTone::Done))
    }
}

/// Returns the problems of a plan text: it does not parse, or a box claims a step that was not done.
pub fn plan_problems(text: &str, marks: &[PlanStepMark]) -> Vec<String> {
    let read = match plan::parse(text) {
        Ok(read) => read,
        Err(why) => return vec![capitalize(&why.to_string())],
    };
    let is_waiting = |n: u32| {
        marks
            .iter()
            .any(|mark| mark.n == n && mark.is_ticked_by_hand)
    };
    let ticked = read
        .steps
        .iter()
        .filter(|step| step.done && is_waiting(step.n));
    let flaw = |n: u32| format!("Step {n} was ticked by hand, which does not count");
    ticked.map(|step| flaw(step.n)).collect()
}

/// Returns the progress of each step of the plan.
pub fn step_marks(
    state: Option<&RunState>,
    board: &ProofBoard,
    now: UnixMillis,
) -> Vec<PlanStepMark> {
    let Some((state, file)) = state.and_then(|state| Some((state, state.plan.as_ref()?))) else {
        return Vec::new();
    };
    let execution = state.execution.as_ref();
    let steps = file.plan.steps.iter();
    steps
        .map(|step| {
            let record = execution
                .and_then(|execution| execution.done.iter().find(|record| record.n == step.n));
            let (sign, tone, notes) =
                match execution.map(|execution| step_progress(execution, step.n)) {
                    Some(StepProgress::Done(record)) => finished_notes(record, state, now),
                    Some(StepProgress::Current(current)) => (
                        "◐",
                        StepTone::Running,
                        running_notes(current, state, board, now),
                    ),
                    Some(StepProgress::Pending) | None => (" ", StepTone::Pending, Vec::new()),
                };
            PlanStepMark {
                is_ticked_by_hand: step.done && record.is_none(),
                n: step.n,
                text: to_one_line(&step.text),
                sign,
                tone,
                notes,
                proof_runs: if state.is_testing_step()
                    && state.current_step_number() == Some(step.n)
                {
                    board.runs(step.n, now)
                } else {
                    Vec::new()
                },
                clean_finish: record.and_then(clean_finish),
            }
        })
        .collect()
}

fn clean_finish(record: &StepRecord) -> Option<CleanFinish> {
    let is_committed = matches!(record.outcome, StepOutcome::Committed { .. });
    let passed = |receipt: &Receipt| receipt.outcome == TestOutcome::Passed;
    is_committed.then(|| {
        if record.receipt.as_ref().is_some_and(passed) && record.unproven_reason().is_none() {
            CleanFinish::Tested
        } else {
            CleanFinish::Untested
        }
    })
}

/// How far a step is.
enum StepProgress<'a> {
    Done(&'a StepRecord),
    Current(&'a CurrentStep),
    Pending,
}

fn step_progress(execution: &PlanExecution, n: u32) -> StepProgress<'_> {
    let done = execution.done.iter().find(|record| record.n == n);
    let current = execution.current.as_ref().filter(|current| current.n == n);
    match (done, current) {
        (Some(record), _) => StepProgress::Done(record),
        (None, Some(current)) => StepProgress::Current(current),
        (None, None) => StepProgress::Pending,
    }
}

/// One note, split into parts with their styles.
type StepNote = Vec<(String, Style)>;

type StepNotes = Vec<StepNote>;

fn finished_notes(
    record: &StepRecord,
    state: &RunState,
    now: UnixMillis,
) -> (&'static str, StepTone, StepNotes) {
    let came = record.assessment();
    let tone = match came {
        StepAssessment::Committed => StepTone::Done,
        StepAssessment::Unchanged => StepTone::Unchanged,
        StepAssessment::Uncommitted | StepAssessment::Failing => StepTone::Problem,
    };
    let mut notes = Vec::new();
    let mut changes = file_count_note(record.changed.len());
    match &record.outcome {
        StepOutcome::Committed { commit, size, .. } => {
            notes.push(vec![(short_commit(commit), theme::CODE)]);
            let size = size.map(|size| vec![(size.describe(), theme::PLAIN)]);
            changes = size.or(changes);
        }
        StepOutcome::Uncommitted { reason } => {
            let text = format!("not committed: {}", to_one_line(reason));
            notes.push(vec![(text, theme::BAD)]);
        }
        StepOutcome::NoChange => {
            notes.push(vec![(record.describe_tests(), theme::QUIET)]);
            return (came.symbol(), tone, notes);
        }
    }
    let style = labels::assessment_style(came);
    match &record.receipt {
        Some(_) if record.proof.is_some() => notes.push(vec![(record.describe_tests(), style)]),
        Some(receipt) => notes.push(vec![(summarize_receipt(receipt), style)]),
        None => notes.push(vec![("not tested".to_owned(), theme::PLAIN)]),
    }
    notes.extend(changes);
    notes.extend(fix_count_note(record.fix_turns));
    notes.extend(duration_note(record.n, state, now));
    (came.symbol(), tone, notes)
}

fn running_notes(
    current: &CurrentStep,
    state: &RunState,
    board: &ProofBoard,
    now: UnixMillis,
) -> StepNotes {
    let trail = StepTrail::with_clock(state, board, now).map(StepTrail::spans);
    let mut notes: StepNotes = trail.into_iter().collect();
    if let Some(receipt) = &current.receipt {
        let style = if receipt.allows_next_step() {
            theme::GOOD
        } else {
            theme::BAD
        };
        notes.push(vec![(summarize_receipt(receipt), style)]);
    }
    notes.extend(file_count_note(current.changed.len()));
    notes.extend(fix_count_note(current.fix_turns));
    notes.extend(duration_note(current.n, state, now));
    notes
}

fn file_count_note(n: usize) -> Option<StepNote> {
    let text = match n {
        0 => return None,
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    Some(vec![(text, theme::PLAIN)])
}

fn fix_count_note(n: u32) -> Option<StepNote> {
    let text = match n {
        0 => return None,
        n => format!("fixes: {n}"),
    };
    Some(vec![(text, theme::PLAIN)])
}

fn duration_note(n: u32, state: &RunState, now: UnixMillis) -> Option<StepNote> {
    let step = state.course.step_span(n)?;
    let text = format_millis(elapsed_millis(step.from, step.to, now));
    Some(vec![(text, theme::QUIET)])
}

/// Returns the text before a step's own text.
fn step_prefix(mark: &PlanStepMark) -> String {
    let (sign, _) = mark.sign_and_style();
    format!("{sign} {}  ", mark.n)
}

/// Returns the column at which the text of a step starts.
pub fn text_indent(mark: &PlanStepMark) -> usize {
    text_width(&step_prefix(mark))
}

/// Renders the lines of a step.
pub fn step_lines(mark: &PlanStepMark, columns: usize) -> Vec<Line<'static>> {
    let head = step_prefix(mark);
    let indent = text_indent(mark);
    let mut spans = vec![Span::styled(head, tone_style(mark.tone))];
    spans.extend(style_inline(&mark.text, theme::PLAIN));
    let mut lines = wrap_prose(&spans, columns, indent);
    let notes: Vec<&[(String, Style)]> = mark.notes.iter().map(Vec::as_slice).collect();
    let runs: Vec<&[(String, Style)]> = mark.proof_runs.chunks(1).collect();
    for row in [notes, runs].iter().filter(|row| !row.is_empty()) {
        let mut spans = vec![Span::raw(" ".repeat(indent))];
        for (n, parts) in row.iter().enumerate() {
            if n > 0 {
                spans.push(Span::styled(" · ", theme::QUIET));
            }
            let parts = parts.iter();
            spans.extend(parts.map(|(text, style)| Span::styled(text.clone(), *style)));
        }
        lines.extend(wrap_spans(&spans, columns, indent));
    }
    lines
}

fn tone_style(tone: StepTone) -> Style {
    match tone {
        StepTone::Pending => theme::PLAIN,
        StepTone::Running => theme::RUNNING,
        StepTone::Done => theme::GOOD,
        StepTone::Unchanged => theme::QUIET,
        StepTone::Problem => theme::BAD,
    }
}
