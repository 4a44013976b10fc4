//! Shows what was said and done before this program took the run up, the latest first.
//!
//! The log is read from its end, beside the loop: the last page is there at once however long the log is.
//! Refuses to know what the events mean.

use tokio::sync::oneshot;

use crate::domain::event::{Event, Recorded};
use crate::store::events::Backwards;
use crate::store::{Layout, StoreError};
use crate::tui::Past;

use super::ending::End;
use super::{Done, Shell};

/// How much of the log is read before anything of it is shown, in bytes.
const FIRST_PAGE: u64 = 32 * 1024;
/// How much is read in all; a transcript keeps no more than its own share of it.
const ALL_PAGES: u64 = 2 * 1024 * 1024;

/// A page of the past, and the log that it came from.
pub struct Page {
    past: Past,
    log: Backwards<Event>,
    n_bytes: u64,
}

impl Shell {
    /// Reads the last page of the unfinished run's log, once; what is given ends when it was read.
    pub(super) fn show_past(&mut self, layout: &Layout) -> oneshot::Receiver<()> {
        let (read, was_read) = oneshot::channel();
        if !std::mem::replace(&mut self.past_is_shown, true) {
            self.read_past(Backwards::new(&layout.events()), FIRST_PAGE, Some(read));
        }
        was_read
    }

    fn read_past(
        &mut self,
        log: Backwards<Event>,
        n_bytes: u64,
        read: Option<oneshot::Sender<()>>,
    ) {
        self.tasks.spawn_blocking(move || {
            let page = read_page(log, n_bytes).map(Box::new);
            drop(read);
            Done::Past(page)
        });
    }

    pub(super) fn on_past(
        &mut self,
        page: Result<Box<Page>, StoreError>,
    ) -> Result<Option<End>, End> {
        // The run that the page tells of may have been put aside meanwhile.
        if !self.past_is_shown {
            return Ok(None);
        }
        match page {
            Ok(page) => {
                let Page { past, log, n_bytes } = *page;
                self.screen.on_past(past);
                if !log.is_at_the_beginning() && n_bytes < ALL_PAGES {
                    self.read_past(log, ALL_PAGES, None);
                }
            }
            Err(error) => self
                .screen
                .on_notice(&format!("what was said before cannot be shown: {error}")),
        }
        Ok(None)
    }

    /// Takes the past of a run off the screen that is not gone on with.
    pub(super) fn forget_past(&mut self) {
        if std::mem::take(&mut self.past_is_shown) {
            self.screen.forget();
        }
    }
}

fn read_page(mut log: Backwards<Event>, n_bytes: u64) -> Result<Page, StoreError> {
    let records = log.read_before(n_bytes)?;
    let recorded: Vec<Recorded> = records
        .into_iter()
        .map(|record| Recorded {
            at: record.at,
            event: record.event,
        })
        .collect();
    Ok(Page {
        past: Past::of(&recorded),
        log,
        n_bytes,
    })
}
