//! The full-screen program: one loop that handles signals and keys first, then everything else, and draws a frame when
//! something changed.
//!
//! Owns the terminal, the screen and the engine. Decides neither the workflow nor the drawing: `tui` turns keys into
//! actions, this module turns actions into events, and the engine does the rest.

mod action_dispatch;
mod active_screen;
mod approval_actions;
mod archived_run_resume;
mod background_query;
mod clipboard;
mod composer_history;
mod diff_actions;
mod discussion_actions;
mod document_loader;
mod document_tracker;
mod engine_events;
mod event_sources;
mod exit_message;
mod external_editor;
mod external_viewer;
mod file_completion;
mod file_watcher;
mod frame_limiter;
mod input_queue;
mod instructions_consent;
mod paste_tail;
mod plan_line_edit;
mod preconditions;
mod question_preview;
mod read_only_labels;
mod read_only_views;
mod render_schedule;
mod run_startup;
mod scrollback_loader;
mod shutdown;
mod signals;
mod task_actions;
mod terminal_input;
mod theme_saver;
mod user_notifier;
mod welcome_probe;

use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use crossterm::event::{Event as Input, EventStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::config_model::MotionLevel;
use crate::domain::diff_scope::DiffScope;
use crate::domain::ids::RunId;
use crate::domain::reversal_plan::ReversalPreview;
use crate::domain::run::{ProgramOperation, RunState};
use crate::engine::{Engine, EngineInput};
use crate::process::become_subreaper;
use crate::store::StoreError;
use crate::store::input_history_file::InputHistoryFile;
use crate::tui::{Action, DocumentKind, Screen, ScreenSettings};

use super::ipc_socket::{IpcServer, PendingIpcRequest, next_request_if_listening};
use super::local_timezone;
use super::run_diff::RunDiff;
use super::run_history::RunHistoryEntry;
use super::startup::{LockedProject, StartError, StartOptions};
use super::terminal::{self, TuiTerminal};
use document_loader::DocumentSnapshot;
use engine_events::ViewUpdate;
use event_sources::{next_engine_input, next_file_change, sleep_until_due};
use file_watcher::FileWatcher;
use frame_limiter::{FrameLimiter, FrameReason};
use read_only_views::{ReadOnlyViews, ViewRefresh};
use run_startup::{OpenedDirectory, PendingRunStart};
use shutdown::TuiEnd;
use signals::{TuiSignal, TuiSignals};
use terminal_input::next_input;
use user_notifier::UserNotifier;

/// Maximum number of keys to handle before the loop checks its other sources.
const MAX_INPUT_BATCH: usize = 128;

/// The options of the full-screen program.
#[derive(Debug, Clone)]
pub struct TuiOptions {
    pub wishes: StartOptions,
    /// What starts by itself.
    pub first: TuiStart,
}

/// What starts by itself when the screen opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TuiStart {
    /// Nothing: the user is asked for a goal.
    AskForGoal,
    /// Nothing, and nothing can start: the run is shown read-only.
    View,
    /// The same for a finished run.
    ViewArchived {
        /// The name of its directory in the history.
        name: String,
    },
    /// The unfinished run, without asking.
    Resume,
    /// An unfinished run of the history, moved back into the work directory.
    ResumeArchived {
        /// The name of its directory in the history.
        name: String,
    },
    Demo {
        /// The demo's goal; `None` if an existing demo is opened, which resumes like any run.
        goal: Option<String>,
    },
}

/// Opens the screen and returns the exit code after it closes: 0 done or left, 1 error, 5 cancelled, 130 interrupted by
/// a signal.
///
/// # Errors
/// There is no usable terminal, or the directory cannot have any run.
pub async fn run_tui(opening: TuiOptions) -> Result<u8, StartError> {
    let failed = |what: &'static str| {
        move |error: io::Error| StartError::new(format!("cannot {what}: {error}"), "")
    };
    become_subreaper().map_err(failed("manage child processes"))?;
    let signals = TuiSignals::listen().map_err(failed("listen for signals"))?;
    terminal::restore_on_panic();
    let terminal = TuiTerminal::acquire().map_err(failed("use the terminal"))?;
    let mut shell = TuiApp::new(opening, signals, terminal);
    let end = shell.run_loop().await;
    shell.shut_down_boxed(end).await
}

/// The terminal, the screen, the engine, and the background work.
struct TuiApp {
    wishes: StartOptions,
    start: TuiStart,
    terminal: TuiTerminal,
    /// `None` while an editor has the terminal.
    input: Option<EventStream>,
    signals: TuiSignals,
    screen: Screen,
    settings: ScreenSettings,
    frame_limiter: FrameLimiter,
    frame_reason: FrameReason,
    /// Events and deltas for the next frame of agent output.
    pending_updates: Vec<ViewUpdate>,
    tick_at: Option<Instant>,
    /// Receives commands of other processes, while this process has the lock.
    socket: Option<IpcServer>,
    /// `None` until the directory is locked, and while a run starts.
    occupied: Option<LockedProject>,
    engine: Option<Engine>,
    /// The unfinished run that the user is asked about.
    unfinished_state: Option<Box<RunState>>,
    /// A run that is to start.
    pending_start: Option<PendingRunStart>,
    /// The goal to start once the user has decided whether agents get the repository's instructions.
    start_awaiting_consent: Option<PendingRunStart>,
    /// Whether the current run has passed the checks for a goal.
    is_checked: bool,
    /// The last problem shown, so that it is not shown twice.
    last_problem: Option<String>,
    tasks: JoinSet<BackgroundResult>,
    /// Cancelled when the screen closes; stops background work that reads a lot.
    closed: CancellationToken,
    watch: Option<FileWatcher>,
    document_tracker: document_tracker::DocumentTracker,
    /// The read-only views over the own screen.
    views: ReadOnlyViews,
    /// Whether the earlier events of the run are on the screen or being loaded.
    scrollback_is_shown: bool,
    /// The events before those that the screen has.
    scrollback: scrollback_loader::ScrollbackLoader,
    /// The question whose preview is on the screen.
    previewed_question: Option<u32>,
    /// The call whose exact form is on the screen: its run and its number there.
    shown_approval: Option<(RunId, u32)>,
    /// Until when a running turn may end by its CLI's protocol; set once the user wants to leave.
    leave_at: Option<Instant>,
    notifier: UserNotifier,
    motion: MotionLevel,
    background_query: background_query::BackgroundQuery,
    paste_tail: paste_tail::PasteTail,
    /// The file for the user's inputs; `None` if they are not saved.
    input_history: Option<InputHistoryFile>,
    theme_saver: theme_saver::ThemeSaver,
}

/// A result of background work.
enum BackgroundResult {
    /// The directory was inspected and locked.
    DirectoryOpened(Box<Result<OpenedDirectory, StartError>>),
    /// The branch that is checked out, if any.
    Branch(Option<String>),
    /// The checks for the welcome page are done, with the finished runs.
    WelcomeReady(Box<crate::tui::WelcomeInfo>, Vec<RunHistoryEntry>),
    Files(Result<Vec<String>, crate::engine::git::GitError>),
    /// A run started or failed to start.
    RunStarted(Box<run_startup::RunStartAttempt>),
    /// The checks for a goal are done.
    GoalChecked(Result<(), StartError>),
    /// A run of the history was moved back into the work directory, or not.
    RunUnarchived(Box<archived_run_resume::UnarchiveAttempt>),
    /// A page of the run's earlier events.
    ScrollbackRead(
        scrollback_loader::ScrollbackOwner,
        Result<Box<scrollback_loader::ScrollbackPage>, StoreError>,
    ),
    DocumentsRead(Result<DocumentSnapshot, StoreError>),
    EditorClosed(DocumentKind, io::Result<std::process::ExitStatus>),
    /// The program that showed a text has ended.
    ViewerClosed(&'static str, io::Result<std::process::ExitStatus>),
    /// The full output of a tool call was read; `None` if it is not on disk.
    CallRead(
        Box<crate::tui::TruncatedToolCall>,
        crate::tui::ExternalViewer,
        Result<Option<String>, StoreError>,
    ),
    /// tmux received a text for the clipboard.
    Copied(String, Result<(), String>),
    /// A theme was saved, or not.
    ThemeSaved(theme_saver::ThemeSaveResult),
    /// What an undo would do, or why it is impossible.
    UndoOffers(Result<Vec<ReversalPreview>, String>),
    DiffReady(DiffScope, Box<Result<RunDiff, StartError>>),
    /// A run was exported: the path, or the error.
    Exported(Result<PathBuf, StartError>),
    /// A line of the plan was rewritten, or not.
    PlanLineWritten(Result<(), String>),
    /// A child session was read.
    ChildRead(Result<task_actions::ChildHistory, StoreError>),
    /// A text that the user asked for, under this title, or the error.
    TextReady(&'static str, Box<Result<String, StartError>>),
    History(Result<Vec<RunHistoryEntry>, StoreError>),
    /// A read-only view was refreshed.
    ViewRefreshed(Box<ViewRefresh>),
    /// The instance that had the lock has ended.
    DirectoryFreed,
}

/// Everything that the loop reacts to.
enum LoopEvent {
    Signal(TuiSignal),
    Panicked,
    Input(Option<io::Result<Input>>),
    RemoteRequest(PendingIpcRequest),
    Background(Result<BackgroundResult, JoinError>),
    Engine(EngineInput),
    DocumentChanged,
    Timer,
}

impl TuiApp {
    fn new(opening: TuiOptions, signals: TuiSignals, terminal: TuiTerminal) -> Self {
        let TuiOptions { wishes, first } = opening;
        let settings = ScreenSettings {
            demo: matches!(first, TuiStart::Demo { .. }),
            repository: wishes.cwd.to_string_lossy().into_owned(),
            theme: terminal::detect_theme(),
            utc_offset: local_timezone::local_timezone()
                .to_offset(jiff::Timestamp::now())
                .seconds(),
            ..ScreenSettings::default()
        };
        Self {
            wishes,
            start: first,
            terminal,
            input: None,
            signals,
            screen: Screen::new(settings.clone()),
            settings,
            frame_limiter: FrameLimiter::default(),
            frame_reason: FrameReason::ForUser,
            pending_updates: Vec::new(),
            tick_at: None,
            socket: None,
            occupied: None,
            engine: None,
            unfinished_state: None,
            pending_start: None,
            start_awaiting_consent: None,
            is_checked: false,
            last_problem: None,
            tasks: JoinSet::new(),
            closed: CancellationToken::new(),
            watch: None,
            document_tracker: document_tracker::DocumentTracker::default(),
            views: ReadOnlyViews::default(),
            scrollback_is_shown: false,
            scrollback: scrollback_loader::ScrollbackLoader::default(),
            previewed_question: None,
            shown_approval: None,
            leave_at: None,
            notifier: UserNotifier::default(),
            motion: MotionLevel::default(),
            background_query: background_query::BackgroundQuery::default(),
            paste_tail: paste_tail::PasteTail::default(),
            input_history: None,
            theme_saver: theme_saver::ThemeSaver::default(),
        }
    }

    /// Runs until something ends the loop. The first frame waits for nothing.
    async fn run_loop(&mut self) -> TuiEnd {
        if let Err(error) = self.draw() {
            return TuiEnd::TerminalGone(error);
        }
        self.input = Some(EventStream::new());
        self.query_background();
        self.open_directory();
        loop {
            let next = self.next_event().await;
            let ended = self.handle_event(next).and_then(|ended| match ended {
                None => match self.sync_turn_hold()? {
                    None => self.draw_if_due(),
                    end => Ok(end),
                },
                Some(end) => Ok(Some(end)),
            });
            match ended {
                Ok(None) => {}
                Ok(Some(end)) | Err(end) => return end,
            }
        }
    }

    async fn next_event(&mut self) -> LoopEvent {
        let due = self.next_timer_at();
        let Self {
            signals,
            input,
            socket,
            engine,
            tasks,
            watch,
            ..
        } = self;
        tokio::select! {
            biased;
            // The order is the priority: agent output must not delay signals and keys.
            signalled = signals.next_signal() => LoopEvent::Signal(signalled),
            () = terminal::wait_for_panic() => LoopEvent::Panicked,
            input = next_input(input) => LoopEvent::Input(input),
            asked = next_request_if_listening(socket) => LoopEvent::RemoteRequest(asked),
            () = sleep_until_due(due) => LoopEvent::Timer,
            () = next_file_change(watch) => LoopEvent::DocumentChanged,
            Some(done) = tasks.join_next() => LoopEvent::Background(done),
            inward = next_engine_input(engine) => LoopEvent::Engine(inward),
        }
    }

    fn handle_event(&mut self, next: LoopEvent) -> Result<Option<TuiEnd>, TuiEnd> {
        match next {
            LoopEvent::Signal(signalled) => self.on_signal(signalled),
            LoopEvent::Panicked => Ok(Some(TuiEnd::Panicked)),
            LoopEvent::Input(input) => self.on_inputs(input),
            LoopEvent::RemoteRequest(asked) => self.on_remote_request(asked),
            LoopEvent::Background(done) => self.on_background_result(done),
            LoopEvent::Engine(inward) => self.on_engine_inputs(inward),
            LoopEvent::DocumentChanged => {
                if self.views.has_base() {
                    self.views.on_changed(Instant::now())
                } else {
                    self.document_tracker.on_changed(Instant::now())
                }
                Ok(None)
            }
            LoopEvent::Timer => self.on_timer(),
        }
    }

    /// Runs work in the background; the loop gets the result. Boxed: the runtime moves a future several times, and
    /// would be compiled once per type.
    fn spawn_background(&mut self, work: impl Future<Output = BackgroundResult> + Send + 'static) {
        let work: Pin<Box<dyn Future<Output = BackgroundResult> + Send>> = Box::pin(work);
        self.tasks.spawn(work);
    }

    /// Returns the state of the run, if one is open.
    fn state(&self) -> Option<&RunState> {
        self.engine.as_ref().map(Engine::state)
    }

    /// Returns whether an agent or the program itself is working.
    fn is_busy(&self) -> bool {
        self.state().is_some_and(is_run_busy)
    }

    /// Requests a new frame, whatever it shows.
    fn mark_dirty(&mut self) {
        self.screen.mark_dirty();
        if let Some(viewing) = self.views.top_mut() {
            viewing.screen_and_state().0.mark_dirty();
        }
    }

    fn on_timer(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let now = Instant::now();
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_due(self.terminal.retry_at()) {
            self.retry_terminal_output().map_err(TuiEnd::TerminalGone)?;
        }
        if is_due(self.tick_at) {
            self.mark_dirty();
        }
        if is_due(self.document_tracker.next_read_at()) {
            self.read_documents();
        }
        if is_due(self.views.next_refresh_at()) {
            self.refresh_base_view();
        }
        Ok(is_due(self.leave_at).then_some(TuiEnd::Left))
    }

    fn handle_actions(&mut self, actions: Vec<Action>) -> Result<Option<TuiEnd>, TuiEnd> {
        for action in actions {
            if let Some(end) = self.on_action(action)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn on_background_result(
        &mut self,
        done: Result<BackgroundResult, JoinError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        // The user waits for each of these.
        self.frame_reason = FrameReason::ForUser;
        match done {
            Ok(BackgroundResult::DirectoryOpened(opened)) => self.on_opened(*opened),
            Ok(BackgroundResult::Branch(branch)) => self.on_branch(branch),
            Ok(BackgroundResult::WelcomeReady(welcome, runs)) => {
                self.on_welcome_ready(*welcome, runs)
            }
            Ok(BackgroundResult::Files(files)) => self.on_files(files),
            Ok(BackgroundResult::RunStarted(attempt)) => self.on_run_started(*attempt),
            Ok(BackgroundResult::GoalChecked(checked)) => self.on_goal_checked(checked),
            Ok(BackgroundResult::RunUnarchived(attempt)) => self.on_run_unarchived(*attempt),
            Ok(BackgroundResult::ScrollbackRead(whose, page)) => {
                self.on_scrollback_page(whose, page)
            }
            Ok(BackgroundResult::DocumentsRead(read)) => self.on_documents_read(read),
            Ok(BackgroundResult::EditorClosed(document, ended)) => {
                self.on_editor_closed(document, ended)
            }
            Ok(BackgroundResult::ViewerClosed(what, ended)) => self.on_text_closed(what, ended),
            Ok(BackgroundResult::CallRead(call, with, read)) => {
                self.on_call_read(&call, with, read)
            }
            Ok(BackgroundResult::Copied(text, ended)) => self.on_copied(&text, ended),
            Ok(BackgroundResult::ThemeSaved(kept)) => self.on_theme_saved(kept),
            Ok(BackgroundResult::UndoOffers(offers)) => {
                self.on_undo_offers(offers);
                Ok(None)
            }
            Ok(BackgroundResult::DiffReady(scope, looked)) => {
                self.on_diff_ready(scope, *looked);
                Ok(None)
            }
            Ok(BackgroundResult::Exported(written)) => self.on_exported(written),
            Ok(BackgroundResult::PlanLineWritten(written)) => self.on_plan_line_written(written),
            Ok(BackgroundResult::ChildRead(read)) => self.on_child_read(read),
            Ok(BackgroundResult::TextReady(title, told)) => Ok(self.on_text_ready(title, *told)),
            Ok(BackgroundResult::History(runs)) => self.on_history(runs),
            Ok(BackgroundResult::ViewRefreshed(glance)) => self.on_view_refreshed(*glance),
            Ok(BackgroundResult::DirectoryFreed) => self.on_directory_freed(),
            Err(_) => Ok(Some(TuiEnd::Panicked)),
        }
    }
}

fn is_run_busy(state: &RunState) -> bool {
    // A turn on hold has not started.
    let is_busy = |busy: &ProgramOperation| !matches!(busy, ProgramOperation::Held { .. });
    state.running.is_some() || state.busy.as_ref().is_some_and(is_busy)
}
