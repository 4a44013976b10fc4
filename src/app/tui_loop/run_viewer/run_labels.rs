//! Labels for read-only runs, in a list and above their screens.

use crate::app::run_history::RunHistoryEntry;
use crate::domain::phase::Phase;
use crate::store::LockHolder;
use crate::tui::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};

/// Converts a finished run to a row of the list.
pub fn history_row(run: &RunHistoryEntry) -> RunListEntry {
    RunListEntry {
        name: run.name.clone(),
        date: run.date.to_string(),
        ended: run.end_label(),
        about: run.subject().to_owned(),
        progress: run.progress_label().unwrap_or_default(),
        completion: match &run.summary {
            Ok(summary) if summary.phase == Phase::Done => RunCompletion::Done,
            Ok(_) if run.is_unfinished() => RunCompletion::Unfinished,
            Ok(_) | Err(_) => RunCompletion::Complete,
        },
    }
}

/// Returns the label of an archived run.
pub fn archived_run_label(run: &RunHistoryEntry) -> ReadOnlyStatus {
    ReadOnlyStatus {
        badge: "from the history".to_owned(),
        reason: "This run is in the history".to_owned(),
        owner_activity: OwnerActivity::Idle,
        resumable_run: run.is_unfinished().then(|| history_row(run)),
    }
}

/// Returns the label of a run without an instance.
pub fn idle_run_label() -> ReadOnlyStatus {
    ReadOnlyStatus {
        badge: "not running".to_owned(),
        reason: "To start here, run `agent-collab` without --view".to_owned(),
        owner_activity: OwnerActivity::Idle,
        resumable_run: None,
    }
}

/// Returns the label of a run that another instance works on.
pub fn other_instance_label(held: &LockHolder) -> ReadOnlyStatus {
    let who = match held.pid {
        Some(pid) => format!("used by process {pid}"),
        None => "used by another instance".to_owned(),
    };
    ReadOnlyStatus {
        reason: format!("{who}, continue there"),
        badge: who,
        owner_activity: OwnerActivity::Working,
        resumable_run: None,
    }
}
