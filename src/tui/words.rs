//! Words for values of the run that several places of the screen show.

use crate::domain::ids::At;
use crate::domain::phase::Gate;
use crate::domain::question::QuestionKind;
use crate::domain::run::State;

use super::Silent;
use super::wrap::one_line;

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

/// How long until an instant, to the minute and never less than it is: `in 12 min`, `in 3 h 05 min`.
pub fn until(at: At, now: At) -> String {
    let left = at.0.saturating_sub(now.0).max(0);
    let minutes = left / 60_000 + i64::from(left % 60_000 > 0);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("in {minutes} min"),
        (hours @ 1..48, minutes) => format!("in {hours} h {minutes:02} min"),
        (hours, _) => format!("in {} days", hours / 24),
    }
}

/// What the run waits for, where that is the end of a usage limit.
pub fn limit(state: &State, now: At) -> Option<String> {
    let question = state.awaiting.as_ref()?;
    let QuestionKind::UsageLimit {
        purpose,
        adapter,
        until: end,
        ..
    } = &question.kind
    else {
        return None;
    };
    Some(format!(
        "{} waits for {}'s usage limit until {} ({})",
        purpose.role().name(),
        one_line(adapter),
        end.hour_and_minute(),
        until(*end, now)
    ))
}

/// A silence: how long it lasts, and why as far as it is known.
pub fn silent(silent: &Silent, now: At) -> String {
    let since = elapsed(silent.since, now);
    match &silent.verdict {
        Some(verdict) => format!("silent {since}, {}", one_line(verdict)),
        None => format!("silent {since}"),
    }
}

/// A count of tokens, short.
pub fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..10_000 => format!("{}.{}k", n / 1_000, n / 100 % 10),
        10_000..10_000_000 => format!("{}k", n / 1_000),
        10_000_000.. => format!("{}M", n / 1_000_000),
    }
}

/// A cost in dollars, from millionths of one.
pub fn dollars(micro: u64) -> String {
    format!("${}.{:02}", micro / 1_000_000, micro / 10_000 % 100)
}
