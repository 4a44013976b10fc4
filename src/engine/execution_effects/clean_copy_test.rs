//! Tests a step in a clean copy of its commit. The working tree is stored and stays as it is.

use tokio_util::sync::CancellationToken;

use crate::domain::event::Event;
use crate::engine::git::{GitRepository, TreeId};
use crate::engine::proof_cells::StepProver;
use crate::engine::test_runner::TestRunError;

use super::tree_audit::{StepAuditInputs, find_entry_points};

/// A step that is to be tested.
pub(super) struct CleanCopyTest<'a> {
    pub(super) git: &'a GitRepository,
    pub(super) step: u32,
    /// The working tree before the step.
    pub(super) before: &'a TreeId,
    pub(super) prover: &'a StepProver,
    /// The paths that the step's commit will contain.
    pub(super) paths: &'a [String],
    /// Everything that the step changed.
    pub(super) changed: Vec<String>,
}

impl CleanCopyTest<'_> {
    /// Runs the tests.
    ///
    /// # Errors
    /// The run is being stopped, or git or the disk fails.
    pub(super) async fn run_tests(
        self,
        cancel: &CancellationToken,
        inputs: &StepAuditInputs,
    ) -> Result<Event, TestRunError> {
        let work_tree = self.git.work_tree();
        let name = format!("step-{}-after", self.step);
        let now = work_tree.current_tree().await?;
        let changes = self.git.trees().changes_between(self.before, &now).await?;
        let span = self.prover.step_span(self.before.clone(), &now, self.paths);
        let span = span.await?;
        let initial_code = inputs.initial_unversioned_code.as_ref();
        let command = inputs.command.as_ref();
        // The tests reach nothing but their copy, so what is outside of it can be looked at meanwhile.
        let beside = async {
            // The snapshot is stored: it is what the step shows and where its undo starts.
            work_tree.store_snapshot(&name, now.clone()).await?;
            find_entry_points(self.git, command, self.before, &now, initial_code).await
        };
        let green = self.prover.run_green(&span, self.paths, beside, cancel);
        let (receipt, entry_points) = green.await?;
        let entry_points = entry_points?;
        Ok(Event::TestsRan {
            step: self.step,
            receipt,
            // What changed while the tests ran is not in the copy, so it is not the step's.
            changed: self.changed,
            held: inputs.edit_rules.find_held_edits(&changes),
            made_by_tests: Vec::new(),
            entry_points,
            rewritten: Vec::new(),
            tree: Some(now.0),
        })
    }
}
