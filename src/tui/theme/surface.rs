//! The grounds of the screen besides the theme's own: what they are for, and their colours in a theme.
//!
//! A widget sets a surface as a style, and `ColorTheme::paint` replaces it. A surface that a theme does not give is
//! mixed from the theme's colours. Where the ground is not known, a surface is the terminal's own background: blank
//! rows, bars and signs carry the structure, and a picked row is reversed.

use std::sync::LazyLock;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};

use super::color_palettes::{ColorPalette, DARK_PALETTE, LIGHT_PALETTE};
use super::color_support::ColorSupport;
use crate::tui::view_area::row_cells;

/// A ground of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Things beside or inside the text: sidebars, code, diffs.
    Panel,
    /// Blocks above the text: the composer, popups, what the user wrote.
    Raised,
    /// Thin lines, and the frames of high contrast; as a text colour, see [`super::EDGE`].
    Edge,
    /// Added lines of a diff.
    Add,
    /// Deleted lines of a diff.
    Del,
    /// What needs the user.
    Ask,
    /// The selected row or tab.
    Picked,
    /// Words of an added line that differ from the deleted line.
    AddWord,
    /// Words of a deleted line that differ from the added line.
    DelWord,
    /// A choice that stands beside others.
    Button,
}

/// The surfaces of a theme that it gives itself, in the order of [`Surface::ALL`].
pub type GivenSurfaces = [Option<Color>; Surface::ALL.len()];

pub const NO_SURFACES: GivenSurfaces = [None; Surface::ALL.len()];

impl Surface {
    /// All surfaces, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Panel,
        Self::Raised,
        Self::Edge,
        Self::Add,
        Self::Del,
        Self::Ask,
        Self::Picked,
        Self::AddWord,
        Self::DelWord,
        Self::Button,
    ];

    /// Returns the style that has this ground and changes nothing else.
    pub const fn style(self) -> Style {
        Style::new().bg(self.color())
    }

    /// Gives an area this ground, and changes nothing else.
    pub fn fill(self, buffer: &mut Buffer, area: Rect) {
        for row in area.rows() {
            for cell in row_cells(buffer, row) {
                cell.bg = self.color();
            }
        }
    }

    /// Returns the colour that stands for this ground until the frame is painted. No style uses it otherwise.
    pub const fn color(self) -> Color {
        match self {
            Self::Panel => Color::Black,
            Self::Raised => Color::Blue,
            Self::Edge => Color::Gray,
            Self::Add => Color::LightGreen,
            Self::Del => Color::LightMagenta,
            Self::Ask => Color::LightYellow,
            Self::Picked => Color::White,
            Self::AddWord => Color::Indexed(22),
            Self::DelWord => Color::Indexed(52),
            Self::Button => Color::Indexed(54),
        }
    }

    /// Returns the surface that a colour stands for.
    pub(super) fn from_color(colour: Color) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.color() == colour)
    }

    /// Returns the surface with this name in a theme.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "panel" => Self::Panel,
            "raised" => Self::Raised,
            "edge" => Self::Edge,
            "add" => Self::Add,
            "del" => Self::Del,
            "ask" => Self::Ask,
            "picked" => Self::Picked,
            "add_word" => Self::AddWord,
            "del_word" => Self::DelWord,
            "button" => Self::Button,
            _ => return None,
        })
    }
}

/// The background colour of the terminal, as it reports it: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalBackground(pub [u8; 3]);

impl TerminalBackground {
    /// Returns whether the background is light, so that it needs dark text.
    pub fn is_light(self) -> bool {
        let weights = [0.299, 0.587, 0.114];
        let parts = self.0.into_iter().zip(weights);
        parts
            .map(|(part, weight)| f64::from(part) * weight)
            .sum::<f64>()
            > 127.5
    }
}

/// Returns all surfaces of a theme, mixed where the theme does not give them; `Reset` where the ground is not known.
pub(super) fn surface_colors(
    palette: &ColorPalette,
    terminal: Option<TerminalBackground>,
) -> [Color; Surface::ALL.len()] {
    let mut colours = derived_surfaces(palette, terminal);
    for (colour, given) in colours.iter_mut().zip(palette.given_surfaces) {
        *colour = given.unwrap_or(*colour);
    }
    let ground = known_ground(palette, terminal);
    // Words have twice the tint of their line, also of a tint that the theme gives.
    for (line, word) in [
        (Surface::Add, Surface::AddWord),
        (Surface::Del, Surface::DelWord),
    ] {
        let tint = color_parts(colours[line as usize]);
        if let (None, Some(ground), Some(tint)) =
            (palette.given_surfaces[word as usize], ground, tint)
        {
            colours[word as usize] = mix_colors(ground, tint, 2.0);
        }
    }
    colours
}

/// Returns the ground of a theme: its own, or that of the terminal if it is known.
pub(super) fn known_ground(
    palette: &ColorPalette,
    terminal: Option<TerminalBackground>,
) -> Option<[u8; 3]> {
    match palette.background {
        Color::Reset => terminal.map(|background| background.0),
        own => color_parts(own),
    }
}

/// Returns the palette for a ground that stands in for the terminal's own colours, which are not known.
fn usual_palette(ground: [u8; 3]) -> &'static ColorPalette {
    if TerminalBackground(ground).is_light() {
        &LIGHT_PALETTE
    } else {
        &DARK_PALETTE
    }
}

/// Returns the usual colour of text on a ground.
pub(super) fn usual_text(ground: [u8; 3]) -> Option<[u8; 3]> {
    color_parts(usual_palette(ground).text)
}

fn derived_surfaces(
    palette: &ColorPalette,
    terminal: Option<TerminalBackground>,
) -> [Color; Surface::ALL.len()] {
    let ground = known_ground(palette, terminal).filter(|_| palette.derives_surfaces);
    let Some(ground) = ground else {
        return [Color::Reset; Surface::ALL.len()];
    };
    let is_light = TerminalBackground(ground).is_light();
    let usual = usual_palette(ground);
    let parts =
        |own: Color, usual: Color| color_parts(own).or(color_parts(usual)).unwrap_or(ground);
    let text = parts(palette.text, usual.text);
    let (good, bad) = (
        parts(palette.good, usual.good),
        parts(palette.bad, usual.bad),
    );
    let attention = parts(palette.attention, usual.attention);
    let (add, del) = if is_light { (0.10, 0.12) } else { (0.15, 0.17) };
    Surface::ALL.map(|surface| match surface {
        Surface::Panel => mix_colors(ground, text, 0.045),
        Surface::Raised => mix_colors(ground, text, 0.09),
        Surface::Edge => mix_colors(ground, text, 0.24),
        Surface::Add => mix_colors(ground, good, add),
        Surface::Del => mix_colors(ground, bad, del),
        Surface::Ask => mix_colors(ground, attention, 0.08),
        Surface::Picked => mix_colors(ground, text, 0.20),
        Surface::Button => mix_colors(ground, text, 0.17),
        Surface::AddWord => mix_colors(ground, good, 2.0 * add),
        Surface::DelWord => mix_colors(ground, bad, 2.0 * del),
    })
}

/// Returns the palette with the terminal's own ground where it has none, and with the usual text on it.
pub(super) fn with_known_ground(
    palette: &ColorPalette,
    terminal: Option<TerminalBackground>,
) -> ColorPalette {
    let known = known_ground(palette, terminal).filter(|_| palette.text == Color::Reset);
    let rgb = |[red, green, blue]: [u8; 3]| Color::Rgb(red, green, blue);
    let text = known.and_then(usual_text).map(rgb);
    ColorPalette {
        background: known.map_or(palette.background, rgb),
        text: text.unwrap_or(palette.text),
        ..palette.clone()
    }
}

/// Returns a text colour for a ground, as the terminal shows it: the colour itself where it can be read there, else mixed
/// with the plain text colour as far as needed. No colour gets more contrast than it has on the theme's own ground.
pub(super) fn legible_color(
    colour: Color,
    on: Color,
    palette: &ColorPalette,
    (support, least): (ColorSupport, f64),
) -> Color {
    let shown = support.nearest_color(colour);
    let ground = color_parts(support.nearest_color(palette.background));
    let all = (
        color_parts(colour),
        color_parts(on),
        color_parts(palette.text),
        ground,
    );
    let (Some(own), Some(on), Some(text), Some(ground)) = all else {
        return shown;
    };
    let reads = |of: Color, on: [u8; 3], least: f64| {
        color_parts(of).is_some_and(|parts| contrast(parts, on) >= least)
    };
    let least = least.min(contrast(color_parts(shown).unwrap_or(own), ground));
    if reads(shown, on, least) {
        return shown;
    }
    let steps =
        (1..=10u8).map(|step| support.nearest_color(mix_colors(own, text, f64::from(step) / 10.0)));
    steps
        .into_iter()
        .find(|mixed| reads(*mixed, on, least))
        .unwrap_or(support.nearest_color(palette.text))
}

/// Returns a colour between two, or beyond the second one if `part` is more than 1.
pub(super) fn mix_colors(from: [u8; 3], to: [u8; 3], part: f64) -> Color {
    let mixed = |at: usize| {
        let (from, to) = (f64::from(from[at]), f64::from(to[at]));
        // A float becomes the nearest number that fits.
        (from + (to - from) * part).round() as u8
    };
    Color::Rgb(mixed(0), mixed(1), mixed(2))
}

/// Returns red, green and blue; `None` for a colour that the terminal sets itself.
pub(super) fn color_parts(colour: Color) -> Option<[u8; 3]> {
    let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match colour {
        Color::Rgb(red, green, blue) => Some([red, green, blue]),
        Color::Indexed(n @ 16..=231) => {
            let n = n - 16;
            Some([step(n / 36), step(n / 6 % 6), step(n % 6)])
        }
        Color::Indexed(n @ 232..) => Some([8 + 10 * (n - 232); 3]),
        _ => None,
    }
}

/// Returns the contrast of two colours, from 1 to 21.
pub(super) fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// How bright each part of a colour is. A theme asks for tens of thousands of them at each start.
static LINEAR: LazyLock<[f64; 256]> = LazyLock::new(|| {
    std::array::from_fn(|part| {
        let part = part as f64 / 255.0;
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    })
});

fn luminance([red, green, blue]: [u8; 3]) -> f64 {
    let linear = |part: u8| LINEAR[usize::from(part)];
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}
