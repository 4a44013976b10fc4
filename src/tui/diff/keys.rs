//! The keys of the diff view: one table for what they do, the footer and the help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key of the view does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// The diff before, in the strip.
    Left,
    /// The next one.
    Right,
    /// The file before.
    FileBefore,
    /// The next file.
    FileAfter,
    /// A line up.
    Up,
    /// A line down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first line.
    Top,
    /// To the last line.
    End,
    /// Looks again.
    Again,
    /// Closes the view.
    Close,
}

/// One line of the table.
pub struct DiffKey {
    codes: &'static [KeyCode],
    does: Does,
    /// The keys as they are written, with those of the next line where they belong together; empty
    /// where the line before names them.
    pub name: &'static str,
    /// One or two words for the footer.
    pub hint: &'static str,
}

const fn key(
    codes: &'static [KeyCode],
    does: Does,
    name: &'static str,
    hint: &'static str,
) -> DiffKey {
    DiffKey {
        codes,
        does,
        name,
        hint,
    }
}

use KeyCode::{BackTab, Char, Down, End, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up};

/// All keys, in the order of the footer.
pub const KEYS: &[DiffKey] = &[
    key(&[Char('q'), Esc, Char('d')], Does::Close, "Q", "close"),
    key(&[Left, BackTab, Char('h')], Does::Left, "← →", "step"),
    key(&[Right, Tab, Char('l')], Does::Right, "", ""),
    key(&[Char('['), Char('N')], Does::FileBefore, "[ ]", "file"),
    key(&[Char(']'), Char('n')], Does::FileAfter, "", ""),
    key(&[Up, Char('k')], Does::Up, "↑ ↓", "line"),
    key(&[Down, Char('j')], Does::Down, "", ""),
    key(&[PageUp, Char('b')], Does::PageUp, "PgUp PgDn", "page"),
    key(&[PageDown, Char(' ')], Does::PageDown, "", ""),
    key(&[Home, Char('g')], Does::Top, "Home End", "ends"),
    key(&[End, Char('G')], Does::End, "", ""),
    key(&[Char('r')], Does::Again, "R", "look again"),
];

/// Finds what a key does.
pub fn find(event: &KeyEvent) -> Option<Does> {
    if event.modifiers - KeyModifiers::SHIFT != KeyModifiers::NONE {
        return None;
    }
    // An upper-case letter is its own key where it has one, else the letter's.
    let lower = match event.code {
        Char(c) => Char(c.to_ascii_lowercase()),
        other => other,
    };
    let has = |code: KeyCode| KEYS.iter().find(|key| key.codes.contains(&code));
    has(event.code).or_else(|| has(lower)).map(|key| key.does)
}
