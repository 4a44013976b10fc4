//! Splits the plan into parts and finds finished steps that one row can replace where the plan is longer
//! than its window.
//!
//! A step is not folded if it has remarks or did not finish cleanly. The step that was finished last is
//! never folded.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::step_marks;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::tui::clickable_keys;
use crate::tui::scroll_view::ScrollContent;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// Fewer finished steps than this are not folded.
const MIN_FOLDED_STEPS: usize = 2;

/// A line of the plan with everything below it.
#[derive(Debug)]
pub struct PlanPart {
    /// Its line, from 0, counted over the whole file.
    pub line: usize,
    pub kind: PlanPartKind,
    pub layout: ScrollContent,
    /// Whether a finding or a note is below it.
    pub has_remarks: bool,
    /// Whether the plan cannot pass the review because of a finding that is below it.
    pub is_blocked: bool,
}

/// What a line of the plan belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanPartKind {
    /// Starts a step; the value is the index of its mark.
    StepStart(usize),
    /// Starts something other than a step.
    OtherStart,
    /// Continues what started above it.
    Continuation,
}

impl PlanPart {
    /// Creates a part without rows.
    pub fn new(line: usize, of: PlanPartKind) -> Self {
        Self {
            line,
            kind: of,
            layout: ScrollContent::default(),
            has_remarks: false,
            is_blocked: false,
        }
    }

    /// Returns whether it shows nothing.
    pub fn is_blank(&self) -> bool {
        let is_blank = |line: &Line<'_>| {
            let mut texts = line.spans.iter().map(|span| &*span.content);
            texts.all(|text| text.trim().is_empty())
        };
        self.layout.lines.iter().all(is_blank)
    }
}

/// Consecutive steps that one row replaces.
#[derive(Debug)]
pub struct StepFold {
    pub parts: Range<usize>,
    pub lines: Range<usize>,
    /// The numbers of the first and the last step.
    step_numbers: (u32, u32),
    n_steps: usize,
    n_tested: usize,
}

impl StepFold {
    /// Renders the row; `open` is the key that unfolds it.
    pub fn to_line(&self, open: &str, columns: usize) -> Line<'static> {
        let (first, last) = self.step_numbers;
        let n = self.n_steps;
        let tested = match self.n_tested {
            0 => "not tested".to_owned(),
            tested if tested == n => "tests passed".to_owned(),
            tested => format!("{tested} with passing tests"),
        };
        let head = format!("✓ {first}–{last}  ");
        let room = columns.saturating_sub(text_width(&head));
        let long = format!("{n} steps, {n} commits, {tested}");
        let opens = format!(" · {open} opens");
        let (text, opens) = if text_width(&long) + text_width(&opens) <= room {
            (long, opens)
        } else {
            (truncate_to_columns(&format!("{n} steps done"), room), opens)
        };
        let opens = truncate_to_columns(&opens, room.saturating_sub(text_width(&text)));
        let mut spans = vec![
            Span::styled(head, theme::GOOD),
            Span::styled(text, theme::PLAIN),
        ];
        spans.extend(clickable_keys::hint_spans(&opens, theme::QUIET));
        Line::from(spans)
    }
}

/// Returns the mark index of the running step, else of the next one; `None` when nothing is executed.
pub fn current_step(marks: &[step_marks::PlanStepMark], state: &RunState) -> Option<usize> {
    let executes = state.phase == Phase::Execute && state.execution.is_some();
    let runs = marks.iter().position(step_marks::PlanStepMark::is_running);
    let next = || marks.iter().position(step_marks::PlanStepMark::is_pending);
    runs.or_else(next).filter(|_| executes)
}

/// A step with its continuation lines.
pub struct StepBlock {
    pub parts: Range<usize>,
    mark: usize,
}

/// Returns the groups of finished steps that can be folded.
pub fn find_folds(parts: &[PlanPart], marks: &[step_marks::PlanStepMark]) -> Vec<StepFold> {
    let blocks = step_blocks(parts);
    let finished = |block: &StepBlock| {
        marks
            .get(block.mark)
            .is_some_and(|mark| mark.clean_finish().is_some())
    };
    let last = blocks.iter().rposition(finished).unwrap_or(0);
    let folds = |n: usize, block: &StepBlock| {
        let has_remarks = || parts.get(block.parts.clone()).is_none_or(have_remarks);
        n != last && finished(block) && !has_remarks()
    };
    let mut runs: Vec<Vec<&StepBlock>> = Vec::new();
    for (n, block) in blocks.iter().enumerate() {
        if !folds(n, block) {
            continue;
        }
        let before = runs.last_mut();
        let goes_on = |run: &&mut Vec<&StepBlock>| {
            let end = run.last().map(|before| before.parts.end);
            end == Some(block.parts.start)
        };
        match before.filter(goes_on) {
            Some(run) => run.push(block),
            None => runs.push(vec![block]),
        }
    }
    let runs = runs.into_iter().filter(|run| run.len() >= MIN_FOLDED_STEPS);
    runs.filter_map(|run| fold_steps(&run, parts, marks))
        .collect()
}

fn have_remarks(parts: &[PlanPart]) -> bool {
    parts.iter().any(|part| part.has_remarks)
}

/// Returns the steps of a plan.
pub fn step_blocks(parts: &[PlanPart]) -> Vec<StepBlock> {
    let begins = |part: &PlanPart| part.kind != PlanPartKind::Continuation;
    let mut blocks = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        if let PlanPartKind::StepStart(mark) = part.kind {
            let rest = parts.iter().skip(n + 1);
            let end = n + 1 + rest.take_while(|part| !begins(part)).count();
            let parts = n..end;
            blocks.push(StepBlock { parts, mark });
        }
    }
    blocks
}

fn fold_steps(
    run: &[&StepBlock],
    parts: &[PlanPart],
    marks: &[step_marks::PlanStepMark],
) -> Option<StepFold> {
    let (first, last) = (run.first()?, run.last()?);
    let n = |block: &StepBlock| marks.get(block.mark).map(|mark| mark.n);
    let tested = |block: &&&StepBlock| {
        let well = marks
            .get(block.mark)
            .and_then(step_marks::PlanStepMark::clean_finish);
        well == Some(step_marks::CleanFinish::Tested)
    };
    // The blank lines before the next part stay visible.
    let is_blank = |at: &usize| parts.get(*at).is_some_and(PlanPart::is_blank);
    let n_blank = last.parts.clone().rev().take_while(is_blank).count();
    let end = last.parts.end - n_blank;
    let from = parts.get(first.parts.start)?.line;
    Some(StepFold {
        parts: first.parts.start..end,
        lines: from..parts.get(end.checked_sub(1)?)?.line + 1,
        step_numbers: (n(first)?, n(last)?),
        n_steps: run.len(),
        n_tested: run.iter().filter(tested).count(),
    })
}
