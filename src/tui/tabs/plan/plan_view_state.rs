//! How the plan is read: which of its lines is pointed at, and which earlier version it is compared with.
//!
//! Refuses to draw.

use crate::text::front_matter;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::text_comparison::ComparisonForm;

/// How the plan is read.
#[derive(Debug, Default)]
pub struct PlanViewState {
    /// The line that is pointed at, from 0, counted over the whole file.
    selected: Option<usize>,
    /// The earlier version that it is compared with, from 0.
    against: Option<usize>,
    /// How two versions are laid out.
    pub form: ComparisonForm,
    finished_fold: FinishedStepsFold,
}

/// How steps are shown that are finished while others are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FinishedStepsFold {
    /// In a row for several, where the plan is longer than its window.
    #[default]
    Folded,
    /// As they are.
    Open,
}

impl PlanViewState {
    /// The line that is pointed at, from 0.
    pub fn selected_line(&self) -> Option<usize> {
        self.selected
    }

    /// Points at a line, from 0.
    pub fn select_line(&mut self, line: usize) {
        self.selected = Some(line);
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn clear_selection(&mut self) -> bool {
        self.selected.take().is_some()
    }

    /// Tells whether one row stands for several finished steps where there is no room for all.
    pub fn is_folded(&self) -> bool {
        self.finished_fold == FinishedStepsFold::Folded
    }

    /// Shows each finished step.
    pub fn unfold(&mut self) {
        self.finished_fold = FinishedStepsFold::Open;
    }

    /// Lets one row stand for several finished steps again; tells whether they were shown.
    pub fn fold(&mut self) -> bool {
        std::mem::take(&mut self.finished_fold) == FinishedStepsFold::Open
    }

    /// Points at the next line that says something and is no `hidden` one, or the one before; gives it.
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

    /// The earlier version that the plan is compared with, from 0.
    pub fn compared_version(&self) -> Option<usize> {
        self.against
    }

    /// Tells whether two versions stand beside each other, which takes all the room there is.
    pub fn is_side_by_side(&self) -> bool {
        self.against.is_some() && self.form == ComparisonForm::SideBySide
    }

    /// Compares with the last earlier version, or with none any more; tells whether there is one.
    pub fn toggle_comparison(&mut self, texts: &DisplayDocuments) -> bool {
        self.against = match self.against {
            Some(_) => None,
            None => texts.plan_versions.len().checked_sub(1),
        };
        self.selected = None;
        !texts.plan_versions.is_empty()
    }

    /// Compares with no version any more; tells whether it did.
    pub fn close_comparison(&mut self) -> bool {
        self.against.take().is_some()
    }

    /// Points at the next one of these lines, which are given in order, or the one before; gives it.
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

    /// Compares with another version: the next one, or the one before.
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

/// The first line of a plan's text behind what the program writes before it, from 0.
pub fn first_body_line(text: &str) -> usize {
    let body = front_matter::parse_document(text)
        .body
        .trim_start_matches('\n');
    text.lines().count().saturating_sub(body.lines().count())
}
