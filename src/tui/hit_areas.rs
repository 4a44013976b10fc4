//! What the last frame had where: the places that can be clicked, and the size of the window.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::clickable_keys::{self, KeyHintAreas};
use super::command::ScreenCommand;
use super::composer::ComposerSpacing;
use super::keymap::KeyChord;
use super::tab_kind::TabKind;
use super::welcome_page::CenteredWelcome;

/// The area of each hint, and the command of its key.
pub type FooterButtons = Vec<(Rect, ScreenCommand)>;

/// The areas of the last frame that can be clicked.
#[derive(Debug, Default)]
pub struct ScreenHitAreas {
    /// The tab, or the pager in its place.
    pub body: Rect,
    pub composer: Rect,
    pub window_columns: u16,
    /// Whether the sidebar is beside the tab.
    pub has_sidebar: bool,
    pub composer_spacing: ComposerSpacing,
    /// The parts of the welcome page around the composer, in a large window.
    pub welcome: Option<CenteredWelcome>,
    pub tabs: Vec<(Rect, TabKind)>,
    pub dialog: Rect,
    /// Whether the dialog is reduced to a line, which shows no choices and takes no answer.
    pub is_dialog_folded: bool,
    pub choices: Vec<(Rect, usize)>,
    /// The rows of the suggestions.
    pub completion: Vec<(Rect, usize)>,
    /// The recent runs on the welcome page, by index.
    pub runs: Vec<(Rect, usize)>,
    pub buttons: FooterButtons,
    /// The commands whose keys the footer names.
    pub footer_commands: Vec<ScreenCommand>,
    /// The key hints anywhere else.
    pub hints: KeyHintAreas,
    /// What the footer says of the present; a click goes to what waits for the user.
    pub need: Rect,
}

impl ScreenHitAreas {
    /// Collects the key hints of a finished frame and removes their marks. Outside an open palette, which lies in
    /// `only`, there are none, because a click there closes it.
    pub fn collect_hints(&mut self, buffer: &mut Buffer, only: Option<Rect>) {
        self.hints = clickable_keys::extract_hint_areas(buffer);
        if let Some(area) = only {
            let hints = &mut self.hints;
            hints.retain(|(place, _)| area.contains(place.as_position()));
        }
    }

    /// Returns whether choices of the dialog stand side by side.
    pub fn has_buttons(&self) -> bool {
        let mut pairs = self.choices.windows(2);
        pairs.any(|pair| matches!(pair, [(one, _), (next, _)] if one.y == next.y))
    }

    /// Returns the key of the hint at a position.
    pub fn hint_key_at(&self, at: Position) -> Option<KeyChord> {
        let mut hit = self.hints.iter().filter(|(place, _)| place.contains(at));
        hit.next().map(|(_, key)| *key)
    }
}
