//! What a run is and how it moves: pure state, events in, effects out.
//!
//! Knows no clock, file, process, channel or terminal. Instants, ids and hashes come in with events.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod ids;
pub mod patch;
pub mod phase;
pub mod turn;

pub mod findings;
pub mod plan;
pub mod receipt;
pub mod review;

pub mod discussion;
pub mod execution;
pub mod instructions;
pub mod late;
pub mod question;
pub mod session;
pub mod step_calls;
pub mod submission;
pub mod task;
pub mod test_command;
pub mod todo;
pub mod tool;

pub mod asked_back;
pub mod changes;
pub mod course;
pub mod delta;
pub mod effect;
pub mod event;
pub mod note;
pub mod page;
pub mod run;
pub mod undo;
