//! Builds example run parameters for tests; each test changes what matters to it.

use super::{RunParameters, WorkflowSettings};
use crate::domain::ids::{RunId, SessionId};
use crate::domain::phase::{Gate, Mode};
use crate::domain::run::RUN_SCHEMA;

impl RunParameters {
    /// Returns a run in the manual gate with a planner and a reviewer.
    pub fn example() -> Self {
        Self {
            schema: RUN_SCHEMA,
            run: RunId::new("run_1"),
            gate: Gate::Manual,
            mode: Mode::Default,
            settings: WorkflowSettings {
                max_iterations: 3,
                stall_limit: 2,
                auto_approve: false,
                max_fix_turns: 1,
                baseline: false,
                proves_steps: false,
                proves_by_step_tests: false,
                binds_versions: false,
            },
            planner: (SessionId::new("ses_a"), "codex".to_owned()),
            reviewer: Some((SessionId::new("ses_b"), "claude".to_owned())),
        }
    }
}
