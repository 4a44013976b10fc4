//! The signals that reach the program while it holds the terminal.

use std::io;

use nix::sys::signal::{Signal as Number, raise};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Shell;
use super::ending::End;
use super::frames::Wanted;
use crate::app::unread::last_resort;

/// What a signal wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalled {
    /// The program shall end; the signal's name.
    End(&'static str),
    /// The program shall stop until it is continued.
    Stop,
    /// The program was continued; others may have used the terminal meanwhile.
    Continued,
    /// The window has another size. Told here too: the reader of keys can miss the last of many.
    Resized,
}

/// The signals that are listened to.
pub struct Signals {
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    hangup: Signal,
    stop: Signal,
    continued: Signal,
    resized: Signal,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> io::Result<Self> {
        // Those of the keyboard may be meant for an editor.
        last_resort(&[SignalKind::terminate(), SignalKind::hangup()])?;
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

    /// Waits for the next one. Cancel safe.
    pub async fn next(&mut self) -> Signalled {
        tokio::select! {
            biased;
            _ = self.hangup.recv() => Signalled::End("SIGHUP"),
            _ = self.terminate.recv() => Signalled::End("SIGTERM"),
            _ = self.interrupt.recv() => Signalled::End("SIGINT"),
            _ = self.quit.recv() => Signalled::End("SIGQUIT"),
            _ = self.stop.recv() => Signalled::Stop,
            _ = self.continued.recv() => Signalled::Continued,
            _ = self.resized.recv() => Signalled::Resized,
        }
    }
}

impl Shell {
    pub(super) fn on_signal(&mut self, signalled: Signalled) -> Result<Option<End>, End> {
        match signalled {
            // An editor in the foreground gets its own; ours was not meant.
            Signalled::End("SIGINT" | "SIGQUIT") if self.input.is_none() => Ok(None),
            Signalled::End(name) => Ok(Some(End::Signalled(name))),
            Signalled::Stop => self.suspend(),
            Signalled::Continued => self.come_back(),
            Signalled::Resized => {
                self.touch();
                self.wanted = Wanted::ForUser;
                Ok(None)
            }
        }
    }

    /// Gives the terminal back and stops; the signal that continues it takes the terminal again.
    pub(super) fn suspend(&mut self) -> Result<Option<End>, End> {
        self.ground.settle();
        self.terminal.give_back().map_err(End::TerminalGone)?;
        stop_here().map_err(End::TerminalGone)?;
        Ok(None)
    }

    fn come_back(&mut self) -> Result<Option<End>, End> {
        if self.input.is_some() {
            self.terminal.take_again().map_err(End::TerminalGone)?;
            self.telling.forget_title();
            self.touch();
            self.wanted = Wanted::ForUser;
        }
        Ok(None)
    }
}

/// Stops this process until somebody continues it.
///
/// # Errors
/// The system refuses.
fn stop_here() -> io::Result<()> {
    raise(Number::SIGSTOP).map_err(io::Error::from)
}
