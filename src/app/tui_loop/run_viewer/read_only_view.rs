//! One read-only run on a screen of its own; each refresh reads only what is new.

use tokio::time::Instant;

use crate::domain::run::RunState;
use crate::engine::stored_run::{StoredRun, StoredRunUpdate};
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{ReadOnlyStatus, Screen, ScreenSettings};

use super::super::active_screen::ActiveScreen;
use super::super::background_result::{BackgroundResult, ScrollbackOwner, ViewRefresh, ViewResult};
use super::super::background_work::BackgroundWork;
use super::super::document_loader::{DocumentSnapshot, load_documents};
use super::super::file_watcher::SETTLE_DELAY;
use super::super::scrollback_loader::{
    ScrollbackAccess, ScrollbackLoader, ScrollbackPage, load_last_page,
};

/// A view of one run.
pub struct ReadOnlyView {
    id: u64,
    settings: ScreenSettings,
    pub screen: Screen,
    state: Option<RunState>,
    layout: WorkdirLayout,
    /// `None` during a refresh.
    stored: Option<StoredRun>,
    due: Option<Instant>,
    /// The last problem shown.
    problem: Option<String>,
    /// The events before those that the screen has.
    scrollback: ScrollbackLoader,
}

impl ReadOnlyView {
    /// Creates a view; the number tells it from all others of this program.
    pub fn new(id: u64, layout: WorkdirLayout, settings: ScreenSettings) -> Self {
        Self {
            id,
            screen: Screen::new(settings.clone()),
            settings,
            state: None,
            stored: Some(StoredRun::from_log_end(layout.clone())),
            layout,
            due: None,
            problem: None,
            scrollback: ScrollbackLoader::new(ScrollbackOwner::View(id)),
        }
    }

    /// Returns the number of the view.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the paths of the run.
    pub fn layout(&self) -> &WorkdirLayout {
        &self.layout
    }

    /// Returns the state of the run, once it is read.
    pub fn state(&self) -> Option<&RunState> {
        self.state.as_ref()
    }

    /// Returns the screen and the run that it draws.
    pub fn screen_and_state(&mut self) -> ActiveScreen<'_> {
        (&mut self.screen, self.state.as_ref())
    }

    /// Changes the label above the screen.
    pub fn set_label(&mut self, label: ReadOnlyStatus) {
        self.screen.on_read_only(label.clone());
        self.settings.read_only = Some(label);
    }

    /// Returns when to refresh, if something changed.
    pub fn next_refresh_at(&self) -> Option<Instant> {
        self.due.filter(|_| self.stored.is_some())
    }

    /// Notes that something changed.
    pub fn on_changed(&mut self, now: Instant) {
        self.due.get_or_insert(now + SETTLE_DELAY);
    }

    /// Reads new events of the run in the background, unless a refresh is running.
    pub fn refresh(&mut self, work: &mut BackgroundWork) {
        let Some(mut stored) = self.stored.take() else {
            self.due = Some(Instant::now());
            return;
        };
        self.due = None;
        let view = self.id;
        work.spawn_blocking(move || {
            let seen = stored.read_new();
            let last = seen.n_skipped_events;
            let page = last.map(|last| load_last_page(stored.layout(), last));
            // Documents show the present, so load them only after all events are read.
            let documents = (!seen.has_more).then(|| load_documents(stored.layout()));
            BackgroundResult::View(ViewResult::Refreshed(Box::new(ViewRefresh {
                view,
                stored,
                seen,
                page,
                documents,
            })))
        });
    }

    /// Shows what a refresh has read, and reads more if there is more. Returns the last page of the log, if the view
    /// starts there.
    pub fn on_refreshed(
        &mut self,
        refresh: ViewRefresh,
        work: &mut BackgroundWork,
    ) -> Option<Result<Box<ScrollbackPage>, StoreError>> {
        let has_more = refresh.seen.has_more;
        self.stored = Some(refresh.stored);
        self.show(refresh.seen, refresh.documents);
        if has_more {
            self.refresh(work);
        }
        refresh.page
    }

    fn show(
        &mut self,
        seen: StoredRunUpdate,
        documents: Option<Result<DocumentSnapshot, StoreError>>,
    ) {
        if seen.is_restarted {
            self.screen = Screen::new(self.settings.clone());
            self.scrollback = ScrollbackLoader::new(ScrollbackOwner::View(self.id));
        }
        for record in &seen.records {
            self.screen.on_event(record.at, &record.event);
        }
        self.state = seen.state;
        let mut problem = seen.problem;
        match documents {
            Some(Ok(read)) => self.screen.on_documents(read.to_texts()),
            Some(Err(error)) => problem = problem.or(Some(error.to_string())),
            None => {}
        }
        if problem != self.problem {
            self.problem.clone_from(&problem);
            if let Some(problem) = problem {
                self.screen.on_notice(&problem);
            }
        }
        self.screen.mark_dirty();
    }

    /// Returns the screen with the loader of its earlier events.
    pub fn scrollback(&mut self) -> ScrollbackAccess<'_> {
        ScrollbackAccess {
            screen: &mut self.screen,
            loader: &mut self.scrollback,
            layout: Some(self.layout.clone()),
        }
    }
}
