//! What went wrong, as events: what the run waits for and cannot go on without, and what it goes on after.
//!
//! Refuses to decide which of the two something is: whoever tried it knows who waits for it.

use std::collections::BTreeSet;
use std::fmt::Display;

use crate::domain::event::Event;
use crate::store::StoreError;

use super::{Engine, EngineError, agent_activity};

/// What is tried after a commit that leaves the user's index as it was.
pub(super) const REFRESH_INDEX: &str = "tell your index of a commit";

/// What is looked at when the hooks of a commit have run.
pub(super) const AUDIT_AFTER_HOOKS: &str = "vouch for the hooks of the commit";

/// Troubles that were told already, so that each is told once in this program.
#[derive(Debug, Default)]
pub(super) struct ReportedWarnings(BTreeSet<(String, String)>);

/// An event that tells of an effect that could not be performed; the run ends by it here.
pub(super) fn failure_event(what: &str, error: impl Display) -> Event {
    Event::EffectFailed {
        what: what.to_owned(),
        message: agent_activity::clean_block(&error.to_string()),
    }
}

/// An event that tells of something that could not be done and that nothing waits for; the run goes on.
pub(super) fn warning_event(what: &str, error: impl Display) -> Event {
    Event::WarningRaised {
        what: what.to_owned(),
        message: agent_activity::clean_block(&error.to_string()),
    }
}

/// What the disk said, and what to do about it.
pub fn error_with_hint(error: &StoreError) -> String {
    format!("{error}; {}", error.hint())
}

impl Engine {
    /// Tells of something that nothing waits for, once.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn warn_once(&mut self, what: &str, error: impl Display) -> Result<(), EngineError> {
        let error = error.to_string();
        if self.warnings.0.insert((what.to_owned(), error.clone())) {
            self.apply_event(warning_event(what, error))
        } else {
            Ok(())
        }
    }
}
