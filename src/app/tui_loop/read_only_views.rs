//! Runs that are only looked at: one of the history, or one that another instance works on.
//!
//! Nothing is locked, nothing of them is written, and no engine runs. What changes is told by the system; each
//! look reads only what is new. A view lies over the screen, which goes on behind it.

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::run_history::{self, RunHistoryEntry};
use crate::app::startup::{
    self, ProjectContext, RunTreeReader, StartError, StartOptions, UnfinishedRunPolicy,
};
use crate::domain::run::RunState;
use crate::engine::run_follower::{RunFollowUpdate, RunFollower};
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

/// A directory that is only looked at.
pub struct ReadOnlyTarget {
    layout: WorkdirLayout,
    what: ReadOnlyKind,
    repository: String,
    branch: Option<String>,
    ground: RunTreeReader,
}

/// What there is to look at.
#[derive(Debug)]
enum ReadOnlyKind {
    /// A finished run.
    Archived(Box<RunHistoryEntry>),
    /// The run that another instance works on.
    OtherInstance(LockHolder),
    /// The run that nobody works on.
    Idle,
}

/// One look at a run, made beside the loop.
pub struct ViewRefresh {
    id: u64,
    onlooker: RunFollower,
    seen: RunFollowUpdate,
    /// The end of the log, where the run was taken up there.
    page: Option<Result<Box<ScrollbackPage>, StoreError>>,
    documents: Option<Result<DocumentSnapshot, StoreError>>,
}

/// What is looked at, over the screen's own run.
#[derive(Default)]
pub struct ReadOnlyViews {
    /// What the program was opened for. As large as everything else of the screen, and seldom there.
    base: Option<Box<ReadOnlyView>>,
    /// A finished run over it, or over the screen.
    opened: Option<Box<ReadOnlyView>>,
    /// The finished runs that were listed last.
    listed: Vec<RunHistoryEntry>,
    n_opened: u64,
    deferred: DeferredRequest,
    /// Where the trees of what is looked at lie, where the program was opened to look.
    pub ground: Option<RunTreeReader>,
}

/// What is done as soon as the directory was looked at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum DeferredRequest {
    #[default]
    Nothing,
    /// The finished runs are listed.
    History,
}

/// One run that is looked at.
pub struct ReadOnlyView {
    id: u64,
    settings: ScreenSettings,
    screen: Screen,
    state: Option<RunState>,
    layout: WorkdirLayout,
    /// `None` while it looks.
    onlooker: Option<RunFollower>,
    due: Option<Instant>,
    /// The trouble that was told last.
    problem: Option<String>,
    /// What came before what the screen holds.
    earlier: ScrollbackLoader,
}

impl ReadOnlyTarget {
    /// The same with the branch that is checked out.
    pub fn with_branch(self, branch: Option<String>) -> Self {
        Self { branch, ..self }
    }
}

impl ReadOnlyViews {
    /// What the user sees, where it is a view.
    pub fn top(&self) -> Option<&ReadOnlyView> {
        self.opened.as_deref().or(self.base.as_deref())
    }

    /// The same, to be changed.
    pub fn top_mut(&mut self) -> Option<&mut ReadOnlyView> {
        self.opened.as_deref_mut().or(self.base.as_deref_mut())
    }

    /// What the program was opened for, and the run that was opened over it or over the screen.
    pub fn base_and_opened(&mut self) -> (Option<&mut ReadOnlyView>, Option<&mut ReadOnlyView>) {
        (self.base.as_deref_mut(), self.opened.as_deref_mut())
    }

    /// Closes all views. What is looked at beside the loop comes too late for any that is opened later.
    fn close_all(&mut self) {
        let n_opened = self.n_opened;
        *self = Self::default();
        self.n_opened = n_opened;
    }

    /// The run in front, where it is a view: what is known of it and where it lies.
    pub fn active_run(&self) -> Option<(Option<RunState>, WorkdirLayout)> {
        let top = self.top()?;
        Some((top.state.clone(), top.layout.clone()))
    }

    /// Takes the finished runs that the screen names by itself, unless they were listed since.
    pub fn set_listed_runs(&mut self, runs: Vec<RunHistoryEntry>) {
        if self.listed.is_empty() {
            self.listed = runs;
        }
    }

    /// Tells whether another run is looked at over the program's own.
    pub fn has_opened_run(&self) -> bool {
        self.opened.is_some()
    }

    /// Tells whether the program was opened to look.
    pub fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// When to look again, where something changed.
    pub fn next_refresh_at(&self) -> Option<Instant> {
        let base = self.base.as_ref().filter(|base| base.onlooker.is_some());
        base.and_then(|base| base.due)
    }

    /// Notes that something changed.
    pub fn on_changed(&mut self, now: Instant) {
        if let Some(base) = &mut self.base {
            base.due.get_or_insert(now + SETTLE_DELAY);
        }
    }

    /// Whose past is read when somebody scrolls up; where it lies.
    pub fn scrollback_owner(&self) -> Option<(ScrollbackOwner, WorkdirLayout)> {
        let top = self.top()?;
        Some((ScrollbackOwner::View(top.id), top.layout.clone()))
    }

    /// A view's screen, and what came before what it holds.
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
            onlooker: Some(RunFollower::from_log_end(layout.clone())),
            layout,
            due: None,
            problem: None,
            earlier: ScrollbackLoader::default(),
        })
    }
}

impl ReadOnlyView {
    /// The screen and what it draws.
    pub fn screen_and_state(&mut self) -> ActiveScreen<'_> {
        (&mut self.screen, self.state.as_ref())
    }

    /// Tells whether a frame is needed.
    pub fn is_dirty(&self) -> bool {
        self.screen.is_dirty()
    }

    fn apply_refresh(
        &mut self,
        seen: RunFollowUpdate,
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

/// What there is to look at, where the directory is not to be taken. Changes nothing. Blocks.
///
/// # Errors
/// The directory cannot be looked at, or holds no such run.
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
        // Who wants the run archived is told who works on it.
        (_, Some(_)) if wishes.unfinished == UnfinishedRunPolicy::Archive => return Ok(None),
        (_, Some(held)) => ReadOnlyKind::OtherInstance(held),
        (TuiStart::View, None) if !layout.workdir().is_dir() => {
            return Err(StartError::new(
                format!("there is no run to look at in {}", found.root.display()),
                "`agent-collab` without --view begins one",
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
    /// Opens a view as what the program was opened for.
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
                    "another agent-collab works in this repository ({held}): you look at its run and see what it does; when it ends, you can take over"
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
                        .on_notice(&format!("what changes is not seen: {error}"));
                }
            }
        }
    }

    /// Waits beside the loop for the end of the instance that holds the directory.
    fn wait_for_other_instance(&mut self, layout: WorkdirLayout) {
        let (tell, told) = oneshot::channel();
        // The wait cannot be called off, so it is no task: the program's end does not wait for it.
        std::thread::spawn(move || {
            if let Err(error) = InstanceLock::wait_until_free(&layout) {
                tracing::warn!(%error, "the end of the other instance is not seen");
                return;
            }
            // Nobody listens any more when the view was closed.
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

    /// Closes all views and starts as if the program had just been opened.
    pub(super) fn take_over(&mut self, first: TuiStart) -> Result<Option<TuiEnd>, TuiEnd> {
        let (front, _) = self.active_screen();
        // What the terminal told of its ground is not asked for again.
        (self.settings.theme, self.settings.appearance) = front.chosen_appearance();
        self.views.close_all();
        self.watch = None;
        self.start = first;
        self.screen = Screen::new(self.settings.clone());
        self.open_directory();
        Ok(None)
    }

    /// Closes the view in front; the program ends with what it was opened for.
    pub(super) fn close_view(&mut self) -> Option<TuiEnd> {
        self.screen.mark_dirty();
        match self.close_opened_view() {
            Some(()) => None,
            None => Some(TuiEnd::Left),
        }
    }

    /// Closes the run that was opened over another, where there is one; the theme and the mouse stay as they were
    /// chosen there.
    pub(super) fn close_opened_view(&mut self) -> Option<()> {
        let dress = self.views.opened.take()?.screen.chosen_appearance();
        let (front, _) = self.active_screen();
        front.apply_appearance(dress);
        Some(())
    }

    /// Reads on what the program was opened to look at.
    pub(super) fn refresh_base_view(&mut self) {
        if let Some(id) = self.views.base.as_ref().map(|base| base.id) {
            self.refresh_view(id);
        }
    }

    /// Reads a run on beside the loop, unless that is under way.
    fn refresh_view(&mut self, id: u64) {
        let Some(viewing) = self.views.view_by_id(id) else {
            return;
        };
        let Some(mut onlooker) = viewing.onlooker.take() else {
            viewing.due = Some(Instant::now());
            return;
        };
        viewing.due = None;
        self.tasks.spawn_blocking(move || {
            let seen = onlooker.read_new();
            let last = seen.n_skipped_events;
            let page = last.map(|last| load_last_page(onlooker.layout(), last));
            // The documents are shown as they lie there once all is told.
            let documents = (!seen.has_more).then(|| load_documents(onlooker.layout()));
            BackgroundResult::ViewRefreshed(Box::new(ViewRefresh {
                id,
                onlooker,
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
            onlooker,
            seen,
            page,
            documents,
        } = glance;
        let Some(viewing) = self.views.view_by_id(id) else {
            return Ok(None);
        };
        let more = seen.has_more;
        viewing.onlooker = Some(onlooker);
        viewing.apply_refresh(seen, documents);
        if more {
            self.refresh_view(id);
        }
        page.map_or(Ok(None), |page| {
            self.on_scrollback_page(ScrollbackOwner::View(id), page)
        })
    }

    /// Lists the finished runs beside the loop.
    pub(super) fn show_history(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let seen = self.views.base.as_ref().map(|base| &base.layout);
        let layout = self.occupied.as_ref().map(|occupied| &occupied.layout);
        let Some(layout) = layout.or(seen).cloned() else {
            // They are listed once the directory was looked at.
            self.views.deferred = DeferredRequest::History;
            return Ok(None);
        };
        self.tasks
            .spawn_blocking(move || BackgroundResult::History(run_history::list_runs(&layout)));
        Ok(None)
    }

    /// Does what could not be done before the directory was looked at.
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

    /// Opens a finished run over what is there.
    pub(super) fn open_finished_run(&mut self, name: &str) -> Result<Option<TuiEnd>, TuiEnd> {
        let listed = self.views.listed.iter().find(|run| run.name == name);
        let Some(run) = listed.cloned() else {
            let (screen, _) = self.active_screen();
            screen.set_toast("that run was not found; /history lists those that are there");
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
