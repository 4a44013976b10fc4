//! Reads what a document says in the threads about the plan, and where their lines are in a new version of it.

use crate::domain::event::Event;
use crate::domain::plan_thread::{PlanThreads, ThreadAuthor, ThreadChanges};
use crate::domain::review;
use crate::engine::run_context::RunContext;
use crate::store::StoreError;
use crate::text::clean_text;

use super::plan_on_disk;

/// The threads as they are with a document that is being committed.
pub(super) struct DocumentThreads {
    pub threads: PlanThreads,
    changes: ThreadChanges,
    version: u32,
}

impl DocumentThreads {
    /// Starts with the threads of the run, and with what the user's edits changed that are in `events`.
    pub fn new(run: &RunContext, events: &[Event]) -> Self {
        let mut threads = run.state().threads.clone();
        let version = run.state().findings.plan_version();
        for event in events {
            if let Event::ThreadsChanged(changes) = event {
                threads.apply(changes, version);
            }
        }
        Self {
            threads,
            changes: ThreadChanges::default(),
            version,
        }
    }

    /// Adds what a text says in its section of threads; returns the text without that section.
    ///
    /// # Errors
    /// The plan cannot be read.
    pub fn take_messages(
        &mut self,
        run: &RunContext,
        text: &str,
        by: ThreadAuthor,
    ) -> Result<String, StoreError> {
        let (rest, section) = review::split_threads(text);
        if section.is_empty() {
            return Ok(rest);
        }
        let plan = plan_on_disk(run)?.unwrap_or_default();
        let mut said = review::parse_thread_entries(&section, &self.threads, &plan, by);
        for entry in &mut said {
            entry.text = clean_text(&entry.text);
            entry.version = self.version;
        }
        self.apply(ThreadChanges {
            said,
            ..ThreadChanges::default()
        });
        Ok(rest)
    }

    /// Returns whether the document says something.
    pub fn has_messages(&self) -> bool {
        !self.changes.said.is_empty()
    }

    /// Follows the lines into the plan that is on disk now.
    ///
    /// # Errors
    /// The plan cannot be read.
    pub fn follow_plan(&mut self, run: &RunContext) -> Result<(), StoreError> {
        let plan = plan_on_disk(run)?.unwrap_or_default();
        self.follow(&plan);
        Ok(())
    }

    /// Follows the lines into this text of the plan.
    pub fn follow(&mut self, plan: &str) {
        let moved = self.threads.find_moves(plan);
        self.apply(ThreadChanges {
            moved,
            ..ThreadChanges::default()
        });
    }

    fn apply(&mut self, changes: ThreadChanges) {
        self.threads.apply(&changes, self.version);
        self.changes.said.extend(changes.said);
        self.changes.moved.extend(changes.moved);
    }

    /// Returns the event that records the changes; `None` where there are none.
    pub fn into_event(self) -> Option<Event> {
        let is_empty = self.changes.is_empty();
        (!is_empty).then_some(Event::ThreadsChanged(self.changes))
    }
}
