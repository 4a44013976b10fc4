//! Counts the steps of an analysis and collects its doubts.
//!
//! All limits count steps, never time, so results are the same on every machine.

use std::ops::Range;

use super::{AnalysisDoubt, AnalysisLimitKind, AnalysisLimits};

/// The budget of one analysis, shared by all texts in it.
pub struct StepBudget {
    pub limits: AnalysisLimits,
    pub doubts: Vec<AnalysisDoubt>,
    steps_spent: usize,
    depth: usize,
    /// Once the step limit is exceeded, nothing more is done.
    is_exhausted: bool,
    /// Whether a part was not analysed, so that rough words of the whole text are needed.
    pub is_incomplete: bool,
}

/// The steps that even the shortest text may take.
const BASE_STEPS: usize = 100_000;

/// Additional steps for each byte; most scripts need far fewer.
const STEPS_PER_BYTE: usize = 2;

impl AnalysisLimits {
    /// Returns the steps that a text of this many bytes may take: short texts get fewer than long ones.
    pub fn steps_for_script(&self, n_bytes: usize) -> usize {
        let of_text = BASE_STEPS.saturating_add(n_bytes.saturating_mul(STEPS_PER_BYTE));
        self.max_steps.min(of_text)
    }
}

/// More doubts than a user would read.
const MAX_DOUBTS: usize = 64;

impl StepBudget {
    /// Makes a budget for a text of this many bytes.
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

    /// Records a doubt once; of very many only the first are kept.
    pub fn record_doubt(&mut self, doubt: AnalysisDoubt) {
        if self.doubts.len() < MAX_DOUBTS && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Records that the text cannot be parsed from here on.
    pub fn record_unparsable(&mut self, span: Range<usize>) {
        self.is_incomplete = true;
        self.record_doubt(AnalysisDoubt::Unparsable { span });
    }

    pub fn record_exceeded_limit(&mut self, limit: AnalysisLimitKind, span: &Range<usize>) {
        self.is_incomplete = true;
        let span = span.clone();
        self.record_doubt(AnalysisDoubt::Limit { limit, span });
    }

    /// Spends steps; returns `false` when none are left.
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

    /// Returns the steps spent so far.
    pub fn steps_spent(&self) -> usize {
        self.steps_spent
    }

    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Enters a deeper level; returns `false`, and enters nothing, when that is too deep.
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
