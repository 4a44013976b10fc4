//! Follows the documents on disk: shows them, and tells the engine about edits by others.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::StoreError;
use crate::tui::RunDocumentFiles;

use super::document_loader::{DocumentSnapshot, DocumentState, load_documents};
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

/// Time between a change and reading the files: long enough for an editor's rename.
pub const SETTLE_DELAY: Duration = Duration::from_millis(20);
/// Time that a document may be missing before the engine is told.
const MISSING_GRACE: Duration = Duration::from_millis(400);

/// When to read the documents next, and what was shown last.
#[derive(Debug, Default)]
pub struct DocumentTracker {
    due: Option<Instant>,
    progress: DocumentReadProgress,
    shown: RunDocumentFiles,
    missing_since: Option<Instant>,
}

/// Whether the files are being read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum DocumentReadProgress {
    #[default]
    Idle,
    Reading,
}

impl DocumentTracker {
    /// Returns when to read, if something changed.
    pub fn next_read_at(&self) -> Option<Instant> {
        match self.progress {
            DocumentReadProgress::Idle => self.due,
            DocumentReadProgress::Reading => None,
        }
    }

    /// Notes a change. A file that changes all the time is still read.
    pub fn on_changed(&mut self, now: Instant) {
        self.due.get_or_insert(now + SETTLE_DELAY);
    }
}

impl TuiApp {
    /// Reads the documents in the background.
    pub(super) fn read_documents(&mut self) {
        self.document_tracker.due = None;
        let Some(occupied) = &self.occupied else {
            // A run is starting and may move the files; read them once it is ready.
            self.document_tracker.on_changed(Instant::now());
            return;
        };
        self.document_tracker.progress = DocumentReadProgress::Reading;
        let layout = occupied.layout.clone();
        self.tasks
            .spawn_blocking(move || BackgroundResult::DocumentsRead(load_documents(&layout)));
    }

    pub(super) fn on_documents_read(
        &mut self,
        read: Result<DocumentSnapshot, StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        self.document_tracker.progress = DocumentReadProgress::Idle;
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                self.screen.on_notice(&format!("{error}\n{}", error.hint()));
                return Ok(None);
            }
        };
        let texts = read.to_texts();
        if texts != self.document_tracker.shown {
            self.document_tracker.shown = texts.clone();
            self.screen.on_documents(texts);
        }
        self.notify_run_of_edits(&read)
    }

    fn notify_run_of_edits(&mut self, read: &DocumentSnapshot) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = self
            .engine
            .as_mut()
            .filter(|engine| engine.outcome().is_none())
        else {
            return Ok(None);
        };
        let now = Instant::now();
        let standing = read.compare_with_run(engine.state());
        if standing != DocumentState::Missing {
            self.document_tracker.missing_since = None;
        }
        match standing {
            DocumentState::Unchanged => return Ok(None),
            DocumentState::Missing => {
                let since = *self.document_tracker.missing_since.get_or_insert(now);
                if now < since + MISSING_GRACE {
                    self.document_tracker.due = Some(since + MISSING_GRACE);
                    return Ok(None);
                }
            }
            DocumentState::Edited => {}
        }
        // The engine reads and compares again: its own writes meanwhile are no edits.
        engine.record_user_edits()?;
        self.previewed_question = None;
        self.show_updates()
    }
}
