//! What a reading has cost so far, and what went wrong in it.
//!
//! It refuses to know time: every limit counts steps.

use std::ops::Range;

use super::{AnalysisDoubt, AnalysisLimitKind, AnalysisLimits};

/// The account of one reading, shared by all texts read in it.
pub struct StepBudget {
    pub limits: AnalysisLimits,
    pub doubts: Vec<AnalysisDoubt>,
    steps_spent: usize,
    depth: usize,
    /// Once a limit of steps is passed nothing more is done.
    is_exhausted: bool,
    /// Whether a part was not read, so that the words of the whole are wanted.
    pub is_incomplete: bool,
}

/// Steps that even the shortest text may take.
const BASE_STEPS: usize = 100_000;

/// Steps more for each byte; most scripts take fewer, by far.
const STEPS_PER_BYTE: usize = 2;

impl AnalysisLimits {
    /// The steps that a text of so many bytes may take: a short one is never worth as much work as a long one may be.
    pub fn steps_for_script(&self, n_bytes: usize) -> usize {
        let of_text = BASE_STEPS.saturating_add(n_bytes.saturating_mul(STEPS_PER_BYTE));
        self.max_steps.min(of_text)
    }
}

/// More doubts than anybody reads.
const MAX_DOUBTS: usize = 64;

impl StepBudget {
    /// For a text of so many bytes.
    pub fn new(limits: AnalysisLimits, n_bytes: usize) -> Self {
        let limits = AnalysisLimits {
            max_steps: limits.steps_for_script(n_bytes),
            ..limits
        };
        Self {
            limits,
            doubts: Vec::new(),
            steps_spent: 0,
            depth: 0,
            is_exhausted: false,
            is_incomplete: false,
        }
    }

    /// Notes a doubt once; of very many the first tell enough.
    pub fn record_doubt(&mut self, doubt: AnalysisDoubt) {
        if self.doubts.len() < MAX_DOUBTS && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Notes that the text cannot be read from here on.
    pub fn record_unparsable(&mut self, span: Range<usize>) {
        self.is_incomplete = true;
        self.record_doubt(AnalysisDoubt::Unparsable { span });
    }

    pub fn record_exceeded_limit(&mut self, limit: AnalysisLimitKind, span: &Range<usize>) {
        self.is_incomplete = true;
        let span = span.clone();
        self.record_doubt(AnalysisDoubt::Limit { limit, span });
    }

    /// Counts steps; `false` when there are no more.
    pub fn spend_steps(&mut self, steps: usize, span: &Range<usize>) -> bool {
        if self.is_exhausted {
            return false;
        }
        self.steps_spent = self.steps_spent.saturating_add(steps);
        if self.steps_spent > self.limits.max_steps {
            self.is_exhausted = true;
            self.record_exceeded_limit(AnalysisLimitKind::Steps, span);
        }
        !self.is_exhausted
    }

    /// What was counted so far.
    pub fn steps_spent(&self) -> usize {
        self.steps_spent
    }

    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Goes one level deeper; `false`, with nothing to leave, when that is too deep.
    pub fn enter_level(&mut self, span: &Range<usize>) -> bool {
        if self.depth >= self.limits.max_depth {
            self.record_exceeded_limit(AnalysisLimitKind::Depth, span);
            return false;
        }
        self.depth += 1;
        true
    }

    pub fn leave_level(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
