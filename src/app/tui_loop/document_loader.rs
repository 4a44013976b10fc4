//! Loads the documents from disk in the background.
//!
//! Does not decide who wrote them: the engine compares hashes.

use crate::domain::run::RunState;
use crate::store::document_files::{DocumentContent, read_document};
use crate::store::iteration_files::{self, DocumentVersion};
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{DocumentRevision, RunDocumentFiles};

/// Maximum number of earlier versions of a document to load.
const MAX_EARLIER_VERSIONS: usize = 40;

/// The documents on disk at one moment.
#[derive(Debug, Default)]
pub struct DocumentSnapshot {
    plan: Option<DocumentContent>,
    comments: Option<DocumentContent>,
    log: Option<DocumentContent>,
    earlier: Vec<DocumentVersion>,
    reviews: Vec<DocumentVersion>,
}

/// The documents on disk, compared with the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentState {
    /// As the run wrote or saw them.
    Unchanged,
    /// Someone else changed them.
    Edited,
    /// One is missing; an editor may be about to rename its new file.
    Missing,
}

/// Loads all documents. Blocks.
///
/// # Errors
/// A file exists but cannot be read.
pub fn load_documents(layout: &WorkdirLayout) -> Result<DocumentSnapshot, StoreError> {
    Ok(DocumentSnapshot {
        plan: read_document(&layout.plan())?,
        comments: read_document(&layout.comments())?,
        log: read_document(&layout.log())?,
        earlier: iteration_files::load_last_versions(
            layout,
            &layout.names().plan,
            MAX_EARLIER_VERSIONS,
        )?,
        reviews: iteration_files::load_last_versions(
            layout,
            &layout.names().comments,
            MAX_EARLIER_VERSIONS,
        )?,
    })
}

impl DocumentSnapshot {
    /// Compares the documents with the run's state.
    pub fn compare_with_run(&self, state: &RunState) -> DocumentState {
        let known_plan = state.plan.as_ref().map(|plan| &plan.file_sha256);
        let plan = self.plan.as_ref().map(|document| &document.sha256);
        let comments = self.comments.as_ref().map(|document| &document.sha256);
        if known_plan.is_some() && plan.is_none() {
            return DocumentState::Missing;
        }
        let comments_differ = comments.is_some() && comments != state.comments_sha256.as_ref();
        if plan != known_plan || comments_differ {
            DocumentState::Edited
        } else {
            DocumentState::Unchanged
        }
    }

    /// Converts the documents to text for the screen.
    pub fn to_texts(&self) -> RunDocumentFiles {
        let text = |document: &Option<DocumentContent>| {
            let document = document.as_ref()?;
            Some(String::from_utf8_lossy(&document.bytes).into_owned())
        };
        RunDocumentFiles {
            plan: text(&self.plan),
            comments: text(&self.comments),
            log: text(&self.log),
            plan_versions: self.earlier.iter().map(version_text).collect(),
            review_versions: self.reviews.iter().map(version_text).collect(),
        }
    }
}

fn version_text(version: &DocumentVersion) -> DocumentRevision {
    DocumentRevision {
        iteration: version.iteration,
        version: version.number,
        text: String::from_utf8_lossy(&version.bytes).into_owned(),
    }
}
