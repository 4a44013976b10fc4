//! A key as the table has it: how it is written, and which event it is.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The key itself; letters in lower case.
    pub code: KeyCode,
    /// With what.
    pub modifiers: KeyModifiers,
}

/// A key by itself.
pub const fn plain(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::NONE,
    }
}

/// A letter or sign by itself.
pub const fn letter(c: char) -> Key {
    plain(KeyCode::Char(c))
}

/// A letter with Ctrl.
pub const fn ctrl(c: char) -> Key {
    Key {
        code: KeyCode::Char(c),
        modifiers: KeyModifiers::CONTROL,
    }
}

impl Key {
    /// The key as it is written in hints.
    pub fn name(self) -> String {
        match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) if self.modifiers.is_empty() => c.to_ascii_uppercase().to_string(),
            KeyCode::Char(c) => format!("Ctrl+{}", c.to_ascii_uppercase()),
            KeyCode::F(n) => format!("F{n}"),
            KeyCode::BackTab => "Shift+Tab".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Up => "↑".to_owned(),
            KeyCode::Down => "↓".to_owned(),
            other => format!("{other:?}"),
        }
    }

    /// Tells whether a key writes when the composer is focused.
    pub fn is_printable(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.modifiers.is_empty()
    }

    /// Tells whether an event is this key.
    pub fn is(self, event: &KeyEvent) -> bool {
        let code = match event.code {
            KeyCode::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
            other => other,
        };
        // Shift is part of a letter and of BackTab already.
        self.code == code && self.modifiers == event.modifiers - KeyModifiers::SHIFT
    }
}
