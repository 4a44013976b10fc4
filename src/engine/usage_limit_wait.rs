//! Says whether the run waits for the end of a usage limit, and waits for it.
//!
//! Whether a role moves to another adapter or the run waits is decided by the run.

use std::time::Duration;

use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::store::utc_time;

/// The longest sleep before the clock is read again: the clock may be changed, and the machine may be suspended.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Returns the question that waits for a usage limit, and until when.
pub(super) fn pending_usage_limit(state: &RunState) -> Option<(u32, UnixMillis)> {
    let question = state.awaiting.as_ref()?;
    match question.kind {
        QuestionKind::UsageLimit { until, .. } => Some((question.id, until)),
        _ => None,
    }
}

/// Waits until the wall clock reaches an instant and returns the question that waited. Cancel safe.
pub(super) async fn wait_until_limit_passed(limit: Option<(u32, UnixMillis)>) -> u32 {
    let Some((id, until)) = limit else {
        return std::future::pending().await;
    };
    loop {
        let left = until.0.saturating_sub(utc_time::now().0);
        let Ok(left @ 1..) = u64::try_from(left) else {
            return id;
        };
        tokio::time::sleep(CLOCK_CHECK_INTERVAL.min(Duration::from_millis(left))).await;
    }
}
