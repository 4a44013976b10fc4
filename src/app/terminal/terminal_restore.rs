//! The terminal lent to another program, and made again what it was, whatever became of that program.
//!
//! A full-screen program that is killed leaves its modes behind, and the next to take the terminal would take them for
//! the user's own. Refuses to know which program it is.

use std::io;

use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

use super::nonblocking_writer::write_final_text;

/// What switches off whatever editors and pagers switch on: a frame in its middle, colours, the mouse, focus events,
/// bracketed paste, keys of their own, the cursor's shape, the other screen. The wrapping of lines and the cursor come
/// back.
const RESET_MODES: &str = concat!(
    "\x1b\\\x1b[?2026l\x1b[0m",
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l",
    "\x1b[?1l\x1b>\x1b[0 q\x1b[?1049l\x1b[?7h\x1b[?25h",
);

/// How another program left the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalCondition {
    /// It ended by itself, and so has switched off what it switched on.
    Clean,
    /// As far as is known with all that it switched on.
    Unknown,
}

/// Tells whether the terminal belongs to another group of processes than ours.
fn is_owned_by_another_group() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp())
}

/// What the terminal was when it was lent.
#[derive(Debug)]
pub struct TerminalSnapshot {
    /// `None` where it could not be told.
    settings: Option<Termios>,
}

impl TerminalSnapshot {
    /// Notes what the terminal is now.
    pub fn capture() -> Self {
        Self {
            settings: tcgetattr(io::stdin()).ok(),
        }
    }

    /// Makes the terminal what it was. One that is gone cannot be told so.
    ///
    /// One that somebody else has by now, such as the shell that both were stopped in, is left to them: they have made it
    /// theirs, and the system stops whoever changes it from behind.
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
