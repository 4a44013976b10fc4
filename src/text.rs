//! Handles text that agents write and users read: removes control sequences and secrets,
//! cuts, parses and compares text.
//!
//! Pure: strings go in, strings come out. Files, clocks, events and screens are not used here.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod cleaner;
pub mod redactor;
pub mod sanitiser;

pub mod base64;
pub mod fenced_block;
pub mod front_matter;
mod invisible_escape;
pub mod path_name;
pub mod question_heuristic;
pub mod slug;
pub mod three_way_merge;
pub mod truncate;
pub mod unified_diff;
pub mod word_similarity;

mod text_counts;
mod word_forms;
pub use cleaner::{
    ByteScrubber, ScrubScope, TextCleaner, clean_json_line, clean_prefix, clean_suffix, clean_text,
    clean_to_one_line,
};
pub use invisible_escape::escape_invisible;
pub use text_counts::{
    count_changed_lines, count_lines, describe_line_changes, describe_line_counts, pluralize,
};
pub use word_forms::{capitalize, first_clause, format_duration, without_full_stop};
