//! How many colours a terminal shows, and a theme in as many.
//!
//! Refuses to ask the terminal: its environment says it.

use ratatui::style::Color;

use super::shades::{SIXTEEN, Shades};
use super::{Surroundings, Theme};

/// How many colours a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// Any.
    #[default]
    All,
    /// The 256 of the table that terminals share.
    Table,
    /// Its own sixteen.
    Sixteen,
}

/// Parts of `TERM` of terminals that show any colour and do not always say so in `COLORTERM`.
const SHOW_ALL: [&str; 7] = [
    "direct",
    "truecolor",
    "kitty",
    "ghostty",
    "alacritty",
    "wezterm",
    "foot",
];
/// What the six steps of the table's cube stand for.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Depth {
    /// What a terminal says of itself.
    pub fn of(of: Surroundings<'_>) -> Self {
        let term = of.term.unwrap_or_default();
        let colours = of.colours.unwrap_or_default();
        match (term, colours) {
            ("linux" | "dumb", "") => Self::Sixteen,
            (_, "truecolor" | "24bit") => Self::All,
            _ if SHOW_ALL.iter().any(|part| term.contains(part)) => Self::All,
            _ if term.contains("256") || !colours.is_empty() => Self::Table,
            _ => Self::Sixteen,
        }
    }
}

impl Theme {
    /// The same theme in colours that a terminal shows. In sixteen all themes are alike, but for the one
    /// without any.
    pub fn in_depth(&self, depth: Depth) -> Self {
        let has_none = self.0.each().iter().all(|colour| *colour == Color::Reset);
        match depth {
            Depth::All => self.clone(),
            Depth::Table => Self(self.0.map(in_table)),
            Depth::Sixteen if has_none => self.clone(),
            Depth::Sixteen => Self(Shades {
                name: self.0.name.clone(),
                ..SIXTEEN
            }),
        }
    }
}

impl Shades {
    fn map(&self, to: impl Fn(Color) -> Color) -> Self {
        Self {
            name: self.name.clone(),
            assumed: self.assumed,
            ground: to(self.ground),
            text: to(self.text),
            quiet: to(self.quiet),
            attention: to(self.attention),
            warning: to(self.warning),
            running: to(self.running),
            good: to(self.good),
            bad: to(self.bad),
            code: to(self.code),
            planner: to(self.planner),
            reviewer: to(self.reviewer),
        }
    }
}

/// The colour of the table that is nearest: of its cube or of its greys.
fn in_table(colour: Color) -> Color {
    let Color::Rgb(red, green, blue) = colour else {
        return colour;
    };
    let step = |part: u8| {
        let far = |at: &u8| STEPS.get(usize::from(*at)).map(|step| step.abs_diff(part));
        (0..6u8).min_by_key(far).unwrap_or(0)
    };
    let parts = [step(red), step(green), step(blue)];
    let of_cube = parts.map(|at| STEPS.get(usize::from(at)).copied().unwrap_or(0));
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
    match far(grey) < far(of_cube) {
        true => Color::Indexed(232 + grey_at),
        false => Color::Indexed(16 + 36 * parts[0] + 6 * parts[1] + parts[2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(term: &str, colours: Option<&str>, wanted: Depth) {
        let of = Surroundings {
            term: Some(term),
            colours,
            ..Surroundings::default()
        };
        assert_eq!(Depth::of(of), wanted, "{term} {colours:?}");
    }

    #[test]
    fn a_terminal_says_how_many_colours_it_shows() {
        check("xterm-256color", Some("truecolor"), Depth::All);
        check("xterm-256color", None, Depth::Table);
        check("screen-256color", None, Depth::Table);
        check("xterm-kitty", None, Depth::All);
        check("screen", None, Depth::Sixteen);
        check("linux", None, Depth::Sixteen);
        check("vt100", Some("yes"), Depth::Table);
        assert_eq!(Depth::of(Surroundings::default()), Depth::Sixteen);
    }

    #[test]
    fn a_theme_keeps_its_name_and_what_it_says_in_fewer_colours() {
        for theme in Theme::shipped() {
            let table = theme.in_depth(Depth::Table);
            let is_rgb = |colour: &Color| matches!(colour, Color::Rgb(..));
            assert!(!table.0.each().iter().any(is_rgb), "{}", theme.name());
            let sixteen = theme.in_depth(Depth::Sixteen);
            assert_eq!(sixteen.name(), theme.name());
            assert_eq!(sixteen.0.is_plain(), theme.name() != "none");
        }
    }

    #[test]
    fn a_colour_becomes_the_nearest_of_the_table() {
        assert_eq!(in_table(Color::Rgb(0, 0, 0)), Color::Indexed(16));
        assert_eq!(in_table(Color::Rgb(255, 255, 255)), Color::Indexed(231));
        assert_eq!(in_table(Color::Rgb(0x28, 0x28, 0x28)), Color::Indexed(235));
        assert_eq!(in_table(Color::Rgb(250, 189, 47)), Color::Indexed(214));
    }
}
