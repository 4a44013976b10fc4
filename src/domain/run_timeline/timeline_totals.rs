//! Keeps totals of older turns and waits: their number, their sums, and their times.
//!
//! Times that are close together are merged, so that a bar of them looks the same and the size does not grow with the
//! run.

use serde::{Deserialize, Serialize};

use super::{ActivitySpan, TurnSpan, add_usage, elapsed_millis};
use crate::domain::ids::UnixMillis;
use crate::domain::session::SessionUsage;
use crate::domain::turn::Role;

/// How many separate times of each kind are kept.
const MAX_TIMES: usize = 24;

/// The totals of turns and waits that are no longer kept one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimelineTotals {
    planner: RoleTotals,
    reviewer: RoleTotals,
    n_waits: usize,
    /// How long the run waited for the user, in milliseconds.
    waited: i64,
    waits: Vec<(UnixMillis, UnixMillis)>,
}

/// The totals of a role's turns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoleTotals {
    n: usize,
    /// How long it worked, in milliseconds.
    worked: i64,
    used: SessionUsage,
    work: Vec<(UnixMillis, UnixMillis)>,
    bad_ends: Vec<UnixMillis>,
}

impl TimelineTotals {
    /// Returns whether there are no totals yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the totals of a role.
    pub fn role_totals(&self, role: Role) -> &RoleTotals {
        match role {
            Role::Planner => &self.planner,
            Role::Reviewer => &self.reviewer,
        }
    }

    /// Returns the number of waits.
    pub fn wait_count(&self) -> usize {
        self.n_waits
    }

    /// Returns their total duration, in milliseconds.
    pub fn wait_millis(&self) -> i64 {
        self.waited
    }

    pub fn wait_times(&self) -> &[(UnixMillis, UnixMillis)] {
        &self.waits
    }

    /// Adds a turn, with its working time in milliseconds and its working times.
    pub fn add_turn(&mut self, turn: &TurnSpan, worked: i64, work: &[(UnixMillis, UnixMillis)]) {
        let turns = match turn.role {
            Role::Planner => &mut self.planner,
            Role::Reviewer => &mut self.reviewer,
        };
        turns.n += 1;
        turns.used = add_usage(turns.used, turn.usage());
        turns.worked += worked;
        for (from, to) in work {
            merge_time(&mut turns.work, (*from, *to));
        }
        if let Some(at) = turn.to.filter(|_| turn.end.is_failure()) {
            let n_most = turns.bad_ends.len().saturating_sub(MAX_TIMES - 1);
            turns.bad_ends.drain(..n_most);
            turns.bad_ends.push(at);
        }
    }

    /// Adds a wait to the totals.
    pub fn add_wait(&mut self, wait: &ActivitySpan) {
        let to = wait.to.unwrap_or(wait.from);
        self.n_waits += 1;
        self.waited += elapsed_millis(wait.from, Some(to), to);
        merge_time(&mut self.waits, (wait.from, to));
    }
}

impl RoleTotals {
    /// Returns the number of turns.
    pub fn turn_count(&self) -> usize {
        self.n
    }

    /// Returns their duration, in milliseconds, without waits for the user.
    pub fn work_millis(&self) -> i64 {
        self.worked
    }

    /// Returns what they used.
    pub fn usage(&self) -> SessionUsage {
        self.used
    }

    /// Returns when the role worked.
    pub fn work_times(&self) -> &[(UnixMillis, UnixMillis)] {
        &self.work
    }

    /// Returns when turns did not end well; only the last ones.
    pub fn failure_times(&self) -> &[UnixMillis] {
        &self.bad_ends
    }
}

/// Adds a time; when there are too many, the two closest ones are merged.
fn merge_time(times: &mut Vec<(UnixMillis, UnixMillis)>, time: (UnixMillis, UnixMillis)) {
    times.push(time);
    if times.len() <= MAX_TIMES {
        return;
    }
    let gap = |pair: &[(UnixMillis, UnixMillis)]| match pair {
        [one, other] => other.0.0.saturating_sub(one.1.0),
        _ => i64::MAX,
    };
    let gaps = times.windows(2).map(gap).enumerate();
    let closest = gaps.min_by_key(|(_, gap)| *gap).map(|(at, _)| at);
    if let Some(at) = closest
        && at + 1 < times.len()
    {
        let other = times.remove(at + 1);
        if let Some(one) = times.get_mut(at) {
            one.1 = one.1.max(other.1);
        }
    }
}
