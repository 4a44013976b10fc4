//! View state of the Plan tab: the selected line, and the earlier version that the plan is compared with.

use crate::text::front_matter;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::text_comparison::{ComparisonForm, changed_lines};

/// View state of the Plan tab.
#[derive(Debug, Default)]
pub struct PlanViewState {
    /// The selected line, from 0, counted over the whole file.
    selected: Option<usize>,
    /// The index of the earlier version to compare with.
    against: Option<usize>,
    /// The layout of the comparison.
    pub form: ComparisonForm,
    finished_fold: FinishedStepsFold,
}

/// How finished steps are shown while others are still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FinishedStepsFold {
    /// Several in one row, if the plan is longer than its window.
    #[default]
    Folded,
    Open,
}

impl PlanViewState {
    /// Returns the selected line, from 0.
    pub fn selected_line(&self) -> Option<usize> {
        self.selected
    }

    /// Selects a line, from 0.
    pub fn select_line(&mut self, line: usize) {
        self.selected = Some(line);
    }

    /// Clears the selection; returns whether there was one.
    pub fn clear_selection(&mut self) -> bool {
        self.selected.take().is_some()
    }

    /// Returns whether several finished steps may share one row where there is no room for all.
    pub fn is_folded(&self) -> bool {
        self.finished_fold == FinishedStepsFold::Folded
    }

    /// Shows each finished step.
    pub fn unfold(&mut self) {
        self.finished_fold = FinishedStepsFold::Open;
    }

    /// Folds finished steps again; returns whether they were shown.
    pub fn fold(&mut self) -> bool {
        std::mem::take(&mut self.finished_fold) == FinishedStepsFold::Open
    }

    /// Selects the next or the previous line that is neither blank nor `hidden`, and returns it.
    pub fn move_selection(
        &mut self,
        is_next: bool,
        text: &str,
        hidden: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let n_before = first_body_line(text);
        let says =
            |(at, line): &(usize, &str)| *at >= n_before && !line.trim().is_empty() && !hidden(*at);
        let lines = text.lines().enumerate().filter(says).map(|(at, _)| at);
        let next = match (self.selected, is_next) {
            (None, true) => lines.into_iter().next(),
            (None, false) => lines.last(),
            (Some(picked), true) => lines.into_iter().find(|at| *at > picked),
            (Some(picked), false) => lines.take_while(|at| *at < picked).last(),
        };
        self.selected = next.or(self.selected);
        self.selected
    }

    /// Returns the index of the earlier version that the plan is compared with.
    pub fn compared_version(&self) -> Option<usize> {
        self.against
    }

    /// Returns whether two versions are side by side, which takes the whole width.
    pub fn is_side_by_side(&self) -> bool {
        self.against.is_some() && self.form == ComparisonForm::SideBySide
    }

    /// Starts a comparison with the latest earlier version, or ends it; returns whether one is shown.
    pub fn toggle_comparison(&mut self, texts: &DisplayDocuments) -> bool {
        self.against = match self.against {
            Some(_) => None,
            None => texts.plan_versions.len().checked_sub(1),
        };
        self.selected = None;
        !texts.plan_versions.is_empty()
    }

    /// Compares with the version that a review was about, or with the first one for 0; returns false where that is the plan
    /// as it is now.
    pub fn compare_with_review(&mut self, review: u32, texts: &DisplayDocuments) -> bool {
        let mut versions = texts.plan_versions.iter();
        let of_review = versions.rposition(|version| version.review <= review);
        let first = texts.plan_versions.first().filter(|_| review == 0);
        self.against = of_review.or(first.map(|_| 0));
        self.selected = None;
        self.against.is_some()
    }

    /// Returns the line of the plan, from 0, at which it differs from the compared version: the one nearest to `line`, else
    /// the first.
    pub fn nearest_change(&self, line: Option<usize>, texts: &DisplayDocuments) -> Option<usize> {
        let earlier = texts.plan_versions.get(self.against?)?;
        let text = texts.plan.text.as_deref()?;
        let n_front = first_body_line(text);
        let now: Vec<&str> = text.lines().skip(n_front).collect();
        let changed = changed_lines(&earlier.text, &now.join("\n"));
        let changed = changed.into_iter().map(|at| at + n_front);
        changed.min_by_key(|at| line.map_or(0, |line| at.abs_diff(line)))
    }

    /// Ends the comparison; returns whether there was one.
    pub fn close_comparison(&mut self) -> bool {
        self.against.take().is_some()
    }

    /// Selects the next or the previous one of `lines`, which are sorted, and returns it.
    pub fn move_selection_among(&mut self, is_next: bool, lines: &[usize]) -> Option<usize> {
        let next = match (self.selected, is_next) {
            (None, true) => lines.first(),
            (None, false) => lines.last(),
            (Some(picked), true) => lines.iter().find(|at| **at > picked),
            (Some(picked), false) => lines.iter().rfind(|at| **at < picked),
        };
        self.selected = next.copied().or(self.selected);
        self.selected
    }

    /// Switches the comparison to the next or the previous version.
    pub fn choose_version(&mut self, is_next: bool, texts: &DisplayDocuments) {
        let last = texts.plan_versions.len().saturating_sub(1);
        self.against = self.against.map(|at| {
            if is_next {
                (at + 1).min(last)
            } else {
                at.saturating_sub(1)
            }
        });
    }
}

/// Returns the first line of the plan's body, after the front matter, from 0.
pub fn first_body_line(text: &str) -> usize {
    let body = front_matter::parse_document(text)
        .body
        .trim_start_matches('\n');
    text.lines().count().saturating_sub(body.lines().count())
}
