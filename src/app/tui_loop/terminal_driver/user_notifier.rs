//! Notifies a user who looks elsewhere: by the window title, a bell or a message.
//!
//! Once for each thing that needs the user and once for the end of the run, never while the window has focus. Does not
//! know what the notification is about.

use std::io;

use crate::app::terminal::TuiTerminal;
use crate::config::config_model::NotificationMethod;
use crate::tui::TerminalStatus;

/// The state of the notifications.
#[derive(Debug, Default)]
pub struct UserNotifier {
    /// False for terminals that do not report focus.
    pub is_elsewhere: bool,
    method: NotificationMethod,
    title: String,
    last_call: Option<String>,
}

impl UserNotifier {
    /// Sets the way of notifying.
    pub fn set_method(&mut self, how: NotificationMethod) {
        self.method = how;
    }

    /// Forgets the window title, because another program had the terminal.
    pub fn forget_title(&mut self) {
        self.title.clear();
    }

    /// Updates the title and notifies the user about a new alert.
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
