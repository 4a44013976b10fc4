//! How a run that is only looked at is named, in a list and over its screen.
//!
//! Refuses to look at it.

use crate::app::run_history::RunHistoryEntry;
use crate::store::LockHolder;
use crate::tui::{Elsewhere, PastRun, ReadOnly, Rest};

/// A finished run as a screen lists it.
pub fn history_row(run: &RunHistoryEntry) -> PastRun {
    PastRun {
        name: run.name.clone(),
        date: run.date.to_string(),
        ended: run.end_label(),
        about: run.subject().to_owned(),
        how_far: run.progress_label().unwrap_or_default(),
        rest: match run.is_unfinished() {
            true => Rest::Unfinished,
            false => Rest::Over,
        },
    }
}

/// One of the history.
pub fn archived_run_label(run: &RunHistoryEntry) -> ReadOnly {
    ReadOnly {
        badge: "a run of the history".to_owned(),
        why: "this run lies in the history".to_owned(),
        elsewhere: Elsewhere::Rests,
        again: run.is_unfinished().then(|| history_row(run)),
    }
}

/// The one that nobody works on.
pub fn idle_run_label() -> ReadOnly {
    ReadOnly {
        badge: "nobody works here".to_owned(),
        why: "`agent-collab` without --view starts here".to_owned(),
        elsewhere: Elsewhere::Rests,
        again: None,
    }
}

/// The one that another instance works on.
pub fn other_instance_label(held: &LockHolder) -> ReadOnly {
    let who = match held.pid {
        Some(pid) => format!("process {pid} works here"),
        None => "another instance works here".to_owned(),
    };
    ReadOnly {
        why: format!("{who}; go on there"),
        badge: who,
        elsewhere: Elsewhere::Works,
        again: None,
    }
}
