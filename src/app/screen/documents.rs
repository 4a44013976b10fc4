//! Follows the documents on disk: shows them, and tells the run what somebody else wrote.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::StoreError;
use crate::tui::Documents;

use super::ending::End;
use super::reading::{Read, Standing, read_all};
use super::{Done, Shell};

/// How long after a change the files are read: an editor's second move comes within.
pub const SETTLE: Duration = Duration::from_millis(20);
/// How long a missing document may stay away before the run hears of it.
const ABSENCE: Duration = Duration::from_millis(400);

/// When the documents are looked at next, and what was seen last.
#[derive(Debug, Default)]
pub struct Looking {
    due: Option<Instant>,
    under_way: Progress,
    shown: Documents,
    missing_since: Option<Instant>,
}

/// Whether the files are being read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Progress {
    #[default]
    Idle,
    Reading,
}

impl Looking {
    /// When to read, where something changed.
    pub fn due(&self) -> Option<Instant> {
        match self.under_way {
            Progress::Idle => self.due,
            Progress::Reading => None,
        }
    }

    /// Notes a change. A file that changes all the time is read all the same.
    pub fn on_changed(&mut self, now: Instant) {
        self.due.get_or_insert(now + SETTLE);
    }
}

impl Shell {
    /// Reads the documents beside the loop.
    pub(super) fn read_documents(&mut self) {
        self.documents.due = None;
        let Some(occupied) = &self.occupied else {
            // A run is being begun, which may move the files; they are looked at when it stands.
            self.documents.on_changed(Instant::now());
            return;
        };
        self.documents.under_way = Progress::Reading;
        let layout = occupied.layout.clone();
        self.tasks
            .spawn_blocking(move || Done::Read(read_all(&layout)));
    }

    pub(super) fn on_read(&mut self, read: Result<Read, StoreError>) -> Result<Option<End>, End> {
        self.documents.under_way = Progress::Idle;
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                self.screen.on_notice(&format!("{error}\n{}", error.hint()));
                return Ok(None);
            }
        };
        let texts = read.texts();
        if texts != self.documents.shown {
            self.documents.shown = texts.clone();
            self.screen.on_documents(texts);
        }
        self.tell_run(&read)
    }

    fn tell_run(&mut self, read: &Read) -> Result<Option<End>, End> {
        let Some(engine) = self
            .engine
            .as_mut()
            .filter(|engine| engine.outcome().is_none())
        else {
            return Ok(None);
        };
        let now = Instant::now();
        let standing = read.standing(engine.state());
        if standing != Standing::Missing {
            self.documents.missing_since = None;
        }
        match standing {
            Standing::Known => return Ok(None),
            Standing::Missing => {
                let since = *self.documents.missing_since.get_or_insert(now);
                if now < since + ABSENCE {
                    self.documents.due = Some(since + ABSENCE);
                    return Ok(None);
                }
            }
            Standing::Edited => {}
        }
        // The run reads again and compares: what it wrote itself meanwhile is no edit.
        engine.look_at_documents()?;
        self.previewed = None;
        self.show_news()
    }
}
