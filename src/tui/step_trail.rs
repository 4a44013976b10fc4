//! The stages of the current step in a row: those behind it, the one it has reached, those to come.

use ratatui::style::Style;

use super::theme;
use crate::domain::plan_execution::StepStage;
use crate::domain::run::RunState;
use crate::domain::turn::Role;

/// The current step, and the stage that it has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTrail {
    pub step: u32,
    pub stage: StepStage,
    /// Whether the run proves its steps, so that there is a stage for it.
    pub proves_steps: bool,
}

impl StepTrail {
    /// Returns that of a run's current step; `None` while no step is being executed.
    pub fn of_run(state: &RunState) -> Option<Self> {
        let current = state.execution.as_ref()?.current.as_ref()?;
        Some(Self {
            step: current.n,
            stage: current.stage,
            proves_steps: state.settings.proves_steps,
        })
    }

    /// Returns all stages: `✓ agent › ✓ check › ● tests › commit › record`.
    pub fn spans(self) -> Vec<(String, Style)> {
        let reached = stage_index(self.stage);
        let mut spans = Vec::new();
        let stages = STAGE_NAMES.into_iter().enumerate();
        for (at, name) in stages.filter(|(at, _)| self.proves_steps || *at != PROOF_INDEX) {
            if !spans.is_empty() {
                spans.push((" › ".to_owned(), theme::QUIET));
            }
            spans.push(if at < reached {
                (format!("✓ {name}"), theme::QUIET)
            } else if at == reached {
                self.current_span()
            } else {
                (name.to_owned(), theme::QUIET)
            });
        }
        spans
    }

    /// Returns the stage that the step has reached: `● tests`.
    pub fn current_span(self) -> (String, Style) {
        let name = match self.stage {
            StepStage::Fix => "agent fixes",
            stage => STAGE_NAMES
                .get(stage_index(stage))
                .copied()
                .unwrap_or_default(),
        };
        (format!("● {name}"), theme::role_style(Role::Planner))
    }
}

const STAGE_NAMES: [&str; 6] = ["agent", "check", "tests", "proof", "commit", "record"];
const PROOF_INDEX: usize = 3;

fn stage_index(stage: StepStage) -> usize {
    match stage {
        StepStage::Code | StepStage::Fix => 0,
        StepStage::Audit => 1,
        StepStage::Test => 2,
        StepStage::Prove => PROOF_INDEX,
        StepStage::Commit => 4,
        StepStage::Record => 5,
    }
}
