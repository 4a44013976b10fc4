//! Loads the events before those on a screen, the latest first.
//!
//! Reads the log backwards in the background: the last page comes at once however long the log is, and older pages come
//! when the user scrolls up to them. Does not interpret the events.

use std::path::Path;

use tokio::sync::oneshot;

use crate::domain::event::{Event, EventRecord};
use crate::store::event_log::EventLogReader;
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{ScrollbackChunk, ScrollbackDemand};

use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

/// Size of the first page, in bytes: loaded before anything is shown.
const FIRST_PAGE: u64 = 32 * 1024;
/// Size of the second page: loaded without a request.
const SECOND_PAGE: u64 = 2 * 1024 * 1024;
/// Size of a page loaded when the user scrolls up.
const SCROLL_PAGE: u64 = 1024 * 1024;
/// Size of a page for a text search.
const SEARCH_PAGE: u64 = 2 * 1024 * 1024;
/// Size of a page on a jump to the beginning.
const JUMP_PAGE: u64 = 8 * 1024 * 1024;

/// Loads the earlier events of one screen.
#[derive(Debug, Default)]
pub struct ScrollbackLoader {
    /// The log and the position in it; `None` while it is being read and before the first time.
    log: Option<ScrollbackLog>,
    is_reading: bool,
    /// Whether reading failed; there is no automatic retry.
    has_failed: bool,
    /// The paths of the run, if no engine has them yet.
    layout: Option<WorkdirLayout>,
    /// The work to start once the first page is on the terminal.
    after_first_page: Option<AfterFirstPage>,
}

/// The work after the first page, which would delay it.
#[derive(Debug)]
struct AfterFirstPage {
    /// The log for the second page; `None` if the first page had everything.
    log: Option<ScrollbackLog>,
    /// Dropped when the first page is shown, which its receiver waits for.
    _awaited: Option<oneshot::Sender<()>>,
}

/// A log that is read backwards.
#[derive(Debug)]
struct ScrollbackLog {
    pages: EventLogReader<Event>,
    /// The number of the earliest event read.
    first: Option<u64>,
}

/// The screen for which earlier events are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrollbackOwner {
    /// The screen of the program's own run.
    Ours,
    /// A read-only view, by its id.
    View(u64),
}

/// Options for reading a page.
#[derive(Debug, Default)]
struct ScrollbackRequest {
    /// A text to search for; the page then has only the result.
    letters: Option<String>,
    /// Dropped when the page has been drawn.
    awaited: Option<oneshot::Sender<()>>,
}

/// A page of earlier events.
pub struct ScrollbackPage {
    past: ScrollbackChunk,
    log: ScrollbackLog,
    n_bytes: u64,
    awaited: Option<oneshot::Sender<()>>,
}

impl ScrollbackLoader {
    fn accept_page(
        &mut self,
        log: ScrollbackLog,
        n_bytes: u64,
        awaited: Option<oneshot::Sender<()>>,
    ) {
        let (next, log) = if n_bytes == FIRST_PAGE && !log.pages.is_at_start() {
            (Some(log), None)
        } else {
            (None, Some(log))
        };
        // Nothing else is read before the second page.
        self.is_reading = next.is_some();
        self.log = log;
        self.after_first_page = Some(AfterFirstPage {
            log: next,
            _awaited: awaited,
        });
    }
}

impl ScrollbackLog {
    fn new(path: &Path) -> Self {
        Self {
            pages: EventLogReader::from_end(path),
            first: None,
        }
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
    let (past, log) = ScrollbackLog::new(&layout.events()).read_page(Some(last), FIRST_PAGE)?;
    Ok(Box::new(ScrollbackPage {
        past,
        log,
        n_bytes: FIRST_PAGE,
        awaited: None,
    }))
}

impl TuiApp {
    /// Reads the last page of the unfinished run's log, once; the receiver ends when the page has been drawn.
    pub(super) fn load_scrollback(&mut self, layout: &WorkdirLayout) -> oneshot::Receiver<()> {
        let (awaited, was_shown) = oneshot::channel();
        if !std::mem::replace(&mut self.scrollback_is_shown, true) {
            self.scrollback = ScrollbackLoader {
                is_reading: true,
                layout: Some(layout.clone()),
                ..ScrollbackLoader::default()
            };
            let log = ScrollbackLog::new(&layout.events());
            let with = ScrollbackRequest {
                awaited: Some(awaited),
                letters: None,
            };
            self.spawn_page_read(ScrollbackOwner::Ours, log, None, FIRST_PAGE, with);
        }
        was_shown
    }

    fn spawn_page_read(
        &mut self,
        whose: ScrollbackOwner,
        log: ScrollbackLog,
        last: Option<u64>,
        n_bytes: u64,
        with: ScrollbackRequest,
    ) {
        let ScrollbackRequest { letters, awaited } = with;
        self.tasks.spawn_blocking(move || {
            let page = log.read_page(last, n_bytes).map(|(past, log)| {
                let past = match letters {
                    Some(letters) => past.search(&letters),
                    None => past,
                };
                Box::new(ScrollbackPage {
                    past,
                    log,
                    n_bytes,
                    awaited,
                })
            });
            BackgroundResult::ScrollbackRead(whose, page)
        });
    }

    pub(super) fn on_scrollback_page(
        &mut self,
        whose: ScrollbackOwner,
        page: Result<Box<ScrollbackPage>, StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        // The user may have archived that run meanwhile.
        if whose == ScrollbackOwner::Ours && !self.scrollback_is_shown && self.engine.is_none() {
            return Ok(None);
        }
        let Some((screen, earlier)) = self.scrollback_of(whose) else {
            return Ok(None);
        };
        earlier.is_reading = false;
        match page {
            Ok(page) => {
                screen.on_scrollback(page.past);
                screen.mark_dirty();
                earlier.accept_page(page.log, page.n_bytes, page.awaited);
                let is_covered = whose == ScrollbackOwner::Ours && self.views.top().is_some();
                if is_covered || self.input.is_none() {
                    // A view covers the screen, or an editor has the terminal: no frame will show the page.
                    self.read_after_first_page();
                }
            }
            Err(error) => {
                earlier.has_failed = true;
                screen.on_scrollback_error();
                screen.on_notice(&format!("Cannot show earlier messages: {error}"));
            }
        }
        Ok(None)
    }

    /// The first page is on the terminal: starts what waited for it.
    pub(super) fn read_after_first_page(&mut self) {
        let viewed = self.views.scrollback_owner().map(|(whose, _)| whose);
        for whose in viewed.into_iter().chain([ScrollbackOwner::Ours]) {
            let Some((_, earlier)) = self.scrollback_of(whose) else {
                continue;
            };
            let Some(AfterFirstPage { log: Some(log), .. }) = earlier.after_first_page.take()
            else {
                continue;
            };
            earlier.is_reading = true;
            let last = log.first.map(|first| first - 1);
            self.spawn_page_read(whose, log, last, SECOND_PAGE, ScrollbackRequest::default());
        }
    }

    fn scrollback_of(
        &mut self,
        whose: ScrollbackOwner,
    ) -> Option<(&mut crate::tui::Screen, &mut ScrollbackLoader)> {
        match whose {
            ScrollbackOwner::Ours => Some((&mut self.screen, &mut self.scrollback)),
            ScrollbackOwner::View(id) => self.views.scrollback_of(id),
        }
    }

    /// Loads the page that the user scrolled up to, unless a page is loading.
    pub(super) fn read_requested_scrollback(&mut self) {
        let ours = || {
            let engine = self.engine.as_ref()?;
            Some((ScrollbackOwner::Ours, engine.journal().layout().clone()))
        };
        let lying = || Some((ScrollbackOwner::Ours, self.scrollback.layout.clone()?));
        let whose = self.views.scrollback_owner().or_else(ours);
        let Some((whose, layout)) = whose.or_else(lying) else {
            return;
        };
        let Some((screen, earlier)) = self.scrollback_of(whose) else {
            return;
        };
        let Some(wish) = screen.wanted_scrollback() else {
            return;
        };
        if earlier.has_failed {
            screen.on_scrollback_error();
            return;
        }
        if earlier.is_reading {
            return;
        }
        let last = wish.last_event();
        let n_bytes = match &wish {
            ScrollbackDemand::Chunk { .. } | ScrollbackDemand::Rows { .. } => SCROLL_PAGE,
            ScrollbackDemand::Search { .. } => SEARCH_PAGE,
            ScrollbackDemand::All { .. } => JUMP_PAGE,
        };
        let letters = match wish {
            ScrollbackDemand::Search { letters, .. } => Some(letters),
            ScrollbackDemand::Chunk { .. }
            | ScrollbackDemand::Rows { .. }
            | ScrollbackDemand::All { .. } => None,
        };
        earlier.is_reading = true;
        // Pages that the screen has dropped since are read again from the end of the log.
        let goes_on = |log: &ScrollbackLog| log.first == Some(last + 1);
        let log = earlier.log.take().filter(goes_on);
        let log = log.unwrap_or_else(|| ScrollbackLog::new(&layout.events()));
        self.spawn_page_read(
            whose,
            log,
            Some(last),
            n_bytes,
            ScrollbackRequest {
                letters,
                awaited: None,
            },
        );
    }

    /// Removes the events of a run that does not continue from the screen.
    pub(super) fn clear_scrollback(&mut self) {
        if std::mem::take(&mut self.scrollback_is_shown) {
            self.screen.clear_run();
            self.scrollback = ScrollbackLoader::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts a page of a log with more before it, and checks whether more is read and whether the receiver still
    /// waits.
    fn check(n_bytes: u64, expected: (bool, bool)) {
        let mut earlier = ScrollbackLoader::default();
        let (awaited, mut was_shown) = oneshot::channel();
        earlier.accept_page(
            ScrollbackLog::new(Path::new("events.jsonl")),
            n_bytes,
            Some(awaited),
        );
        let waits = was_shown.try_recv() == Err(oneshot::error::TryRecvError::Empty);
        assert_eq!((earlier.is_reading, waits), expected);
        let behind = earlier.after_first_page.take().unwrap();
        assert_eq!(behind.log.is_some(), expected.0);
        drop(behind);
        assert_eq!(
            was_shown.try_recv(),
            Err(oneshot::error::TryRecvError::Closed)
        );
    }

    #[test]
    fn what_follows_the_first_page_waits_until_that_is_drawn() {
        check(FIRST_PAGE, (true, true));
        check(SECOND_PAGE, (false, true));
    }
}
