//! The signals that end a program without a screen.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::write_watchdog::exit_on_signal_if_stuck;

/// Whether the end of the program waits for its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadlessShutdownMode {
    /// Wait for the shutdown.
    Graceful,
    /// Skip the wait, after a second signal.
    Immediate,
}

/// The signals that end a program without a screen.
pub struct HeadlessSignals {
    pub shutdown_mode: HeadlessShutdownMode,
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// The last signal received.
    last: Option<&'static str>,
}

impl HeadlessSignals {
    /// Installs handlers for SIGINT, SIGTERM and SIGHUP.
    pub fn listen() -> std::io::Result<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        exit_on_signal_if_stuck(&kinds)?;
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self {
            shutdown_mode: HeadlessShutdownMode::Graceful,
            interrupt: interrupt?,
            terminate: terminate?,
            hangup: hangup?,
            last: None,
        })
    }

    /// Waits for the next signal and returns its name. Cancel safe.
    pub async fn next_signal(&mut self) -> &'static str {
        let name = tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
        };
        self.last = Some(name);
        name
    }

    pub fn last_signal(&self) -> Option<&'static str> {
        self.last
    }
}
