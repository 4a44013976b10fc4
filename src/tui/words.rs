//! Words for values of the run that several places of the screen show.

use crate::domain::ids::At;
use crate::domain::phase::Gate;

/// The gate's name.
pub fn gate(gate: Gate) -> &'static str {
    match gate {
        Gate::Manual => "manual",
        Gate::Auto => "auto",
    }
}

/// A commit's short form.
pub fn short_commit(commit: &str) -> String {
    commit
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(8)
        .collect()
}

/// A span between two instants as `m:ss` or `h:mm:ss`.
pub fn elapsed(from: At, to: At) -> String {
    let seconds = to.0.saturating_sub(from.0).max(0) / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// The time of day of an instant, in UTC.
pub fn time_of_day(at: At) -> String {
    let seconds = at.0.div_euclid(1_000).rem_euclid(86_400);
    format!(
        "{:02}:{:02}:{:02}Z",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// A count of tokens, short.
pub fn tokens(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..10_000_000 => format!("{}k", n / 1_000),
        10_000_000.. => format!("{}M", n / 1_000_000),
    }
}
