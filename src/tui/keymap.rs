//! Keys: their names, where they work, the user's own, and which command each means.
//!
//! The commands and their default keys are rows of `command_table`. The keys of an open dialog are its own choices;
//! each of them also works as `/answer CHOICE`.

mod active_keymap;
mod key_chord;
mod key_context;
mod key_overrides;

pub use active_keymap::{ActiveKeymap, ComposerFocus, KeyHint};
pub use key_chord::{KeyChord, alt_key, ctrl_key, letter_key, plain_key, suggest_nearest};
pub use key_context::KeyContext;
pub use key_overrides::{KeyOverride, KeymapError};
