//! Loads the events before those on a screen, the latest first.
//!
//! Reads the log backwards in the background: the last page comes at once however long the log is, and older pages come
//! when the user scrolls up to them. Does not interpret the events.

mod scrollback_page;

use tokio::sync::oneshot;

use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{Screen, ScrollbackDemand};

use super::background_result::{BackgroundResult, ScrollbackOwner, ScrollbackResult};
use super::background_work::BackgroundWork;
use scrollback_page::{FIRST_PAGE, ScrollbackLog, ScrollbackRequest};

pub use scrollback_page::{ScrollbackPage, load_last_page};

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
    owner: ScrollbackOwner,
    /// The paths of the run, once its first page is loaded.
    layout: Option<WorkdirLayout>,
    /// The log and the position in it; `None` while it is being read and before the first time.
    log: Option<ScrollbackLog>,
    is_reading: bool,
    /// Whether reading failed; there is no automatic retry.
    has_failed: bool,
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

/// A screen with earlier events.
pub struct ScrollbackAccess<'a> {
    pub screen: &'a mut Screen,
    pub loader: &'a mut ScrollbackLoader,
    /// The paths of the run; `None` if they are those of the first page.
    pub layout: Option<WorkdirLayout>,
}

impl ScrollbackAccess<'_> {
    /// Shows a page that was read; returns whether there is one.
    pub fn on_page(self, page: Result<Box<ScrollbackPage>, StoreError>) -> bool {
        self.loader.on_page(page, self.screen)
    }

    /// Loads the page that the user scrolled up to.
    pub fn read_requested(self, work: &mut BackgroundWork) {
        let Self {
            screen,
            loader,
            layout,
        } = self;
        loader.read_requested(layout, screen, work);
    }
}

impl ScrollbackLoader {
    /// Creates a loader for this screen.
    pub fn new(owner: ScrollbackOwner) -> Self {
        Self {
            owner,
            ..Self::default()
        }
    }

    /// Starts with the last page of a log; the receiver ends when the page has been drawn.
    pub fn load_first_page(
        &mut self,
        layout: &WorkdirLayout,
        work: &mut BackgroundWork,
    ) -> oneshot::Receiver<()> {
        let (awaited, was_shown) = oneshot::channel();
        *self = Self {
            layout: Some(layout.clone()),
            ..Self::new(self.owner)
        };
        let request = ScrollbackRequest {
            awaited: Some(awaited),
            ..ScrollbackRequest::new(FIRST_PAGE)
        };
        self.read(ScrollbackLog::new(&layout.events()), request, work);
        was_shown
    }

    fn read(&mut self, log: ScrollbackLog, request: ScrollbackRequest, work: &mut BackgroundWork) {
        self.is_reading = true;
        let owner = self.owner;
        work.spawn_blocking(move || {
            let page = log.read_requested(request).map(Box::new);
            BackgroundResult::Scrollback(ScrollbackResult { owner, page })
        });
    }

    /// Shows a page that was read; returns whether there is one.
    pub fn on_page(
        &mut self,
        page: Result<Box<ScrollbackPage>, StoreError>,
        screen: &mut Screen,
    ) -> bool {
        self.is_reading = false;
        match page {
            Ok(page) => {
                screen.on_scrollback(page.past);
                screen.mark_dirty();
                self.accept_page(page.log, page.n_bytes, page.awaited);
                true
            }
            Err(error) => {
                self.has_failed = true;
                screen.on_scrollback_error();
                screen.on_notice(&format!("Cannot show earlier messages: {error}"));
                false
            }
        }
    }

    /// The first page is on the terminal: starts what waited for it.
    pub fn on_first_page_drawn(&mut self, work: &mut BackgroundWork) {
        let Some(AfterFirstPage { log: Some(log), .. }) = self.after_first_page.take() else {
            return;
        };
        let request = ScrollbackRequest {
            last: log.first.map(|first| first - 1),
            ..ScrollbackRequest::new(SECOND_PAGE)
        };
        self.read(log, request, work);
    }

    /// Loads the page that the user scrolled up to, unless a page is loading. Without these paths, the run is the one
    /// of the first page.
    pub fn read_requested(
        &mut self,
        layout: Option<WorkdirLayout>,
        screen: &mut Screen,
        work: &mut BackgroundWork,
    ) {
        let Some(layout) = layout.or_else(|| self.layout.clone()) else {
            return;
        };
        let Some(wish) = screen.wanted_scrollback() else {
            return;
        };
        if self.has_failed {
            screen.on_scrollback_error();
            return;
        }
        if self.is_reading {
            return;
        }
        let last = wish.last_event();
        let mut request = ScrollbackRequest::new(match &wish {
            ScrollbackDemand::Chunk { .. } | ScrollbackDemand::Rows { .. } => SCROLL_PAGE,
            ScrollbackDemand::Search { .. } => SEARCH_PAGE,
            ScrollbackDemand::All { .. } => JUMP_PAGE,
        });
        request.last = Some(last);
        if let ScrollbackDemand::Search { letters, .. } = wish {
            request.letters = Some(letters);
        }
        // Pages that the screen has dropped since are read again from the end of the log.
        let goes_on = |log: &ScrollbackLog| log.first == Some(last + 1);
        let log = self.log.take().filter(goes_on);
        let log = log.unwrap_or_else(|| ScrollbackLog::new(&layout.events()));
        self.read(log, request, work);
    }

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

#[cfg(test)]
mod tests {
    use std::path::Path;

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
