//! Performs the execution's effects: survey, branch, snapshots, audits, tests, commits and reversals.
//!
//! Git and the tests take time, so they run outside the main loop and their results come back as events. All
//! decisions are made by the run.

mod approval_check;
mod baseline;
mod change_attribution;
mod clean_copy_test;
mod edit_rules;
mod execution_checks;
mod repository_survey;
mod step_commits;
mod step_tree;
mod test_commands;
mod test_environment;
mod tree_audit;
mod undo_effects;

use super::git::GitError;

pub(super) use approval_check::check_approval;
pub(super) use execution_checks::ExecutionChecks;
pub(super) use repository_survey::{enter_execution, survey_repository};
pub(super) use step_commits::commit_step;
pub(super) use step_tree::{restore_files, restore_step_tree, snapshot_before_turn};
pub(super) use test_commands::{own_test_command, test_command_without_plan};
pub(super) use test_environment::{save_test_network, save_test_socket, unsandboxed_settings};
pub(super) use tree_audit::{path_from_event_text, path_to_event_text};
pub(super) use undo_effects::{
    apply_planned_reversal, reversal_commit_repository, store_tree_before_undo,
};

pub(super) fn git_error_with_hint(error: &GitError) -> String {
    format!("{error}\nhint: {}", error.hint())
}
