//! The plan in parts, and those finished steps of it that one row stands for where it is longer than its window.
//!
//! Refuses to fold a step that somebody remarked on, or of which more is to be said than that it went well; the
//! last one that was finished stays as it is.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::steps;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::tui::hints;
use crate::tui::page::Marked;
use crate::tui::theme;
use crate::tui::wrap::{cut, width};

/// Below how many no row stands for them.
const LEAST: usize = 2;

/// A line of the plan with what stands below it.
#[derive(Debug)]
pub struct Part {
    /// Its line, from 0, counted over the whole file.
    pub line: usize,
    /// What it belongs to.
    of: Of,
    /// Its rows.
    pub laid: Marked,
    /// Whether a finding or a note stands below it.
    pub has_remarks: bool,
}

/// What a line of the plan belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// It begins a step, whose mark has this place.
    Step(usize),
    /// It begins something else.
    Itself,
    /// It goes on with what began above it.
    TheOneAbove,
}

impl Part {
    /// Makes one that has no rows yet.
    pub fn new(line: usize, of: Of) -> Self {
        Self {
            line,
            of,
            laid: Marked::default(),
            has_remarks: false,
        }
    }

    /// Tells whether nothing stands in it but the column before it.
    fn is_blank(&self) -> bool {
        self.laid.lines.iter().all(|line| line.width() <= 1)
    }
}

/// Steps in a row that one row stands for.
#[derive(Debug)]
pub struct Fold {
    /// Their parts.
    pub parts: Range<usize>,
    /// Their lines.
    pub lines: Range<usize>,
    /// The numbers of the first and the last one.
    ends: (u32, u32),
    n_steps: usize,
    n_tested: usize,
}

impl Fold {
    /// The row; `open` is the key that opens it.
    pub fn row(&self, open: &str, columns: usize) -> Line<'static> {
        let (first, last) = self.ends;
        let n = self.n_steps;
        let tested = match self.n_tested {
            0 => "not tested".to_owned(),
            tested if tested == n => "tests passed".to_owned(),
            tested => format!("{tested} with tests that passed"),
        };
        let head = format!("[✓] {first}–{last}. ");
        let room = columns.saturating_sub(width(&head));
        let long = format!("{n} steps, {n} commits, {tested}");
        let opens = format!(" · {open} opens");
        let (text, opens) = match width(&long) + width(&opens) <= room {
            true => (long, opens),
            false => (cut(&format!("{n} steps done"), room), opens),
        };
        let opens = cut(&opens, room.saturating_sub(width(&text)));
        let mut spans = vec![
            Span::styled(head, theme::GOOD),
            Span::styled(text, theme::PLAIN),
        ];
        spans.extend(hints::spans(&opens, theme::QUIET));
        Line::from(spans)
    }
}

/// The step that is at work, else the one that comes next; its mark's place. None where nothing is executed.
pub fn at_work(marks: &[steps::Mark], state: &RunState) -> Option<usize> {
    let executes = state.phase == Phase::Execute && state.execution.is_some();
    let runs = marks.iter().position(steps::Mark::runs);
    let next = || marks.iter().position(steps::Mark::waits);
    runs.or_else(next).filter(|_| executes)
}

/// A step with what goes on with it.
struct Block {
    parts: Range<usize>,
    mark: usize,
}

/// The finished steps that rows can stand for.
pub fn folds(parts: &[Part], marks: &[steps::Mark]) -> Vec<Fold> {
    let blocks = blocks(parts);
    let finished = |block: &Block| {
        marks
            .get(block.mark)
            .is_some_and(|mark| mark.well().is_some())
    };
    let last = blocks.iter().rposition(finished).unwrap_or(0);
    let folds = |n: usize, block: &Block| {
        let has_remarks = || parts.get(block.parts.clone()).is_none_or(any_remarked);
        n != last && finished(block) && !has_remarks()
    };
    let mut runs: Vec<Vec<&Block>> = Vec::new();
    for (n, block) in blocks.iter().enumerate() {
        if !folds(n, block) {
            continue;
        }
        let before = runs.last_mut();
        let goes_on = |run: &&mut Vec<&Block>| {
            let end = run.last().map(|before| before.parts.end);
            end == Some(block.parts.start)
        };
        match before.filter(goes_on) {
            Some(run) => run.push(block),
            None => runs.push(vec![block]),
        }
    }
    let runs = runs.into_iter().filter(|run| run.len() >= LEAST);
    runs.filter_map(|run| fold(&run, parts, marks)).collect()
}

fn any_remarked(parts: &[Part]) -> bool {
    parts.iter().any(|part| part.has_remarks)
}

fn blocks(parts: &[Part]) -> Vec<Block> {
    let begins = |part: &Part| part.of != Of::TheOneAbove;
    let mut blocks = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        if let Of::Step(mark) = part.of {
            let rest = parts.iter().skip(n + 1);
            let end = n + 1 + rest.take_while(|part| !begins(part)).count();
            let parts = n..end;
            blocks.push(Block { parts, mark });
        }
    }
    blocks
}

fn fold(run: &[&Block], parts: &[Part], marks: &[steps::Mark]) -> Option<Fold> {
    let (first, last) = (run.first()?, run.last()?);
    let n = |block: &Block| marks.get(block.mark).map(|mark| mark.n);
    let tested = |block: &&&Block| {
        let well = marks.get(block.mark).and_then(steps::Mark::well);
        well == Some(steps::Well::Tested)
    };
    // What parts them from what follows stays.
    let is_blank = |at: &usize| parts.get(*at).is_some_and(Part::is_blank);
    let n_blank = last.parts.clone().rev().take_while(is_blank).count();
    let end = last.parts.end - n_blank;
    let from = parts.get(first.parts.start)?.line;
    Some(Fold {
        parts: first.parts.start..end,
        lines: from..parts.get(end.checked_sub(1)?)?.line + 1,
        ends: (n(first)?, n(last)?),
        n_steps: run.len(),
        n_tested: run.iter().filter(tested).count(),
    })
}
