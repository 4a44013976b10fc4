//! The shell around a run: start-up, the loop, signals, the end.
//!
//! The only place, with `cli`, that knows all the others; nobody knows it.

mod agents;
mod alone;
pub mod answers;
pub mod changes;
pub mod diagnosing;
pub mod discussions;
pub mod export;
pub mod frugal;
mod given;
pub mod headless;
pub mod history;
pub mod log_sinks;
pub mod looks;
pub mod report;
pub mod screen;
pub mod sent;
pub mod sessions;
pub mod socket;
pub mod start;
pub mod tasks;
pub mod terminal;
pub mod unread;
mod zone;
