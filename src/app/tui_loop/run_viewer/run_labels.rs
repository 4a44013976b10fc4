//! Labels for read-only runs, in a list and above their screens.

use jiff::Zoned;
use jiff::civil::Date;

use crate::app::local_timezone::local_timezone;
use crate::app::run_history::RunHistoryEntry;
use crate::domain::phase::Phase;
use crate::store::LockHolder;
use crate::tui::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};

/// After that many days a weekday could mean two dates.
const MAX_WEEKDAY_AGE: i32 = 6;

/// Converts a finished run to a row of the list.
pub fn history_row(run: &RunHistoryEntry) -> RunListEntry {
    let today = Zoned::now().with_time_zone(local_timezone()).date();
    RunListEntry {
        name: run.name.clone(),
        date: short_date(run.date, today),
        ended: run.end_label(),
        about: run.subject().to_owned(),
        progress: run.progress_label().unwrap_or_default(),
        short_result: run.short_result(),
        completion: match &run.summary {
            Ok(summary) if summary.phase == Phase::Done => RunCompletion::Done,
            Ok(_) if run.is_unfinished() => RunCompletion::Unfinished,
            Ok(_) | Err(_) => RunCompletion::Complete,
        },
    }
}

/// Returns a date as `today`, as a weekday of the last days, else whole.
fn short_date(date: Date, today: Date) -> String {
    match (today - date).get_days() {
        0 => "today".to_owned(),
        1..=MAX_WEEKDAY_AGE => date.strftime("%a").to_string(),
        _ => date.to_string(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_of_the_last_days_is_a_weekday() {
        let today = Date::constant(2026, 3, 2);
        for (date, label) in [
            (Date::constant(2026, 3, 2), "today"),
            (Date::constant(2026, 3, 1), "Sun"),
            (Date::constant(2026, 2, 24), "Tue"),
            (Date::constant(2026, 2, 23), "2026-02-23"),
            (Date::constant(2025, 3, 2), "2025-03-02"),
            // The clock may have been set back.
            (Date::constant(2026, 3, 3), "2026-03-03"),
        ] {
            assert_eq!(short_date(date, today), label, "{date}");
        }
    }
}
