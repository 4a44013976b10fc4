//! Defines what a run is and how its state changes: pure state, events in, effects out.
//!
//! Uses no clock, file, process, channel or terminal. Instants, ids and hashes arrive with events.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod ids;
pub mod phase;
pub mod task_patch;
pub mod turn;

pub mod findings;
pub mod path_glob;
pub mod plan;
pub mod plan_change;
pub mod receipt;
pub mod review;

pub mod adapter_kind;
pub mod bound_parts;
pub mod child_activity;
pub mod child_path;
pub mod commit_subject;
pub mod deferred_answer;
pub mod discussion;
pub mod instructions_choice;
pub mod own_tool;
pub mod plan_execution;
pub mod proof_progress;
pub mod question;
pub mod receipt_chain;
pub mod recorded_proof;
pub mod rust_test_items;
pub mod session;
pub mod step_calls;
pub mod step_proof;
pub mod step_result;
pub mod step_scope;
pub mod submission;
pub mod task;
pub mod test_command;
pub mod test_paths;
pub mod test_report;
pub mod todo_list;
pub mod tool_availability;

pub mod diff_scope;
pub mod effect;
pub mod event;
pub mod event_wording;
pub mod export_format;
pub mod missing_part;
pub mod mutants;
pub mod plan_thread;
pub mod reversal_plan;
pub mod run;
pub mod run_timeline;
pub mod text_delta;
pub mod user_plan;

/// Returns whether a field has the value that it has where it is left out of a file.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
