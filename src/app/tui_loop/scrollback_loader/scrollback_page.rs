//! Reads a page of earlier events from the end of a log, or on from an earlier page. Blocks.

use std::path::Path;

use tokio::sync::oneshot;

use crate::domain::event::{Event, EventRecord};
use crate::store::event_log::EventLogReader;
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::ScrollbackChunk;

/// Size of the first page, in bytes: loaded before anything is shown.
pub const FIRST_PAGE: u64 = 32 * 1024;

/// A page of earlier events.
pub struct ScrollbackPage {
    pub past: ScrollbackChunk,
    pub log: ScrollbackLog,
    pub n_bytes: u64,
    pub awaited: Option<oneshot::Sender<()>>,
}

/// A log that is read backwards.
#[derive(Debug)]
pub struct ScrollbackLog {
    pub pages: EventLogReader<Event>,
    /// The number of the earliest event read.
    pub first: Option<u64>,
}

/// Options for reading a page.
#[derive(Debug)]
pub struct ScrollbackRequest {
    pub n_bytes: u64,
    /// The number of the page's last event; `None` for the last one of the log.
    pub last: Option<u64>,
    /// A text to search for; the page then has only the result.
    pub letters: Option<String>,
    /// Dropped when the page has been drawn.
    pub awaited: Option<oneshot::Sender<()>>,
}

impl ScrollbackRequest {
    pub fn new(n_bytes: u64) -> Self {
        Self {
            n_bytes,
            last: None,
            letters: None,
            awaited: None,
        }
    }
}

impl ScrollbackLog {
    pub fn new(path: &Path) -> Self {
        Self {
            pages: EventLogReader::from_end(path),
            first: None,
        }
    }

    pub fn read_requested(self, request: ScrollbackRequest) -> Result<ScrollbackPage, StoreError> {
        let (past, log) = self.read_page(request.last, request.n_bytes)?;
        Ok(ScrollbackPage {
            past: match request.letters {
                Some(letters) => past.search(&letters),
                None => past,
            },
            log,
            n_bytes: request.n_bytes,
            awaited: request.awaited,
        })
    }

    /// Reads a page that ends with the event of this number, or with the last one of the log.
    fn read_page(
        mut self,
        last: Option<u64>,
        n_bytes: u64,
    ) -> Result<(ScrollbackChunk, Self), StoreError> {
        loop {
            let mut records = self.pages.read_before(n_bytes)?;
            self.first = records.first().map(|record| record.seq).or(self.first);
            records.retain(|record| last.is_none_or(|last| record.seq <= last));
            if records.is_empty() && !self.pages.is_at_start() {
                continue;
            }
            let before = records.first().map_or(0, |record| record.seq - 1);
            let recorded: Vec<EventRecord> = records
                .into_iter()
                .map(|record| EventRecord {
                    at: record.at,
                    event: record.event,
                })
                .collect();
            return Ok((ScrollbackChunk::from_events(before, &recorded), self));
        }
    }
}

/// Reads the last page of a log up to the event of this number. Blocks.
pub fn load_last_page(
    layout: &WorkdirLayout,
    last: u64,
) -> Result<Box<ScrollbackPage>, StoreError> {
    let request = ScrollbackRequest {
        last: Some(last),
        ..ScrollbackRequest::new(FIRST_PAGE)
    };
    let page = ScrollbackLog::new(&layout.events()).read_requested(request)?;
    Ok(Box::new(page))
}
