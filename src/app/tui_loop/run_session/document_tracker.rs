//! Follows the documents of the run on disk: when to read them, what is new, and whether someone else changed them.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::run::RunState;
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::RunDocumentFiles;

use super::super::background_result::{BackgroundResult, RunResult};
use super::super::background_work::BackgroundWork;
use super::super::document_loader::{DocumentSnapshot, DocumentState, load_documents};
use super::super::file_watcher::{FileWatcher, SETTLE_DELAY};

/// Time that a document may be missing before the engine is told.
const MISSING_GRACE: Duration = Duration::from_millis(400);

/// When to read the documents next, and what was shown last.
#[derive(Default)]
pub struct DocumentTracker {
    watch: Option<FileWatcher>,
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
    /// Forgets the documents, but goes on watching: another run takes their place.
    pub fn forget_documents(&mut self) {
        *self = Self {
            watch: self.watch.take(),
            ..Self::default()
        };
    }

    /// Starts to watch the documents, if they are not watched yet. Only with a run: before it there are none, and the
    /// system takes up to 25 ms to end a watch, which delays the program's end.
    ///
    /// # Errors
    /// The system cannot watch them: what the user is told.
    pub fn watch(&mut self, layout: &WorkdirLayout) -> Result<(), String> {
        if self.watch.is_none() {
            let names = layout.names();
            let watch = FileWatcher::watch_documents(layout).map_err(|error| {
                format!(
                    "Changes to {} and {} are noticed only when a turn ends: {error}",
                    names.plan, names.comments
                )
            })?;
            self.watch = Some(watch);
        }
        Ok(())
    }

    /// Waits until a document has changed since the last call. Cancel safe.
    pub async fn changed(&self) {
        match &self.watch {
            Some(watch) => watch.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Notes a change. A file that changes all the time is still read.
    pub fn on_changed(&mut self, now: Instant) {
        self.due.get_or_insert(now + SETTLE_DELAY);
    }

    /// Returns when to read, if something changed.
    pub fn next_read_at(&self) -> Option<Instant> {
        match self.progress {
            DocumentReadProgress::Idle => self.due,
            DocumentReadProgress::Reading => None,
        }
    }

    /// Reads the documents in the background. `None`: a run is starting and may move the files; they are read once it
    /// is ready.
    pub fn read(&mut self, layout: Option<&WorkdirLayout>, work: &mut BackgroundWork) {
        self.due = None;
        let Some(layout) = layout.cloned() else {
            self.on_changed(Instant::now());
            return;
        };
        self.progress = DocumentReadProgress::Reading;
        work.spawn_blocking(move || {
            BackgroundResult::Run(RunResult::DocumentsRead(load_documents(&layout)))
        });
    }

    /// Returns the texts to show, if they are new.
    ///
    /// # Errors
    /// The documents could not be read.
    pub fn on_read(
        &mut self,
        read: Result<DocumentSnapshot, StoreError>,
    ) -> Result<(DocumentSnapshot, Option<RunDocumentFiles>), StoreError> {
        self.progress = DocumentReadProgress::Idle;
        let read = read?;
        let texts = read.to_texts();
        let is_new = texts != self.shown;
        if is_new {
            self.shown = texts.clone();
        }
        Ok((read, is_new.then_some(texts)))
    }

    /// Returns whether someone else changed the documents. One that is missing for a moment does not count: an editor
    /// may be about to rename its new file.
    pub fn are_edited(&mut self, read: &DocumentSnapshot, state: &RunState) -> bool {
        let now = Instant::now();
        let standing = read.compare_with_run(state);
        if standing != DocumentState::Missing {
            self.missing_since = None;
        }
        match standing {
            DocumentState::Unchanged => false,
            DocumentState::Edited => true,
            DocumentState::Missing => {
                let until = *self.missing_since.get_or_insert(now) + MISSING_GRACE;
                if now < until {
                    self.due = Some(until);
                }
                now >= until
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::WorkdirNames;

    #[test]
    fn texts_are_shown_once_and_a_change_during_a_read_is_read_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        std::fs::create_dir_all(layout.workdir()).unwrap();
        std::fs::write(layout.plan(), "1. [ ] one\n").unwrap();
        let (mut tracker, now) = (DocumentTracker::default(), Instant::now());
        assert_eq!(tracker.next_read_at(), None);
        tracker.on_changed(now);
        tracker.on_changed(now + Duration::from_secs(1));
        assert_eq!(tracker.next_read_at(), Some(now + SETTLE_DELAY));
        (tracker.due, tracker.progress) = (None, DocumentReadProgress::Reading);
        tracker.on_changed(now);
        assert_eq!(tracker.next_read_at(), None);
        let (_, texts) = tracker.on_read(load_documents(&layout)).unwrap();
        assert_eq!(texts.unwrap().plan.as_deref(), Some("1. [ ] one\n"));
        assert_eq!(tracker.next_read_at(), Some(now + SETTLE_DELAY));
        let (_, texts) = tracker.on_read(load_documents(&layout)).unwrap();
        assert_eq!(texts, None);
        // The next run's documents are new, even if they say the same.
        tracker.forget_documents();
        let (_, texts) = tracker.on_read(load_documents(&layout)).unwrap();
        assert!(texts.is_some());
    }
}
