//! What is kept of turns and waits that are long ago: how many there were, what they came to, and when somebody worked.
//!
//! Times that are close together become one, so that a bar of them looks the same. Refuses to grow with the run.

use serde::{Deserialize, Serialize};

use super::{Span, TurnSpan, between, sum_of};
use crate::domain::ids::At;
use crate::domain::session::Usage;
use crate::domain::turn::Role;

/// How many times of each kind are told apart.
const TIMES: usize = 24;

/// What is known of turns and waits that are not kept one by one any more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Earlier {
    planner: Turns,
    reviewer: Turns,
    n_waits: usize,
    /// How long the user was waited for, in milliseconds.
    waited: i64,
    waits: Vec<(At, At)>,
}

/// The turns of a role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Turns {
    n: usize,
    /// How long it worked, in milliseconds.
    worked: i64,
    used: Usage,
    work: Vec<(At, At)>,
    bad_ends: Vec<At>,
}

impl Earlier {
    /// Tells whether all that happened is kept one by one.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The turns of a role.
    pub fn of(&self, role: Role) -> &Turns {
        match role {
            Role::Planner => &self.planner,
            Role::Reviewer => &self.reviewer,
        }
    }

    /// How many waits there were.
    pub fn n_waits(&self) -> usize {
        self.n_waits
    }

    /// How long they took, in milliseconds.
    pub fn waited(&self) -> i64 {
        self.waited
    }

    /// When they were.
    pub fn waits(&self) -> &[(At, At)] {
        &self.waits
    }

    /// Takes a turn in, how long it was worked in it, in milliseconds, and when.
    pub fn take_turn(&mut self, turn: &TurnSpan, worked: i64, work: &[(At, At)]) {
        let turns = match turn.role {
            Role::Planner => &mut self.planner,
            Role::Reviewer => &mut self.reviewer,
        };
        turns.n += 1;
        turns.used = sum_of(turns.used, turn.used());
        turns.worked += worked;
        for (from, to) in work {
            join(&mut turns.work, (*from, *to));
        }
        if let Some(at) = turn.to.filter(|_| turn.end.is_bad()) {
            let n_most = turns.bad_ends.len().saturating_sub(TIMES - 1);
            turns.bad_ends.drain(..n_most);
            turns.bad_ends.push(at);
        }
    }

    /// Takes a wait in.
    pub fn take_wait(&mut self, wait: &Span) {
        let to = wait.to.unwrap_or(wait.from);
        self.n_waits += 1;
        self.waited += between(wait.from, Some(to), to);
        join(&mut self.waits, (wait.from, to));
    }
}

impl Turns {
    /// How many there were.
    pub fn n(&self) -> usize {
        self.n
    }

    /// How long they took, in milliseconds, without waiting for the user.
    pub fn worked(&self) -> i64 {
        self.worked
    }

    /// What they used.
    pub fn used(&self) -> Usage {
        self.used
    }

    /// When it was worked.
    pub fn work(&self) -> &[(At, At)] {
        &self.work
    }

    /// When they did not end well; the last ones.
    pub fn bad_ends(&self) -> &[At] {
        &self.bad_ends
    }
}

/// Adds a time; of more than are told apart, the two that are closest become one.
fn join(times: &mut Vec<(At, At)>, time: (At, At)) {
    times.push(time);
    if times.len() <= TIMES {
        return;
    }
    let gap = |pair: &[(At, At)]| match pair {
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
