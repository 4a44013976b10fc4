//! The built-in themes as data: which colour replaces each of the screen's colours.

use std::borrow::Cow;

use ratatui::style::Color;

/// The colours of one theme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColorPalette {
    pub name: Cow<'static, str>,
    /// The known or assumed background, for the contrast test.
    pub assumed_background: Option<Color>,
    pub(super) background: Color,
    pub(super) text: Color,
    pub(super) quiet: Color,
    pub(super) attention: Color,
    pub(super) warning: Color,
    pub(super) running: Color,
    pub(super) good: Color,
    pub(super) bad: Color,
    pub(super) code: Color,
    pub(super) planner: Color,
    pub(super) reviewer: Color,
}

const fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color::Rgb(red, green, blue)
}

/// Creates a theme with its own background: background, text, quiet, attention, warning, running, good,
/// bad, code, planner, reviewer.
const fn full_palette(name: &'static str, of: [u32; 11]) -> ColorPalette {
    ColorPalette {
        name: Cow::Borrowed(name),
        assumed_background: Some(rgb(of[0])),
        background: rgb(of[0]),
        text: rgb(of[1]),
        quiet: rgb(of[2]),
        attention: rgb(of[3]),
        warning: rgb(of[4]),
        running: rgb(of[5]),
        good: rgb(of[6]),
        bad: rgb(of[7]),
        code: rgb(of[8]),
        planner: rgb(of[9]),
        reviewer: rgb(of[10]),
    }
}

/// The terminal's sixteen colours, unchanged.
pub const ANSI_PALETTE: ColorPalette = ColorPalette {
    name: Cow::Borrowed("sixteen"),
    assumed_background: None,
    background: Color::Reset,
    text: Color::Reset,
    quiet: Color::DarkGray,
    attention: Color::Yellow,
    warning: Color::LightRed,
    running: Color::LightCyan,
    good: Color::Green,
    bad: Color::Red,
    code: Color::Cyan,
    planner: Color::LightBlue,
    reviewer: Color::Magenta,
};

const COLORLESS_PALETTE: ColorPalette = ColorPalette {
    name: Cow::Borrowed("none"),
    quiet: Color::Reset,
    attention: Color::Reset,
    warning: Color::Reset,
    running: Color::Reset,
    good: Color::Reset,
    bad: Color::Reset,
    code: Color::Reset,
    planner: Color::Reset,
    reviewer: Color::Reset,
    ..ANSI_PALETTE
};

/// All built-in themes; the first is the default.
#[rustfmt::skip]
pub const BUILT_IN_PALETTES: &[ColorPalette] = &[
    // The sixteen colours are the user's own, but their grey is too dark in many palettes.
    ColorPalette { name: Cow::Borrowed("terminal"), quiet: Color::Indexed(245), ..ANSI_PALETTE },
    ColorPalette {
        name: Cow::Borrowed("dark"), assumed_background: Some(rgb(0x00_1c_1c_1c)), background: rgb(0x00_1c_1c_1c), text: Color::Indexed(252),
        quiet: Color::Indexed(246), attention: Color::Indexed(221), warning: Color::Indexed(209), running: Color::Indexed(117), good: Color::Indexed(114), bad: Color::Indexed(203),
        code: Color::Indexed(80), planner: Color::Indexed(111), reviewer: Color::Indexed(176),
    },
    ColorPalette {
        name: Cow::Borrowed("light"), assumed_background: Some(rgb(0x00_fa_fa_fa)), background: rgb(0x00_fa_fa_fa), text: Color::Indexed(236),
        quiet: Color::Indexed(242), attention: Color::Indexed(130), warning: Color::Indexed(58), running: Color::Indexed(23), good: Color::Indexed(22), bad: Color::Indexed(124),
        code: Color::Indexed(24), planner: Color::Indexed(25), reviewer: Color::Indexed(90),
    },
    full_palette("catppuccin", [0x1e_1e_2e, 0xcd_d6_f4, 0x93_99_b2, 0xf9_e2_af, 0xfa_b3_87, 0x89_dc_eb, 0xa6_e3_a1, 0xf3_8b_a8, 0x94_e2_d5, 0x89_b4_fa, 0xcb_a6_f7]),
    full_palette("gruvbox", [0x28_28_28, 0xeb_db_b2, 0xa8_99_84, 0xfa_bd_2f, 0xfe_80_19, 0x7f_c7_d9, 0xb8_bb_26, 0xfb_6f_5f, 0x8e_c0_7c, 0x83_a5_98, 0xd3_86_9b]),
    full_palette("nord", [0x2e_34_40, 0xe5_e9_f0, 0x9a_a5_b8, 0xeb_cb_8b, 0xde_8f_78, 0x8f_bc_bb, 0xa3_be_8c, 0xe0_8a_92, 0x88_c0_d0, 0x8c_ae_d6, 0xc7_a0_c0]),
    full_palette("tokyo-night", [0x1a_1b_26, 0xc0_ca_f5, 0x84_8c_b5, 0xe0_af_68, 0xff_9e_65, 0x73_da_ca, 0x9e_ce_6a, 0xf7_76_8e, 0x7d_cf_ff, 0x7a_a2_f7, 0xbb_9a_f7]),
    full_palette("solarized-light", [0xfd_f6_e3, 0x3f_55_5d, 0x70_80_84, 0x8a_66_00, 0xb8_44_14, 0x0f_6f_86, 0x5a_69_00, 0xc4_26_23, 0x17_73_6c, 0x1b_6c_ab, 0x9c_2a_68]),
    full_palette("high-contrast", [0x00_00_00, 0xff_ff_ff, 0xd0_d0_d0, 0xff_ff_00, 0xff_b0_60, 0x80_ff_d0, 0x00_ff_00, 0xff_80_80, 0x00_ff_ff, 0x9c_c8_ff, 0xff_a0_ff]),
    ANSI_PALETTE,
    COLORLESS_PALETTE,
];

impl ColorPalette {
    /// Returns whether the theme changes no colour.
    pub fn is_identity(&self) -> bool {
        self.all_colors() == ANSI_PALETTE.all_colors()
    }

    /// Returns all colours, in the order of the fields.
    pub(super) fn all_colors(&self) -> [Color; 11] {
        [
            self.background,
            self.text,
            self.quiet,
            self.attention,
            self.warning,
            self.running,
            self.good,
            self.bad,
            self.code,
            self.planner,
            self.reviewer,
        ]
    }

    /// Returns the colour that replaces a text colour.
    pub fn text_color(&self, colour: Color) -> Color {
        match colour {
            Color::Reset => self.text,
            other => self.map_color(other),
        }
    }

    /// Returns the colour that replaces a background colour.
    pub fn background_color(&self, colour: Color) -> Color {
        match colour {
            Color::Reset => self.background,
            other => self.map_color(other),
        }
    }

    fn map_color(&self, colour: Color) -> Color {
        match colour {
            Color::DarkGray => self.quiet,
            Color::Yellow => self.attention,
            Color::LightRed => self.warning,
            Color::LightCyan => self.running,
            Color::Green => self.good,
            Color::Red => self.bad,
            Color::Cyan => self.code,
            Color::LightBlue => self.planner,
            Color::Magenta => self.reviewer,
            other => other,
        }
    }
}

/// Returns the contrast of two colours, from 1 to 21; `None` if one is the terminal's own.
#[cfg(test)]
pub fn contrast(one: Color, other: Color) -> Option<f64> {
    let (one, other) = (luminance(one)?, luminance(other)?);
    let (dark, light) = (one.min(other), one.max(other));
    Some((light + 0.05) / (dark + 0.05))
}

#[cfg(test)]
fn luminance(colour: Color) -> Option<f64> {
    let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    let (red, green, blue) = match colour {
        Color::Rgb(red, green, blue) => (red, green, blue),
        Color::Indexed(n @ 16..=231) => {
            let n = n - 16;
            (step(n / 36), step(n / 6 % 6), step(n % 6))
        }
        Color::Indexed(n @ 232..) => {
            let grey = 8 + 10 * (n - 232);
            (grey, grey, grey)
        }
        _ => return None,
    };
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    };
    Some(0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue))
}
