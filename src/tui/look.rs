//! How the screen looks and listens, by the user's own wish: themes, keys, the mouse, motion.
//!
//! Refuses to read a configuration: it is handed what one says.

use super::Screen;
use super::action::Action;
use super::keymap::Keymap;
use super::theme::{Depth, Theme};

/// How the screen looks and listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The keys in force.
    pub keymap: Keymap,
    /// Who gets clicks and the wheel.
    pub clicks: Clicks,
    /// All themes, in colours that the terminal shows.
    themes: Vec<Theme>,
}

/// Who gets clicks and the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clicks {
    /// The program.
    #[default]
    Taken,
    /// The terminal, whose own selection works then.
    Left,
}

impl Default for Look {
    fn default() -> Self {
        Self::new(Keymap::default(), Vec::new(), Depth::All)
    }
}

impl Look {
    /// The program's themes and the user's own, in colours that the terminal shows.
    pub fn new(keymap: Keymap, own: Vec<Theme>, depth: Depth) -> Self {
        let themes = Theme::shipped().chain(own);
        let themes = themes.map(|theme| theme.in_depth(depth)).collect();
        let clicks = Clicks::default();
        Self {
            keymap,
            clicks,
            themes,
        }
    }

    /// The same with clicks taken or left.
    #[must_use]
    pub fn with_clicks(self, clicks: Clicks) -> Self {
        Self { clicks, ..self }
    }

    /// All themes.
    pub fn themes(&self) -> &[Theme] {
        &self.themes
    }

    /// The theme of this name.
    pub fn theme(&self, name: &str) -> Option<Theme> {
        let theme = self.themes.iter().find(|theme| theme.name() == name);
        theme.cloned()
    }
}

impl Screen {
    /// Takes the user's wishes in, once they are known; the first frame does not wait for them.
    pub fn on_look(&mut self, look: Look) {
        self.dirty = true;
        self.settings.look = look;
        let shown = self.settings.look.theme(self.settings.theme.name());
        if let Some(theme) = shown {
            self.settings.theme = theme;
        }
        self.settle();
    }

    /// The user's wishes, as far as they are known.
    pub fn look(&self) -> Look {
        self.settings.look.clone()
    }

    /// Who gets clicks and the wheel now.
    pub fn clicks(&self) -> Clicks {
        self.settings.look.clicks
    }

    /// Takes clicks and the wheel, or leaves them to the terminal.
    pub(super) fn turn_clicks(&mut self) -> Vec<Action> {
        let clicks = &mut self.settings.look.clicks;
        let word;
        (*clicks, word) = match clicks {
            Clicks::Taken => (
                Clicks::Left,
                "the mouse is the terminal's now: a drag selects text",
            ),
            Clicks::Left => (
                Clicks::Taken,
                "the mouse works here now; with Shift held a drag selects text as ever",
            ),
        };
        let key = self.keymap().named("mouse", self.writing);
        self.refuse(&format!("{word} · {key} changes it"))
    }

    pub(super) fn keymap(&self) -> &Keymap {
        &self.settings.look.keymap
    }
}
