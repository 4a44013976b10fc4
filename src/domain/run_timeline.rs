//! The course of a run: who worked from when to when, when the user was waited for, and what each review said.
//!
//! A fold of the events like the rest of the state, kept for tables and bars, and small: of what is long ago only sums and
//! the times of work are known. Refuses to decide anything by it.

mod recorder;
mod timeline_totals;

use serde::{Deserialize, Serialize};

use super::ids::{TurnId, UnixMillis};
use super::review::Verdict;
use super::session::SessionUsage;
use super::turn::Role;
pub(super) use recorder::record_event;
use timeline_totals::TimelineTotals;

/// What happened when, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTimeline {
    /// The last turns, in their order.
    turns: Vec<TurnSpan>,
    /// When the user was waited for last.
    waits: Vec<ActivitySpan>,
    /// When no program worked on the run; the last hundreds.
    pauses: Vec<ActivitySpan>,
    /// The last hundreds of steps, in the order in which they were begun; one that is done again is there again.
    steps: Vec<StepSpan>,
    /// The last hundreds of reviews.
    reviews: Vec<ReviewSpan>,
    /// When the last event came.
    last: Option<UnixMillis>,
    /// What is known of the turns and waits before those.
    #[serde(default, skip_serializing_if = "TimelineTotals::is_empty")]
    earlier: TimelineTotals,
}

/// A time, and what it was spent on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivitySpan {
    /// When it began.
    pub from: UnixMillis,
    /// When it ended; `None` while it goes on.
    pub to: Option<UnixMillis>,
    /// On what, in a word or two; empty where there is nothing to say.
    pub what: String,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSpan {
    /// The turn.
    pub turn: TurnId,
    /// Whose.
    pub role: Role,
    /// What for, in words.
    pub what: String,
    /// When it began.
    pub from: UnixMillis,
    /// When it ended; `None` while it goes on.
    pub to: Option<UnixMillis>,
    /// How it ended.
    pub end: TurnSpanEnd,
    /// What the CLI had counted before it.
    before: SessionUsage,
    /// What it had counted when it last told.
    after: SessionUsage,
    /// How long the user was waited for in it, in milliseconds, by waits that are not kept one by one any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    waited: i64,
}

fn is_zero(millis: &i64) -> bool {
    *millis == 0
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnSpanEnd {
    /// It goes on.
    NotYet,
    /// The agent finished.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed,
    /// The program ended under it.
    CutOff,
}

/// One step, worked on from its first turn to its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSpan {
    /// Its number.
    pub n: u32,
    /// When it began.
    pub from: UnixMillis,
    /// When it was through; `None` while it is at hand.
    pub to: Option<UnixMillis>,
}

/// One review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewSpan {
    /// Which review of the run, from 1.
    pub review: u32,
    /// Which iteration of its cycle, from 1.
    pub iteration: u32,
    /// When it was there.
    pub at: UnixMillis,
    /// Its verdict.
    pub verdict: Verdict,
    /// False when its signals disagreed.
    pub consistent: bool,
    /// How many findings were open after it.
    pub n_open: u32,
    /// How many of them it raised.
    pub n_new: u32,
    /// How many it settled by leaving them out.
    pub n_settled: u32,
}

impl TurnSpan {
    /// What the turn itself used, as far as the CLI told.
    pub fn usage(&self) -> SessionUsage {
        let cost = |usage: &SessionUsage| usage.cost_micro_usd.unwrap_or(0);
        SessionUsage {
            input_tokens: self
                .after
                .input_tokens
                .saturating_sub(self.before.input_tokens),
            output_tokens: self
                .after
                .output_tokens
                .saturating_sub(self.before.output_tokens),
            cost_micro_usd: self
                .after
                .cost_micro_usd
                .map(|_| cost(&self.after).saturating_sub(cost(&self.before))),
            ..SessionUsage::default()
        }
    }

    /// How much of a wait until `now` was in the turn, in milliseconds.
    fn wait_overlap_millis(&self, wait: &ActivitySpan, now: UnixMillis) -> i64 {
        let end = self.to.unwrap_or(now).min(wait.to.unwrap_or(now));
        elapsed_millis(self.from.max(wait.from), Some(end), now)
    }
}

impl RunTimeline {
    /// The last turns, in their order.
    pub fn turns(&self) -> &[TurnSpan] {
        &self.turns
    }

    /// How many turns there were, of a role.
    pub fn turn_count(&self, role: Role) -> usize {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        self.earlier.role_totals(role).turn_count() + turns.count()
    }

    /// How many turns there were.
    pub fn total_turn_count(&self) -> usize {
        self.turn_count(Role::Planner) + self.turn_count(Role::Reviewer)
    }

    /// The last times at which the user was waited for.
    pub fn waits(&self) -> &[ActivitySpan] {
        &self.waits
    }

    /// How often the user was waited for.
    pub fn wait_count(&self) -> usize {
        self.earlier.wait_count() + self.waits.len()
    }

    /// When the user was waited for before the waits that are kept one by one.
    pub fn early_wait_times(&self) -> &[(UnixMillis, UnixMillis)] {
        self.earlier.wait_times()
    }

    /// When the user was waited for until `now`; what is long ago and close together is one time.
    pub fn wait_times(&self, now: UnixMillis) -> impl Iterator<Item = (UnixMillis, UnixMillis)> {
        let waits = self.waits.iter();
        let waits = waits.map(move |wait| (wait.from, wait.to.unwrap_or(now)));
        self.earlier.wait_times().iter().copied().chain(waits)
    }

    /// When turns of a role did not end well.
    pub fn failure_times(&self, role: Role) -> impl Iterator<Item = UnixMillis> {
        let turns = self.turns.iter().filter(move |turn| turn.role == role);
        let bad = turns.filter(|turn| turn.end.is_failure());
        let earlier = self
            .earlier
            .role_totals(role)
            .failure_times()
            .iter()
            .copied();
        earlier.chain(bad.filter_map(|turn| turn.to))
    }

    /// When no program worked on the run.
    pub fn pauses(&self) -> &[ActivitySpan] {
        &self.pauses
    }

    /// The reviews.
    pub fn reviews(&self) -> &[ReviewSpan] {
        &self.reviews
    }

    /// When the last event came; `None` where nothing was kept.
    pub fn last_event_at(&self) -> Option<UnixMillis> {
        self.last
    }

    /// The span of a step, the last one where it was done again.
    pub fn step_span(&self, n: u32) -> Option<&StepSpan> {
        self.steps.iter().rev().find(|step| step.n == n)
    }

    /// What a role used over all its sessions, as far as its CLIs told.
    pub fn role_usage(&self, role: Role) -> SessionUsage {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        turns.fold(self.earlier.role_totals(role).usage(), |sum, turn| {
            add_usage(sum, turn.usage())
        })
    }

    /// When a role worked until `now`: its turns without the times in which the user was waited for. What is long ago
    /// and close together is one time, so that this is for drawing; [`Self::work_millis`] counts.
    pub fn work_times(&self, role: Role, now: UnixMillis) -> Vec<(UnixMillis, UnixMillis)> {
        let earlier = self.earlier.role_totals(role).work_times().iter().copied();
        earlier.chain(self.recent_work_times(role, now)).collect()
    }

    /// The same of the turns that are kept.
    fn recent_work_times(
        &self,
        role: Role,
        now: UnixMillis,
    ) -> impl Iterator<Item = (UnixMillis, UnixMillis)> {
        let turns = self.turns.iter().filter(move |turn| turn.role == role);
        turns.flat_map(move |turn| self.turn_work_times(turn, now))
    }

    /// A turn without the times in which the user was waited for.
    fn turn_work_times(&self, turn: &TurnSpan, now: UnixMillis) -> Vec<(UnixMillis, UnixMillis)> {
        let mut from = turn.from;
        let to = turn.to.unwrap_or(now);
        let mut pieces = Vec::new();
        for (begins, end) in self.wait_times(now) {
            if end > from && begins < to {
                pieces.push((from, begins.max(from)));
                from = end.min(to);
            }
        }
        pieces.push((from, to));
        pieces.retain(|(from, to)| from < to);
        pieces
    }

    /// How long a role worked until `now`, in milliseconds, without waiting for the user.
    pub fn work_millis(&self, role: Role, now: UnixMillis) -> i64 {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        let late: i64 = turns.map(|turn| self.turn_work_millis(turn, now)).sum();
        self.earlier.role_totals(role).work_millis() + late
    }

    /// How long it was worked in a turn until `now`, in milliseconds. That is more than [`Self::turn_work_times`] comes to where
    /// waits are long ago: their times are kept as one with what is between them.
    fn turn_work_millis(&self, turn: &TurnSpan, now: UnixMillis) -> i64 {
        let waits = self.waits.iter();
        let waited: i64 = waits.map(|wait| turn.wait_overlap_millis(wait, now)).sum();
        let whole = elapsed_millis(turn.from, turn.to, now);
        whole.saturating_sub(turn.waited + waited).max(0)
    }

    /// How long the user was waited for until `now`, in milliseconds.
    pub fn wait_millis(&self, now: UnixMillis) -> i64 {
        let waits = self.waits.iter();
        let late: i64 = waits
            .map(|wait| elapsed_millis(wait.from, wait.to, now))
            .sum();
        self.earlier.wait_millis() + late
    }
}

fn add_usage(one: SessionUsage, other: SessionUsage) -> SessionUsage {
    SessionUsage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        cost_micro_usd: match (one.cost_micro_usd, other.cost_micro_usd) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        },
        ..SessionUsage::default()
    }
}

/// How long a span lasts that may still go on, in milliseconds.
pub fn elapsed_millis(from: UnixMillis, to: Option<UnixMillis>, now: UnixMillis) -> i64 {
    to.unwrap_or(now).0.saturating_sub(from.0).max(0)
}

impl TurnSpanEnd {
    /// Tells whether it did not end well.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Interrupted | Self::Failed | Self::CutOff => true,
            Self::NotYet | Self::Completed => false,
        }
    }

    /// How a turn ended, in a word.
    pub fn label(self) -> &'static str {
        match self {
            Self::NotYet => "runs",
            Self::Completed => "done",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::CutOff => "cut off",
        }
    }
}

#[cfg(test)]
pub mod tests;
