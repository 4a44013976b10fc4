//! The stages of the current step in a row: those behind it, the one it has reached, those to come.

use std::cmp::Ordering;

use ratatui::style::Style;

use super::labels::format_elapsed;
use super::proof_board::ProofBoard;
use super::theme;
use crate::domain::child_path::ChildPath;
use crate::domain::event::Approval;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepStage;
use crate::domain::question::{CommitTarget, QuestionKind};
use crate::domain::run::RunState;

/// The current step, and the stage that it has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTrail {
    pub step: u32,
    pub stage: StepStage,
    /// The first step after it that has not ended.
    pub next_step: Option<u32>,
    /// How many more there are after that.
    pub n_later: usize,
    /// Whether the run proves its steps, so that there is a stage for it.
    proves_steps: bool,
    /// Whether the run commits its steps.
    commits_steps: bool,
    /// Whether the user is asked before it continues.
    waits_for_user: bool,
    /// How long its tests have run, in seconds; `None` while they do not run.
    test_seconds: Option<i64>,
}

/// Returns whether the step waits for the user; for a usage limit it waits by itself.
fn waits_for_user(state: &RunState) -> bool {
    let question = state.current_question().map(|question| &question.kind);
    let is_answered_by_user =
        question.is_some_and(|kind| !matches!(kind, QuestionKind::UsageLimit { .. }));
    // A task of the user's belongs to no step.
    let is_of_step = |call: &Approval| !call.child.as_ref().is_some_and(ChildPath::is_users);
    is_answered_by_user || state.approvals.iter().any(is_of_step)
}

impl StepTrail {
    /// Returns that of a run's current step; `None` while no step is being executed.
    pub fn of_run(state: &RunState) -> Option<Self> {
        let execution = state.execution.as_ref();
        let execution = execution.filter(|_| state.phase == Phase::Execute)?;
        let current = execution.current.as_ref()?;
        let steps = state.plan.iter().flat_map(|file| &file.plan.steps);
        let has_ended = |n: u32| execution.done.iter().any(|record| record.n == n);
        let mut later = steps.filter(|step| step.n > current.n && !has_ended(step.n));
        Some(Self {
            step: current.n,
            stage: current.stage,
            next_step: later.next().map(|step| step.n),
            n_later: later.count(),
            proves_steps: state.settings.proves_steps,
            commits_steps: !matches!(execution.commits, CommitTarget::Off { .. }),
            waits_for_user: waits_for_user(state),
            test_seconds: None,
        })
    }

    /// Returns that of a run's current step, with the time that its tests have run.
    pub fn with_clock(state: &RunState, board: &ProofBoard, now: UnixMillis) -> Option<Self> {
        let since = board.tests_since(state);
        let trail = Self::of_run(state)?;
        Some(Self {
            test_seconds: since.map(|since| now.0.saturating_sub(since.0).max(0) / 1_000),
            ..trail
        })
    }

    /// Returns all stages: `agent › check › ● tests › commit › record`. Those behind it have no tick: tests may have been
    /// accepted although they fail.
    pub fn spans(self) -> Vec<(String, Style)> {
        let reached = stage_index(self.stage);
        let mut spans = Vec::new();
        let stages = STAGE_NAMES.into_iter().enumerate();
        for (at, name) in stages.filter(|(at, _)| self.has_stage(*at)) {
            if !spans.is_empty() {
                spans.push((" › ".to_owned(), theme::QUIET));
            }
            spans.push(match at.cmp(&reached) {
                Ordering::Less => (name.to_owned(), theme::PLAIN),
                Ordering::Equal => self.current_span(),
                Ordering::Greater => (name.to_owned(), theme::QUIET),
            });
        }
        spans
    }

    fn has_stage(self, at: usize) -> bool {
        match at {
            PROOF_INDEX => self.proves_steps,
            COMMIT_INDEX => self.commits_steps,
            _ => true,
        }
    }

    /// Returns the stage that the step has reached: `● tests 0:04`; or that it waits for the user.
    pub fn current_span(self) -> (String, Style) {
        if self.waits_for_user {
            return ("● waiting for you".to_owned(), theme::NEEDS_YOU);
        }
        let name = match self.stage {
            StepStage::Fix => "agent fixes",
            stage => STAGE_NAMES
                .get(stage_index(stage))
                .copied()
                .unwrap_or_default(),
        };
        let time = self.test_seconds.map(|seconds| {
            let took = format_elapsed(UnixMillis(0), UnixMillis(seconds * 1_000));
            format!(" {took}")
        });
        let time = time.unwrap_or_default();
        (format!("● {name}{time}"), theme::RUNNING)
    }
}

const STAGE_NAMES: [&str; 6] = ["agent", "check", "tests", "proof", "commit", "record"];
const PROOF_INDEX: usize = 3;
const COMMIT_INDEX: usize = 4;

fn stage_index(stage: StepStage) -> usize {
    match stage {
        StepStage::Code | StepStage::Fix => 0,
        StepStage::Audit => 1,
        StepStage::Test => 2,
        StepStage::Prove => PROOF_INDEX,
        StepStage::Commit => COMMIT_INDEX,
        StepStage::Record => 5,
    }
}
