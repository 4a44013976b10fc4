//! Text as agents write it and people read it: made harmless, made safe to keep, cut, taken apart.
//!
//! Pure: strings go in, strings come out; nothing here knows files, clocks, events or screens.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod clean;
pub mod redact;
pub mod sanitise;

pub mod base64;
pub mod fence;
pub mod front_matter;
pub mod merge;
pub mod patch;
pub mod path_name;
pub mod question;
pub mod slug;
pub mod truncate;
mod visible;

mod counted;
pub use clean::{
    Cleaner, Scrubber, Taken, clean, clean_beginning, clean_end, clean_json_line, one_line,
};
pub use counted::{changed_lines, n_lines, n_of};
pub use visible::visible;
