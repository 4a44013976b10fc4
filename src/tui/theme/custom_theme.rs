//! The user's own themes: a built-in theme with other colours.
//!
//! The configuration loader adds files and line numbers to the errors.

use std::borrow::Cow;
use std::str::FromStr;

use ratatui::style::Color;

use super::color_palettes::ColorPalette;
use super::surface::{NO_SURFACES, Surface};
use super::{ColorSupport, ColorTheme};
use crate::tui::keymap::suggest_nearest;

/// What is wrong with a theme of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeError {
    /// The field; `None` for the theme's name.
    pub field: Option<String>,
    pub problem: String,
    pub hint: String,
}

impl ColorTheme {
    /// Creates a theme from its fields, based on the theme that `base` names, or on `terminal`.
    ///
    /// # Errors
    /// All errors in the fields.
    pub fn from_fields<'a>(
        name: &str,
        fields: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Vec<ThemeError>> {
        let mut flaws = Vec::new();
        if Self::from_name(name).is_some() || name == "auto" {
            flaws.push(ThemeError {
                field: None,
                problem: "is already a theme".to_owned(),
                hint: format!("give it another name and write base = \"{name}\""),
            });
        }
        let (base, colours): (Vec<_>, Vec<_>) = fields.partition(|(field, _)| *field == "base");
        let mut shades = Self::default().palette;
        for (_, base) in base {
            match Self::from_name(base) {
                Some(base) => shades = base.palette,
                None => flaws.push(unknown_base(base)),
            }
        }
        let (mut surfaces, mut is_recolored) = (NO_SURFACES, false);
        for (field, text) in colours {
            match (parse_color(text), Surface::from_name(field)) {
                (None, _) => flaws.push(invalid_color(field, text)),
                (Some(colour), Some(surface)) => surfaces[surface as usize] = Some(colour),
                (Some(colour), None) => {
                    if let Some(place) = shades.field_mut(field) {
                        *place = colour;
                        is_recolored |=
                            matches!(field, "ground" | "text" | "good" | "bad" | "attention");
                    }
                }
            }
        }
        // The base's surfaces fit its own colours only.
        if is_recolored {
            shades.given_surfaces = NO_SURFACES;
        }
        for (place, given) in shades.given_surfaces.iter_mut().zip(surfaces) {
            *place = given.or(*place);
        }
        shades.name = Cow::Owned(name.to_owned());
        shades.assumed_background = None;
        if flaws.is_empty() {
            Ok(Self::new(shades, ColorSupport::TrueColor, None))
        } else {
            Err(flaws)
        }
    }
}

impl ColorPalette {
    fn field_mut(&mut self, name: &str) -> Option<&mut Color> {
        Some(match name {
            "ground" => &mut self.background,
            "text" => &mut self.text,
            "quiet" => &mut self.quiet,
            "attention" => &mut self.attention,
            "warning" => &mut self.warning,
            "running" => &mut self.running,
            "good" => &mut self.good,
            "bad" => &mut self.bad,
            "code" => &mut self.code,
            "planner" => &mut self.planner,
            "reviewer" => &mut self.reviewer,
            _ => return None,
        })
    }
}

/// Parses `#rrggbb`, an index of the terminal's table, or a name.
fn parse_color(text: &str) -> Option<Color> {
    match text {
        "default" => Some(Color::Reset),
        _ => Color::from_str(text).ok(),
    }
}

/// The names of the sixteen colours, as users write them.
const ANSI_COLOR_NAMES: [&str; 17] = [
    "default",
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "gray",
    "darkgray",
    "lightred",
    "lightgreen",
    "lightyellow",
    "lightblue",
    "lightmagenta",
    "lightcyan",
    "white",
];

fn invalid_color(field: &str, text: &str) -> ThemeError {
    let near = suggest_nearest(&text.to_lowercase(), ANSI_COLOR_NAMES.into_iter());
    let near = near.map(|near| format!("{near} ")).unwrap_or_default();
    ThemeError {
        field: Some(field.to_owned()),
        problem: format!("is not a colour: {text:?}"),
        hint: format!(
            "{near}write \"#rrggbb\", a number from 0 to 255, or one of {}",
            ANSI_COLOR_NAMES.join(", ")
        ),
    }
}

fn unknown_base(base: &str) -> ThemeError {
    let themes: Vec<ColorTheme> = ColorTheme::built_in().collect();
    let near = suggest_nearest(base, themes.iter().map(ColorTheme::name));
    let near = near.map(|near| format!("{near} ")).unwrap_or_default();
    let names: Vec<&str> = themes.iter().map(ColorTheme::name).collect();
    ThemeError {
        field: Some("base".to_owned()),
        problem: format!("is not a built-in theme: {base:?}"),
        hint: format!("{near}known: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, fields: &[(&str, &str)], wanted: &str) {
        let told = match ColorTheme::from_fields(name, fields.iter().copied()) {
            Ok(theme) => format!(
                "{} {:?} {:?}",
                theme.name(),
                theme.palette.background,
                theme.palette.bad
            ),
            Err(flaws) => flaws
                .iter()
                .map(|flaw| format!("{:?} {}", flaw.field, flaw.problem))
                .collect::<Vec<_>>()
                .join("\n"),
        };
        assert_eq!(told, wanted);
    }

    #[test]
    fn a_theme_of_the_users_own_is_another_one_with_other_colours() {
        check("mine", &[], "mine Reset Red");
        let fields = [("bad", "#ff8000"), ("base", "nord"), ("ground", "default")];
        check("mine", &fields, "mine Reset Rgb(255, 128, 0)");
        let fields = [("bad", "lightred"), ("ground", "234")];
        check("mine", &fields, "mine Indexed(234) LightRed");
    }

    #[test]
    fn what_is_wrong_with_it_is_said_of_each_field() {
        check("nord", &[], "None is already a theme");
        let fields = [("base", "norf"), ("bad", "rde"), ("good", "#12345")];
        let wanted = "Some(\"base\") is not a built-in theme: \"norf\"\n\
                      Some(\"bad\") is not a colour: \"rde\"\nSome(\"good\") is not a colour: \"#12345\"";
        check("mine", &fields, wanted);
        assert!(
            unknown_base("norf")
                .hint
                .starts_with("did you mean \"nord\"?")
        );
        assert!(
            invalid_color("bad", "lightred1")
                .hint
                .contains("did you mean \"lightred\"?")
        );
    }

    #[test]
    fn every_field_that_is_named_is_one() {
        let texts = [
            "ground",
            "text",
            "quiet",
            "attention",
            "warning",
            "running",
            "good",
            "bad",
            "code",
            "planner",
            "reviewer",
        ];
        let surfaces = [
            "panel", "raised", "edge", "add", "del", "ask", "picked", "add_word", "del_word",
            "button",
        ];
        let mut shades = ColorTheme::default().palette;
        assert!(texts.iter().all(|name| shades.field_mut(name).is_some()));
        assert_eq!(texts.len(), shades.all_colors().len());
        let named = surfaces.map(Surface::from_name);
        assert_eq!(named, Surface::ALL.map(Some));
    }
}
