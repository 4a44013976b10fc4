//! The optional event sources of the loop; a source that does not exist never yields.
//!
//! All of them are cancel safe.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::config::config_model::MotionLevel;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::engine::{Engine, EngineInput};
use crate::store::utc_time;

use super::file_watcher::FileWatcher;
use super::is_run_busy;

/// Interval for redrawing clocks while an agent or the program works.
const TICK: Duration = Duration::from_millis(500);
/// The same with reduced motion.
const SLOW_TICK: Duration = Duration::from_secs(10);

pub(super) async fn next_engine_input(engine: &mut Option<Engine>) -> EngineInput {
    match engine {
        Some(engine) => engine.next_input().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn next_file_change(watch: &Option<FileWatcher>) {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn sleep_until_due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Returns the time until a clock on the screen changes: short while an agent or the program works, the next minute
/// while waiting for a usage limit, else never.
pub(super) fn next_tick(state: &RunState, motion: MotionLevel) -> Option<Duration> {
    if is_run_busy(state) {
        return Some(match motion {
            MotionLevel::Full => TICK,
            MotionLevel::Reduced => SLOW_TICK,
        });
    }
    match state.awaiting.as_ref()?.kind {
        QuestionKind::UsageLimit { until, .. } => {
            let left = until.0.saturating_sub(utc_time::now().0);
            let into_minute = u64::try_from(left.rem_euclid(60_000)).unwrap_or(0);
            Some(Duration::from_millis(into_minute + 1))
        }
        _ => None,
    }
}
