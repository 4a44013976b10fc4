//! The terminal lent to another program, and made again what it was, whatever became of that program.
//!
//! A full-screen program that is killed leaves its modes behind, and the next to take the terminal would take them for
//! the user's own. Refuses to know which program it is.

use std::io;

use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

use super::way::say_last;

/// What switches off whatever editors and pagers switch on: a frame in its middle, colours, the mouse, focus events,
/// bracketed paste, keys of their own, the cursor's shape, the other screen. The wrapping of lines and the cursor come
/// back.
const OFF: &str = concat!(
    "\x1b\\\x1b[?2026l\x1b[0m",
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l",
    "\x1b[?1l\x1b>\x1b[0 q\x1b[?1049l\x1b[?7h\x1b[?25h",
);

/// How another program left the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It ended by itself, and so has switched off what it switched on.
    Tidy,
    /// As far as is known with all that it switched on.
    Anyhow,
}

/// Tells whether the terminal belongs to another group of processes than ours.
fn is_anothers() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp())
}

/// What the terminal was when it was lent.
#[derive(Debug)]
pub struct Lent {
    /// `None` where it could not be told.
    settings: Option<Termios>,
}

impl Lent {
    /// Notes what the terminal is now.
    pub fn begin() -> Self {
        Self {
            settings: tcgetattr(io::stdin()).ok(),
        }
    }

    /// Makes the terminal what it was. One that is gone cannot be told so.
    ///
    /// One that somebody else has by now, such as the shell that both were stopped in, is left to them: they have made it
    /// theirs, and the system stops whoever changes it from behind.
    pub fn end(self, left: Left) {
        if is_anothers() {
            return;
        }
        if left == Left::Anyhow {
            let _gone = say_last(OFF);
        }
        if let Some(settings) = self.settings {
            let _gone = tcsetattr(io::stdin(), SetArg::TCSANOW, &settings);
        }
    }
}
