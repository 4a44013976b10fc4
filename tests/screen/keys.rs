//! Keys as a terminal sends them.

pub const ENTER: &str = "\r";
pub const ESC: &str = "\x1b";
pub const END: &str = "\x1b[F";
pub const F2: &str = "\x1bOQ";
pub const CTRL_C: &str = "\x03";
pub const CTRL_E: &str = "\x05";
pub const ALT_L: &str = "\x1bl";
pub const CTRL_R: &str = "\x12";
pub const CTRL_S: &str = "\x13";
pub const CTRL_Y: &str = "\x19";
pub const ALT_Y: &str = "\x1by";
pub const CTRL_Z: &str = "\x1a";
/// What a terminal sends by itself when its window is left, and entered again.
pub const FOCUS_LOST: &str = "\x1b[O";
pub const FOCUS_GAINED: &str = "\x1b[I";
