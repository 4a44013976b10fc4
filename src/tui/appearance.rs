//! The user's settings for the screen: theme, keys and mouse.
//!
//! They are passed in, not read from a configuration file.

use super::Screen;
use super::action::Action;
use super::dialogs;
use super::keymap::ActiveKeymap;
use super::labels::LocalClock;
use super::read_only::ReadOnlyStatus;
use super::theme::{ColorSupport, ColorTheme, TerminalBackground};

/// The user's settings for themes, keys and mouse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenAppearance {
    /// The active key bindings.
    pub keymap: ActiveKeymap,
    pub mouse_capture: MouseCapture,
    /// All themes, adapted to the colours of the terminal.
    themes: Vec<ColorTheme>,
    /// The terminal's background, once it has told it.
    terminal_background: Option<TerminalBackground>,
}

/// Whether the program or the terminal handles clicks and the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseCapture {
    /// The program, so that clicks select and the wheel scrolls.
    #[default]
    Taken,
    /// The terminal, so that its own text selection works.
    Left,
}

impl Default for ScreenAppearance {
    fn default() -> Self {
        Self::new(ActiveKeymap::default(), Vec::new(), ColorSupport::TrueColor)
    }
}

impl ScreenAppearance {
    /// Creates the settings with the built-in themes and the user's own, adapted to the colours of the terminal.
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
            terminal_background: None,
        }
    }

    /// Returns the settings with another mouse mode.
    #[must_use]
    pub fn with_mouse_capture(self, clicks: MouseCapture) -> Self {
        Self {
            mouse_capture: clicks,
            ..self
        }
    }

    /// Notes the terminal's background, from which the themes that keep it derive their surfaces.
    fn set_terminal_background(&mut self, background: TerminalBackground) {
        self.terminal_background = Some(background);
        for theme in &mut self.themes {
            *theme = theme.clone().on_background(background);
        }
    }

    /// Returns all themes, the built-in ones first.
    pub fn themes(&self) -> &[ColorTheme] {
        &self.themes
    }

    /// Returns the theme with this name.
    pub fn theme(&self, name: &str) -> Option<ColorTheme> {
        let theme = self.themes.iter().find(|theme| theme.name() == name);
        theme.cloned()
    }
}

/// What the program knows about the repository and the user's settings, as far as the screen shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenSettings {
    /// Whether a turn is sent only after a second Enter.
    pub confirm_enter: bool,
    /// Whether a turn that waits shows the first lines of its prompt.
    pub shows_prompt: bool,
    /// Whether this is a demo that calls no model; the header shows it.
    pub demo: bool,
    /// The repository's path or name, for the header.
    pub repository: String,
    /// The checked-out branch, if there is one.
    pub branch: Option<String>,
    /// The branch that was checked out before the run created its own; the run's commits are merged into it.
    pub base_branch: Option<String>,
    /// Set when the screen may only read the run.
    pub read_only: Option<ReadOnlyStatus>,
    pub theme: ColorTheme,
    /// The user's UTC offset in seconds; positive east of Greenwich.
    pub utc_offset: i32,
    pub appearance: ScreenAppearance,
}

impl ScreenSettings {
    /// Returns the clock of the user's time zone.
    pub fn local_clock(&self) -> LocalClock {
        LocalClock(self.utc_offset)
    }
}

impl Screen {
    /// Applies the user's settings once they are loaded; the first frame does not wait for them.
    pub fn on_appearance(&mut self, look: ScreenAppearance) {
        self.is_dirty = true;
        let known = self.settings.appearance.terminal_background;
        self.settings.appearance = look;
        if let Some(background) = known {
            self.settings.appearance.set_terminal_background(background);
        }
        let shown = self.settings.appearance.theme(self.settings.theme.name());
        if let Some(theme) = shown {
            // Only a theme that was chosen by name paints its own background.
            let is_fitted = self.settings.theme.uses_terminal_background();
            self.settings.theme = if is_fitted {
                theme.with_terminal_background()
            } else {
                theme
            };
        }
    }

    /// Opens the theme list. Closing it without a choice restores the previous theme.
    pub(super) fn open_theme_list(&mut self) -> Vec<Action> {
        self.dialogs.theme_before = Some(self.settings.theme.clone());
        let sheet =
            dialogs::theme_picker::build_dialog(&self.settings.theme, &self.settings.appearance);
        self.open_dialog(sheet)
    }

    /// Restores the theme that was in use before the list was opened.
    pub(super) fn restore_theme(&mut self) {
        if let Some(theme) = self.dialogs.theme_before.take() {
            self.settings.theme = theme;
        }
        self.apply_settings();
    }

    /// Restores the previous theme if the theme list is gone, whatever replaced it.
    pub(super) fn end_theme_preview(&mut self) {
        let is_listed = self
            .dialogs
            .own
            .as_ref()
            .is_some_and(dialogs::theme_picker::is_theme_picker);
        if self.dialogs.theme_before.is_some() && !is_listed {
            self.restore_theme();
        }
    }

    /// Switches to another theme, saves the choice, and closes the theme list.
    pub(super) fn choose_theme(&mut self, name: &str) -> Vec<Action> {
        let Some(theme) = self.settings.appearance.theme(name) else {
            let themes = self.settings.appearance.themes();
            let names: Vec<&str> = themes.iter().map(ColorTheme::name).collect();
            return self.show_toast(&format!("/theme takes {}", names.join(", ")));
        };
        self.settings.theme = theme;
        self.dialogs.theme_before = None;
        self.dialogs.own = None;
        self.show_toast(&format!("Theme {name}"));
        vec![Action::KeepTheme(name.to_owned())]
    }

    /// Returns the chosen theme and the settings for another screen; a theme that is only previewed is left out.
    pub fn chosen_appearance(&self) -> (ColorTheme, ScreenAppearance) {
        let shown = &self.settings.theme;
        let theme = self.dialogs.theme_before.as_ref().unwrap_or(shown);
        (theme.clone(), self.settings.appearance.clone())
    }

    /// Applies the theme and settings that were chosen on another screen.
    pub fn apply_appearance(&mut self, theme: ColorTheme, look: ScreenAppearance) {
        self.is_dirty = true;
        self.dialogs.theme_before = None;
        (self.settings.theme, self.settings.appearance) = (theme, look);
        self.apply_settings();
    }

    /// Derives the surfaces from the terminal's background, and switches to the light theme for a light one, unless the
    /// user has chosen a theme.
    pub fn on_background(&mut self, background: TerminalBackground) {
        let shown = self.settings.theme.clone().on_background(background);
        let look = &mut self.settings.appearance;
        look.set_terminal_background(background);
        let light = look.theme("light").filter(|_| {
            background.is_light() && shown.uses_terminal_background() && shown.name() == "terminal"
        });
        self.on_theme(light.map_or(shown, ColorTheme::with_terminal_background));
        if let Some(before) = self.dialogs.theme_before.take() {
            self.dialogs.theme_before = Some(before.on_background(background));
        }
    }

    /// Returns whether the program or the terminal handles the mouse now.
    pub fn mouse_capture(&self) -> MouseCapture {
        self.settings.appearance.mouse_capture
    }

    /// Switches mouse handling between the program and the terminal.
    pub(super) fn toggle_mouse_capture(&mut self) -> Vec<Action> {
        let clicks = &mut self.settings.appearance.mouse_capture;
        let word;
        (*clicks, word) = match clicks {
            MouseCapture::Taken => (
                MouseCapture::Left,
                "Your terminal has the mouse now: drag to select text",
            ),
            MouseCapture::Left => (
                MouseCapture::Taken,
                "The mouse works here now. Hold Shift and drag to select text",
            ),
        };
        let key = self.keymap().key_label("mouse", self.composer.focus);
        self.show_toast_with_keys(&format!("{word} · {key} switches back"))
    }

    pub(super) fn keymap(&self) -> &ActiveKeymap {
        &self.settings.appearance.keymap
    }
}
