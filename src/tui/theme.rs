//! The styles of the screen, named by meaning, and the themes that recolour them.
//!
//! Colour never carries information alone; there is always a word or a sign too. Styles use the terminal's
//! own sixteen colours, and a theme recolours a finished frame.

mod color_palettes;
mod color_support;
mod custom_theme;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::domain::findings::FindingSeverity;
use crate::domain::turn::Role;
use color_palettes::{BUILT_IN_PALETTES, ColorPalette};
pub use color_support::ColorSupport;
pub use custom_theme::ThemeError;

/// For what needs the user; nothing else has this style.
pub const NEEDS_YOU: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// For warnings that do not need an answer.
pub const WARNING: Style = Style::new()
    .fg(Color::LightRed)
    .add_modifier(Modifier::BOLD);
/// For what is running.
pub const RUNNING: Style = Style::new()
    .fg(Color::LightCyan)
    .add_modifier(Modifier::BOLD);
/// For the selected choice when the user is needed.
pub const CHOSEN: Style = Style::new()
    .fg(Color::Yellow)
    .add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// For a selected entry when the user is not needed.
pub const PICKED: Style = Style::new().add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// For search matches, except the current one, which uses [`PICKED`].
pub const SEARCH_MATCH: Style = Style::new()
    .fg(Color::LightCyan)
    .add_modifier(Modifier::UNDERLINED);
/// For the user's messages.
pub const YOU: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
/// For the program's own messages and less important text.
pub const QUIET: Style = Style::new().fg(Color::DarkGray);
/// For checked successes.
pub const GOOD: Style = Style::new().fg(Color::Green);
/// For failed or invalid results.
pub const BAD: Style = Style::new().fg(Color::Red);
/// For headings and names.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// For code and commands.
pub const CODE: Style = Style::new().fg(Color::Cyan);
/// For a key in a hint.
pub const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// For ordinary text.
pub const PLAIN: Style = Style::new();
/// For text that is not final.
pub const PROVISIONAL: Style = Style::new().add_modifier(Modifier::DIM);

/// Returns the style of a role's name.
pub fn role_style(role: Role) -> Style {
    let colour = match role {
        // The normal blue of most terminals is unreadable on black.
        Role::Planner => Color::LightBlue,
        Role::Reviewer => Color::Magenta,
    };
    Style::new().fg(colour).add_modifier(Modifier::BOLD)
}

/// Returns the style of what the program found of a piece of evidence.
pub fn check_style(is_verified: bool) -> Style {
    if is_verified { GOOD } else { WARNING }
}

/// Returns the style of an open finding: emphasized, but not as something that needs the user.
pub fn severity_style(severity: FindingSeverity) -> Style {
    match severity {
        FindingSeverity::Blocking => BAD.add_modifier(Modifier::BOLD),
        FindingSeverity::Major => STRONG,
        FindingSeverity::Minor => PLAIN,
    }
}

/// A colour theme that recolours finished frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorTheme(ColorPalette);

impl Default for ColorTheme {
    /// Returns the `terminal` theme.
    fn default() -> Self {
        Self(BUILT_IN_PALETTES[0].clone())
    }
}

/// The environment variables that describe the terminal's colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalEnvironment<'a> {
    /// `NO_COLOR`; any value except an empty one disables colours.
    pub no_color: Option<&'a str>,
    /// `COLORFGBG`: `foreground;background` as numbers of the sixteen colours.
    pub color_fg_bg: Option<&'a str>,
    pub term: Option<&'a str>,
    pub color_term: Option<&'a str>,
}

impl ColorTheme {
    /// Returns all built-in themes.
    pub fn built_in() -> impl Iterator<Item = Self> {
        BUILT_IN_PALETTES.iter().cloned().map(Self)
    }

    /// Returns the built-in theme with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let shades = BUILT_IN_PALETTES.iter().find(|shades| shades.name == name);
        shades.cloned().map(Self)
    }

    /// Returns the theme's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the theme that fits a terminal, judged by its environment only.
    pub fn for_terminal(of: TerminalEnvironment<'_>) -> Self {
        // The numbers 7 and 15 are the two whites.
        let ground = of.color_fg_bg.and_then(|ground| ground.rsplit(';').next());
        let name = match ground {
            _ if of.no_color.is_some_and(|word| !word.is_empty()) => "none",
            _ if ColorSupport::from_environment(of) == ColorSupport::Ansi16 => "sixteen",
            Some("7" | "15") => "light",
            Some(_) => "dark",
            None => "terminal",
        };
        Self::from_name(name)
            .unwrap_or_default()
            .with_terminal_background()
    }

    /// Returns the theme with the terminal's own background and text colour.
    #[must_use]
    pub fn with_terminal_background(self) -> Self {
        Self(ColorPalette {
            background: Color::Reset,
            text: Color::Reset,
            ..self.0
        })
    }

    /// Returns whether background and plain text are the terminal's own.
    pub fn uses_terminal_background(&self) -> bool {
        self.0.background == Color::Reset && self.0.text == Color::Reset
    }

    /// Recolours a finished frame.
    pub fn paint(&self, buffer: &mut Buffer) {
        if self.0.is_identity() {
            return;
        }
        // Without colours, quiet text is dimmed.
        let dims = self.0.quiet == Color::Reset;
        for cell in &mut buffer.content {
            if dims && Some(cell.fg) == QUIET.fg {
                cell.modifier.insert(Modifier::DIM);
            }
            cell.fg = self.0.text_color(cell.fg);
            cell.bg = self.0.background_color(cell.bg);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of: TerminalEnvironment<'_>, wanted: &str) {
        assert_eq!(ColorTheme::for_terminal(of).name(), wanted, "{of:?}");
    }

    #[test]
    fn a_terminal_that_says_what_it_is_gets_the_theme_that_fits() {
        let many = TerminalEnvironment {
            term: Some("xterm-256color"),
            ..TerminalEnvironment::default()
        };
        check(many, "terminal");
        check(TerminalEnvironment::default(), "sixteen");
        let on = |ground| TerminalEnvironment {
            color_fg_bg: Some(ground),
            ..many
        };
        check(on("0;15"), "light");
        check(on("15;default;0"), "dark");
        let without = |word| TerminalEnvironment {
            no_color: Some(word),
            ..on("0;15")
        };
        check(without("1"), "none");
        check(without(""), "light");
    }

    #[test]
    fn no_theme_shows_a_colour_that_cannot_be_read_on_its_ground() {
        let all = [
            NEEDS_YOU,
            WARNING,
            RUNNING,
            YOU,
            QUIET,
            GOOD,
            BAD,
            CODE,
            PLAIN,
            role_style(Role::Planner),
            role_style(Role::Reviewer),
        ];
        for shades in BUILT_IN_PALETTES
            .iter()
            .filter(|shades| shades.assumed_background.is_some())
        {
            let assumed = shades.assumed_background.unwrap();
            for style in all {
                let shade = shades.text_color(style.fg.unwrap_or(Color::Reset));
                let found = color_palettes::contrast(shade, assumed);
                let least = if style == QUIET { 3.0 } else { 4.0 };
                assert!(
                    found.is_none_or(|found| found >= least),
                    "{} shows {style:?} as {shade:?}: {found:?}",
                    shades.name
                );
            }
        }
    }

    #[test]
    fn nothing_but_what_needs_the_user_has_its_colour() {
        for shades in BUILT_IN_PALETTES
            .iter()
            .filter(|shades| shades.name != "none")
        {
            let of = |style: Style| shades.text_color(style.fg.unwrap_or(Color::Reset));
            let others = [
                WARNING,
                RUNNING,
                SEARCH_MATCH,
                YOU,
                QUIET,
                GOOD,
                BAD,
                STRONG,
                CODE,
                KEY,
                PLAIN,
                role_style(Role::Planner),
                role_style(Role::Reviewer),
            ];
            for style in others {
                assert_ne!(of(style), of(NEEDS_YOU), "{}: {style:?}", shades.name);
            }
            assert_ne!(of(WARNING), of(BAD), "{}", shades.name);
        }
    }
}
