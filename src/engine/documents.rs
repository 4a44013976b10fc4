//! Owns what is on its way into a run's documents: the text that a turn returned, and a write that waits.
//!
//! `plan.md`, `comments.md` and the steps of `log.md` are written here only, and nothing that the user typed is lost.

mod document_collector;
mod document_commit;
mod document_conflict;
mod document_sanitizer;
mod document_threads;
mod document_writer;
mod pending_document;
mod recovered_draft;
mod review_checker;
mod step_log_entry;
mod step_records;
mod user_edits;
mod user_plan_copy;

use std::path::Path;

pub(super) use document_collector::find_commit_to_retry;
pub(super) use document_commit::{ProgramSections, WorkflowDocumentLock, too_large_message};
pub(super) use document_writer::DocumentWrite;
pub(super) use pending_document::PendingDocument;
pub(super) use recovered_draft::find_recovered_draft;
pub(super) use review_checker::{check_step_result, last_reviewed_plan};
pub(super) use user_edits::{
    comments_on_disk, detect_user_edits, plan_on_disk, try_detect_user_edits,
};
pub(super) use user_plan_copy::copy_user_plan;

use crate::domain::run::RunState;

use document_writer::{PostponedWrite, is_collected};

/// The documents of a run that are not on disk yet.
#[derive(Debug, Default)]
pub(super) struct RunDocuments {
    /// The document of a completed turn, until it is committed.
    pending: Option<PendingDocument>,
    /// The document of a turn that is committed; its staging folder stays until the event is recorded.
    committed: Option<PendingDocument>,
    /// A write that waits, and what is queued behind it.
    postponed: Option<PostponedWrite>,
    /// Whether this process resumed the run and has not recorded a step yet.
    is_resumed: bool,
    /// Whether the user has the plan open in an editor that this program started.
    is_plan_in_editor: bool,
}

impl RunDocuments {
    /// Notes that this process resumed the run: what it writes next may be on disk already.
    pub(super) fn on_run_resumed(&mut self) {
        self.is_resumed = true;
    }

    /// Notes that a step starts again: its entry in log.md is about the earlier try, so the next one is no duplicate.
    pub(super) fn on_step_restarted(&mut self) {
        self.is_resumed = false;
    }

    /// Returns whether this process resumed the run and has not recorded a step yet.
    pub(super) fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Notes whether the user has the plan open in an editor.
    pub(super) fn set_plan_in_editor(&mut self, is_open: bool) {
        self.is_plan_in_editor = is_open;
    }

    /// Keeps the document of a turn that has ended.
    pub(super) fn set_pending(&mut self, document: PendingDocument) {
        self.pending = Some(document);
    }

    /// Forgets a pending document without removing its staging folder, because another turn uses that folder now.
    pub(super) fn forget_pending_in(&mut self, staging_folder: &Path) {
        for kept in [&mut self.pending, &mut self.committed] {
            kept.take_if(|document| document.staging.dir == staging_folder);
        }
    }

    /// Removes the staging folder of a committed document once its event is recorded: until then the end of the program
    /// must not lose it.
    pub(super) fn clear_committed(&mut self, state: &RunState) {
        let recorded = |document: &mut PendingDocument| !is_collected(state, &document.order);
        if let Some(document) = self.committed.take_if(recorded) {
            document.clear_staging();
        }
    }

    /// Drops the pending document and removes its staging folder.
    pub(super) fn drop_pending(&mut self) {
        if let Some(pending) = self.pending.take() {
            pending.clear_staging();
        }
    }
}
