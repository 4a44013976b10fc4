//! How long the sessions of finished tasks are kept.

use std::time::Duration;

use crate::config::config_model::LimitsConfig;
use crate::domain::ids::UnixMillis;
use crate::engine::{Engine, error_with_hint, warning_event};
use crate::store::{InstanceLock, WorkdirLayout, session_files, utc_time};

use super::startup::StartError;

/// Returns the instant before which sessions have expired.
pub fn retention_cutoff(limits: &LimitsConfig) -> UnixMillis {
    let days = Duration::from_secs(u64::from(limits.keep_sessions_days) * 24 * 60 * 60);
    let millis = i64::try_from(days.as_millis()).unwrap_or(i64::MAX);
    UnixMillis(utc_time::now().0.saturating_sub(millis))
}

/// Deletes expired sessions when a run starts or resumes.
///
/// # Errors
/// The files cannot be removed.
pub fn prune_expired_sessions(
    layout: &WorkdirLayout,
    lock: &InstanceLock,
    engine: &mut Engine,
    limits: &LimitsConfig,
) -> Result<(), StartError> {
    let before = retention_cutoff(limits);
    let pruned = engine.prune_children(before);
    let pruned = pruned.map_err(|error| StartError::new(&error, "nothing was started"))?;
    let archived = session_files::prune_archived_sessions(layout, lock, before)?;
    // A session that stays does not affect any run.
    for error in &archived.failures {
        let event = warning_event("delete an old session", error_with_hint(error));
        let told = engine.apply_event(event);
        told.map_err(|error| StartError::new(&error, "nothing was started"))?;
    }
    let n = pruned.len() + archived.n_deleted;
    if n > 0 {
        tracing::info!(n, "old task sessions were deleted");
    }
    Ok(())
}
