//! Restores the terminal after another program used it, even if that program was killed.
//!
//! A full-screen program that is killed leaves its modes on, and the next program would take them for the user's own.

use std::io;

use nix::errno::Errno;
use nix::sys::signal::killpg;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

use super::nonblocking_writer::write_final_text;

/// Switches off whatever editors and pagers switch on: an unfinished frame, colours, the mouse, focus events, bracketed
/// paste, application keys, the cursor's shape, the alternate screen. Switches line wrap and the cursor on.
const RESET_MODES: &str = concat!(
    "\x1b\\\x1b[?2026l\x1b[0m",
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l",
    "\x1b[?1l\x1b>\x1b[0 q\x1b[?1049l\x1b[?7h\x1b[?25h",
);

/// The state in which another program left the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalCondition {
    /// The program ended by itself, so it has switched off its modes.
    Clean,
    /// The program may have left all its modes on.
    Unknown,
}

/// Returns whether the terminal belongs to another process group, such as the shell after this program was stopped.
pub fn is_owned_by_another_group() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp())
}

/// Returns whether no process is left of the group that the terminal belongs to, so that nobody gives it back.
pub fn is_owner_gone() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| killpg(group, None) == Err(Errno::ESRCH))
}

/// The terminal's settings before another program used it.
#[derive(Debug)]
pub struct TerminalSnapshot {
    /// `None` if they could not be read.
    settings: Option<Termios>,
}

impl TerminalSnapshot {
    /// Reads the current settings.
    pub fn capture() -> Self {
        Self {
            settings: tcgetattr(io::stdin()).ok(),
        }
    }

    /// Restores the settings. Errors are ignored: the terminal may be gone.
    ///
    /// Does nothing if another process group has the terminal now, such as the shell after both were stopped: it has
    /// made its own settings, and the system stops a background process that changes them.
    pub fn restore(self, left: TerminalCondition) {
        if is_owned_by_another_group() {
            return;
        }
        if left == TerminalCondition::Unknown {
            let _gone = write_final_text(RESET_MODES);
        }
        if let Some(settings) = self.settings {
            let _gone = tcsetattr(io::stdin(), SetArg::TCSANOW, &settings);
        }
    }
}
