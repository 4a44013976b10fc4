//! How the screen looks and listens, by the user's own wish: themes, keys, the mouse, motion.
//!
//! Refuses to read a configuration: it is handed what one says.

use super::Screen;
use super::action::Action;
use super::dialogs;
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
            // Only a theme that was chosen by its name paints a ground.
            let is_fitted = self.settings.theme.is_on_the_terminals_ground();
            self.settings.theme = match is_fitted {
                true => theme.on_the_terminals_ground(),
                false => theme,
            };
        }
    }

    /// Lists the themes; whoever closes the list has the one from before again.
    pub(super) fn list_themes(&mut self) -> Vec<Action> {
        self.theme_before = Some(self.settings.theme.clone());
        let sheet = dialogs::themes::sheet(&self.settings.theme, &self.settings.look);
        self.ask(sheet)
    }

    /// Shows the theme from before the list of them was opened.
    pub(super) fn bring_theme_back(&mut self) {
        if let Some(theme) = self.theme_before.take() {
            self.settings.theme = theme;
        }
        self.settle();
    }

    /// Shows the theme from before where the list of them is no longer there, whatever took its place.
    pub(super) fn leave_themes(&mut self) {
        let is_listed = self.own.as_ref().is_some_and(dialogs::themes::is_list);
        if self.theme_before.is_some() && !is_listed {
            self.bring_theme_back();
        }
    }

    /// Shows another theme, has it kept, and closes the list of them.
    pub(super) fn choose_theme(&mut self, name: &str) -> Vec<Action> {
        let Some(theme) = self.settings.look.theme(name) else {
            let themes = self.settings.look.themes();
            let names: Vec<&str> = themes.iter().map(Theme::name).collect();
            return self.refuse(&format!("/theme takes {}", names.join(", ")));
        };
        self.settings.theme = theme;
        self.theme_before = None;
        self.own = None;
        self.refuse(&format!("theme {name}"));
        vec![Action::KeepTheme(name.to_owned())]
    }

    /// The user's wishes, as far as they are known.
    pub fn look(&self) -> Look {
        self.settings.look.clone()
    }

    /// The theme and the look by the user's own choice, for another screen; not a theme that is only pointed at.
    pub fn dress(&self) -> (Theme, Look) {
        let shown = &self.settings.theme;
        let theme = self.theme_before.as_ref().unwrap_or(shown);
        (theme.clone(), self.settings.look.clone())
    }

    /// Shows what was chosen on another screen.
    pub fn dress_in(&mut self, (theme, look): (Theme, Look)) {
        self.dirty = true;
        self.theme_before = None;
        (self.settings.theme, self.settings.look) = (theme, look);
        self.settle();
    }

    /// Fits the terminal's light ground, unless a theme was chosen.
    pub fn fit_light_ground(&mut self) {
        let light = self.settings.look.theme("light");
        if self.settings.theme == Theme::default()
            && let Some(light) = light
        {
            self.on_theme(light.on_the_terminals_ground());
        }
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
        self.refuse_naming_keys(&format!("{word} · {key} changes it"))
    }

    pub(super) fn keymap(&self) -> &Keymap {
        &self.settings.look.keymap
    }
}
