//! Ends the run with the program: stops its turn, records why, and lets its conversations end in time.

use std::time::Duration;

use crossterm::event::Event as Input;
use tokio::time::{Instant, sleep_until, timeout};

use crate::app::headless::exit_code;
use crate::app::oneshot_engine::SHUTDOWN_TIMEOUT;
use crate::app::startup::StartError;
use crate::domain::event::Event;
use crate::domain::run::RunState;
use crate::engine::EngineOutcome;
use crate::tui::{Action, Screen};

use super::super::terminal_driver::{TerminalDriver, TerminalEvent, TuiSignal};
use super::super::tui_end::TuiEnd;
use super::RunSession;
use super::exit_message::exit_message;

/// Time that a turn gets to end by its CLI's protocol when the user leaves.
const LEAVE_GRACE: Duration = Duration::from_secs(2);
/// The same after a signal: everything must end within two seconds.
const SIGNAL_GRACE: Duration = Duration::from_millis(600);
const SIGNAL_SHUT_DOWN: Duration = Duration::from_millis(500);

impl RunSession {
    /// Returns whether the user wants to leave and a turn gets its time to end.
    pub fn is_leaving(&self) -> bool {
        self.leave_at.is_some()
    }

    /// Interrupts the turn, because the user leaves.
    pub fn leave(&mut self) -> Result<(), TuiEnd> {
        self.leave_at = Some(Instant::now() + LEAVE_GRACE);
        self.screen
            .on_notice("You quit. Everything is saved and can be resumed.");
        self.feed_event(Event::ProgramExited {
            reason: "the user left".to_owned(),
        })
    }

    /// Saves what the user typed but did not send.
    pub fn save_draft(&mut self) {
        self.screen.remember_draft();
        self.save_composer_history();
    }

    /// Records why the program ends, unless the run is over or knows it already.
    pub fn record_exit(&mut self, reason: Option<String>) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let over = engine.outcome().is_some() || self.leave_at.is_some();
        if let Some(reason) = reason.filter(|_| !over)
            && let Err(error) = engine.apply_event(Event::ProgramExited { reason })
        {
            tracing::error!(%error, "Could not record the end of the program.");
        }
    }

    /// Lets conversations end by their protocol while the last frame is shown; Ctrl+C cuts it short.
    pub async fn end_gracefully(&mut self, terminal: &mut TerminalDriver) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let state = engine.state().clone();
        let ended = timeout(SHUTDOWN_TIMEOUT, engine.shut_down());
        tokio::pin!(ended);
        loop {
            tokio::select! {
                biased;
                event = terminal.next_event() => match event {
                    TerminalEvent::Inputs(Ok(inputs)) => {
                        if has_quit_key(&mut self.screen, inputs, &state) {
                            return;
                        }
                    }
                    TerminalEvent::Signal(TuiSignal::End(_))
                    | TerminalEvent::Inputs(Err(_)) => return,
                    TerminalEvent::Signal(
                        TuiSignal::Stop | TuiSignal::Continued | TuiSignal::Resized,
                    )
                    | TerminalEvent::Panicked
                    | TerminalEvent::SpinnerTick
                    | TerminalEvent::Line(_) => {}
                },
                _ = &mut ended => return,
            }
        }
    }

    /// Ends the turn and the conversations in the time after a signal.
    pub async fn end_quickly(&mut self) {
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

    /// Returns the line that stays in the terminal; the demo prints its own.
    pub fn exit_message(&self) -> Option<String> {
        let engine = self.engine.as_ref().filter(|_| !self.settings.demo)?;
        exit_message(engine.state(), engine.journal().layout())
    }

    /// Returns the exit code of the program for this run.
    ///
    /// # Errors
    /// The run was halted.
    pub fn exit_code(&self) -> Result<u8, StartError> {
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

/// Gives the keys to the screen; returns whether one of them quits.
fn has_quit_key(screen: &mut Screen, inputs: Vec<Input>, state: &RunState) -> bool {
    let is_quit = |action: &Action| matches!(action, Action::Quit(_));
    inputs.into_iter().any(|input| match input {
        Input::Key(key) => screen.on_key(key, Some(state)).iter().any(is_quit),
        _ => false,
    })
}
