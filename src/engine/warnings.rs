//! Builds the events for failures, after which the run cannot continue, and for warnings, after which it does.
//!
//! Which of the two applies is decided by the code that tried the operation.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::domain::event::Event;
use crate::store::StoreError;

use super::agent_activity;

/// The refresh of the user's index after a commit; if it fails, the index stays as it was.
pub(super) const REFRESH_INDEX: &str = "refresh the git index after the commit";

/// The check after the hooks of a commit have run.
pub(super) const AUDIT_AFTER_HOOKS: &str = "verify the hooks of the commit";

/// Warnings that were already reported, so that each is reported once per process.
#[derive(Debug, Default)]
pub(super) struct ReportedWarnings(BTreeSet<(String, String)>);

/// Returns an event for an effect that failed; the run stops here because of it.
pub(super) fn failure_event(what: &str, error: impl Display) -> Event {
    Event::EffectFailed {
        what: what.to_owned(),
        message: agent_activity::clean_block(&error.to_string()),
    }
}

/// Returns an event for a failed operation that nothing waits for; the run continues.
pub fn warning_event(what: &str, error: impl Display) -> Event {
    Event::WarningRaised {
        what: what.to_owned(),
        message: agent_activity::clean_block(&error.to_string()),
    }
}

/// Formats a store error with the hint what to do about it.
pub fn error_with_hint(error: &StoreError) -> String {
    format!("{error}; {}", error.hint())
}

impl ReportedWarnings {
    /// Notes a warning; returns whether it is new.
    pub(super) fn insert(&mut self, what: &str, error: &str) -> bool {
        self.0.insert((what.to_owned(), error.to_owned()))
    }
}
