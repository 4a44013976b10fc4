//! How the plan is read: which of its lines is pointed at, and which earlier version it is compared with.
//!
//! Refuses to draw.

use crate::text::front_matter;
use crate::tui::compare::Form;
use crate::tui::documents::Texts;

/// How the plan is read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The line that is pointed at, from 0, counted over the whole file.
    picked: Option<usize>,
    /// The earlier version that it is compared with, from 0.
    against: Option<usize>,
    /// How two versions are laid out.
    pub form: Form,
    finished: Finished,
}

/// How steps are shown that are finished while others are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Finished {
    /// In a row for several, where the plan is longer than its window.
    #[default]
    Folded,
    /// As they are.
    Open,
}

impl Reading {
    /// The line that is pointed at, from 0.
    pub fn picked(&self) -> Option<usize> {
        self.picked
    }

    /// Points at a line, from 0.
    pub fn point_at(&mut self, line: usize) {
        self.picked = Some(line);
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn pick_nothing(&mut self) -> bool {
        self.picked.take().is_some()
    }

    /// Tells whether one row stands for several finished steps where there is no room for all.
    pub fn folds(&self) -> bool {
        self.finished == Finished::Folded
    }

    /// Shows each finished step.
    pub fn unfold(&mut self) {
        self.finished = Finished::Open;
    }

    /// Lets one row stand for several finished steps again; tells whether they were shown.
    pub fn fold(&mut self) -> bool {
        std::mem::take(&mut self.finished) == Finished::Open
    }

    /// Points at the next line that says something and is no `hidden` one, or the one before; gives it.
    pub fn go(
        &mut self,
        is_next: bool,
        text: &str,
        hidden: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let n_before = first_line(text);
        let says =
            |(at, line): &(usize, &str)| *at >= n_before && !line.trim().is_empty() && !hidden(*at);
        let lines = text.lines().enumerate().filter(says).map(|(at, _)| at);
        let next = match (self.picked, is_next) {
            (None, true) => lines.into_iter().next(),
            (None, false) => lines.last(),
            (Some(picked), true) => lines.into_iter().find(|at| *at > picked),
            (Some(picked), false) => lines.take_while(|at| *at < picked).last(),
        };
        self.picked = next.or(self.picked);
        self.picked
    }

    /// The earlier version that the plan is compared with, from 0.
    pub fn against(&self) -> Option<usize> {
        self.against
    }

    /// Tells whether two versions stand beside each other, which takes all the room there is.
    pub fn is_beside(&self) -> bool {
        self.against.is_some() && self.form == Form::Sides
    }

    /// Compares with the last earlier version, or with none any more; tells whether there is one.
    pub fn turn(&mut self, texts: &Texts) -> bool {
        self.against = match self.against {
            Some(_) => None,
            None => texts.earlier.len().checked_sub(1),
        };
        self.picked = None;
        !texts.earlier.is_empty()
    }

    /// Compares with no version any more; tells whether it did.
    pub fn end_comparing(&mut self) -> bool {
        self.against.take().is_some()
    }

    /// Points at the next one of these lines, which are given in order, or the one before; gives it.
    pub fn go_among(&mut self, is_next: bool, lines: &[usize]) -> Option<usize> {
        let next = match (self.picked, is_next) {
            (None, true) => lines.first(),
            (None, false) => lines.last(),
            (Some(picked), true) => lines.iter().find(|at| **at > picked),
            (Some(picked), false) => lines.iter().rfind(|at| **at < picked),
        };
        self.picked = next.copied().or(self.picked);
        self.picked
    }

    /// Compares with another version: the next one, or the one before.
    pub fn choose(&mut self, is_next: bool, texts: &Texts) {
        let last = texts.earlier.len().saturating_sub(1);
        self.against = self.against.map(|at| match is_next {
            true => (at + 1).min(last),
            false => at.saturating_sub(1),
        });
    }
}

/// The first line of a plan's text behind what the program writes before it, from 0.
pub fn first_line(text: &str) -> usize {
    let body = front_matter::parse_document(text)
        .body
        .trim_start_matches('\n');
    text.lines().count().saturating_sub(body.lines().count())
}
