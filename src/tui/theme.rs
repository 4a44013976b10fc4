//! The styles of the screen, named by meaning, and the themes that recolour them.
//!
//! Colour never carries information alone; there is always a word or a sign too. Styles use the terminal's
//! own sixteen colours, and a theme recolours a finished frame. Grounds are set the same way: see [`Surface`].

mod color_palettes;
mod color_support;
mod custom_theme;
mod surface;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::domain::findings::FindingSeverity;
use crate::domain::turn::Role;
use color_palettes::{BUILT_IN_PALETTES, ColorPalette};
pub use color_support::ColorSupport;
pub use custom_theme::ThemeError;
pub use surface::{Surface, TerminalBackground};

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
/// For a selected entry.
pub const PICKED: Style = Surface::Picked.style().add_modifier(Modifier::BOLD);
/// For the chosen row of a list: filled, as the chosen button of a panel.
pub const CHOSEN: Style = ACCENT.add_modifier(Modifier::REVERSED);
/// For the button that most users press next. It is not as the chosen one of a panel, because Enter does not press it.
pub const SUGGESTED: Style = Surface::AddWord.style().add_modifier(Modifier::BOLD);
/// For the current search match.
pub const CURRENT_MATCH: Style =
    Style::new().add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// For the other search matches.
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
/// For keywords of code.
pub const KEYWORD: Style = Style::new().fg(Color::Magenta);
/// For thoughts, and for reasons that an agent gives.
pub const ASIDE: Style = QUIET.add_modifier(Modifier::ITALIC);
/// For comments in code.
pub const COMMENT: Style = ASIDE;
/// For what is chosen, and for what gives the screen its colour.
pub const ACCENT: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// For a key in a hint; the colours are for what is chosen.
pub const KEY: Style = STRONG;
/// For thin lines and bars that only divide.
pub const EDGE: Style = Style::new().fg(Surface::Edge.color());
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
        FindingSeverity::Major => WARNING.add_modifier(Modifier::BOLD),
        FindingSeverity::Minor => PLAIN,
    }
}

/// The text colours that a theme replaces, in the order of [`TEXT_COLORS`].
type TextColors = [Color; TEXT_COLORS.len()];

/// The text colours of the screen before it is painted.
const TEXT_COLORS: [Color; 11] = [
    Color::Reset,
    Color::DarkGray,
    Color::Yellow,
    Color::LightRed,
    Color::LightCyan,
    Color::Green,
    Color::Red,
    Color::Cyan,
    Color::LightBlue,
    Color::Magenta,
    Surface::Edge.color(),
];

/// What is reversed where the theme has no ground for it.
const REVERSED_WITHOUT_GROUND: [Color; 3] = [
    Surface::Picked.color(),
    Surface::AddWord.color(),
    Surface::DelWord.color(),
];

/// What a theme changes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CellStyle {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

/// A colour theme that recolours finished frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorTheme {
    palette: ColorPalette,
    support: ColorSupport,
    /// Known once the terminal has answered; of use where the theme keeps the terminal's background.
    terminal_background: Option<TerminalBackground>,
    /// The theme's ground and then every surface: its colour, and the text colours on it.
    grounds: [(Color, TextColors); 1 + Surface::ALL.len()],
}

impl Default for ColorTheme {
    /// Returns the `terminal` theme.
    fn default() -> Self {
        Self::new(BUILT_IN_PALETTES[0].clone(), ColorSupport::TrueColor, None)
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
    fn new(
        palette: ColorPalette,
        support: ColorSupport,
        terminal_background: Option<TerminalBackground>,
    ) -> Self {
        let surfaces = match support {
            ColorSupport::Ansi16 => [Color::Reset; Surface::ALL.len()],
            _ => surface::surface_colors(&palette, terminal_background),
        };
        let mut grounds = [(palette.background, TextColors::default()); 1 + Surface::ALL.len()];
        for (ground, surface) in grounds.iter_mut().skip(1).zip(surfaces) {
            ground.0 = surface;
        }
        let edge = Some(surfaces[Surface::Edge as usize]).filter(|edge| *edge != Color::Reset);
        let known = surface::with_known_ground(&palette, terminal_background);
        for (ground, texts) in &mut grounds {
            let on = support.nearest_color(*ground);
            let text = |colour, least| surface::legible_color(colour, on, &known, (support, least));
            let [_, plain, quiet, rest @ ..] = palette.all_colors();
            let [
                attention,
                warning,
                running,
                good,
                bad,
                code,
                planner,
                reviewer,
            ] = rest.map(|colour| text(colour, LEAST_CONTRAST));
            let quiet = text(quiet, LEAST_QUIET_CONTRAST);
            let edge = edge.map_or(quiet, |edge| support.nearest_color(edge));
            let plain = support.nearest_color(plain);
            *texts = [
                plain, quiet, attention, warning, running, good, bad, code, planner, reviewer, edge,
            ];
            *ground = on;
        }
        // Without a tint, the text of a changed line has its colour.
        let [.., good, bad, _code, _planner, _reviewer, _edge] = grounds[0].1;
        for (surface, text) in [
            (Surface::Add, good),
            (Surface::AddWord, good),
            (Surface::Del, bad),
            (Surface::DelWord, bad),
        ] {
            let (ground, [plain, _quiet, others @ .., _edge]) = &mut grounds[1 + surface as usize];
            if *ground == Color::Reset {
                *plain = text;
                others.fill(text);
            }
        }
        // A row that is reversed for want of a ground is of one colour.
        let (ground, [plain, others @ ..]) = &mut grounds[1 + Surface::Picked as usize];
        if *ground == Color::Reset {
            others.fill(*plain);
        }
        Self {
            palette,
            support,
            terminal_background,
            grounds,
        }
    }

    /// Returns all built-in themes.
    pub fn built_in() -> impl Iterator<Item = Self> {
        let palettes = BUILT_IN_PALETTES.iter().cloned();
        palettes.map(|palette| Self::new(palette, ColorSupport::TrueColor, None))
    }

    /// Returns the built-in theme with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let palette = BUILT_IN_PALETTES.iter().find(|of| of.name == name)?;
        Some(Self::new(palette.clone(), ColorSupport::TrueColor, None))
    }

    /// Returns the theme's name.
    pub fn name(&self) -> &str {
        &self.palette.name
    }

    /// Returns the theme that fits a terminal, judged by its environment only.
    pub fn for_terminal(of: TerminalEnvironment<'_>) -> Self {
        // The numbers 7 and 15 are the two whites.
        let ground = of.color_fg_bg.and_then(|ground| ground.rsplit(';').next());
        let support = ColorSupport::from_environment(of);
        let name = match ground {
            _ if of.no_color.is_some_and(|word| !word.is_empty()) => "none",
            _ if support == ColorSupport::Ansi16 => "sixteen",
            Some("7" | "15") => "light",
            Some(_) => "dark",
            None => "terminal",
        };
        Self::from_name(name)
            .unwrap_or_default()
            .with_terminal_background()
            .with_color_support(support)
    }

    /// Returns the theme with the terminal's own background and text colour.
    #[must_use]
    pub fn with_terminal_background(self) -> Self {
        let palette = ColorPalette {
            background: Color::Reset,
            text: Color::Reset,
            given_surfaces: surface::NO_SURFACES,
            ..self.palette
        };
        Self::new(palette, self.support, self.terminal_background)
    }

    /// Returns the theme for a terminal with this background; only a theme that keeps it changes.
    #[must_use]
    pub fn on_background(self, background: TerminalBackground) -> Self {
        Self::new(self.palette, self.support, Some(background))
    }

    /// Returns whether background and plain text are the terminal's own.
    pub fn uses_terminal_background(&self) -> bool {
        self.palette.background == Color::Reset && self.palette.text == Color::Reset
    }

    /// Returns whether the theme has surfaces once the terminal tells its background.
    pub fn needs_terminal_background(&self) -> bool {
        self.uses_terminal_background() && self.palette.derives_surfaces
    }

    /// Returns whether a surface differs from the theme's ground. Without, signs and blank cells must do.
    pub fn has_surface(&self, surface: Surface) -> bool {
        self.grounds[1 + surface as usize].0 != self.grounds[0].0
    }

    /// Returns whether dialogs and panels have lines around them: where lines are as bright as the text.
    pub fn keeps_frames(&self) -> bool {
        let (_, [text, ..]) = self.grounds[0];
        let (edge, _) = self.grounds[1 + Surface::Edge as usize];
        edge != Color::Reset && edge == text
    }

    /// Returns whether what covers other content has lines around it, also because no ground of its own shows its place.
    pub fn frames_popups(&self) -> bool {
        self.keeps_frames() || !self.has_surface(Surface::Raised)
    }

    /// Fades a painted frame into its ground, except in one area.
    pub fn fade_outside(&self, buffer: &mut Buffer, area: Rect) {
        let ground = surface::known_ground(&self.palette, self.terminal_background);
        let ground = ground.filter(|_| self.has_surface(Surface::Raised));
        let faded = |colour: Color, usual: Option<[u8; 3]>| {
            let own = surface::color_parts(colour).or(usual)?;
            let mixed = surface::mix_colors(own, ground?, FADED_PART);
            Some(self.support.nearest_color(mixed))
        };
        // The terminal's own colours are not known: faded, they are the same grey.
        let usual = ground.and_then(surface::usual_text);
        let whole = buffer.area;
        for place in whole.positions().filter(|place| !area.contains(*place)) {
            let Some(cell) = buffer.cell_mut(place) else {
                continue;
            };
            cell.bg = faded(cell.bg, None).unwrap_or(cell.bg);
            match faded(cell.fg, usual) {
                Some(colour) => cell.fg = colour,
                None => cell.modifier.insert(Modifier::DIM),
            }
        }
    }

    /// Recolours a finished frame.
    pub fn paint(&self, buffer: &mut Buffer) {
        // Most cells have the style of the one before them.
        let mut before = CellStyle::default();
        let mut painted = self.paint_style(before);
        for cell in &mut buffer.content {
            let style = CellStyle {
                fg: cell.fg,
                bg: cell.bg,
                modifier: cell.modifier,
            };
            if style != before {
                before = style;
                painted = self.paint_style(style);
            }
            cell.fg = painted.fg;
            cell.bg = painted.bg;
            cell.modifier = painted.modifier;
        }
    }

    fn paint_style(&self, style: CellStyle) -> CellStyle {
        // Without colours, quiet text is dimmed.
        let dims = self.palette.quiet == Color::Reset;
        let at = match style.bg {
            Color::Reset => Some(0),
            other => Surface::from_color(other).map(|surface| 1 + surface as usize),
        };
        let (ground, texts) = self.grounds[at.unwrap_or(0)];
        let mut painted = style;
        let is_picked = style.bg == Surface::Picked.color();
        if dims && !is_picked && Some(style.fg) == QUIET.fg {
            painted.modifier.insert(Modifier::DIM);
        }
        if ground == Color::Reset && REVERSED_WITHOUT_GROUND.contains(&style.bg) {
            painted.modifier.insert(Modifier::REVERSED);
        }
        if let Some(text) = TEXT_COLORS.iter().position(|of| *of == style.fg) {
            painted.fg = texts[text];
        }
        if at.is_some() {
            painted.bg = ground;
        }
        painted
    }

    #[cfg(test)]
    fn painted_colors(&self) -> impl Iterator<Item = Color> {
        let grounds = self.grounds.iter();
        grounds.flat_map(|(ground, texts)| texts.iter().copied().chain([*ground]))
    }
}

/// How much of the ground is in what lies behind the palette.
const FADED_PART: f64 = 0.6;
/// The least contrast of text on each ground.
const LEAST_CONTRAST: f64 = 4.0;
/// The least contrast of less important text.
const LEAST_QUIET_CONTRAST: f64 = 3.0;

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

    fn parts(colour: Color) -> [u8; 3] {
        surface::color_parts(colour).unwrap()
    }

    #[test]
    fn no_theme_shows_a_colour_that_cannot_be_read_on_one_of_its_grounds() {
        let colored = |theme: &ColorTheme| theme.palette.assumed_background.is_some();
        for theme in ColorTheme::built_in().filter(colored) {
            for support in [ColorSupport::TrueColor, ColorSupport::Indexed256] {
                let theme = theme.with_color_support(support);
                for (n, (ground, texts)) in theme.grounds.iter().enumerate() {
                    // Nothing is written on lines, and the edge itself is one.
                    if n == 1 + Surface::Edge as usize {
                        continue;
                    }
                    for (at, colour) in texts.iter().enumerate().take(texts.len() - 1) {
                        let least = if at == 1 {
                            LEAST_QUIET_CONTRAST
                        } else {
                            LEAST_CONTRAST
                        };
                        let found = surface::contrast(parts(*colour), parts(*ground));
                        let place = (theme.name(), n, TEXT_COLORS[at]);
                        assert!(
                            found >= least,
                            "{place:?} {colour:?} on {ground:?}: {found}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn texts_on_the_surfaces_of_a_terminal_can_be_read_whatever_its_ground() {
        // The grounds that terminals come with: xterm, VS Code, Ubuntu, Windows, iTerm2, Solarized, Alacritty, white.
        let grounds = [
            0x00_00_00, 0x1e_1e_1e, 0x30_0a_24, 0x0c_0c_0c, 0x15_19_1e, 0x00_2b_36, 0xfd_f6_e3,
            0x18_18_18, 0xff_ff_ff, 0xfa_fa_fa,
        ];
        let contrast = |text, ground| surface::contrast(parts(text), parts(ground));
        for hex in grounds {
            let [_, red, green, blue] = u32::to_be_bytes(hex);
            let ground = TerminalBackground([red, green, blue]);
            let theme = ColorTheme::from_name("terminal")
                .unwrap()
                .on_background(ground);
            let plain = surface::usual_text(ground.0).unwrap();
            let plain = Color::Rgb(plain[0], plain[1], plain[2]);
            let own = Color::Rgb(red, green, blue);
            for surface in Surface::ALL.into_iter().filter(|one| *one != Surface::Edge) {
                let (on, [_, quiet, attention, warning, ..]) = theme.grounds[1 + surface as usize];
                let place = (format!("{hex:06x}"), surface);
                assert!(contrast(plain, on) >= LEAST_CONTRAST, "{place:?}");
                assert!(
                    contrast(quiet, on) >= LEAST_QUIET_CONTRAST,
                    "{place:?} {quiet:?}"
                );
                let warning_on_ground = contrast(theme.grounds[0].1[3], own);
                let least = LEAST_CONTRAST.min(warning_on_ground);
                assert!(contrast(warning, on) >= least, "{place:?} {warning:?}");
                // The colours that the terminal sets itself keep at least two fifths of the contrast that they have on its own ground.
                assert_eq!(attention, Color::Yellow);
                for text in [Color::Rgb(0x80, 0x80, 0x80), Color::Rgb(255, 255, 0), plain] {
                    let kept = contrast(text, on) / contrast(text, own);
                    assert!(
                        kept >= 0.4 || contrast(text, on) >= LEAST_CONTRAST,
                        "{place:?} {text:?}: {kept}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_grounds_under_text_need_no_other_text_colours() {
        let plain = [
            Surface::Panel,
            Surface::Raised,
            Surface::Add,
            Surface::Del,
            Surface::Ask,
        ];
        let colored = |theme: &ColorTheme| theme.palette.assumed_background.is_some();
        for theme in ColorTheme::built_in().filter(colored) {
            let (_, texts) = theme.grounds[0];
            for surface in plain {
                let (_, found) = theme.grounds[1 + surface as usize];
                assert_eq!(found, texts, "{} {surface:?}", theme.name());
            }
        }
    }

    /// The name of each surface and its colour in a theme.
    fn surfaces(theme: &ColorTheme) -> String {
        let told = Surface::ALL.map(|surface| match theme.grounds[1 + surface as usize].0 {
            Color::Rgb(red, green, blue) => format!("{red:02x}{green:02x}{blue:02x}"),
            other => format!("{other:?}"),
        });
        told.join(" ")
    }

    #[test]
    fn surfaces_are_mixed_from_the_colours_of_a_theme_that_does_not_give_them() {
        let own = |fields: &[(&str, &str)]| {
            surfaces(&ColorTheme::from_fields("mine", fields.iter().copied()).unwrap())
        };
        let fields = [("base", "dark"), ("ground", "#1c1c1c")];
        let wanted = "242424 2c2c2c 474747 2c382c 432727 2e2b21 404040 3c543c 6a3232 3b3b3b";
        assert_eq!(own(&fields), wanted);
        let fields = [
            ("base", "light"),
            ("good", "22"),
            ("panel", "#010203"),
            ("add", "default"),
        ];
        let wanted = "010203 e8e8e8 cacaca Reset f1dcdc f1eee6 d2d2d2 c8dbc8 e8bebe d8d8d8";
        assert_eq!(own(&fields), wanted);
        // Words have twice the tint of their line.
        let fields = [
            ("base", "dark"),
            ("add", "#204020"),
            ("del_word", "#800000"),
        ];
        assert!(
            own(&fields).ends_with(" 404040 246424 800000 3b3b3b"),
            "{}",
            own(&fields)
        );
        // The themes of 0.1, which gave no surface.
        assert_eq!(
            own(&[("base", "nord")]),
            surfaces(&ColorTheme::from_name("nord").unwrap())
        );
        assert_eq!(own(&[]), ["Reset"; 10].join(" "));
        assert_eq!(
            own(&[("base", "sixteen"), ("ground", "black")]),
            ["Reset"; 10].join(" ")
        );
    }

    #[test]
    fn a_theme_on_the_terminals_ground_has_surfaces_once_the_terminal_tells_it() {
        let ground = TerminalBackground([0x16, 0x18, 0x1d]);
        let of = |name: &str| ColorTheme::from_name(name).unwrap().on_background(ground);
        assert_eq!(
            surfaces(&of("terminal")),
            "1e2025 27292d 434448 27352d 3e2428 292722 3b3d41 38523d 663033 36373b"
        );
        for name in ["sixteen", "none"] {
            assert_eq!(surfaces(&of(name)), ["Reset"; 10].join(" "), "{name}");
        }
        assert_eq!(
            of("nord"),
            ColorTheme {
                terminal_background: Some(ground),
                ..ColorTheme::from_name("nord").unwrap()
            }
        );
        let fitted = ColorTheme::from_name("light")
            .unwrap()
            .with_terminal_background();
        assert_eq!(surfaces(&fitted), ["Reset"; 10].join(" "));
        let white = fitted.on_background(TerminalBackground([255; 3]));
        assert!(
            Surface::ALL
                .iter()
                .all(|surface| white.has_surface(*surface))
        );
        let few = of("terminal").with_color_support(ColorSupport::Ansi16);
        assert_eq!(surfaces(&few), ["Reset"; 10].join(" "));
        let table = of("terminal").with_color_support(ColorSupport::Indexed256);
        assert!(
            surfaces(&table).starts_with("Indexed("),
            "{}",
            surfaces(&table)
        );
    }

    proptest::proptest! {
        #[test]
        fn each_cell_is_painted_as_if_it_stood_alone(places in proptest::collection::vec((0..13usize, 0..13usize, 0..3usize), 1..40)) {
            let mut colors = TEXT_COLORS.to_vec();
            colors.extend([Color::Rgb(1, 2, 3), Surface::Picked.color()]);
            let mut grounds = vec![Color::Reset, Color::Rgb(1, 2, 3), Color::Indexed(9)];
            grounds.extend(Surface::ALL.map(Surface::color));
            let modifiers = [Modifier::empty(), Modifier::BOLD, Modifier::REVERSED];
            let mut row = Buffer::empty(Rect::new(0, 0, u16::try_from(places.len()).unwrap(), 1));
            for (cell, (color, ground, modifier)) in row.content.iter_mut().zip(places) {
                let style = Style::new().fg(colors[color]).bg(grounds[ground]);
                cell.set_style(style.add_modifier(modifiers[modifier]));
            }
            for theme in ColorTheme::built_in() {
                let mut painted = row.clone();
                theme.paint(&mut painted);
                for (cell, painted) in row.content.iter().zip(&painted.content) {
                    let mut alone = Buffer::filled(Rect::new(0, 0, 1, 1), cell.clone());
                    theme.paint(&mut alone);
                    proptest::prop_assert_eq!(&alone.content[0], painted, "{}", theme.name());
                }
            }
        }
    }

    #[test]
    fn a_frame_is_painted_on_its_surfaces_or_reversed_where_there_are_none() {
        let painted = |name: &str, style: Style| {
            let mut buffer = Buffer::with_lines(["x"]);
            buffer.set_style(buffer.area, style);
            ColorTheme::from_name(name).unwrap().paint(&mut buffer);
            let cell = &buffer.content[0];
            (cell.fg, cell.bg, cell.modifier)
        };
        let rgb = |hex: u32| {
            let [_, red, green, blue] = hex.to_be_bytes();
            Color::Rgb(red, green, blue)
        };
        let (quiet_panel, none) = (QUIET.patch(Surface::Panel.style()), Modifier::empty());
        let wanted = (Color::Indexed(245), rgb(0x24_24_24), none);
        assert_eq!(painted("dark", quiet_panel), wanted);
        assert_eq!(
            painted("none", quiet_panel),
            (Color::Reset, Color::Reset, Modifier::DIM)
        );
        assert_eq!(
            painted("sixteen", quiet_panel),
            (Color::DarkGray, Color::Reset, none)
        );
        let wanted = (Color::Indexed(252), rgb(0x40_40_40), Modifier::BOLD);
        assert_eq!(painted("dark", PICKED), wanted);
        let reversed = Modifier::BOLD | Modifier::REVERSED;
        for name in ["none", "sixteen", "terminal"] {
            assert_eq!(
                painted(name, PICKED),
                (Color::Reset, Color::Reset, reversed),
                "{name}"
            );
        }
        // A changed line has the colour of its sign then, and its words are reversed.
        let (added, word) = (Surface::Add.style(), Surface::AddWord.style());
        assert_eq!(
            painted("sixteen", CODE.patch(added)),
            (Color::Green, Color::Reset, none)
        );
        // A picked row is of one colour then.
        let picked = QUIET.patch(Surface::Picked.style());
        let wanted = (Color::Reset, Color::Reset, Modifier::REVERSED);
        assert_eq!(painted("sixteen", picked), wanted);
        assert_eq!(painted("none", picked), wanted);
        let wanted = (Color::Green, Color::Reset, Modifier::REVERSED);
        assert_eq!(painted("sixteen", word), wanted);
        assert_eq!(painted("dark", added).0, Color::Indexed(252));
        assert_eq!(painted("dark", EDGE).0, rgb(0x47_47_47));
        assert_eq!(painted("sixteen", EDGE).0, Color::DarkGray);
    }

    #[test]
    fn only_high_contrast_keeps_frames_and_popups_have_them_where_no_ground_shows_them() {
        let named = |has: fn(&ColorTheme) -> bool| -> Vec<String> {
            let themes = ColorTheme::built_in().filter(has);
            themes.map(|theme| theme.name().to_owned()).collect()
        };
        assert_eq!(named(ColorTheme::keeps_frames), ["high-contrast"]);
        assert_eq!(
            named(ColorTheme::frames_popups),
            ["terminal", "high-contrast", "sixteen", "none"]
        );
    }

    #[test]
    fn what_lies_behind_the_palette_fades_into_the_ground() {
        let faded = |name: &str| {
            let mut buffer = Buffer::with_lines(["xx"]);
            let theme = ColorTheme::from_name(name).unwrap();
            theme.paint(&mut buffer);
            theme.fade_outside(&mut buffer, Rect::new(0, 0, 1, 1));
            let looks = buffer.content.iter().map(|cell| (cell.fg, cell.modifier));
            looks.collect::<Vec<_>>()
        };
        let (none, dim) = (Modifier::empty(), Modifier::DIM);
        let grey = Color::Rgb(0x64, 0x64, 0x64);
        assert_eq!(faded("dark"), [(Color::Indexed(252), none), (grey, none)]);
        let own = [(Color::Reset, none), (Color::Reset, dim)];
        assert_eq!(faded("sixteen"), own);
    }

    #[test]
    fn nothing_but_what_needs_the_user_has_its_colour() {
        for theme in ColorTheme::built_in().filter(|theme| theme.name() != "none") {
            let of = |style: Style| {
                let at = TEXT_COLORS
                    .iter()
                    .position(|of| *of == style.fg.unwrap_or(Color::Reset));
                theme.grounds[0].1[at.unwrap()]
            };
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
                assert_ne!(of(style), of(NEEDS_YOU), "{}: {style:?}", theme.name());
            }
            assert_ne!(of(WARNING), of(BAD), "{}", theme.name());
        }
    }
}
