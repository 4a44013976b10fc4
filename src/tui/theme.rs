//! The few styles of the screen, by meaning, and what a theme shows them as.
//!
//! Colour never says anything alone: a word or a sign stands beside it. Styles name the terminal's own
//! sixteen colours; a theme paints a finished frame in others. Refuses to know what is drawn.

mod color_palettes;
mod color_support;
mod custom_theme;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::domain::findings::FindingSeverity;
use crate::domain::turn::Role;
use color_palettes::{BUILT_IN_PALETTES, ColorPalette};
pub use color_support::ColorSupport;
pub use custom_theme::{THEME_FIELDS, ThemeError};

/// What needs the user; nothing else looks like this.
pub const NEEDS_YOU: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// What is to be watched, and waits for nobody.
pub const WARNING: Style = Style::new()
    .fg(Color::LightRed)
    .add_modifier(Modifier::BOLD);
/// What goes on.
pub const RUNNING: Style = Style::new()
    .fg(Color::LightCyan)
    .add_modifier(Modifier::BOLD);
/// What is chosen where the user is needed.
pub const CHOSEN: Style = Style::new()
    .fg(Color::Yellow)
    .add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// What is picked where nothing needs the user.
pub const PICKED: Style = Style::new().add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// What was found of what is looked for, beside the place that is at hand, which is picked.
pub const SEARCH_MATCH: Style = Style::new()
    .fg(Color::LightCyan)
    .add_modifier(Modifier::UNDERLINED);
/// What the user said.
pub const YOU: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
/// What this program says.
pub const QUIET: Style = Style::new().fg(Color::DarkGray);
/// What went well and was checked.
pub const GOOD: Style = Style::new().fg(Color::Green);
/// What went wrong.
pub const BAD: Style = Style::new().fg(Color::Red);
/// Headings and names.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// Code and commands.
pub const CODE: Style = Style::new().fg(Color::Cyan);
/// A key in a hint.
pub const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Text as it is.
pub const PLAIN: Style = Style::new();
/// Text that is not final.
pub const PROVISIONAL: Style = Style::new().add_modifier(Modifier::DIM);

/// The style of a role's name.
pub fn role_style(role: Role) -> Style {
    let colour = match role {
        // The plain blue of most terminals cannot be read on black.
        Role::Planner => Color::LightBlue,
        Role::Reviewer => Color::Magenta,
    };
    Style::new().fg(colour).add_modifier(Modifier::BOLD)
}

/// The style of an open finding: it weighs, but it waits for nobody by itself.
pub fn severity_style(severity: FindingSeverity) -> Style {
    match severity {
        FindingSeverity::Blocking => BAD.add_modifier(Modifier::BOLD),
        FindingSeverity::Major => STRONG,
        FindingSeverity::Minor => PLAIN,
    }
}

/// What the styles are shown as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorTheme(ColorPalette);

impl Default for ColorTheme {
    /// The terminal's own sixteen colours.
    fn default() -> Self {
        Self(BUILT_IN_PALETTES[0].clone())
    }
}

/// What a terminal says of itself in its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalEnvironment<'a> {
    /// `NO_COLOR`; any text but an empty one asks for none.
    pub no_color: Option<&'a str>,
    /// `COLORFGBG`: `text;ground` as numbers of the sixteen colours.
    pub color_fg_bg: Option<&'a str>,
    /// `TERM`
    pub term: Option<&'a str>,
    /// `COLORTERM`
    pub color_term: Option<&'a str>,
}

impl ColorTheme {
    /// All themes that the program brings.
    pub fn built_in() -> impl Iterator<Item = Self> {
        BUILT_IN_PALETTES.iter().cloned().map(Self)
    }

    /// The theme of this name among them.
    pub fn from_name(name: &str) -> Option<Self> {
        let shades = BUILT_IN_PALETTES.iter().find(|shades| shades.name == name);
        shades.cloned().map(Self)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The theme that fits a terminal, as far as that is known without asking it.
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

    /// The same on the terminal's own ground, with its own colour of plain text.
    #[must_use]
    pub fn with_terminal_background(self) -> Self {
        Self(ColorPalette {
            background: Color::Reset,
            text: Color::Reset,
            ..self.0
        })
    }

    /// Tells whether it leaves ground and plain text to the terminal.
    pub fn uses_terminal_background(&self) -> bool {
        self.0.background == Color::Reset && self.0.text == Color::Reset
    }

    /// Paints a finished frame.
    pub fn paint(&self, buffer: &mut Buffer) {
        if self.0.is_identity() {
            return;
        }
        // Without colours, what is quiet is dim.
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
