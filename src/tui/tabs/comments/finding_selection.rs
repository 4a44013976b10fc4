//! Which findings are listed, selected and expanded. Drawing them is the parent module's work.

use std::collections::BTreeSet;
use std::hash::Hash;

use super::review_table::ReviewTableMode;
use crate::domain::findings::{Finding, FindingOutcome};
use crate::domain::run::RunState;
use crate::tui::scroll_view::ScrollTarget;

/// Which findings are listed, which one is selected, and which ones are expanded.
#[derive(Debug, Default)]
pub struct FindingSelection {
    pub(super) filter: FindingFilter,
    /// What the user selected.
    selected: Option<ScrollTarget>,
    /// How many reviews there were when the user cleared a selection: until the next one none is wanted.
    declined_at: Option<usize>,
    open: BTreeSet<u32>,
    /// Those that the user folded.
    folded: BTreeSet<u32>,
    /// The finding that the last frame showed expanded although the user did not open it.
    pub(super) expanded: Option<u32>,
    /// Whether settled findings are listed beside the open ones.
    settled_fold: SettledFindingsFold,
    /// Whether each review is listed where one summary row could replace all.
    pub(super) reviews_fold: ReviewsFold,
    /// The search text, in lower case: findings that contain it are expanded.
    query: String,
}

/// Each finding is in `All` and in the filter of what became of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FindingFilter {
    #[default]
    All,
    Of(FindingOutcome),
}

impl FindingFilter {
    const ALL: [Self; 7] = [
        Self::All,
        Self::Of(FindingOutcome::Open),
        Self::Of(FindingOutcome::LeftOpen),
        Self::Of(FindingOutcome::Rejected),
        Self::Of(FindingOutcome::Fixed),
        Self::Of(FindingOutcome::Withdrawn),
        Self::Of(FindingOutcome::DecidedByUser),
    ];

    /// Returns the filters in their order; rare ones only where they list something.
    pub(super) fn useful(state: &RunState) -> Vec<Self> {
        let mut all = Self::ALL.to_vec();
        all.retain(|filter| !filter.is_rare() || filter.count(state) > 0);
        all
    }

    fn is_rare(self) -> bool {
        match self {
            Self::All
            | Self::Of(FindingOutcome::Open | FindingOutcome::Rejected | FindingOutcome::Fixed) => {
                false
            }
            Self::Of(
                FindingOutcome::LeftOpen
                | FindingOutcome::Withdrawn
                | FindingOutcome::DecidedByUser,
            ) => true,
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Of(outcome) => outcome.label(),
        }
    }

    /// Returns how many findings of the run it lists.
    pub(super) fn count(self, state: &RunState) -> usize {
        let all = state.findings.all().iter();
        all.filter(|finding| self.matches(finding)).count()
    }

    fn matches(self, finding: &Finding) -> bool {
        match self {
            Self::All => true,
            Self::Of(outcome) => finding.outcome() == outcome,
        }
    }
}

/// Whether settled findings are listed while others are open.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettledFindingsFold {
    /// One row replaces them.
    #[default]
    Folded,
    Listed,
}

/// Whether reviews are listed where one row could replace them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReviewsFold {
    /// One row replaces them.
    #[default]
    Folded,
    Listed,
}

impl FindingSelection {
    /// Switches to the next filter.
    pub fn next_filter(&mut self, state: Option<&RunState>) {
        let Some(state) = state else { return };
        let at = FindingFilter::ALL.iter().position(|it| *it == self.filter);
        let (before, after) = FindingFilter::ALL.split_at(at.map_or(0, |at| at + 1));
        let mut next = after.iter().chain(before);
        let is_useful = |filter: &&FindingFilter| FindingFilter::useful(state).contains(filter);
        self.set_filter(next.find(is_useful).copied().unwrap_or_default());
    }

    /// Lists the findings of a filter.
    pub(super) fn set_filter(&mut self, filter: FindingFilter) {
        self.filter = filter;
        self.selected = None;
    }

    /// Returns the finding that counts as selected until the user selects something: the first open one that is listed, so
    /// that something can be done with it at once. Once the user wants no selection, there is none.
    fn offered_finding(&self, state: &RunState) -> Option<ScrollTarget> {
        if self.declined_at == Some(state.course.reviews().len()) {
            return None;
        }
        let mut listed = self.listed_findings(state).into_iter();
        let first = listed.find(|finding| finding.is_open())?;
        Some(ScrollTarget::Finding(first.remark.n))
    }

    /// Returns how reviews are shown where they would leave findings little room. During a search they are
    /// listed, because they may contain a match.
    pub(super) fn review_table_mode(&self) -> ReviewTableMode {
        match self.reviews_fold {
            ReviewsFold::Folded if self.query.is_empty() => ReviewTableMode::Folded,
            ReviewsFold::Folded | ReviewsFold::Listed => ReviewTableMode::Opened,
        }
    }

    /// Selects the next or the previous target and returns it. `above` is the row above the findings, if
    /// there is one.
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
        let threads = state.threads.all().iter();
        let threads = threads.filter(|thread| thread.finding.is_none());
        listed.extend(threads.map(|thread| ScrollTarget::Note(thread.n)));
        let selected = self.selected_mark(Some(state));
        let at = listed.iter().position(|mark| Some(*mark) == selected);
        let next = match (at, is_next) {
            // The first move selects a finding, not the row above the findings.
            (None, true) => usize::from(above.is_some()),
            (None, false) => listed.len().checked_sub(1)?,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1)?,
        };
        self.selected = Some(*listed.get(next)?);
        self.selected
    }

    /// Returns the listed findings: open ones, residual ones, settled ones.
    pub(super) fn listed_findings<'a>(&self, state: &'a RunState) -> Vec<&'a Finding> {
        let all = state.findings.all().iter();
        let mut listed: Vec<&Finding> =
            all.filter(|finding| self.filter.matches(finding)).collect();
        listed.sort_by_key(|finding| (finding.is_settled(), !finding.is_open()));
        if let Some((n_before, SettledFindingsFold::Folded)) = self.settled_row(state) {
            listed.truncate(n_before);
        }
        listed
    }

    /// Returns the row before the settled findings if others are open: how many findings come before it,
    /// and whether it replaces those behind it. During a search, or if a settled finding is selected, they
    /// are listed.
    pub(super) fn settled_row(&self, state: &RunState) -> Option<(usize, SettledFindingsFold)> {
        let all = state.findings.all();
        let mut settled = all.iter().filter(|finding| finding.is_settled());
        let n_before = all.len() - settled.clone().count();
        let has_both = (1..all.len()).contains(&n_before);
        let is_picked = settled.any(|finding| self.chosen_finding() == Some(finding.remark.n));
        let is_listed = is_picked || !self.query.is_empty();
        let stands = if is_listed {
            SettledFindingsFold::Listed
        } else {
            self.settled_fold
        };
        (has_both && self.filter == FindingFilter::All).then_some((n_before, stands))
    }

    /// Selects a listed target.
    pub fn select(&mut self, mark: ScrollTarget) {
        self.selected = Some(mark);
    }

    /// Selects a finding or a thread and lists all findings, so that it is visible.
    pub fn select_listed(&mut self, mark: ScrollTarget) {
        self.filter = FindingFilter::All;
        self.selected = Some(mark);
    }

    /// Expands or folds the selection; returns whether that was possible.
    pub fn toggle_selected(&mut self, state: Option<&RunState>) -> bool {
        match self.selected_mark(state) {
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
                if self.open.remove(&n) || self.expanded == Some(n) {
                    self.folded.insert(n);
                } else {
                    self.folded.remove(&n);
                    self.open.insert(n);
                }
            }
            Some(_) | None => return false,
        }
        true
    }

    /// Sets the search text, which expands all findings that contain it; an empty text expands none.
    pub fn set_query(&mut self, letters: &str) {
        self.query = letters.to_lowercase();
    }

    /// Keeps a finding expanded after the search that expanded it.
    pub fn keep_open(&mut self, n: u32) {
        self.open.insert(n);
    }

    /// Returns what decides which findings are expanded.
    pub(super) fn expansion(&self) -> impl Hash {
        (&self.open, &self.query)
    }

    /// Returns whether residual findings are listed.
    pub fn lists_residual(&self) -> bool {
        matches!(
            self.filter,
            FindingFilter::All | FindingFilter::Of(FindingOutcome::LeftOpen)
        )
    }

    /// Returns the finding that is expanded where there is room: the first one, while it is open.
    pub(super) fn first_to_expand(&self, state: &RunState) -> Option<u32> {
        let listed = self.listed_findings(state);
        let first = listed.first().filter(|finding| finding.is_open())?;
        let n = first.remark.n;
        (!self.folded.contains(&n)).then_some(n)
    }

    /// Returns whether the user opened a finding, or a search did.
    pub(super) fn is_open(&self, n: u32, evidence: Option<&String>) -> bool {
        let has = |text: &&String| text.to_lowercase().contains(&self.query);
        let is_sought = !self.query.is_empty() && evidence.filter(has).is_some();
        is_sought || self.open.contains(&n)
    }

    /// Returns the number of the selected finding, or of the one that is offered; without a state, none is offered.
    pub fn selected_finding(&self, state: Option<&RunState>) -> Option<u32> {
        finding_number(self.selected_mark(state)?)
    }

    /// Returns the number of the finding that the user selected.
    pub fn chosen_finding(&self) -> Option<u32> {
        finding_number(self.selected?)
    }

    /// Returns the selected target, or the finding that is offered; without a state, none is offered.
    pub fn selected_mark(&self, state: Option<&RunState>) -> Option<ScrollTarget> {
        self.selected.or_else(|| self.offered_finding(state?))
    }

    /// Returns whether the user selected a target.
    pub(super) fn is_chosen(&self, mark: ScrollTarget) -> bool {
        self.selected == Some(mark)
    }

    /// Clears what the user selected; returns whether there was anything.
    pub fn clear_selection(&mut self, state: Option<&RunState>) -> bool {
        let was_selected = self.selected.take().is_some();
        if was_selected {
            self.declined_at = state.map(|state| state.course.reviews().len());
        }
        was_selected
    }
}

fn finding_number(mark: ScrollTarget) -> Option<u32> {
    match mark {
        ScrollTarget::Finding(n) => Some(n),
        _ => None,
    }
}
