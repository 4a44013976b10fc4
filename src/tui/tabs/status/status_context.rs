//! What the Status tab shows beside the run's state: a silent turn, the sandboxes of the CLIs, and the user's settings.

use std::time::Duration;

use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::text::{capitalize, format_duration};
use crate::tui::labels::{LocalClock, format_elapsed, format_minutes};
use crate::tui::text_wrap::to_one_line;

/// A running turn that gives no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentTurn {
    pub since: UnixMillis,
    /// The likely reason, where one is known.
    pub verdict: Option<String>,
}

impl SilentTurn {
    /// Describes how long it has been silent and, where known, why: `for 0:42. The model has not answered`.
    pub(super) fn describe(&self, now: UnixMillis) -> String {
        let since = format!("for {}", format_elapsed(self.since, now));
        let Some(verdict) = &self.verdict else {
            return since;
        };
        let verdict = to_one_line(verdict);
        // That it waits is what silence is.
        let reason = verdict.strip_prefix("waiting: ").unwrap_or(&verdict);
        format!("{since}. {}", capitalize(reason))
    }
}

/// Says what ends a silent turn: the user's key, or its time limit where that is known.
pub(super) fn describe_turn_end(key: &str, limit: Option<Duration>) -> String {
    let Some(limit) = limit else {
        return format!("{key} interrupts it. Otherwise limits.turn_timeout stops it");
    };
    let seconds = limit.as_secs();
    let after = match u32::try_from(seconds / 60) {
        Ok(minutes) if seconds % 60 == 0 => format_minutes(minutes),
        _ => format_duration(i64::try_from(limit.as_millis()).unwrap_or(i64::MAX)),
    };
    format!("{key} interrupts it. A turn is stopped after {after} (limits.turn_timeout)")
}

/// What the Status tab shows: the run's state, and facts that the state does not contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatusContext<'a> {
    pub state: Option<&'a RunState>,
    /// Set when the running turn gives no output.
    pub silent: Option<&'a SilentTurn>,
    /// How each adapter's CLI is sandboxed.
    pub sandboxes: &'a [AdapterSandboxView],
    /// Which agent instructions the repository contains, and whether agents receive them; empty if there
    /// are none.
    pub instructions_note: &'a str,
    /// Converts times to the user's time zone.
    pub clock: LocalClock,
    /// How long a turn may take, if known.
    pub turn_timeout: Option<Duration>,
    /// The key that interrupts a turn.
    pub interrupt: &'a str,
}

/// How an adapter's CLI is sandboxed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterSandboxView {
    /// The adapter, by its name in the configuration.
    pub adapter: String,
    /// What its agent can write and reach, in one short sentence.
    pub summary: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_turn_says_why_and_what_ends_it() {
        let silent = |verdict: &str| SilentTurn {
            since: UnixMillis(0),
            verdict: (!verdict.is_empty()).then(|| verdict.to_owned()),
        };
        for (verdict, text) in [
            ("", "for 0:42"),
            (
                "waiting: the model has not answered",
                "for 0:42. The model has not answered",
            ),
            (
                "stuck: `cat` waits for input on stdin",
                "for 0:42. Stuck: `cat` waits for input on stdin",
            ),
        ] {
            assert_eq!(silent(verdict).describe(UnixMillis(42_000)), text);
        }
        for (seconds, text) in [(3_600, "1 h"), (90, "1 min 30 s")] {
            let text = format!(
                "Ctrl+X interrupts it. A turn is stopped after {text} (limits.turn_timeout)"
            );
            let limit = Some(Duration::from_secs(seconds));
            assert_eq!(describe_turn_end("Ctrl+X", limit), text);
        }
    }
}
