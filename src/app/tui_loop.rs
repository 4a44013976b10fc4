//! The full-screen program: one loop that handles signals and keys first, then everything else, and draws a frame when
//! something changed.
//!
//! ```text
//!              signals, keys                 results                      inputs
//!  terminal ────────┐            work ──────────┐            engine ─────────┐
//!                   ▼                           ▼                            ▼
//!  other ──▶ TuiApp::next_event ──▶ TuiApp::handle_event ──▶ one call to one owner ──▶ TuiApp::settle ──▶ frame
//!  processes                                    │
//!            ┌───────────────┬──────────────────┼────────────────┬──────────────────┐
//!            ▼               ▼                  ▼                ▼                  ▼
//!     TerminalDriver     RunViewer          RunStarter ────▶ RunSession         ThemeSaver
//!     keys, frames,      views of other     what starts,     engine, its
//!     the loan to an     runs, each with    what waits       screen and
//!     editor             its own screen     for it           documents
//!            │               │                  │                │                  │
//!            └───────────────┴──────────────────┴────────────────┴─── BackgroundWork: disks, git, CLIs
//! ```
//!
//! What lives where, each with its state, in a file and the folder of the same name:
//!
//! - `terminal_driver`: the terminal in and out: signals, keys, pastes, when a frame may be drawn, the clipboard, the
//!   editor or pager that has the terminal. In linear mode lines come in place of keys and go out in place of frames.
//! - `run_session`: the program's own run: engine, locked directory, screen, documents, and what the user asks of it.
//! - `run_starter`: from a directory to a run, and the user's input that waits for it. It uses the session's doors.
//! - `run_viewer`: read-only views over the program's own screen, and the list of finished runs.
//! - `theme_saver`: the theme in the user's configuration.
//! - `background_work`: the tasks; a `background_result` names the owner that it is for.
//!
//! `front_run`, `scrollback_loader`, `document_loader` and `file_watcher` are used by several owners and keep no state of
//! them. `TuiApp` connects the owners, in four files: this one (events, frames), `action_dispatch` (action → owner),
//! `front_screen` (keys and requests → what is in front) and `shutdown`. Of its own it has only the socket, and
//! whether the lines of linear mode ended while something was starting.
//!
//! What goes wrong, and what prevents it:
//!
//! - A slow disk, git or CLI delays a key: it runs in `BackgroundWork`, and its result comes back as an event.
//! - A key waits for a page of agent output: the session keeps output for its frame (`RunSession::has_waiting_output`).
//! - Output piles up behind a view or an editor, where no frame shows it: `TuiApp::sync_front` tells the session, which
//!   then applies it at once.
//! - Input is lost while a run opens: the starter queues it, and gives back to the composer what cannot be sent.
//! - A result comes for a view that is closed: results carry the number of their view, which is never used again.
//! - The loop's end is overlooked in the middle of a flow: it is an error, `TuiEnd`, which `?` passes on. A method that
//!   returns it fails if the user left, the terminal is gone, or the run's log cannot be written.

mod action_dispatch;
mod active_screen;
mod background_result;
mod background_work;
mod document_loader;
mod file_watcher;
mod front_run;
mod front_screen;
mod run_session;
mod run_starter;
mod run_viewer;
mod scrollback_loader;
mod shutdown;
mod terminal_driver;
mod theme_saver;
mod tui_end;
mod tui_options;

use std::io;

use tokio::task::JoinError;
use tokio::time::{Instant, sleep_until};

use crate::engine::{Engine, EngineInput};
use crate::process::become_subreaper;
use crate::store::utc_time;
use crate::tui::{NextRunSettings, ScreenAppearance, ScreenSettings};

use super::ipc_socket::{IpcServer, PendingIpcRequest, next_request_if_listening};
use super::local_timezone;
use super::startup::StartError;
use super::terminal::{self, DisplayMode};
use background_result::{BackgroundResult, StartResult, ViewResult};
use background_work::BackgroundWork;
use run_session::RunSession;
use run_starter::{OpenedDirectory, OpenedDirectoryKind, RunStarter};
use run_viewer::RunViewer;
use terminal_driver::{FrameDemand, TerminalDriver, TerminalEvent, TuiSignals};
use theme_saver::ThemeSaver;
use tui_end::TuiEnd;

pub use tui_options::{TuiOptions, TuiStart};

/// Opens the screen and returns the exit code after it closes: 0 done or left, 1 error, 5 cancelled, 130 interrupted by
/// a signal.
///
/// # Errors
/// There is no usable terminal, or the directory cannot have any run.
pub async fn run_tui(opening: TuiOptions) -> Result<u8, StartError> {
    let signals = TuiSignals::listen().map_err(|error| cannot("listen for signals", &error))?;
    terminal::restore_on_panic(opening.display);
    let terminal = TerminalDriver::acquire(signals, opening.display)
        .map_err(|error| cannot("use the terminal", &error))?;
    let mut app = TuiApp::new(opening, terminal);
    let end = app.run_loop().await;
    app.shut_down_boxed(end).await
}

fn cannot(what: &str, error: &io::Error) -> StartError {
    StartError::new(format!("cannot {what}: {error}"), "")
}

/// The owners, and what connects them.
struct TuiApp {
    terminal: TerminalDriver,
    session: RunSession,
    starter: RunStarter,
    viewer: RunViewer,
    work: BackgroundWork,
    theme_saver: ThemeSaver,
    /// Receives commands of other processes, while this process has the lock.
    socket: Option<IpcServer>,
    /// In linear mode: the user's lines ended while something was starting.
    lines_have_ended: bool,
}

/// Everything that the loop reacts to.
enum LoopEvent {
    Terminal(TerminalEvent),
    RemoteRequest(PendingIpcRequest),
    Background(Result<BackgroundResult, JoinError>),
    Engine(EngineInput),
    DocumentChanged,
    ViewChanged,
    Timer,
}

impl TuiApp {
    fn new(opening: TuiOptions, terminal: TerminalDriver) -> Self {
        let settings = ScreenSettings {
            demo: matches!(opening.first, TuiStart::Demo { .. }),
            repository: opening.wishes.cwd.to_string_lossy().into_owned(),
            next_run: NextRunSettings {
                gate: opening.wishes.gate,
                mode: opening.wishes.mode,
                ..NextRunSettings::default()
            },
            theme: terminal::detect_theme(),
            utc_offset: local_timezone::local_timezone()
                .to_offset(jiff::Timestamp::now())
                .seconds(),
            appearance: match opening.display {
                DisplayMode::FullScreen => ScreenAppearance::default(),
                DisplayMode::Linear => ScreenAppearance::default().for_lines(),
            },
            ..ScreenSettings::default()
        };
        Self {
            terminal,
            session: RunSession::new(settings),
            starter: RunStarter::new(opening),
            viewer: RunViewer::default(),
            work: BackgroundWork::default(),
            theme_saver: ThemeSaver::default(),
            socket: None,
            lines_have_ended: false,
        }
    }

    /// Runs until something ends the loop. The first frame waits for nothing.
    async fn run_loop(&mut self) -> TuiEnd {
        if let Err(end) = self.draw() {
            return end;
        }
        if let Err(error) = self.terminal.start_input() {
            return TuiEnd::TerminalGone(error);
        }
        self.query_background();
        // Before the first child; it takes as long as the start of a shell.
        if let Err(error) = become_subreaper() {
            return TuiEnd::Refused(cannot("manage child processes", &error));
        }
        self.starter.open_directory(&mut self.work);
        loop {
            let next = self.next_event().await;
            self.sync_front();
            let handled = self.handle_event(next);
            let held = handled.and_then(|()| self.session.sync_turn_hold());
            let settled = held.and_then(|()| self.settle());
            if let Err(end) = settled {
                return end;
            }
        }
    }

    async fn next_event(&mut self) -> LoopEvent {
        let due = self.next_timer_at();
        let Self {
            terminal,
            session,
            viewer,
            work,
            socket,
            ..
        } = self;
        let (documents, engine) = session.event_sources();
        tokio::select! {
            biased;
            // The order is the priority: agent output must not delay signals and keys.
            event = terminal.next_event() => LoopEvent::Terminal(event),
            asked = next_request_if_listening(socket) => LoopEvent::RemoteRequest(asked),
            () = sleep_until_due(due) => LoopEvent::Timer,
            () = documents.changed() => LoopEvent::DocumentChanged,
            () = viewer.changed() => LoopEvent::ViewChanged,
            done = work.next_result() => LoopEvent::Background(done),
            inward = next_engine_input(engine) => LoopEvent::Engine(inward),
        }
    }

    fn handle_event(&mut self, next: LoopEvent) -> Result<(), TuiEnd> {
        match next {
            LoopEvent::Terminal(event) => self.on_terminal_event(event),
            LoopEvent::RemoteRequest(asked) => self.on_remote_request(asked),
            LoopEvent::Background(Ok(result)) => self.on_background_result(result),
            LoopEvent::Background(Err(_)) => Err(TuiEnd::Panicked),
            LoopEvent::Engine(inward) => self.session.on_engine_inputs(inward),
            LoopEvent::DocumentChanged => {
                self.session.on_documents_changed();
                Ok(())
            }
            LoopEvent::ViewChanged => {
                self.viewer.on_changed(Instant::now());
                Ok(())
            }
            LoopEvent::Timer => self.on_timer(),
        }
    }

    /// Passes on what the run has for other owners, and draws a frame if one is due.
    fn settle(&mut self) -> Result<(), TuiEnd> {
        let changes = self.session.take_changes();
        if changes.has_updates {
            let own = self.session.screen_and_drawn_run();
            let _told_with_the_next_frame = self.viewer.update_behind_notice(own);
        }
        if changes.is_urgent {
            self.terminal.request_prompt_frame();
        }
        if self.lines_have_ended {
            // What the start says is printed before the program leaves.
            self.draw()?;
            return self.on_end_of_lines();
        }
        self.draw_if_due()
    }

    /// Returns whether the directory was inspected, and is locked or viewed.
    fn has_opened_directory(&self) -> bool {
        self.session.project().is_some() || self.viewer.has_view()
    }

    /// Draws a frame if it is time.
    fn draw_if_due(&mut self) -> Result<(), TuiEnd> {
        let demand = self.frame_demand();
        if self.terminal.is_frame_due(demand) {
            self.draw()?;
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), TuiEnd> {
        let has_news = self.terminal.may_show_agent_output();
        if has_news {
            self.session.apply_updates();
        }
        // A user who views another run is still notified about their own.
        let own = self.session.screen_and_drawn_run();
        let behind = self.viewer.update_behind_notice(own);
        let own = self.session.screen_and_drawn_run();
        let front = self.viewer.active_screen(own);
        self.terminal.draw(front, behind.as_ref(), has_news)?;
        self.read_after_first_page();
        match self.viewer.scrollback(None) {
            Some(view) => view.read_requested(&mut self.work),
            None => self.session.scrollback().read_requested(&mut self.work),
        }
        Ok(())
    }

    /// Returns what waits for a frame.
    fn frame_demand(&mut self) -> FrameDemand {
        let own = self.session.screen();
        FrameDemand {
            screen_is_dirty: self.viewer.is_dirty().unwrap_or(own.is_dirty()),
            has_agent_output: self.session.has_waiting_output(),
        }
    }

    fn next_timer_at(&mut self) -> Option<Instant> {
        let demand = self.frame_demand();
        let moments = [
            self.terminal.next_timer_at(demand),
            self.session.next_timer_at(),
            self.viewer.next_refresh_at(),
        ];
        moments.into_iter().flatten().min()
    }

    fn on_timer(&mut self) -> Result<(), TuiEnd> {
        let now = Instant::now();
        if self.terminal.on_timer(now)? {
            // No frame will show them soon.
            self.session.apply_updates();
        }
        self.session.on_timer(now, &mut self.work);
        let (screen, state) = self.session.screen_and_state();
        screen.on_time(utc_time::now());
        if self.viewer.has_view() {
            screen.take_letter_back();
        }
        let actions = screen.act_on_due_letter(state);
        self.handle_actions(actions)?;
        if self.viewer.next_refresh_at().is_some_and(|at| at <= now) {
            self.viewer.refresh_base(&mut self.work);
        }
        if self.session.is_leave_due(now) {
            return Err(TuiEnd::Left);
        }
        Ok(())
    }

    fn on_background_result(&mut self, result: BackgroundResult) -> Result<(), TuiEnd> {
        // The user waits for each of these.
        self.terminal.request_prompt_frame();
        match result {
            BackgroundResult::Start(result) => return self.on_start_result(result),
            BackgroundResult::Run(result) => return self.session.on_result(result),
            BackgroundResult::View(result) => self.on_view_result(result),
            BackgroundResult::Terminal(result) => return self.on_terminal_result(result),
            BackgroundResult::Front(result) => front_run::show_result(result, self.front().0),
            BackgroundResult::CallRead(call) => return self.on_call_read(&call),
            BackgroundResult::Scrollback(result) => self.on_scrollback_page(result),
            BackgroundResult::WelcomeReady(welcome, runs) => {
                self.viewer.set_listed_runs(runs);
                self.session.screen().on_welcome(*welcome);
            }
            BackgroundResult::ThemeSaved(saved) => {
                let Self {
                    session,
                    viewer,
                    theme_saver,
                    work,
                    ..
                } = self;
                let note = theme_saver::override_note(session.project());
                let (screen, _) = viewer.active_screen(session.screen_and_state());
                theme_saver.on_saved(saved, &note, screen, work);
            }
        }
        Ok(())
    }

    fn on_start_result(&mut self, result: StartResult) -> Result<(), TuiEnd> {
        let Self {
            starter,
            session,
            work,
            ..
        } = self;
        match result {
            StartResult::DirectoryOpened(opened) => self.on_directory_opened(*opened),
            StartResult::RunStarted(attempt) => starter.on_run_started(*attempt, session, work),
            StartResult::GoalChecked(checked) => starter.on_goal_checked(checked, session, work),
            StartResult::RunUnarchived(attempt) => starter.on_unarchived(*attempt, session, work),
        }
    }

    fn on_directory_opened(
        &mut self,
        opened: Result<OpenedDirectory, StartError>,
    ) -> Result<(), TuiEnd> {
        let OpenedDirectory { mut looks, kind } = opened.map_err(TuiEnd::Refused)?;
        if self.terminal.is_linear() {
            looks.look = looks.look.for_lines();
        }
        self.terminal.configure(looks.motion, looks.notify);
        self.session.apply_ui_config(looks);
        match kind {
            OpenedDirectoryKind::ReadOnly(target) => {
                let (theme, appearance) = self.session.screen().chosen_appearance();
                let appearance = ScreenSettings {
                    theme,
                    appearance,
                    utc_offset: self.session.settings().utc_offset,
                    ..ScreenSettings::default()
                };
                self.viewer.open_base(*target, appearance, &mut self.work);
                self.sync_front();
                Ok(())
            }
            OpenedDirectoryKind::Locked(project, lies) => {
                self.session.open_project(*project, &mut self.work);
                self.listen_for_requests();
                self.viewer
                    .list_deferred_history(self.session.layout(), &mut self.work);
                self.starter
                    .start_first(lies, &mut self.session, &mut self.work)
            }
        }
    }

    /// Starts to accept commands of other processes.
    fn listen_for_requests(&mut self) {
        // Drop the old socket first: dropping it removes its file.
        self.socket = None;
        let Some(project) = self.session.project() else {
            return;
        };
        let (killed, notice) = project.find_killed_instances();
        let listening = IpcServer::listen(&project.layout, killed);
        let screen = self.session.screen();
        if let Some(notice) = notice {
            screen.add_chat_notice(&notice);
        }
        match listening {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => screen.on_notice(&format!(
                "`agent-collab send` cannot reach this instance: {error}"
            )),
        }
    }

    fn on_view_result(&mut self, result: ViewResult) {
        match result {
            ViewResult::Refreshed(refresh) => {
                if let Some(page) = self.viewer.on_refreshed(*refresh, &mut self.work) {
                    self.on_scrollback_page(page);
                }
            }
            ViewResult::History(runs) => {
                let own = self.session.screen_and_state();
                self.viewer.on_history(runs, own);
            }
            ViewResult::DirectoryFreed => self.viewer.on_directory_freed(&mut self.work),
        }
    }
}

async fn next_engine_input(engine: Option<&mut Engine>) -> EngineInput {
    match engine {
        Some(engine) => engine.next_input().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until_due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
