//! How many colours a terminal supports, judged by its environment, and themes reduced to them.

use ratatui::style::Color;

use super::color_palettes::{ANSI_PALETTE, ColorPalette};
use super::{ColorTheme, TerminalEnvironment};

/// How many colours a terminal supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorSupport {
    #[default]
    TrueColor,
    /// The 256 colours of the standard table.
    Indexed256,
    Ansi16,
}

/// Parts of `TERM` for true-colour terminals that do not always set `COLORTERM`.
const TRUE_COLOR_TERMS: [&str; 7] = [
    "direct",
    "truecolor",
    "kitty",
    "ghostty",
    "alacritty",
    "wezterm",
    "foot",
];
/// The values of the six steps of the table's colour cube.
const COLOR_CUBE_STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl ColorSupport {
    /// Determines the support from the terminal's environment variables.
    pub fn from_environment(of: TerminalEnvironment<'_>) -> Self {
        let term = of.term.unwrap_or_default();
        let colours = of.color_term.unwrap_or_default();
        match (term, colours) {
            ("linux" | "dumb", "") => Self::Ansi16,
            (_, "truecolor" | "24bit") => Self::TrueColor,
            _ if TRUE_COLOR_TERMS.iter().any(|part| term.contains(part)) => Self::TrueColor,
            _ if term.contains("256") || !colours.is_empty() => Self::Indexed256,
            _ => Self::Ansi16,
        }
    }
}

impl ColorTheme {
    /// Returns the theme in colours that the terminal supports. With sixteen colours all themes are the same,
    /// except the one without colours.
    pub fn with_color_support(&self, depth: ColorSupport) -> Self {
        let palette = match depth {
            ColorSupport::Ansi16 if !self.palette.is_colorless() => ColorPalette {
                name: self.palette.name.clone(),
                ..ANSI_PALETTE
            },
            _ => self.palette.clone(),
        };
        Self::new(palette, depth, self.terminal_background)
    }
}

impl ColorSupport {
    /// Returns the nearest colour that the terminal shows.
    pub(super) fn nearest_color(self, colour: Color) -> Color {
        match self {
            Self::Indexed256 => nearest_indexed_color(colour),
            Self::TrueColor | Self::Ansi16 => colour,
        }
    }
}

/// Returns the nearest colour of the table, from its cube or its greys.
fn nearest_indexed_color(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else {
        return colour;
    };
    let step = |part: u8| {
        let far = |at: &u8| {
            COLOR_CUBE_STEPS
                .get(usize::from(*at))
                .map(|step| step.abs_diff(part))
        };
        (0..6u8).min_by_key(far).unwrap_or(0)
    };
    let parts = [step(red), step(green), step(blue)];
    let of_cube = parts.map(|at| COLOR_CUBE_STEPS.get(usize::from(at)).copied().unwrap_or(0));
    let grey_at =
        (red.max(green).max(blue) / 2 + red.min(green).min(blue) / 2).saturating_sub(3) / 10;
    let grey_at = grey_at.min(23);
    let grey = [8 + 10 * grey_at; 3];
    let far = |of: [u8; 3]| -> u32 {
        let apart = of
            .iter()
            .zip([red, green, blue])
            .map(|(one, other)| one.abs_diff(other));
        apart.map(|apart| u32::from(apart) * u32::from(apart)).sum()
    };
    if far(grey) < far(of_cube) {
        Color::Indexed(232 + grey_at)
    } else {
        Color::Indexed(16 + 36 * parts[0] + 6 * parts[1] + parts[2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(term: &str, colours: Option<&str>, wanted: ColorSupport) {
        let of = TerminalEnvironment {
            term: Some(term),
            color_term: colours,
            ..TerminalEnvironment::default()
        };
        assert_eq!(
            ColorSupport::from_environment(of),
            wanted,
            "{term} {colours:?}"
        );
    }

    #[test]
    fn a_terminal_says_how_many_colours_it_shows() {
        check("xterm-256color", Some("truecolor"), ColorSupport::TrueColor);
        check("xterm-256color", None, ColorSupport::Indexed256);
        check("screen-256color", None, ColorSupport::Indexed256);
        check("xterm-kitty", None, ColorSupport::TrueColor);
        check("screen", None, ColorSupport::Ansi16);
        check("linux", None, ColorSupport::Ansi16);
        check("vt100", Some("yes"), ColorSupport::Indexed256);
        assert_eq!(
            ColorSupport::from_environment(TerminalEnvironment::default()),
            ColorSupport::Ansi16
        );
    }

    #[test]
    fn a_theme_keeps_its_name_and_what_it_says_in_fewer_colours() {
        for theme in ColorTheme::built_in() {
            let table = theme.with_color_support(ColorSupport::Indexed256);
            let is_rgb = |colour: Color| matches!(colour, Color::Rgb(..));
            assert!(!table.painted_colors().any(is_rgb), "{}", theme.name());
            let sixteen = theme.with_color_support(ColorSupport::Ansi16);
            assert_eq!(sixteen.name(), theme.name());
            let kept = sixteen.palette.all_colors() == ANSI_PALETTE.all_colors();
            assert_eq!(kept, theme.name() != "none");
        }
    }

    #[test]
    fn a_colour_becomes_the_nearest_of_the_table() {
        assert_eq!(
            nearest_indexed_color(Color::Rgb(0, 0, 0)),
            Color::Indexed(16)
        );
        assert_eq!(
            nearest_indexed_color(Color::Rgb(255, 255, 255)),
            Color::Indexed(231)
        );
        assert_eq!(
            nearest_indexed_color(Color::Rgb(0x28, 0x28, 0x28)),
            Color::Indexed(235)
        );
        assert_eq!(
            nearest_indexed_color(Color::Rgb(250, 189, 47)),
            Color::Indexed(214)
        );
    }
}
