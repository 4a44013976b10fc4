//! The signals that the screen handles.

use std::io;

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::write_watchdog::exit_on_signal_if_stuck;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuiSignal {
    /// End the program; the signal's name.
    End(&'static str),
    /// Stop the program until it is continued.
    Stop,
    /// The program was continued; others may have used the terminal meanwhile.
    Continued,
    /// The window size changed.
    Resized,
}

/// The signals that the screen handles.
pub struct TuiSignals {
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    hangup: Signal,
    stop: Signal,
    continued: Signal,
    resized: Signal,
}

impl TuiSignals {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// The system reports an error.
    pub fn listen() -> io::Result<Self> {
        // Without the keyboard's signals: they may be meant for an editor.
        exit_on_signal_if_stuck(&[SignalKind::terminate(), SignalKind::hangup()])?;
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(Number::SIGTSTP as i32))?,
            continued: signal(SignalKind::from_raw(Number::SIGCONT as i32))?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    /// Waits for the next signal. Cancel safe.
    pub async fn next_signal(&mut self) -> TuiSignal {
        tokio::select! {
            biased;
            _ = self.hangup.recv() => TuiSignal::End("SIGHUP"),
            _ = self.terminate.recv() => TuiSignal::End("SIGTERM"),
            _ = self.interrupt.recv() => TuiSignal::End("SIGINT"),
            _ = self.quit.recv() => TuiSignal::End("SIGQUIT"),
            _ = self.stop.recv() => TuiSignal::Stop,
            _ = self.continued.recv() => TuiSignal::Continued,
            _ = self.resized.recv() => TuiSignal::Resized,
        }
    }
}
