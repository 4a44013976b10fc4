//! Shuts the screen down: the terminal first, then the child processes, then the final message. A program that has the
//! terminal ends together with the children; the terminal is restored after that.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep_until, timeout};

use crate::app::oneshot_engine::{SHUTDOWN_TIMEOUT, terminate_remaining_processes};
use crate::app::startup::StartError;
use crate::app::terminal::{TerminalCondition, write_final_text};
use crate::domain::event::Event;
use crate::engine::{Engine, EngineError, EngineOutcome};
use crate::tui::{Action, QuitStep};

use super::exit_message::exit_message;
use super::{Input, TuiApp, TuiSignal, external_editor};
use crate::app::headless::exit_code;

/// Time that a turn gets to end by its CLI's protocol when the user leaves.
const LEAVE_GRACE: Duration = Duration::from_secs(2);
/// The same after a signal: everything must end within two seconds.
const SIGNAL_GRACE: Duration = Duration::from_millis(600);
const SIGNAL_SHUT_DOWN: Duration = Duration::from_millis(500);

/// The reason why the screen ends.
#[derive(Debug)]
pub enum TuiEnd {
    /// The user left, and everything has ended or had its time.
    Left,
    /// The user wants everything killed now.
    Killed,
    Signalled(&'static str),
    /// The terminal cannot be read or written any more.
    TerminalGone(io::Error),
    /// No run is possible here.
    Refused(StartError),
    /// The run's log cannot be written.
    Failed(EngineError),
    /// A panic restored the terminal and printed its message.
    Panicked,
}

/// How long the shutdown may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TuiShutdownMode {
    /// The user sees it and can cut it short.
    Interactive,
    /// The limits after a signal.
    Brief,
    /// No waiting.
    Immediate,
}

impl TuiEnd {
    fn shutdown_mode(&self) -> TuiShutdownMode {
        match self {
            Self::Left => TuiShutdownMode::Interactive,
            Self::Signalled(_) | Self::TerminalGone(_) | Self::Panicked => TuiShutdownMode::Brief,
            Self::Killed | Self::Refused(_) | Self::Failed(_) => TuiShutdownMode::Immediate,
        }
    }

    /// Returns the reason to record; `None` if it is recorded already or nothing is to be recorded.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Signalled(name) => Some(format!("interrupted by {name}")),
            Self::TerminalGone(error) => Some(format!("the terminal is gone: {error}")),
            Self::Panicked => Some("an error in the program".to_owned()),
            Self::Killed => Some("the user left at once".to_owned()),
            Self::Left | Self::Refused(_) | Self::Failed(_) => None,
        }
    }
}

impl From<EngineError> for TuiEnd {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl TuiApp {
    /// Leaves at once if nothing runs. Otherwise interrupts the turn after the user has confirmed, and kills it on the
    /// next request.
    pub(super) fn on_quit(&mut self, step: QuitStep) -> Result<Option<TuiEnd>, TuiEnd> {
        // A user who views another run is asked on the screen of the run that would end.
        let state = self.engine.as_ref().map(Engine::state);
        if step == QuitStep::Ask
            && self.views.has_opened_run()
            && self.screen.open_quit_dialog(state)
        {
            return Ok(self.close_view());
        }
        if step == QuitStep::Now || self.leave_at.is_some() {
            return Ok(Some(TuiEnd::Killed));
        }
        if !self.is_busy() {
            return Ok(Some(TuiEnd::Left));
        }
        self.leave_at = Some(Instant::now() + LEAVE_GRACE);
        // The run's own screen shows how it ends.
        self.close_view();
        self.screen.on_notice(
            "Quitting: the turn is stopped (TERM, then KILL). Everything is saved and can be resumed.",
        );
        self.feed_event(Event::ProgramExited {
            reason: "the user left".to_owned(),
        })
    }

    /// Ends everything and returns the exit code.
    ///
    /// Boxed and separate from the main loop: otherwise the loop's stack and memory would have room for both from the
    /// start.
    pub(super) fn shut_down_boxed(
        self,
        end: TuiEnd,
    ) -> Pin<Box<dyn Future<Output = Result<u8, StartError>>>> {
        Box::pin(self.shut_down(end))
    }

    async fn shut_down(mut self, end: TuiEnd) -> Result<u8, StartError> {
        self.closed.cancel();
        // Reading from a terminal that is gone would never end.
        if !matches!(end, TuiEnd::TerminalGone(_)) {
            self.background_query.drain_reply();
        }
        let patience = match (&self.input, end.shutdown_mode()) {
            // The user cannot see the shutdown while an editor has the terminal.
            (None, TuiShutdownMode::Interactive) => TuiShutdownMode::Brief,
            (_, patience) => patience,
        };
        let is_lent = self.input.is_none();
        if !is_lent && patience != TuiShutdownMode::Interactive {
            self.release_terminal();
        }
        self.screen.remember_draft();
        self.save_input_history();
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
        self.record_exit(&end);
        if is_lent {
            tokio::join!(external_editor::terminate_editor(), self.end_run(patience));
            self.terminal
                .restore_after_program(TerminalCondition::Unknown);
        } else {
            self.end_run(patience).await;
        }
        self.release_terminal();
        self.tasks.shutdown().await;
        if self.engine.is_some() {
            terminate_remaining_processes().await;
        }
        self.print_exit_message(&end);
        match end {
            TuiEnd::Left | TuiEnd::Killed => self.exit_code(),
            TuiEnd::Signalled(_) | TuiEnd::TerminalGone(_) => Ok(130),
            TuiEnd::Panicked => Ok(101),
            TuiEnd::Refused(refusal) => Err(refusal),
            TuiEnd::Failed(error) => {
                Err(StartError::new(&error, "what was recorded so far is saved"))
            }
        }
    }

    /// Prints the final line to the terminal; the demo prints its own.
    fn print_exit_message(&self, end: &TuiEnd) {
        let is_told = match end {
            TuiEnd::Left | TuiEnd::Killed | TuiEnd::Signalled(_) => !self.settings.demo,
            TuiEnd::TerminalGone(_) | TuiEnd::Refused(_) | TuiEnd::Failed(_) | TuiEnd::Panicked => {
                false
            }
        };
        let engine = self.engine.as_ref().filter(|_| is_told);
        let told = |engine: &Engine| exit_message(engine.state(), engine.journal().layout());
        if let Some(line) = engine.and_then(told) {
            // The terminal may be gone with the signal.
            let _gone = write_final_text(&format!("{line}\n"));
        }
    }

    fn release_terminal(&mut self) {
        self.input = None;
        // Errors are ignored: the terminal may be gone.
        let _gone = self.terminal.release();
    }

    fn record_exit(&mut self, end: &TuiEnd) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let over = engine.outcome().is_some() || self.leave_at.is_some();
        if let Some(reason) = end.reason().filter(|_| !over)
            && let Err(error) = engine.apply_event(Event::ProgramExited { reason })
        {
            tracing::error!(%error, "Could not record the end of the program.");
        }
    }

    async fn end_run(&mut self, patience: TuiShutdownMode) {
        match patience {
            TuiShutdownMode::Interactive => self.end_run_gracefully().await,
            TuiShutdownMode::Brief => self.end_run_quickly().await,
            TuiShutdownMode::Immediate => {}
        }
    }

    /// Lets conversations end by their protocol while the last frame is shown; Ctrl+C cuts it short.
    async fn end_run_gracefully(&mut self) {
        let Self {
            engine: Some(engine),
            input: Some(input),
            signals,
            screen,
            ..
        } = self
        else {
            return;
        };
        let state = engine.state().clone();
        let ended = timeout(SHUTDOWN_TIMEOUT, engine.shut_down());
        tokio::pin!(ended);
        loop {
            tokio::select! {
                biased;
                signalled = signals.next_signal() => match signalled {
                    TuiSignal::End(_) => return,
                    TuiSignal::Stop | TuiSignal::Continued | TuiSignal::Resized => {}
                },
                event = input.next() => match event {
                    Some(Ok(Input::Key(key))) => {
                        let is_quit = |action: &Action| matches!(action, Action::Quit(_));
                        if screen.on_key(key, Some(&state)).iter().any(is_quit) {
                            return;
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
                _ = &mut ended => return,
            }
        }
    }

    async fn end_run_quickly(&mut self) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let deadline = Instant::now() + SIGNAL_GRACE;
        while engine.state().running.is_some() {
            tokio::select! {
                inward = engine.next_input() => if engine.handle_input(inward).is_err() { break },
                () = sleep_until(deadline) => break,
            }
        }
        let _late = timeout(SIGNAL_SHUT_DOWN, engine.shut_down()).await;
    }

    fn exit_code(&self) -> Result<u8, StartError> {
        let Some(engine) = &self.engine else {
            return Ok(0);
        };
        match engine.outcome() {
            Some(EngineOutcome::Halted(reason)) => {
                Err(StartError::new(reason, "the run is saved as it is"))
            }
            // A run that is over has its own exit code.
            Some(EngineOutcome::Finished) | None => Ok(exit_code(engine.state())),
        }
    }
}
