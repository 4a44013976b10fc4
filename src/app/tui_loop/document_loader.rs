//! The documents as they lie on disk, read beside the loop.
//!
//! Refuses to judge whose text it is: the run compares hashes.

use crate::domain::run::RunState;
use crate::store::document_files::{DocumentContent, read_document};
use crate::store::iteration_files::{self, DocumentVersion};
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{DocumentRevision, RunDocumentFiles};

/// How many earlier versions of a document are looked at.
const MAX_EARLIER_VERSIONS: usize = 40;

/// What lay on disk at one moment.
#[derive(Debug, Default)]
pub struct DocumentSnapshot {
    plan: Option<DocumentContent>,
    comments: Option<DocumentContent>,
    log: Option<DocumentContent>,
    earlier: Vec<DocumentVersion>,
    reviews: Vec<DocumentVersion>,
}

/// How the documents on disk stand to what the run knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentState {
    /// As the run wrote or saw them.
    Unchanged,
    /// Somebody else wrote.
    Edited,
    /// One is not there; an editor may be between its two moves.
    Missing,
}

/// Reads all documents. Blocks.
///
/// # Errors
/// A file is there and cannot be read.
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
    /// Compares with what the run knows.
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

    /// The texts for the screen.
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
