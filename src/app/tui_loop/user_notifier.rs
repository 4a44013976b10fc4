//! Tells a user who looks elsewhere that they are needed: by the window's title, a bell, a message.
//!
//! Once for each thing that waits and once for the run's end, and never while the window is looked at. Refuses to know
//! what that is.

use std::io;

use crate::app::terminal::TuiTerminal;
use crate::config::config_model::NotificationMethod;
use crate::tui::TerminalStatus;

/// What was told.
#[derive(Debug, Default)]
pub struct UserNotifier {
    /// A terminal that does not tell of its focus is looked at.
    pub is_elsewhere: bool,
    method: NotificationMethod,
    title: String,
    last_call: Option<String>,
}

impl UserNotifier {
    /// Tells it in this way from now on.
    pub fn set_method(&mut self, how: NotificationMethod) {
        self.method = how;
    }

    /// Takes into account that another program had the terminal: its title is not this one's any more.
    pub fn forget_title(&mut self) {
        self.title.clear();
    }

    /// Tells what is new outside of a frame.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn update(
        &mut self,
        outside: &TerminalStatus,
        terminal: &mut TuiTerminal,
    ) -> io::Result<()> {
        if outside.title != self.title {
            self.title.clone_from(&outside.title);
            terminal.set_title(&outside.title)?;
        }
        let calls = outside.alert.as_ref();
        if calls.map(|(id, _)| id) == self.last_call.as_ref() {
            return Ok(());
        }
        self.last_call = calls.map(|(id, _)| id.clone());
        match calls.filter(|_| self.is_elsewhere) {
            Some((_, text)) => terminal.notify_user(self.method, text),
            None => Ok(()),
        }
    }
}
