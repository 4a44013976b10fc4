//! Owns the read-only views of other runs: of the history, or of a run that another instance works on.
//!
//! Nothing is locked or written, and no engine runs. The system reports changes; each refresh reads only what is new. A
//! view covers the program's own screen, which continues behind it.

mod read_only_target;
mod read_only_view;
mod run_labels;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::run_history::{self, RunHistoryEntry};
use crate::app::startup::RunTreeReader;
use crate::domain::run::RunState;
use crate::store::{InstanceLock, StoreError, WorkdirLayout};
use crate::tui::{ColorTheme, RunListEntry, ScreenAppearance, ScreenSettings, TerminalStatus};

use super::active_screen::ActiveScreen;
use super::background_result::{
    BackgroundResult, ScrollbackOwner, ScrollbackResult, ViewRefresh, ViewResult,
};
use super::background_work::BackgroundWork;
use super::file_watcher::FileWatcher;
use super::scrollback_loader::ScrollbackAccess;
use read_only_target::ReadOnlyKind;
use read_only_view::ReadOnlyView;
use run_labels::{archived_run_label, idle_run_label};

pub use read_only_target::{ReadOnlyTarget, find_read_only_target};
pub use run_labels::history_row;

/// The views over the program's own screen.
#[derive(Default)]
pub struct RunViewer {
    /// The view that the program was opened for. Boxed: as large as everything else of the screen, and seldom used.
    base: Option<Box<ReadOnlyView>>,
    /// A finished run, opened over the base view or the screen.
    opened: Option<Box<ReadOnlyView>>,
    /// Changes of the run in the base view.
    watch: Option<FileWatcher>,
    /// The finished runs listed last.
    listed: Vec<RunHistoryEntry>,
    n_opened: u64,
    /// Whether to list the finished runs once the directory is inspected.
    is_history_deferred: bool,
    /// The reader for the trees of the viewed run, if the program was opened for a view.
    reader: Option<RunTreeReader>,
}

impl RunViewer {
    /// Returns whether the program was opened for a view.
    pub fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// Returns whether a finished run is opened over the screen or the base view.
    pub fn has_opened_run(&self) -> bool {
        self.opened.is_some()
    }

    /// Returns whether a view covers the program's own screen.
    pub fn is_in_front(&self) -> bool {
        self.top().is_some()
    }

    fn top(&self) -> Option<&ReadOnlyView> {
        self.opened.as_deref().or(self.base.as_deref())
    }

    fn top_mut(&mut self) -> Option<&mut ReadOnlyView> {
        self.opened.as_deref_mut().or(self.base.as_deref_mut())
    }

    fn view_by_id(&mut self, id: u64) -> Option<&mut ReadOnlyView> {
        let mut all = self.base.iter_mut().chain(&mut self.opened);
        let found = all.find(|viewing| viewing.id() == id)?;
        Some(found)
    }

    /// Returns the screen in front and its run: a view's, else the program's own. Keys and answers go there.
    pub fn active_screen<'a>(&'a mut self, own: ActiveScreen<'a>) -> ActiveScreen<'a> {
        self.top_mut().map_or(own, ReadOnlyView::screen_and_state)
    }

    /// Returns whether the view in front needs a frame; `None` without a view.
    pub fn is_dirty(&self) -> Option<bool> {
        Some(self.top()?.screen.is_dirty())
    }

    /// Updates the notice on the front screen that the screen behind it needs the user. Returns the status of the
    /// screen behind if it has an alert.
    pub fn update_behind_notice(&mut self, own: ActiveScreen<'_>) -> Option<TerminalStatus> {
        let front = &mut self.opened.as_deref_mut()?.screen;
        let base = self.base.as_deref_mut();
        let (behind, state) = base.map_or(own, ReadOnlyView::screen_and_state);
        let outside = behind.update_covered_status(state);
        front.on_covered_screen_status(outside);
        outside.alert.is_some().then(|| outside.clone())
    }

    /// Returns whether a view is in front of the program's own run.
    pub fn has_view(&self) -> bool {
        self.top().is_some()
    }

    /// Returns the state and the paths of the run in front, if there is a view.
    pub fn active_run(&self) -> Option<(Option<RunState>, WorkdirLayout)> {
        let top = self.top()?;
        Some((top.state().cloned(), top.layout().clone()))
    }

    /// Returns the reader for the trees of the viewed run, if the program was opened for a view.
    pub fn tree_reader(&self) -> Option<RunTreeReader> {
        self.reader.clone()
    }

    /// Opens the view for which the program was opened, with the appearance of these settings.
    pub fn open_base(
        &mut self,
        target: ReadOnlyTarget,
        appearance: ScreenSettings,
        work: &mut BackgroundWork,
    ) {
        let settings = ScreenSettings {
            read_only: Some(target.label()),
            repository: target.repository,
            branch: target.branch,
            ..appearance
        };
        self.reader = Some(target.reader);
        let layout = match &target.what {
            ReadOnlyKind::Archived(run) => run.layout.clone(),
            ReadOnlyKind::OtherInstance(_) | ReadOnlyKind::Idle => target.layout,
        };
        let mut view = self.new_view(layout.clone(), settings);
        match target.what {
            ReadOnlyKind::Archived(_) => {}
            ReadOnlyKind::Idle => self.follow_run(&mut view, &layout),
            ReadOnlyKind::OtherInstance(_) => {
                self.follow_run(&mut view, &layout);
                wait_for_other_instance(layout, work);
            }
        }
        view.refresh(work);
        self.base = Some(view);
    }

    fn new_view(&mut self, layout: WorkdirLayout, settings: ScreenSettings) -> Box<ReadOnlyView> {
        self.n_opened += 1;
        Box::new(ReadOnlyView::new(self.n_opened, layout, settings))
    }

    fn follow_run(&mut self, view: &mut ReadOnlyView, layout: &WorkdirLayout) {
        match FileWatcher::watch_run(layout) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => view
                .screen
                .on_notice(&format!("Changes are not shown: {error}")),
        }
    }

    /// Waits until a file of the run in the base view has changed since the last call. Cancel safe.
    pub async fn changed(&self) {
        match &self.watch {
            Some(watch) => watch.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Notes that the run in the base view changed.
    pub fn on_changed(&mut self, now: Instant) {
        if let Some(base) = &mut self.base {
            base.on_changed(now);
        }
    }

    /// Returns when to refresh the base view, if something changed.
    pub fn next_refresh_at(&self) -> Option<Instant> {
        self.base.as_ref()?.next_refresh_at()
    }

    /// Refreshes the base view.
    pub fn refresh_base(&mut self, work: &mut BackgroundWork) {
        if let Some(base) = &mut self.base {
            base.refresh(work);
        }
    }

    /// Shows what a refresh has read. Returns the last page of the log, if the view starts there.
    pub fn on_refreshed(
        &mut self,
        refresh: ViewRefresh,
        work: &mut BackgroundWork,
    ) -> Option<ScrollbackResult> {
        let id = refresh.view;
        let page = self.view_by_id(id)?.on_refreshed(refresh, work)?;
        let owner = ScrollbackOwner::View(id);
        Some(ScrollbackResult { owner, page })
    }

    /// The instance that had the lock has ended: offers to take over.
    pub fn on_directory_freed(&mut self, work: &mut BackgroundWork) {
        if let Some(base) = &mut self.base {
            base.set_label(idle_run_label());
            base.screen.ask_to_take_over();
            base.refresh(work);
        }
    }

    /// Closes all views. The number of views is kept, so that a late refresh never matches a new view.
    pub fn close_all(&mut self) {
        *self = Self {
            n_opened: self.n_opened,
            ..Self::default()
        };
    }

    /// Closes the run that was opened over another one, if any. Returns the theme and mouse mode chosen there.
    pub fn close_opened(&mut self) -> Option<(ColorTheme, ScreenAppearance)> {
        Some(self.opened.take()?.screen.chosen_appearance())
    }

    /// Returns a view's screen with the loader of its earlier events; without a number, that of the view in front.
    pub fn scrollback(&mut self, view: Option<u64>) -> Option<ScrollbackAccess<'_>> {
        let view = match view {
            Some(id) => self.view_by_id(id)?,
            None => self.top_mut()?,
        };
        Some(view.scrollback())
    }

    /// Lists the finished runs in the background, once the directory is inspected: `own` are the paths of a directory
    /// that this process has locked.
    pub fn list_history(&mut self, own: Option<&WorkdirLayout>, work: &mut BackgroundWork) {
        let seen = self.base.as_ref().map(|base| base.layout());
        let Some(layout) = own.or(seen).cloned() else {
            self.is_history_deferred = true;
            return;
        };
        work.spawn_blocking(move || {
            BackgroundResult::View(ViewResult::History(run_history::list_runs(&layout)))
        });
    }

    /// Lists the finished runs if the user asked for them before the directory was inspected.
    pub fn list_deferred_history(
        &mut self,
        own: Option<&WorkdirLayout>,
        work: &mut BackgroundWork,
    ) {
        if std::mem::take(&mut self.is_history_deferred) {
            self.list_history(own, work);
        }
    }

    /// Shows the finished runs on the screen in front.
    pub fn on_history(
        &mut self,
        runs: Result<Vec<RunHistoryEntry>, StoreError>,
        own: ActiveScreen<'_>,
    ) {
        let (screen, _) = self.active_screen(own);
        match runs {
            Ok(runs) => {
                let rows: Vec<RunListEntry> = runs.iter().map(history_row).collect();
                screen.show_run_history(&rows);
                self.listed = runs;
            }
            Err(error) => screen.set_toast(&format!("{error}; {}", error.hint())),
        }
    }

    /// Stores the finished runs of the welcome page, unless others were listed since.
    pub fn set_listed_runs(&mut self, runs: Vec<RunHistoryEntry>) {
        if self.listed.is_empty() {
            self.listed = runs;
        }
    }

    /// Opens a finished run over the current screen, in its appearance and else with these settings.
    pub fn open_run(
        &mut self,
        name: &str,
        own: ActiveScreen<'_>,
        settings: &ScreenSettings,
        work: &mut BackgroundWork,
    ) {
        let listed = self.listed.iter().find(|run| run.name == name);
        let listed = listed.cloned();
        let (front, _) = self.active_screen(own);
        let Some(run) = listed else {
            return front.set_toast("Run not found. /history lists all runs.");
        };
        let (theme, appearance) = front.chosen_appearance();
        let settings = ScreenSettings {
            theme,
            appearance,
            read_only: Some(archived_run_label(&run)),
            demo: false,
            ..settings.clone()
        };
        let mut view = self.new_view(run.layout, settings);
        view.refresh(work);
        self.opened = Some(view);
    }
}

/// Waits in the background for the end of the instance that has the lock.
fn wait_for_other_instance(layout: WorkdirLayout, work: &mut BackgroundWork) {
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
    work.spawn(async move {
        match told.await {
            Ok(()) => BackgroundResult::View(ViewResult::DirectoryFreed),
            Err(_) => std::future::pending().await,
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::WorkdirNames;
    use crate::tui::Screen;

    #[test]
    fn the_view_opened_last_is_in_front_and_a_late_page_finds_no_other_view() {
        let folder = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        let mut viewer = RunViewer::default();
        let named = |repository: &str| ScreenSettings {
            repository: repository.to_owned(),
            ..ScreenSettings::default()
        };
        let mut own = Screen::new(named("own"));
        let own_at: *const Screen = &own;
        let is_own = |viewer: &mut RunViewer, own: &mut Screen| {
            let front: *const Screen = viewer.active_screen((own, None)).0;
            std::ptr::eq(front, own_at)
        };
        assert!(is_own(&mut viewer, &mut own));
        viewer.base = Some(viewer.new_view(layout.clone(), named("base")));
        viewer.opened = Some(viewer.new_view(layout.clone(), named("opened")));
        assert!(!is_own(&mut viewer, &mut own));
        assert_eq!(viewer.top().map(ReadOnlyView::id), Some(2));
        assert!(viewer.close_opened().is_some());
        assert_eq!(viewer.top().map(ReadOnlyView::id), Some(1));
        assert!(viewer.close_opened().is_none());
        viewer.close_all();
        assert!(is_own(&mut viewer, &mut own));
        viewer.opened = Some(viewer.new_view(layout, named("later")));
        assert!(viewer.scrollback(Some(1)).is_none() && viewer.scrollback(Some(2)).is_none());
        assert!(viewer.scrollback(Some(3)).is_some());
    }
}
