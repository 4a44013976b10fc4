//! Which findings are listed, which is pointed at, and what of them is open.
//!
//! Refuses to draw anything.

use std::collections::BTreeSet;

use super::verdicts::Table;
use crate::domain::findings::{Finding, FindingDisposition, FindingStatus};
use crate::domain::run::RunState;
use crate::tui::page::Mark;

/// Which findings are listed, which of them is pointed at, and which show all that is said of them.
#[derive(Debug, Default)]
pub struct Chosen {
    pub(super) filter: Filter,
    pub(super) picked: Option<Mark>,
    open: BTreeSet<u32>,
    /// Whether the settled ones are listed beside the open ones.
    settled: Settled,
    /// Whether each review is listed where one row can stand for them.
    pub(super) reviews: Reviews,
    /// Letters that are looked for, in lower case: what has them is open.
    sought: String,
}

/// Which findings are listed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Filter {
    #[default]
    All,
    Open,
    Rejected,
    Settled,
}

impl Filter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Open,
            Self::Open => Self::Rejected,
            Self::Rejected => Self::Settled,
            Self::Settled => Self::All,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Open => "the open ones",
            Self::Rejected => "those that the planner rejects",
            Self::Settled => "the settled ones",
        }
    }

    fn has(self, finding: &Finding) -> bool {
        match self {
            Self::All => true,
            Self::Open => finding.status == FindingStatus::Open,
            Self::Rejected => last_stand(finding) == Some(FindingDisposition::Rejected),
            Self::Settled => finding.status != FindingStatus::Open,
        }
    }
}

/// Whether the settled findings are listed where others are open.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// One row stands for them.
    #[default]
    Folded,
    /// They are.
    Listed,
}

/// Whether reviews are listed where one row can stand for them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reviews {
    /// That row stands for them.
    #[default]
    Folded,
    /// They are.
    Listed,
}

/// How the planner answered last.
pub(super) fn last_stand(finding: &Finding) -> Option<FindingDisposition> {
    finding.responses.last().map(|(_, response)| response.stand)
}

impl Chosen {
    /// Lists other findings.
    pub fn turn(&mut self) {
        self.filter = self.filter.next();
        self.picked = None;
    }

    /// How reviews are shown where they would leave findings little room. What is looked for may stand among them.
    pub(super) fn table(&self) -> Table {
        match self.reviews {
            Reviews::Folded if self.sought.is_empty() => Table::Folded,
            Reviews::Folded | Reviews::Listed => Table::Opened,
        }
    }

    /// Points at what is listed next, or the one before; gives it. `above` is the row above the findings, where there is
    /// one.
    pub fn go(&mut self, is_next: bool, state: &RunState, above: Option<Mark>) -> Option<Mark> {
        let row = self.row_of_settled(state).map(|(before, _)| before);
        let listed = self.listed(state).into_iter();
        let mut listed: Vec<Mark> = listed
            .map(|finding| Mark::Finding(finding.remark.n))
            .collect();
        if let Some(before) = row {
            listed.insert(before.min(listed.len()), Mark::Settled);
        }
        listed.splice(0..0, above);
        let at = listed.iter().position(|mark| Some(*mark) == self.picked);
        let next = match (at, is_next) {
            // Whoever begins to point means a finding.
            (None, true) => usize::from(above.is_some()),
            (None, false) => listed.len().checked_sub(1)?,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1)?,
        };
        self.picked = Some(*listed.get(next)?);
        self.picked
    }

    /// The findings that are listed, those that are open first.
    pub(super) fn listed<'a>(&self, state: &'a RunState) -> Vec<&'a Finding> {
        let all = state.findings.all().iter();
        let mut listed: Vec<&Finding> = all.filter(|finding| self.filter.has(finding)).collect();
        listed.sort_by_key(|finding| finding.status != FindingStatus::Open);
        if let Some((n_open, Settled::Folded)) = self.row_of_settled(state) {
            listed.truncate(n_open);
        }
        listed
    }

    /// The row that stands before the settled findings, where others are open: how many stand before it, and whether
    /// it stands for those behind it. What is looked for or pointed at is listed.
    pub(super) fn row_of_settled(&self, state: &RunState) -> Option<(usize, Settled)> {
        let all = state.findings.all();
        let n_open = state.findings.open().count();
        let has_both = (1..all.len()).contains(&n_open);
        let settled = |finding: &&Finding| finding.status != FindingStatus::Open;
        let mut settled = all.iter().filter(settled);
        let is_picked = settled.any(|finding| self.picked() == Some(finding.remark.n));
        let is_listed = is_picked || !self.sought.is_empty();
        let stands = match is_listed {
            true => Settled::Listed,
            false => self.settled,
        };
        (has_both && self.filter == Filter::All).then_some((n_open, stands))
    }

    /// Points at one of those that are listed.
    pub fn pick(&mut self, mark: Mark) {
        self.picked = Some(mark);
    }

    /// Points at a finding, which is listed from here on.
    pub fn point_at(&mut self, n: u32) {
        self.filter = Filter::All;
        self.picked = Some(Mark::Finding(n));
    }

    /// Opens what is pointed at, or folds it; tells whether there is something.
    pub fn open_picked(&mut self) -> bool {
        match self.picked {
            Some(Mark::Settled) => {
                self.settled = match self.settled {
                    Settled::Folded => Settled::Listed,
                    Settled::Listed => Settled::Folded,
                };
            }
            Some(Mark::Reviews) => {
                self.reviews = match self.reviews {
                    Reviews::Folded => Reviews::Listed,
                    Reviews::Listed => Reviews::Folded,
                };
            }
            Some(Mark::Finding(n)) => {
                if !self.open.remove(&n) {
                    self.open.insert(n);
                }
            }
            Some(_) | None => return false,
        }
        true
    }

    /// Opens whatever has these letters while they are looked for; with none, nothing is open for them.
    pub fn look_for(&mut self, letters: &str) {
        self.sought = letters.to_lowercase();
    }

    /// Leaves a finding open that was opened for what is looked for.
    pub fn keep_open(&mut self, n: u32) {
        self.open.insert(n);
    }

    /// Tells whether all that is said of a finding is shown.
    pub(super) fn is_open(&self, n: u32, evidence: Option<&String>) -> bool {
        let has = |text: &&String| text.to_lowercase().contains(&self.sought);
        let is_sought = !self.sought.is_empty() && evidence.filter(has).is_some();
        is_sought || self.open.contains(&n)
    }

    /// The number of the finding that is pointed at.
    pub fn picked(&self) -> Option<u32> {
        match self.picked? {
            Mark::Finding(n) => Some(n),
            _ => None,
        }
    }

    /// What is pointed at.
    pub fn mark(&self) -> Option<Mark> {
        self.picked
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn pick_nothing(&mut self) -> bool {
        self.picked.take().is_some()
    }
}
