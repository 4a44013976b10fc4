//! Performs the execution's effects: survey, branch, snapshots, audits, tests, commits, and the step records.
//!
//! Git and the tests take time, so they run outside the main loop and their results come back as events. All
//! decisions are made by the run.

mod baseline;
mod change_attribution;
mod edit_rules;
mod execution_checks;
mod log_entry;
mod repository_survey;
mod step_commits;
mod step_tree;
mod test_commands;
mod test_environment;
mod tree_audit;
mod undo_effects;

use crate::domain::event::Event;
use crate::store::{StoreError, document_files as documents_on_disk, utc_time};

use super::document_commit::WorkflowDocumentLock;
use super::git::GitError;
use super::{Engine, document_commit, failure_event};

pub(super) use execution_checks::ExecutionChecks;
pub(super) use log_entry::join_paths;
use log_entry::{format_step_entry, last_logged_step};
pub(super) use repository_survey::{enter_execution, survey_repository};
pub(super) use step_commits::commit_step;
pub(super) use step_tree::{restore_files, restore_step_tree, snapshot_before_turn};
pub(super) use test_commands::test_command_without_plan;
pub(super) use test_environment::{save_test_network, save_test_socket};
pub(super) use tree_audit::path_from_event_text;
pub(super) use undo_effects::{
    apply_planned_reversal, reversal_commit_repository, store_tree_before_undo,
};

impl Engine {
    /// Appends a step's entry to log.md, unless it was already written before a crash.
    fn append_step_log_entry(&self, step: u32, entry: &str) -> Result<(), StoreError> {
        let log = documents_on_disk::read_document(&self.run.journal.layout().log())?;
        let text = log.map(|log| String::from_utf8_lossy(&log.bytes).into_owned());
        if last_logged_step(&text.unwrap_or_default()) == Some(step) && self.resumed {
            Ok(())
        } else {
            self.run.journal.append_log_entry(entry)
        }
    }

    /// Writes the step's entry into log.md and ticks its box.
    pub(super) fn record_step(
        &mut self,
        step: u32,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Vec<Event> {
        let record = self
            .state()
            .execution
            .as_ref()
            .and_then(|execution| execution.done.iter().rfind(|record| record.n == step));
        let Some(record) = record else {
            return vec![failure_event("record the step", "its record is missing")];
        };
        let is_skipped = record.is_skipped();
        let entry = format_step_entry(record, &utc_time::to_rfc3339(self.run.journal.now()));
        if let Err(error) = self.append_step_log_entry(step, &entry) {
            return vec![failure_event("write the step log", error)];
        }
        self.resumed = false;
        let mut events = self.detect_user_edits();
        let now = self.run.journal.now();
        // The box of a skipped step stays open.
        let ticked: &[u32] = if is_skipped { &[] } else { &[step] };
        match pen.and_then(|pen| {
            document_commit::mark_steps(&pen, ticked, document_commit::StepMark::Ticked, now)
        }) {
            Ok(plan_file_sha256) => events.push(Event::StepRecorded {
                step,
                plan_file_sha256,
            }),
            Err(error) => events.push(failure_event("mark the step as done", error)),
        }
        events
    }
}

pub(super) fn git_error_with_hint(error: &GitError) -> String {
    format!("{error}\nhint: {}", error.hint())
}
