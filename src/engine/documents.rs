//! Commits what turns return to the run's documents, and keeps what the user typed in them.

mod document_collector;
pub mod document_commit;
mod document_conflict;
pub(super) mod document_writer;
mod recovered_draft;
pub(super) mod step_log_entry;
