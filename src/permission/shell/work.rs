//! What a reading has cost so far, and what went wrong in it.
//!
//! It refuses to know time: every limit counts steps.

use std::ops::Range;

use super::{Doubt, Limited, Limits};

/// The account of one reading, shared by all texts read in it.
pub struct Work {
    pub limits: Limits,
    pub doubts: Vec<Doubt>,
    nodes: usize,
    depth: usize,
    /// Once a limit of steps is passed nothing more is done.
    is_spent: bool,
    /// Whether a part was not read, so that the words of the whole are wanted.
    pub is_incomplete: bool,
}

/// Steps that even the shortest text may take.
const BASE_NODES: usize = 100_000;

/// Steps more for each byte; most scripts take fewer, by far.
const NODES_PER_BYTE: usize = 2;

impl Limits {
    /// The steps that a text of so many bytes may take: a short one is never worth as much work as a long one may be.
    pub fn for_text(&self, n_bytes: usize) -> usize {
        let of_text = BASE_NODES.saturating_add(n_bytes.saturating_mul(NODES_PER_BYTE));
        self.nodes.min(of_text)
    }
}

/// More doubts than anybody reads.
const MOST_DOUBTS: usize = 64;

impl Work {
    /// For a text of so many bytes.
    pub fn new(limits: Limits, n_bytes: usize) -> Self {
        let limits = Limits {
            nodes: limits.for_text(n_bytes),
            ..limits
        };
        Self {
            limits,
            doubts: Vec::new(),
            nodes: 0,
            depth: 0,
            is_spent: false,
            is_incomplete: false,
        }
    }

    /// Notes a doubt once; of very many the first tell enough.
    pub fn doubt(&mut self, doubt: Doubt) {
        if self.doubts.len() < MOST_DOUBTS && !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }

    /// Notes that the text cannot be read from here on.
    pub fn unparsable(&mut self, span: Range<usize>) {
        self.is_incomplete = true;
        self.doubt(Doubt::Unparsable { span });
    }

    pub fn limit(&mut self, limit: Limited, span: &Range<usize>) {
        self.is_incomplete = true;
        let span = span.clone();
        self.doubt(Doubt::Limit { limit, span });
    }

    /// Counts steps; `false` when there are no more.
    pub fn take(&mut self, steps: usize, span: &Range<usize>) -> bool {
        if self.is_spent {
            return false;
        }
        self.nodes = self.nodes.saturating_add(steps);
        if self.nodes > self.limits.nodes {
            self.is_spent = true;
            self.limit(Limited::Nodes, span);
        }
        !self.is_spent
    }

    /// What was counted so far.
    pub fn steps(&self) -> usize {
        self.nodes
    }

    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Goes one level deeper; `false`, with nothing to leave, when that is too deep.
    pub fn enter(&mut self, span: &Range<usize>) -> bool {
        if self.depth >= self.limits.depth {
            self.limit(Limited::Depth, span);
            return false;
        }
        self.depth += 1;
        true
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
