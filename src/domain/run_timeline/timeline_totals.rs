//! What is kept of turns and waits that are long ago: how many there were, what they came to, and when somebody worked.
//!
//! Times that are close together become one, so that a bar of them looks the same. Refuses to grow with the run.

use serde::{Deserialize, Serialize};

use super::{ActivitySpan, TurnSpan, add_usage, elapsed_millis};
use crate::domain::ids::UnixMillis;
use crate::domain::session::SessionUsage;
use crate::domain::turn::Role;

/// How many times of each kind are told apart.
const MAX_TIMES: usize = 24;

/// What is known of turns and waits that are not kept one by one any more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimelineTotals {
    planner: RoleTotals,
    reviewer: RoleTotals,
    n_waits: usize,
    /// How long the user was waited for, in milliseconds.
    waited: i64,
    waits: Vec<(UnixMillis, UnixMillis)>,
}

/// The turns of a role.
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
    /// Tells whether all that happened is kept one by one.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The turns of a role.
    pub fn role_totals(&self, role: Role) -> &RoleTotals {
        match role {
            Role::Planner => &self.planner,
            Role::Reviewer => &self.reviewer,
        }
    }

    /// How many waits there were.
    pub fn wait_count(&self) -> usize {
        self.n_waits
    }

    /// How long they took, in milliseconds.
    pub fn wait_millis(&self) -> i64 {
        self.waited
    }

    /// When they were.
    pub fn wait_times(&self) -> &[(UnixMillis, UnixMillis)] {
        &self.waits
    }

    /// Takes a turn in, how long it was worked in it, in milliseconds, and when.
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

    /// Takes a wait in.
    pub fn add_wait(&mut self, wait: &ActivitySpan) {
        let to = wait.to.unwrap_or(wait.from);
        self.n_waits += 1;
        self.waited += elapsed_millis(wait.from, Some(to), to);
        merge_time(&mut self.waits, (wait.from, to));
    }
}

impl RoleTotals {
    /// How many there were.
    pub fn turn_count(&self) -> usize {
        self.n
    }

    /// How long they took, in milliseconds, without waiting for the user.
    pub fn work_millis(&self) -> i64 {
        self.worked
    }

    /// What they used.
    pub fn usage(&self) -> SessionUsage {
        self.used
    }

    /// When it was worked.
    pub fn work_times(&self) -> &[(UnixMillis, UnixMillis)] {
        &self.work
    }

    /// When they did not end well; the last ones.
    pub fn failure_times(&self) -> &[UnixMillis] {
        &self.bad_ends
    }
}

/// Adds a time; of more than are told apart, the two that are closest become one.
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
