//! The user's settings for the screen: theme, keys and mouse.
//!
//! They are passed in, not read from a configuration file.

use std::sync::OnceLock;

use super::keymap::ActiveKeymap;
use super::labels::LocalClock;
use super::read_only::{ReadOnlyStatus, RunListEntry};
use super::theme::{ColorSupport, ColorTheme, TerminalBackground};
use crate::domain::phase::{Gate, Mode};

/// The user's settings for themes, keys and mouse.
#[derive(Debug, Clone)]
pub struct ScreenAppearance {
    /// The active key bindings.
    pub keymap: ActiveKeymap,
    pub mouse_capture: MouseCapture,
    /// The user's own themes, for any terminal.
    own_themes: Vec<ColorTheme>,
    support: ColorSupport,
    /// The terminal's background, once it has told it.
    terminal_background: Option<TerminalBackground>,
    /// All themes, adapted to the terminal. They are computed when somebody lists them: a start needs one.
    themes: OnceLock<Vec<ColorTheme>>,
}

impl PartialEq for ScreenAppearance {
    /// Whether the themes are computed already makes no difference.
    fn eq(&self, other: &Self) -> bool {
        self.keymap == other.keymap
            && self.own_themes == other.own_themes
            && self.mouse_capture == other.mouse_capture
            && self.support == other.support
            && self.terminal_background == other.terminal_background
    }
}

impl Eq for ScreenAppearance {}

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
        Self {
            keymap,
            mouse_capture: MouseCapture::default(),
            own_themes: own,
            support: depth,
            terminal_background: None,
            themes: OnceLock::new(),
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

    /// Returns the settings for linear mode: there are no keys, so hints name slash commands.
    #[must_use]
    pub fn for_lines(self) -> Self {
        Self {
            keymap: ActiveKeymap::without_keys(),
            ..self
        }
    }

    /// Notes the terminal's background, from which the themes that keep it derive their surfaces.
    fn set_terminal_background(&mut self, background: TerminalBackground) {
        self.terminal_background = Some(background);
        self.themes = OnceLock::new();
    }

    fn adapt_theme(&self, theme: ColorTheme) -> ColorTheme {
        let theme = theme.with_color_support(self.support);
        match self.terminal_background {
            Some(background) => theme.on_background(background),
            None => theme,
        }
    }

    /// Returns all themes, the built-in ones first.
    pub fn themes(&self) -> &[ColorTheme] {
        self.themes.get_or_init(|| {
            let all = ColorTheme::built_in().chain(self.own_themes.iter().cloned());
            all.map(|theme| self.adapt_theme(theme)).collect()
        })
    }

    /// Returns the theme with this name.
    pub fn theme(&self, name: &str) -> Option<ColorTheme> {
        let own = || self.own_themes.iter().find(|theme| theme.name() == name);
        let theme = ColorTheme::from_name(name).or_else(|| own().cloned());
        theme.map(|theme| self.adapt_theme(theme))
    }
}

/// What the next run starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRunSettings {
    /// The adapter that plans; empty until the configuration is known.
    pub planner: String,
    /// The adapter that reviews, if there is one.
    pub reviewer: Option<String>,
    pub gate: Gate,
    pub mode: Mode,
}

impl Default for NextRunSettings {
    fn default() -> Self {
        Self {
            planner: String::new(),
            reviewer: None,
            gate: Gate::Manual,
            mode: Mode::Default,
        }
    }
}

impl NextRunSettings {
    /// Returns whether the configuration says that nobody reviews.
    pub fn has_no_reviewer(&self) -> bool {
        !self.planner.is_empty() && self.reviewer.is_none()
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
    pub next_run: NextRunSettings,
    /// The repository's path or name, for the header.
    pub repository: String,
    /// The checked-out branch, if there is one.
    pub branch: Option<String>,
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

    /// Applies the user's settings, with their form of the theme in use.
    pub(super) fn set_appearance(&mut self, look: ScreenAppearance) {
        let known = self.appearance.terminal_background;
        self.appearance = look;
        if let Some(background) = known {
            self.appearance.set_terminal_background(background);
        }
        let shown = self.appearance.theme(self.theme.name());
        if let Some(theme) = shown {
            // Only a theme that was chosen by name paints its own background.
            let is_fitted = self.theme.uses_terminal_background();
            self.theme = if is_fitted {
                theme.with_terminal_background()
            } else {
                theme
            };
        }
    }

    /// Sets the theme, with the surfaces that the terminal's background gives it.
    pub(super) fn set_theme(&mut self, theme: ColorTheme) {
        self.theme = match self.appearance.terminal_background {
            Some(background) => theme.on_background(background),
            None => theme,
        };
    }

    /// Derives the surfaces from the terminal's background; returns the theme that fits it: the light one for a light
    /// background, unless the user has chosen a theme.
    pub(super) fn fit_background(&mut self, background: TerminalBackground) -> ColorTheme {
        let shown = self.theme.clone().on_background(background);
        self.appearance.set_terminal_background(background);
        let light = self.appearance.theme("light").filter(|_| {
            background.is_light() && shown.uses_terminal_background() && shown.name() == "terminal"
        });
        light.map_or(shown, ColorTheme::with_terminal_background)
    }

    /// Returns why a read-only screen does not do something; `None` on any other screen.
    pub(super) fn read_only_reason(&self) -> Option<String> {
        let read_only = self.read_only.as_ref()?;
        Some(format!("read-only: {}", read_only.reason))
    }

    /// Returns the run's history entry, if it can be resumed.
    pub(super) fn resumable_run(&self) -> Option<&RunListEntry> {
        self.read_only.as_ref()?.resumable_run.as_ref()
    }
}

impl ScreenAppearance {
    /// Switches mouse handling between the program and the terminal; returns what the user has to know about it.
    pub(super) fn toggle_mouse_capture(&mut self) -> &'static str {
        let word;
        (self.mouse_capture, word) = match self.mouse_capture {
            MouseCapture::Taken => (
                MouseCapture::Left,
                "Your terminal has the mouse now: drag to select text",
            ),
            MouseCapture::Left => (
                MouseCapture::Taken,
                "The mouse works here now. Hold Shift and drag to select text",
            ),
        };
        word
    }
}
