//! Defines the limits of measured figures, and collects which figures keep to them.

use std::fmt;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use crate::say;

/// The limit of a measured time.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// No limit: the time is only printed.
    None,
    /// At most this many times the compared time.
    Times(f64),
    /// The same, and so much more.
    TimesAnd(f64, Duration),
    /// At most this long, whatever the compared time is.
    Within(Duration),
}

impl Limit {
    /// Returns whether a time is within the limit, and records it; an empty text if there is no limit.
    pub fn verdict(self, name: &str, ours: Duration, beside: Duration) -> &'static str {
        let most = match self {
            Self::None => return "",
            Self::Times(times) => beside.as_secs_f64() * times,
            Self::TimesAnd(times, more) => beside.as_secs_f64() * times + more.as_secs_f64(),
            Self::Within(most) => most.as_secs_f64(),
        };
        verdict(name, ours.as_secs_f64(), most)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("-"),
            Self::Times(times) => write!(f, "<= {times}"),
            Self::TimesAnd(times, more) => write!(f, "<= {times} + {more:?}"),
            Self::Within(most) => write!(f, "<= {most:?}"),
        }
    }
}

/// The figures with a limit, each with whether it was kept.
static HELD: Mutex<Vec<(String, Kept)>> = Mutex::new(Vec::new());

/// Whether a figure keeps to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

/// Returns whether a figure is within its limit, and records it.
pub fn verdict(name: &str, figure: f64, most: f64) -> &'static str {
    let (kept, word) = if figure <= most {
        (Kept::Yes, "  ok")
    } else {
        // A figure that is not a number keeps to no limit.
        (Kept::No, "  MISSED")
    };
    if let Ok(mut held) = HELD.lock() {
        held.push((name.to_owned(), kept));
    }
    word
}

/// Prints how many figures keep to their limits and which do not, and returns the matching exit status.
pub fn conclude() -> anyhow::Result<ExitCode> {
    let held = HELD.lock().map_err(|_| anyhow::anyhow!("a thread broke"))?;
    let missed: Vec<&str> = held
        .iter()
        .filter(|(_, kept)| *kept == Kept::No)
        .map(|(name, _)| name.as_str())
        .collect();
    let n_kept = held.len() - missed.len();
    say(format_args!(
        "\n{n_kept} of {} figures within their limits",
        held.len()
    ))?;
    for name in &missed {
        say(format_args!("missed: {name}"))?;
    }
    Ok(if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
