//! The test runs of the step that is being proven: which one runs, since when, and how the others ended.
//!
//! It is never part of the run's state, so a screen that only follows a run has none.

use ratatui::style::Style;

use super::labels::format_elapsed;
use super::theme;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::StepStage;
use crate::domain::proof_progress::{ProofProgress, ProofRun, ProofRunEnd};
use crate::domain::run::RunState;

/// The runs of one try at one step.
#[derive(Debug, Default)]
pub struct ProofBoard {
    /// 0 before the first step.
    step: u32,
    ended: Vec<(ProofRun, ProofRunEnd)>,
    running: Option<(ProofRun, UnixMillis)>,
    /// When the step's changes were checked last, or the user answered a question: its tests run from then on.
    checked_at: Option<UnixMillis>,
}

impl ProofBoard {
    /// Applies the start or the end of a run.
    pub fn on_progress(&mut self, at: UnixMillis, progress: &ProofProgress) {
        if self.step != progress.step {
            *self = Self {
                step: progress.step,
                checked_at: self.checked_at,
                ..Self::default()
            };
        }
        self.ended.retain(|(run, _)| *run != progress.run);
        match progress.end {
            Some(end) => {
                self.running = None;
                self.ended.push((progress.run, end));
            }
            None => self.running = Some((progress.run, at)),
        }
    }

    /// Forgets the runs when the step is tried again.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        match event {
            Event::StepAudited(_) => {
                *self = Self {
                    checked_at: Some(at),
                    ..Self::default()
                }
            }
            Event::RunCreated(_) => *self = Self::default(),
            Event::QuestionAnswered { .. } => self.checked_at = Some(at),
            _ => {}
        }
    }

    /// Returns since when the tests of the current step run in the working tree; `None` while they do not.
    pub fn tests_since(&self, state: &RunState) -> Option<UnixMillis> {
        let stage = state.current_step().map(|step| step.stage);
        let is_testing = state.is_testing_step() && stage == Some(StepStage::Test);
        self.checked_at.filter(|_| is_testing)
    }

    /// Returns what runs for a step, and since when.
    pub fn running(&self, step: u32) -> Option<(ProofRun, UnixMillis)> {
        self.running.filter(|_| self.step == step)
    }

    /// Lists the runs of a step in order, each with its style; the last one may be running.
    pub fn runs(&self, step: u32, now: UnixMillis) -> Vec<(String, Style)> {
        if self.step != step {
            return Vec::new();
        }
        let ended = self.ended.iter().map(|(run, end)| {
            let style = if end.is_good { theme::GOOD } else { theme::BAD };
            (format!("{} {}", run.describe(), end.describe()), style)
        });
        let running = self.running(step).map(|(run, since)| {
            let took = format_elapsed(since, now);
            (format!("{}  {took}", run.describe()), theme::RUNNING)
        });
        ended.chain(running).collect()
    }
}
