//! Which findings are listed, which is pointed at, and what of them is open.
//!
//! Refuses to draw anything.

use std::collections::BTreeSet;

use super::review_table::ReviewTableMode;
use crate::domain::findings::{Finding, FindingDisposition, FindingStatus};
use crate::domain::run::RunState;
use crate::tui::scroll_view::ScrollTarget;

/// Which findings are listed, which of them is pointed at, and which show all that is said of them.
#[derive(Debug, Default)]
pub struct FindingSelection {
    pub(super) filter: FindingFilter,
    pub(super) selected: Option<ScrollTarget>,
    open: BTreeSet<u32>,
    /// Whether the settled ones are listed beside the open ones.
    settled_fold: SettledFindingsFold,
    /// Whether each review is listed where one row can stand for them.
    pub(super) reviews_fold: ReviewsFold,
    /// Letters that are looked for, in lower case: what has them is open.
    query: String,
}

/// Which findings are listed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FindingFilter {
    #[default]
    All,
    Open,
    Rejected,
    Settled,
}

impl FindingFilter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Open,
            Self::Open => Self::Rejected,
            Self::Rejected => Self::Settled,
            Self::Settled => Self::All,
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Open => "the open ones",
            Self::Rejected => "those that the planner rejects",
            Self::Settled => "the settled ones",
        }
    }

    fn matches(self, finding: &Finding) -> bool {
        match self {
            Self::All => true,
            Self::Open => finding.status == FindingStatus::Open,
            Self::Rejected => last_disposition(finding) == Some(FindingDisposition::Rejected),
            Self::Settled => finding.status != FindingStatus::Open,
        }
    }
}

/// Whether the settled findings are listed where others are open.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettledFindingsFold {
    /// One row stands for them.
    #[default]
    Folded,
    /// They are.
    Listed,
}

/// Whether reviews are listed where one row can stand for them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReviewsFold {
    /// That row stands for them.
    #[default]
    Folded,
    /// They are.
    Listed,
}

/// How the planner answered last.
pub(super) fn last_disposition(finding: &Finding) -> Option<FindingDisposition> {
    finding.responses.last().map(|(_, response)| response.stand)
}

impl FindingSelection {
    /// Lists other findings.
    pub fn next_filter(&mut self) {
        self.filter = self.filter.next();
        self.selected = None;
    }

    /// How reviews are shown where they would leave findings little room. What is looked for may stand among them.
    pub(super) fn review_table_mode(&self) -> ReviewTableMode {
        match self.reviews_fold {
            ReviewsFold::Folded if self.query.is_empty() => ReviewTableMode::Folded,
            ReviewsFold::Folded | ReviewsFold::Listed => ReviewTableMode::Opened,
        }
    }

    /// Points at what is listed next, or the one before; gives it. `above` is the row above the findings, where there is
    /// one.
    pub fn move_selection(
        &mut self,
        is_next: bool,
        state: &RunState,
        above: Option<ScrollTarget>,
    ) -> Option<ScrollTarget> {
        let row = self.settled_row(state).map(|(before, _)| before);
        let listed = self.listed_findings(state).into_iter();
        let mut listed: Vec<ScrollTarget> = listed
            .map(|finding| ScrollTarget::Finding(finding.remark.n))
            .collect();
        if let Some(before) = row {
            listed.insert(before.min(listed.len()), ScrollTarget::Settled);
        }
        listed.splice(0..0, above);
        let at = listed.iter().position(|mark| Some(*mark) == self.selected);
        let next = match (at, is_next) {
            // Whoever begins to point means a finding.
            (None, true) => usize::from(above.is_some()),
            (None, false) => listed.len().checked_sub(1)?,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1)?,
        };
        self.selected = Some(*listed.get(next)?);
        self.selected
    }

    /// The findings that are listed, those that are open first.
    pub(super) fn listed_findings<'a>(&self, state: &'a RunState) -> Vec<&'a Finding> {
        let all = state.findings.all().iter();
        let mut listed: Vec<&Finding> =
            all.filter(|finding| self.filter.matches(finding)).collect();
        listed.sort_by_key(|finding| finding.status != FindingStatus::Open);
        if let Some((n_open, SettledFindingsFold::Folded)) = self.settled_row(state) {
            listed.truncate(n_open);
        }
        listed
    }

    /// The row that stands before the settled findings, where others are open: how many stand before it, and whether
    /// it stands for those behind it. What is looked for or pointed at is listed.
    pub(super) fn settled_row(&self, state: &RunState) -> Option<(usize, SettledFindingsFold)> {
        let all = state.findings.all();
        let n_open = state.findings.open().count();
        let has_both = (1..all.len()).contains(&n_open);
        let settled = |finding: &&Finding| finding.status != FindingStatus::Open;
        let mut settled = all.iter().filter(settled);
        let is_picked = settled.any(|finding| self.selected_finding() == Some(finding.remark.n));
        let is_listed = is_picked || !self.query.is_empty();
        let stands = if is_listed {
            SettledFindingsFold::Listed
        } else {
            self.settled_fold
        };
        (has_both && self.filter == FindingFilter::All).then_some((n_open, stands))
    }

    /// Points at one of those that are listed.
    pub fn select(&mut self, mark: ScrollTarget) {
        self.selected = Some(mark);
    }

    /// Points at a finding, which is listed from here on.
    pub fn select_finding(&mut self, n: u32) {
        self.filter = FindingFilter::All;
        self.selected = Some(ScrollTarget::Finding(n));
    }

    /// Opens what is pointed at, or folds it; tells whether there is something.
    pub fn toggle_selected(&mut self) -> bool {
        match self.selected {
            Some(ScrollTarget::Settled) => {
                self.settled_fold = match self.settled_fold {
                    SettledFindingsFold::Folded => SettledFindingsFold::Listed,
                    SettledFindingsFold::Listed => SettledFindingsFold::Folded,
                };
            }
            Some(ScrollTarget::Reviews) => {
                self.reviews_fold = match self.reviews_fold {
                    ReviewsFold::Folded => ReviewsFold::Listed,
                    ReviewsFold::Listed => ReviewsFold::Folded,
                };
            }
            Some(ScrollTarget::Finding(n)) => {
                if !self.open.remove(&n) {
                    self.open.insert(n);
                }
            }
            Some(_) | None => return false,
        }
        true
    }

    /// Opens whatever has these letters while they are looked for; with none, nothing is open for them.
    pub fn set_query(&mut self, letters: &str) {
        self.query = letters.to_lowercase();
    }

    /// Leaves a finding open that was opened for what is looked for.
    pub fn keep_open(&mut self, n: u32) {
        self.open.insert(n);
    }

    /// Tells whether all that is said of a finding is shown.
    pub(super) fn is_open(&self, n: u32, evidence: Option<&String>) -> bool {
        let has = |text: &&String| text.to_lowercase().contains(&self.query);
        let is_sought = !self.query.is_empty() && evidence.filter(has).is_some();
        is_sought || self.open.contains(&n)
    }

    /// The number of the finding that is pointed at.
    pub fn selected_finding(&self) -> Option<u32> {
        match self.selected? {
            ScrollTarget::Finding(n) => Some(n),
            _ => None,
        }
    }

    /// What is pointed at.
    pub fn selected_mark(&self) -> Option<ScrollTarget> {
        self.selected
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn clear_selection(&mut self) -> bool {
        self.selected.take().is_some()
    }
}
