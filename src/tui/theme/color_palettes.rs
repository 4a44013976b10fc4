//! The built-in themes as data: which colour replaces each of the screen's colours.

use std::borrow::Cow;

use ratatui::style::Color;

use super::surface::{GivenSurfaces, NO_SURFACES, Surface};

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
    /// The surfaces that the theme gives itself; the others are derived.
    pub(super) given_surfaces: GivenSurfaces,
    /// Whether the other surfaces are derived; without, they are the terminal's own background.
    pub(super) derives_surfaces: bool,
}

const fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color::Rgb(red, green, blue)
}

/// Creates a theme with its own background: background, text, quiet, attention, warning, running, good,
/// bad, code, planner, reviewer; then its surfaces: panel, raised, edge, add, del, ask.
const fn full_palette(name: &'static str, of: [u32; 11], surfaces: [u32; 6]) -> ColorPalette {
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
        given_surfaces: surface_colors(surfaces),
        derives_surfaces: true,
    }
}

const fn surface_colors([panel, raised, edge, add, del, ask]: [u32; 6]) -> GivenSurfaces {
    let mut given = NO_SURFACES;
    given[Surface::Panel as usize] = Some(rgb(panel));
    given[Surface::Raised as usize] = Some(rgb(raised));
    given[Surface::Edge as usize] = Some(rgb(edge));
    given[Surface::Add as usize] = Some(rgb(add));
    given[Surface::Del as usize] = Some(rgb(del));
    given[Surface::Ask as usize] = Some(rgb(ask));
    given
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
    given_surfaces: NO_SURFACES,
    derives_surfaces: false,
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
    // The sixteen colours are the user's own, but their grey is too dark in many palettes, and their bright red is a red.
    ColorPalette { name: Cow::Borrowed("terminal"), quiet: Color::Indexed(245), warning: Color::Indexed(166), derives_surfaces: true, ..ANSI_PALETTE },
    DARK_PALETTE,
    LIGHT_PALETTE,
    full_palette("catppuccin", [0x1e_1e_2e, 0xcd_d6_f4, 0x93_99_b2, 0xf9_e2_af, 0xfa_b3_87, 0x74_c7_ec, 0xa6_e3_a1, 0xf3_8b_a8, 0x94_e2_d5, 0x89_b4_fa, 0xcb_a6_f7],
        [0x26_26_3a, 0x31_32_44, 0x45_47_5a, 0x32_3c_3f, 0x42_31_43, 0x30_2e_38]),
    full_palette("gruvbox", [0x28_28_28, 0xeb_db_b2, 0xa8_99_84, 0xfa_bd_2f, 0xfe_80_19, 0x7f_c7_d9, 0x9d_bb_3a, 0xfb_6f_5f, 0x8e_c0_7c, 0x83_a5_98, 0xd3_86_9b],
        [0x32_30_2f, 0x3c_38_36, 0x50_49_45, 0x39_3a_28, 0x4c_34_31, 0x39_34_29]),
    full_palette("nord", [0x2e_34_40, 0xe5_e9_f0, 0x9a_a5_b8, 0xeb_cb_8b, 0xe2_9a_6a, 0x7f_d6_c2, 0xa3_be_8c, 0xee_8a_92, 0x88_c0_d0, 0x93_a9_e6, 0xc7_a0_c0],
        [0x35_3c_4a, 0x3b_42_52, 0x4c_56_6a, 0x3a_42_48, 0x40_3d_48, 0x3d_40_46]),
    full_palette("tokyo-night", [0x1a_1b_26, 0xc0_ca_f5, 0x84_8c_b5, 0xe0_af_68, 0xff_9e_65, 0x73_da_ca, 0x9e_ce_6a, 0xf7_76_8e, 0x7d_cf_ff, 0x7a_a2_f7, 0xbb_9a_f7],
        [0x1f_23_35, 0x29_2e_42, 0x3b_42_61, 0x2e_36_30, 0x40_2a_38, 0x2a_27_2b]),
    full_palette("rose-pine", [0x19_17_24, 0xe0_de_f4, 0x90_8c_aa, 0xf6_c1_77, 0xf4_a2_61, 0x9c_cf_d8, 0x9c_cf_9c, 0xeb_6f_92, 0xeb_bc_ba, 0x8a_b4_e8, 0xc4_a7_e7],
        [0x21_1f_30, 0x2a_28_3e, 0x40_3d_52, 0x28_30_33, 0x3e_26_38, 0x2c_27_2c]),
    full_palette("solarized-light", [0xfd_f6_e3, 0x3f_55_5d, 0x65_7b_83, 0x8a_66_00, 0xa8_50_0a, 0x5a_5f_b5, 0x5a_69_00, 0xc4_26_23, 0x17_73_6c, 0x1b_6c_ab, 0x9c_2a_68],
        [0xf5_ee_db, 0xee_e8_d5, 0xd5_ce_b8, 0xed_e8_cc, 0xf6_dd_cc, 0xf5_ec_d3]),
    full_palette("high-contrast", [0x00_00_00, 0xff_ff_ff, 0xd0_d0_d0, 0xff_ff_00, 0xff_b0_60, 0x80_ff_d0, 0x00_ff_00, 0xff_80_80, 0x00_ff_ff, 0x9c_c8_ff, 0xff_a0_ff],
        [0x00_00_00, 0x1a_1a_1a, 0xff_ff_ff, 0x00_26_00, 0x2b_1616, 0x14_14_00]),
    ANSI_PALETTE,
    COLORLESS_PALETTE,
];

/// For dark grounds; the terminal's own dark ground takes its tints from it, too.
#[rustfmt::skip]
pub const DARK_PALETTE: ColorPalette = ColorPalette {
    name: Cow::Borrowed("dark"), assumed_background: Some(rgb(0x00_1c_1c_1c)), background: rgb(0x00_1c_1c_1c), text: Color::Indexed(252),
    quiet: Color::Indexed(245), attention: Color::Indexed(221), warning: Color::Indexed(209), running: Color::Indexed(117), good: Color::Indexed(114), bad: Color::Indexed(203),
    code: Color::Indexed(80), planner: Color::Indexed(111), reviewer: Color::Indexed(176),
    given_surfaces: surface_colors([0x24_24_24, 0x2c_2c_2c, 0x47_47_47, 0x2c_38_2c, 0x43_27_27, 0x2e_2b_21]), derives_surfaces: true,
};

/// For light grounds.
#[rustfmt::skip]
pub const LIGHT_PALETTE: ColorPalette = ColorPalette {
    name: Cow::Borrowed("light"), assumed_background: Some(rgb(0x00_fa_fa_fa)), background: rgb(0x00_fa_fa_fa), text: Color::Indexed(236),
    quiet: Color::Indexed(242), attention: Color::Indexed(94), warning: rgb(0x00_b0_4a_00), running: rgb(0x00_00_75_6a), good: rgb(0x00_2f_6b_00), bad: Color::Indexed(124),
    code: Color::Indexed(24), planner: rgb(0x00_2f_4f_c8), reviewer: Color::Indexed(90),
    given_surfaces: surface_colors([0xf1_f1_f1, 0xe8_e8_e8, 0xca_ca_ca, 0xe1_ea_e1, 0xf1_dc_dc, 0xf5_ef_e8]), derives_surfaces: true,
};

impl ColorPalette {
    /// Returns all colours, in the order of the fields.
    pub(super) const fn all_colors(&self) -> [Color; 11] {
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

    /// Returns whether the theme has no colours at all.
    pub(super) fn is_colorless(&self) -> bool {
        let all = self.all_colors();
        all.iter().all(|colour| *colour == Color::Reset)
    }
}
