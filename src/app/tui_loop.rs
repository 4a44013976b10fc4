//! The full-screen program: one loop that takes signals and keys first, then what comes back, and
//! draws a frame when something changed.
//!
//! It owns the terminal, the view and the run. It decides nothing about the workflow and nothing about
//! what is drawn: keys become actions in `tui`, actions become events here, the run does the rest.

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

/// How many keys are taken in before the next look at the rest.
const MAX_INPUT_BATCH: usize = 128;

/// What the screen is opened for.
#[derive(Debug, Clone)]
pub struct TuiOptions {
    /// What to start.
    pub wishes: StartOptions,
    /// What begins by itself.
    pub first: TuiStart,
}

/// What begins by itself when the screen opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TuiStart {
    /// Nothing: the user is asked for a goal.
    AskForGoal,
    /// Nothing, and nothing can: the run is only looked at.
    View,
    /// The same with a finished run.
    ViewArchived {
        /// Its directory's name in the history.
        name: String,
    },
    /// The unfinished run, without a question.
    Resume,
    /// An unfinished run of the history, which lies here again then.
    ResumeArchived {
        /// Its directory's name in the history.
        name: String,
    },
    /// The demo.
    Demo {
        /// Its goal; `None` where a demo is opened again and goes on like any run.
        goal: Option<String>,
    },
}

/// Opens the screen and returns the exit code once it is closed: 0 done or left, 1 error, 5 cancelled,
/// 130 interrupted by a signal.
///
/// # Errors
/// There is no usable terminal, or what is found there stands in the way of any run.
pub async fn run_tui(opening: TuiOptions) -> Result<u8, StartError> {
    let failed = |what: &'static str| {
        move |error: io::Error| StartError::new(format!("cannot {what}: {error}"), "")
    };
    become_subreaper().map_err(failed("look after child processes"))?;
    let signals = TuiSignals::listen().map_err(failed("listen for signals"))?;
    terminal::restore_on_panic();
    let terminal = TuiTerminal::acquire().map_err(failed("use the terminal"))?;
    let mut shell = TuiApp::new(opening, signals, terminal);
    let end = shell.run_loop().await;
    shell.shut_down_boxed(end).await
}

/// The terminal, the view, the run, and what is under way.
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
    /// What happened and is shown with the next frame of news.
    pending_updates: Vec<ViewUpdate>,
    tick_at: Option<Instant>,
    /// Where commands from outside come in, while the directory is ours.
    socket: Option<IpcServer>,
    /// `None` until the directory is ours, and while a run is being begun.
    occupied: Option<LockedProject>,
    engine: Option<Engine>,
    /// The unfinished run that is asked about, as it was left.
    unfinished_state: Option<Box<RunState>>,
    /// A run that is to begin.
    pending_start: Option<PendingRunStart>,
    /// The goal that waits until the user has said whether the repository's instructions reach agents.
    start_awaiting_consent: Option<PendingRunStart>,
    /// Whether all is there that a goal needs of the run at hand.
    is_checked: bool,
    /// What was said last to stand in the way.
    last_problem: Option<String>,
    tasks: JoinSet<BackgroundResult>,
    /// Cancelled when the screen closes, for what reads much beside the loop.
    closed: CancellationToken,
    watch: Option<FileWatcher>,
    document_tracker: document_tracker::DocumentTracker,
    /// What is looked at, over everything else.
    views: ReadOnlyViews,
    /// Whether what was recorded of the run before is on the screen, or on its way there.
    scrollback_is_shown: bool,
    /// What came before what the screen holds.
    scrollback: scrollback_loader::ScrollbackLoader,
    /// The question whose preview the screen has.
    previewed_question: Option<u32>,
    /// The call that the screen has exactly: its run, and which of that run's.
    shown_approval: Option<(RunId, u32)>,
    /// The child's session that was read last.
    child_transcript: Option<task_actions::ChildTranscript>,
    /// Until when a running turn may end by its CLI's protocol; set once the user wants to leave.
    leave_at: Option<Instant>,
    notifier: UserNotifier,
    motion: MotionLevel,
    background_query: background_query::BackgroundQuery,
    paste_tail: paste_tail::PasteTail,
    /// Where what the user writes is kept; `None` where it is not.
    input_history: Option<InputHistoryFile>,
    theme_saver: theme_saver::ThemeSaver,
}

/// What work beside the loop brought.
enum BackgroundResult {
    /// The directory was looked at and taken.
    DirectoryOpened(Box<Result<OpenedDirectory, StartError>>),
    /// The branch that is checked out, where there is one.
    Branch(Option<String>),
    /// It was looked whether all is there that a run needs, and which runs were finished last.
    WelcomeReady(Box<crate::tui::WelcomeInfo>, Vec<RunHistoryEntry>),
    /// The files of the repository.
    Files(Result<Vec<String>, crate::engine::git::GitError>),
    /// A run was begun, or why not.
    RunStarted(Box<run_startup::RunStartAttempt>),
    /// It was looked whether all is there that a goal needs.
    GoalChecked(Result<(), StartError>),
    /// A run of the history was made the one that lies here, or why not.
    RunUnarchived(Box<archived_run_resume::UnarchiveAttempt>),
    /// A page of what was recorded of the run before.
    ScrollbackRead(
        scrollback_loader::ScrollbackOwner,
        Result<Box<scrollback_loader::ScrollbackPage>, StoreError>,
    ),
    /// The documents were read.
    DocumentsRead(Result<DocumentSnapshot, StoreError>),
    /// The editor ended.
    EditorClosed(DocumentKind, io::Result<std::process::ExitStatus>),
    /// The program in which a text was opened has ended.
    ViewerClosed(&'static str, io::Result<std::process::ExitStatus>),
    /// All that a tool said was read; `None` where the disk does not have it.
    CallRead(
        Box<crate::tui::TruncatedToolCall>,
        crate::tui::ExternalViewer,
        Result<Option<String>, StoreError>,
    ),
    /// A text was given to tmux for the clipboard.
    Copied(String, Result<(), String>),
    /// A theme was kept, or not.
    ThemeSaved(theme_saver::ThemeSaveResult),
    /// What undoing would do, or why it cannot be done.
    UndoOffers(Result<Vec<ReversalPreview>, String>),
    /// Changes were looked at.
    DiffReady(DiffScope, Box<Result<RunDiff, StartError>>),
    /// A run was written down as one page: where, or why not.
    Exported(Result<PathBuf, StartError>),
    /// A line of the plan was written anew, or why not.
    PlanLineWritten(Result<(), String>),
    /// A child's session was read.
    ChildRead(Box<task_actions::ChildTranscript>, Result<(), StoreError>),
    /// A text that the user asked for under this title, or why there is none.
    TextReady(&'static str, Box<Result<String, StartError>>),
    /// The finished runs.
    History(Result<Vec<RunHistoryEntry>, StoreError>),
    /// A run that is only looked at was read on.
    ViewRefreshed(Box<ViewRefresh>),
    /// The instance that held the directory is gone.
    DirectoryFreed,
}

/// What the loop reacts to.
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
            child_transcript: None,
            leave_at: None,
            notifier: UserNotifier::default(),
            motion: MotionLevel::default(),
            background_query: background_query::BackgroundQuery::default(),
            paste_tail: paste_tail::PasteTail::default(),
            input_history: None,
            theme_saver: theme_saver::ThemeSaver::default(),
        }
    }

    /// Runs until something ends it. The first frame waits for nothing.
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

    /// Does something beside the loop, which hears what came of it. In memory of its own: the runtime moves what it
    /// is given several times, and would be there once for each kind.
    fn spawn_background(&mut self, work: impl Future<Output = BackgroundResult> + Send + 'static) {
        let work: Pin<Box<dyn Future<Output = BackgroundResult> + Send>> = Box::pin(work);
        self.tasks.spawn(work);
    }

    /// What is known of the run, where there is one.
    fn state(&self) -> Option<&RunState> {
        self.engine.as_ref().map(Engine::state)
    }

    /// Tells whether an agent or the program itself is at something.
    fn is_busy(&self) -> bool {
        self.state().is_some_and(is_run_busy)
    }

    /// Makes the next frame needed, whatever it shows.
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
        // Somebody waits for each of these.
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
            Ok(BackgroundResult::ChildRead(story, read)) => self.on_child_read(*story, read),
            Ok(BackgroundResult::TextReady(title, told)) => Ok(self.on_text_ready(title, *told)),
            Ok(BackgroundResult::History(runs)) => self.on_history(runs),
            Ok(BackgroundResult::ViewRefreshed(glance)) => self.on_view_refreshed(*glance),
            Ok(BackgroundResult::DirectoryFreed) => self.on_directory_freed(),
            Err(_) => Ok(Some(TuiEnd::Panicked)),
        }
    }
}

fn is_run_busy(state: &RunState) -> bool {
    // A turn that is held back has not begun.
    let is_busy = |busy: &ProgramOperation| !matches!(busy, ProgramOperation::Held { .. });
    state.running.is_some() || state.busy.as_ref().is_some_and(is_busy)
}
