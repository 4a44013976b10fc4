//! A document that a completed turn returned, until it is committed.

use crate::domain::turn::{TurnOrder, TurnPurpose};
use crate::engine::staging_folder::{self, SubmittedDocuments, TurnStagingFolder};
use crate::engine::turn_calls::TurnCalls;
use crate::store::WorkdirNames;

use super::document_commit::{self, ReturnedDocuments, WholeMessageDocument};

/// The document of a completed turn, until it is committed.
#[derive(Debug, Clone)]
pub(in crate::engine) struct PendingDocument {
    pub(super) order: TurnOrder,
    pub(super) final_text: String,
    pub(super) staging: TurnStagingFolder,
    /// What the turn's calls show; empty where this process did not see them.
    pub(super) calls: TurnCalls,
    /// The merge of the user's text and the turn's text, which replaces the turn's text.
    pub(super) merged_text: Option<String>,
    /// How often writing it failed.
    pub(super) n_failed_writes: u8,
}

impl PendingDocument {
    /// Creates the document of a turn from its last message and its staging folder.
    pub(in crate::engine) fn new(
        order: TurnOrder,
        final_text: String,
        staging: TurnStagingFolder,
    ) -> Self {
        Self {
            order,
            final_text,
            staging,
            calls: TurnCalls::default(),
            merged_text: None,
            n_failed_writes: 0,
        }
    }

    /// Adds what the turn's calls show.
    pub(in crate::engine) fn with_calls(self, calls: TurnCalls) -> Self {
        Self { calls, ..self }
    }

    /// Returns the documents of the turn; if a document was merged with the user's text, the merge.
    pub(super) fn returned_documents(&self, names: &WorkdirNames) -> ReturnedDocuments {
        let (whole, merges_plan) = match self.order.purpose {
            TurnPurpose::WritePlan => (WholeMessageDocument::Plan, true),
            TurnPurpose::Review => (WholeMessageDocument::Review, false),
            _ => (WholeMessageDocument::Neither, true),
        };
        let mut returned = document_commit::extract_documents(
            &self.staging,
            &self.final_text,
            &names.plan,
            &names.comments,
            whole,
        );
        match (&self.merged_text, merges_plan) {
            (Some(merged), true) => returned.plan = Some(merged.clone()),
            (Some(merged), false) => returned.comments = Some(merged.clone()),
            (None, _) => {}
        }
        returned
    }

    /// Saves what the turn returned, so that it survives the end of the program.
    pub(super) fn save(&self, names: &WorkdirNames) {
        let returned = self.returned_documents(names);
        let saved = staging_folder::save_submission(
            &self.staging,
            &SubmittedDocuments {
                plan: returned.plan,
                comments: returned.comments,
            },
        );
        if let Err(error) = saved {
            tracing::warn!(%error, "the turn's document is in memory alone");
        }
    }

    /// Removes the turn's staging folder.
    pub(super) fn clear_staging(&self) {
        if let Err(error) = staging_folder::clear_staging(&self.staging) {
            tracing::warn!(%error, "the staging folder was left behind");
        }
    }
}
