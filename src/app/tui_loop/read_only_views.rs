//! Read-only views of runs: of the history, or of a run that another instance works on.
//!
//! Nothing is locked or written, and no engine runs. The system reports changes; each refresh reads only what is new. A
//! view covers the program's own screen, which continues behind it.

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::run_history::{self, RunHistoryEntry};
use crate::app::startup::{
    self, ProjectContext, RunTreeReader, StartError, StartOptions, UnfinishedRunPolicy,
};
use crate::domain::run::RunState;
use crate::engine::stored_run::{StoredRun, StoredRunUpdate};
use crate::store::{InstanceLock, LockHolder, StoreError, WorkdirLayout};
use crate::tui::{RunListEntry, Screen, ScreenSettings};

use super::active_screen::ActiveScreen;
use super::document_loader::{DocumentSnapshot, load_documents};
use super::document_tracker::SETTLE_DELAY;
use super::file_watcher::FileWatcher;
use super::read_only_labels::{
    archived_run_label, history_row, idle_run_label, other_instance_label,
};
use super::scrollback_loader::{ScrollbackLoader, ScrollbackOwner, ScrollbackPage, load_last_page};
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp, TuiStart};

/// A run that can be viewed.
pub struct ReadOnlyTarget {
    layout: WorkdirLayout,
    what: ReadOnlyKind,
    repository: String,
    branch: Option<String>,
    ground: RunTreeReader,
}

/// The kind of a viewed run.
#[derive(Debug)]
enum ReadOnlyKind {
    Archived(Box<RunHistoryEntry>),
    /// The run that another instance works on.
    OtherInstance(LockHolder),
    /// A run without an instance.
    Idle,
}

/// The result of a refresh in the background.
pub struct ViewRefresh {
    id: u64,
    stored: StoredRun,
    seen: StoredRunUpdate,
    /// The last page of the log, if the view starts there.
    page: Option<Result<Box<ScrollbackPage>, StoreError>>,
    documents: Option<Result<DocumentSnapshot, StoreError>>,
}

/// The views over the program's own screen.
#[derive(Default)]
pub struct ReadOnlyViews {
    /// The view that the program was opened for. Boxed: as large as everything else of the screen, and seldom used.
    base: Option<Box<ReadOnlyView>>,
    /// A finished run, opened over the base view or the screen.
    opened: Option<Box<ReadOnlyView>>,
    /// The finished runs listed last.
    listed: Vec<RunHistoryEntry>,
    n_opened: u64,
    deferred: DeferredRequest,
    /// The reader for the trees of the viewed run, if the program was opened for a view.
    pub ground: Option<RunTreeReader>,
}

/// A request to carry out once the directory is inspected.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum DeferredRequest {
    #[default]
    Nothing,
    /// List the finished runs.
    History,
}

/// A view of one run.
pub struct ReadOnlyView {
    id: u64,
    settings: ScreenSettings,
    screen: Screen,
    state: Option<RunState>,
    layout: WorkdirLayout,
    /// `None` during a refresh.
    stored: Option<StoredRun>,
    due: Option<Instant>,
    /// The last problem shown.
    problem: Option<String>,
    /// The events before those that the screen has.
    earlier: ScrollbackLoader,
}

impl ReadOnlyTarget {
    /// Sets the branch that is checked out.
    pub fn with_branch(self, branch: Option<String>) -> Self {
        Self { branch, ..self }
    }
}

impl ReadOnlyViews {
    /// Returns the view in front, if there is one.
    pub fn top(&self) -> Option<&ReadOnlyView> {
        self.opened.as_deref().or(self.base.as_deref())
    }

    /// Like [`Self::top`], mutable.
    pub fn top_mut(&mut self) -> Option<&mut ReadOnlyView> {
        self.opened.as_deref_mut().or(self.base.as_deref_mut())
    }

    /// Returns the base view, and the run opened over it or over the screen.
    pub fn base_and_opened(&mut self) -> (Option<&mut ReadOnlyView>, Option<&mut ReadOnlyView>) {
        (self.base.as_deref_mut(), self.opened.as_deref_mut())
    }

    /// Closes all views. The number of views is kept, so that a late refresh never matches a new view.
    fn close_all(&mut self) {
        let n_opened = self.n_opened;
        *self = Self::default();
        self.n_opened = n_opened;
    }

    /// Returns the state and the paths of the view in front, if there is one.
    pub fn active_run(&self) -> Option<(Option<RunState>, WorkdirLayout)> {
        let top = self.top()?;
        Some((top.state.clone(), top.layout.clone()))
    }

    /// Stores the finished runs of the welcome page, unless others were listed since.
    pub fn set_listed_runs(&mut self, runs: Vec<RunHistoryEntry>) {
        if self.listed.is_empty() {
            self.listed = runs;
        }
    }

    /// Returns whether a finished run is opened over the screen or the base view.
    pub fn has_opened_run(&self) -> bool {
        self.opened.is_some()
    }

    /// Returns whether the program was opened for a view.
    pub fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// Returns when to refresh, if something changed.
    pub fn next_refresh_at(&self) -> Option<Instant> {
        let base = self.base.as_ref().filter(|base| base.stored.is_some());
        base.and_then(|base| base.due)
    }

    /// Notes that something changed.
    pub fn on_changed(&mut self, now: Instant) {
        if let Some(base) = &mut self.base {
            base.due.get_or_insert(now + SETTLE_DELAY);
        }
    }

    /// Returns the view whose earlier events are loaded on scrolling up, with its paths.
    pub fn scrollback_owner(&self) -> Option<(ScrollbackOwner, WorkdirLayout)> {
        let top = self.top()?;
        Some((ScrollbackOwner::View(top.id), top.layout.clone()))
    }

    /// Returns a view's screen and the loader of its earlier events.
    pub fn scrollback_of(&mut self, id: u64) -> Option<(&mut Screen, &mut ScrollbackLoader)> {
        let viewing = self.view_by_id(id)?;
        Some((&mut viewing.screen, &mut viewing.earlier))
    }

    fn view_by_id(&mut self, id: u64) -> Option<&mut ReadOnlyView> {
        let mut all = self.base.iter_mut().chain(&mut self.opened);
        let found = all.find(|viewing| viewing.id == id)?;
        Some(found)
    }

    fn new_view(&mut self, layout: WorkdirLayout, settings: ScreenSettings) -> Box<ReadOnlyView> {
        self.n_opened += 1;
        Box::new(ReadOnlyView {
            id: self.n_opened,
            screen: Screen::new(settings.clone()),
            settings,
            state: None,
            stored: Some(StoredRun::from_log_end(layout.clone())),
            layout,
            due: None,
            problem: None,
            earlier: ScrollbackLoader::default(),
        })
    }
}

impl ReadOnlyView {
    /// Returns the screen and the run that it draws.
    pub fn screen_and_state(&mut self) -> ActiveScreen<'_> {
        (&mut self.screen, self.state.as_ref())
    }

    /// Returns whether a frame is needed.
    pub fn is_dirty(&self) -> bool {
        self.screen.is_dirty()
    }

    fn apply_refresh(
        &mut self,
        seen: StoredRunUpdate,
        documents: Option<Result<DocumentSnapshot, StoreError>>,
    ) {
        if seen.is_restarted {
            self.screen = Screen::new(self.settings.clone());
            self.earlier = ScrollbackLoader::default();
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
}

/// Returns what to view if the directory must not be locked. Changes nothing. Blocks.
///
/// # Errors
/// The directory cannot be inspected, or has no such run.
pub fn find_read_only_target(
    found: &ProjectContext,
    wishes: &StartOptions,
    first: &TuiStart,
) -> Result<Option<ReadOnlyTarget>, StartError> {
    let layout = startup::run_layout(&found.root, &found.loaded.config)?;
    let held = InstanceLock::read_holder(&layout)?;
    let what = match (first, held) {
        (TuiStart::Demo { .. }, _) => return Ok(None),
        (TuiStart::ViewArchived { name }, _) => {
            ReadOnlyKind::Archived(Box::new(run_history::load_run(&layout, name)?))
        }
        // A user who wants to archive the run gets the error that names the instance.
        (_, Some(_)) if wishes.unfinished == UnfinishedRunPolicy::Archive => return Ok(None),
        (_, Some(held)) => ReadOnlyKind::OtherInstance(held),
        (TuiStart::View, None) if !layout.workdir().is_dir() => {
            return Err(StartError::new(
                format!("no run to view in {}", found.root.display()),
                "start one with `agent-collab` without --view",
            ));
        }
        (TuiStart::View, None) => ReadOnlyKind::Idle,
        (TuiStart::AskForGoal | TuiStart::Resume | TuiStart::ResumeArchived { .. }, None) => {
            return Ok(None);
        }
    };
    Ok(Some(ReadOnlyTarget {
        layout,
        what,
        repository: found.root.to_string_lossy().into_owned(),
        branch: None,
        ground: RunTreeReader::from_project(found),
    }))
}

impl TuiApp {
    /// Opens the view for which the program was opened.
    pub(super) fn open_read_only(
        &mut self,
        sight: ReadOnlyTarget,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let ReadOnlyTarget {
            layout,
            what,
            repository,
            branch,
            ground,
        } = sight;
        self.views.ground = Some(ground);
        let (theme, look) = self.screen.chosen_appearance();
        let utc_offset = self.settings.utc_offset;
        let settings = |read_only| ScreenSettings {
            theme: theme.clone(),
            appearance: look.clone(),
            utc_offset,
            repository: repository.clone(),
            branch: branch.clone(),
            read_only: Some(read_only),
            ..ScreenSettings::default()
        };
        match what {
            ReadOnlyKind::Archived(run) => {
                let viewing = self
                    .views
                    .new_view(run.layout.clone(), settings(archived_run_label(&run)));
                self.views.base = Some(viewing);
            }
            ReadOnlyKind::Idle => {
                let viewing = self
                    .views
                    .new_view(layout.clone(), settings(idle_run_label()));
                self.views.base = Some(viewing);
                self.follow_run(&layout);
            }
            ReadOnlyKind::OtherInstance(held) => {
                let mut viewing = self
                    .views
                    .new_view(layout.clone(), settings(other_instance_label(&held)));
                viewing.screen.on_notice(&format!(
                    "Another agent-collab is running in this repository ({held}). You see its run here, and \
                    can take over when it exits."
                ));
                self.views.base = Some(viewing);
                self.follow_run(&layout);
                self.wait_for_other_instance(layout);
            }
        }
        self.refresh_base_view();
        Ok(None)
    }

    fn follow_run(&mut self, layout: &WorkdirLayout) {
        match FileWatcher::watch_run(layout) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => {
                if let Some(base) = &mut self.views.base {
                    base.screen
                        .on_notice(&format!("Changes are not shown: {error}"));
                }
            }
        }
    }

    /// Waits in the background for the end of the instance that has the lock.
    fn wait_for_other_instance(&mut self, layout: WorkdirLayout) {
        let (tell, told) = oneshot::channel();
        // The wait cannot be cancelled, so it runs on a thread, not as a task: the program's end must not wait for it.
        std::thread::spawn(move || {
            if let Err(error) = InstanceLock::wait_until_free(&layout) {
                tracing::warn!(%error, "cannot tell when the other instance exits");
                return;
            }
            // The receiver is gone if the view was closed.
            let _closed = tell.send(());
        });
        self.spawn_background(async move {
            match told.await {
                Ok(()) => BackgroundResult::DirectoryFreed,
                Err(_) => std::future::pending().await,
            }
        });
    }

    pub(super) fn on_directory_freed(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        if let Some(base) = &mut self.views.base {
            base.screen.on_read_only(idle_run_label());
            base.settings.read_only = Some(idle_run_label());
            base.screen.ask_to_take_over();
        }
        self.refresh_base_view();
        Ok(None)
    }

    /// Closes all views and starts like a newly opened program.
    pub(super) fn take_over(&mut self, first: TuiStart) -> Result<Option<TuiEnd>, TuiEnd> {
        let (front, _) = self.active_screen();
        // Keep the theme: the terminal is not asked for its background again.
        (self.settings.theme, self.settings.appearance) = front.chosen_appearance();
        self.views.close_all();
        self.watch = None;
        self.start = first;
        self.screen = Screen::new(self.settings.clone());
        self.open_directory();
        Ok(None)
    }

    /// Closes the view in front; closing the base view ends the program.
    pub(super) fn close_view(&mut self) -> Option<TuiEnd> {
        self.screen.mark_dirty();
        match self.close_opened_view() {
            Some(()) => None,
            None => Some(TuiEnd::Left),
        }
    }

    /// Closes the run that was opened over another one, if any; keeps the theme and mouse mode chosen there.
    pub(super) fn close_opened_view(&mut self) -> Option<()> {
        let dress = self.views.opened.take()?.screen.chosen_appearance();
        let (front, _) = self.active_screen();
        let (theme, look) = dress;
        front.apply_appearance(theme, look);
        Some(())
    }

    /// Refreshes the base view.
    pub(super) fn refresh_base_view(&mut self) {
        if let Some(id) = self.views.base.as_ref().map(|base| base.id) {
            self.refresh_view(id);
        }
    }

    /// Reads new events of a view's run in the background, unless a refresh is running.
    fn refresh_view(&mut self, id: u64) {
        let Some(viewing) = self.views.view_by_id(id) else {
            return;
        };
        let Some(mut stored) = viewing.stored.take() else {
            viewing.due = Some(Instant::now());
            return;
        };
        viewing.due = None;
        self.tasks.spawn_blocking(move || {
            let seen = stored.read_new();
            let last = seen.n_skipped_events;
            let page = last.map(|last| load_last_page(stored.layout(), last));
            // Documents show the present, so load them only after all events are read.
            let documents = (!seen.has_more).then(|| load_documents(stored.layout()));
            BackgroundResult::ViewRefreshed(Box::new(ViewRefresh {
                id,
                stored,
                seen,
                page,
                documents,
            }))
        });
    }

    pub(super) fn on_view_refreshed(
        &mut self,
        glance: ViewRefresh,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let ViewRefresh {
            id,
            stored,
            seen,
            page,
            documents,
        } = glance;
        let Some(viewing) = self.views.view_by_id(id) else {
            return Ok(None);
        };
        let more = seen.has_more;
        viewing.stored = Some(stored);
        viewing.apply_refresh(seen, documents);
        if more {
            self.refresh_view(id);
        }
        page.map_or(Ok(None), |page| {
            self.on_scrollback_page(ScrollbackOwner::View(id), page)
        })
    }

    /// Lists the finished runs in the background.
    pub(super) fn show_history(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let seen = self.views.base.as_ref().map(|base| &base.layout);
        let layout = self.occupied.as_ref().map(|occupied| &occupied.layout);
        let Some(layout) = layout.or(seen).cloned() else {
            // List them once the directory is inspected.
            self.views.deferred = DeferredRequest::History;
            return Ok(None);
        };
        self.tasks
            .spawn_blocking(move || BackgroundResult::History(run_history::list_runs(&layout)));
        Ok(None)
    }

    /// Carries out the request that waited for the directory.
    pub(super) fn run_deferred_request(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        match std::mem::take(&mut self.views.deferred) {
            DeferredRequest::Nothing => Ok(None),
            DeferredRequest::History => self.show_history(),
        }
    }

    pub(super) fn on_history(
        &mut self,
        runs: Result<Vec<RunHistoryEntry>, StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let (screen, _) = self.active_screen();
        match runs {
            Ok(runs) => {
                let rows: Vec<RunListEntry> = runs.iter().map(history_row).collect();
                screen.show_run_history(&rows);
                self.views.listed = runs;
            }
            Err(error) => screen.set_toast(&format!("{error}; {}", error.hint())),
        }
        Ok(None)
    }

    /// Opens a finished run over the current screen.
    pub(super) fn open_finished_run(&mut self, name: &str) -> Result<Option<TuiEnd>, TuiEnd> {
        let listed = self.views.listed.iter().find(|run| run.name == name);
        let Some(run) = listed.cloned() else {
            let (screen, _) = self.active_screen();
            screen.set_toast("Run not found. /history lists all runs.");
            return Ok(None);
        };
        let (front, _) = self.active_screen();
        let (theme, look) = front.chosen_appearance();
        let settings = ScreenSettings {
            theme,
            appearance: look,
            read_only: Some(archived_run_label(&run)),
            demo: false,
            ..self.settings.clone()
        };
        let viewing = self.views.new_view(run.layout, settings);
        let id = viewing.id;
        self.views.opened = Some(viewing);
        self.refresh_view(id);
        Ok(None)
    }
}
