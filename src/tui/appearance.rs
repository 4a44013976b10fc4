//! How the screen looks and listens, by the user's own wish: themes, keys, the mouse, motion.
//!
//! Refuses to read a configuration: it is handed what one says.

use super::Screen;
use super::action::Action;
use super::dialogs;
use super::keymap::ActiveKeymap;
use super::theme::{ColorSupport, ColorTheme};

/// How the screen looks and listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenAppearance {
    /// The keys in force.
    pub keymap: ActiveKeymap,
    /// Who gets clicks and the wheel.
    pub mouse_capture: MouseCapture,
    /// All themes, in colours that the terminal shows.
    themes: Vec<ColorTheme>,
}

/// Who gets clicks and the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseCapture {
    /// The program.
    #[default]
    Taken,
    /// The terminal, whose own selection works then.
    Left,
}

impl Default for ScreenAppearance {
    fn default() -> Self {
        Self::new(ActiveKeymap::default(), Vec::new(), ColorSupport::TrueColor)
    }
}

impl ScreenAppearance {
    /// The program's themes and the user's own, in colours that the terminal shows.
    pub fn new(keymap: ActiveKeymap, own: Vec<ColorTheme>, depth: ColorSupport) -> Self {
        let themes = ColorTheme::built_in().chain(own);
        let themes = themes
            .map(|theme| theme.with_color_support(depth))
            .collect();
        let clicks = MouseCapture::default();
        Self {
            keymap,
            mouse_capture: clicks,
            themes,
        }
    }

    /// The same with clicks taken or left.
    #[must_use]
    pub fn with_mouse_capture(self, clicks: MouseCapture) -> Self {
        Self {
            mouse_capture: clicks,
            ..self
        }
    }

    /// All themes.
    pub fn themes(&self) -> &[ColorTheme] {
        &self.themes
    }

    /// The theme of this name.
    pub fn theme(&self, name: &str) -> Option<ColorTheme> {
        let theme = self.themes.iter().find(|theme| theme.name() == name);
        theme.cloned()
    }
}

impl Screen {
    /// Takes the user's wishes in, once they are known; the first frame does not wait for them.
    pub fn on_appearance(&mut self, look: ScreenAppearance) {
        self.is_dirty = true;
        self.settings.appearance = look;
        let shown = self.settings.appearance.theme(self.settings.theme.name());
        if let Some(theme) = shown {
            // Only a theme that was chosen by its name paints a ground.
            let is_fitted = self.settings.theme.uses_terminal_background();
            self.settings.theme = if is_fitted {
                theme.with_terminal_background()
            } else {
                theme
            };
        }
    }

    /// Lists the themes; whoever closes the list has the one from before again.
    pub(super) fn open_theme_list(&mut self) -> Vec<Action> {
        self.theme_before = Some(self.settings.theme.clone());
        let sheet =
            dialogs::theme_picker::build_dialog(&self.settings.theme, &self.settings.appearance);
        self.open_dialog(sheet)
    }

    /// Shows the theme from before the list of them was opened.
    pub(super) fn restore_theme(&mut self) {
        if let Some(theme) = self.theme_before.take() {
            self.settings.theme = theme;
        }
        self.apply_settings();
    }

    /// Shows the theme from before where the list of them is no longer there, whatever took its place.
    pub(super) fn end_theme_preview(&mut self) {
        let is_listed = self
            .own_dialog
            .as_ref()
            .is_some_and(dialogs::theme_picker::is_theme_picker);
        if self.theme_before.is_some() && !is_listed {
            self.restore_theme();
        }
    }

    /// Shows another theme, has it kept, and closes the list of them.
    pub(super) fn choose_theme(&mut self, name: &str) -> Vec<Action> {
        let Some(theme) = self.settings.appearance.theme(name) else {
            let themes = self.settings.appearance.themes();
            let names: Vec<&str> = themes.iter().map(ColorTheme::name).collect();
            return self.show_toast(&format!("/theme takes {}", names.join(", ")));
        };
        self.settings.theme = theme;
        self.theme_before = None;
        self.own_dialog = None;
        self.show_toast(&format!("theme {name}"));
        vec![Action::KeepTheme(name.to_owned())]
    }

    /// The user's wishes, as far as they are known.
    pub fn appearance(&self) -> ScreenAppearance {
        self.settings.appearance.clone()
    }

    /// The theme and the look by the user's own choice, for another screen; not a theme that is only pointed at.
    pub fn chosen_appearance(&self) -> (ColorTheme, ScreenAppearance) {
        let shown = &self.settings.theme;
        let theme = self.theme_before.as_ref().unwrap_or(shown);
        (theme.clone(), self.settings.appearance.clone())
    }

    /// Shows what was chosen on another screen.
    pub fn apply_appearance(&mut self, (theme, look): (ColorTheme, ScreenAppearance)) {
        self.is_dirty = true;
        self.theme_before = None;
        (self.settings.theme, self.settings.appearance) = (theme, look);
        self.apply_settings();
    }

    /// Fits the terminal's light ground, unless a theme was chosen.
    pub fn use_light_background(&mut self) {
        let light = self.settings.appearance.theme("light");
        if self.settings.theme == ColorTheme::default()
            && let Some(light) = light
        {
            self.on_theme(light.with_terminal_background());
        }
    }

    /// Who gets clicks and the wheel now.
    pub fn mouse_capture(&self) -> MouseCapture {
        self.settings.appearance.mouse_capture
    }

    /// Takes clicks and the wheel, or leaves them to the terminal.
    pub(super) fn toggle_mouse_capture(&mut self) -> Vec<Action> {
        let clicks = &mut self.settings.appearance.mouse_capture;
        let word;
        (*clicks, word) = match clicks {
            MouseCapture::Taken => (
                MouseCapture::Left,
                "the mouse is the terminal's now: a drag selects text",
            ),
            MouseCapture::Left => (
                MouseCapture::Taken,
                "the mouse works here now; with Shift held a drag selects text as ever",
            ),
        };
        let key = self.keymap().key_label("mouse", self.composer_focus);
        self.show_toast_with_keys(&format!("{word} · {key} changes it"))
    }

    pub(super) fn keymap(&self) -> &ActiveKeymap {
        &self.settings.appearance.keymap
    }
}
