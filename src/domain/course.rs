//! The course of a run: who worked from when to when, when the user was waited for, and what each review said.
//!
//! A fold of the events like the rest of the state, kept for tables and bars, and small: of what is long ago only sums and
//! the times of work are known. Refuses to decide anything by it.

mod earlier;
mod noting;

use serde::{Deserialize, Serialize};

use super::ids::{At, TurnId};
use super::review::Verdict;
use super::session::Usage;
use super::turn::Role;
use earlier::Earlier;
pub(super) use noting::note;

/// What happened when, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Course {
    /// The last turns, in their order.
    turns: Vec<TurnSpan>,
    /// When the user was waited for last.
    waits: Vec<Span>,
    /// When no program worked on the run; the last hundreds.
    pauses: Vec<Span>,
    /// The last hundreds of steps, in the order in which they were begun; one that is done again is there again.
    steps: Vec<StepSpan>,
    /// The last hundreds of reviews.
    reviews: Vec<ReviewSpan>,
    /// When the last event came.
    last: Option<At>,
    /// What is known of the turns and waits before those.
    #[serde(default, skip_serializing_if = "Earlier::is_empty")]
    earlier: Earlier,
}

/// A time, and what it was spent on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When it began.
    pub from: At,
    /// When it ended; `None` while it goes on.
    pub to: Option<At>,
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
    pub from: At,
    /// When it ended; `None` while it goes on.
    pub to: Option<At>,
    /// How it ended.
    pub end: TurnEnd,
    /// What the CLI had counted before it.
    before: Usage,
    /// What it had counted when it last told.
    after: Usage,
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
pub enum TurnEnd {
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
    pub from: At,
    /// When it was through; `None` while it is at hand.
    pub to: Option<At>,
}

/// One review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewSpan {
    /// Which review of the run, from 1.
    pub review: u32,
    /// Which iteration of its cycle, from 1.
    pub iteration: u32,
    /// When it was there.
    pub at: At,
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
    pub fn used(&self) -> Usage {
        let cost = |usage: &Usage| usage.cost_micro_usd.unwrap_or(0);
        Usage {
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
            ..Usage::default()
        }
    }

    /// How much of a wait until `now` was in the turn, in milliseconds.
    fn waited_by(&self, wait: &Span, now: At) -> i64 {
        let end = self.to.unwrap_or(now).min(wait.to.unwrap_or(now));
        between(self.from.max(wait.from), Some(end), now)
    }
}

impl Course {
    /// The last turns, in their order.
    pub fn turns(&self) -> &[TurnSpan] {
        &self.turns
    }

    /// How many turns there were, of a role.
    pub fn n_turns(&self, role: Role) -> usize {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        self.earlier.of(role).n() + turns.count()
    }

    /// How many turns there were.
    pub fn n_all_turns(&self) -> usize {
        self.n_turns(Role::Planner) + self.n_turns(Role::Reviewer)
    }

    /// The last times at which the user was waited for.
    pub fn waits(&self) -> &[Span] {
        &self.waits
    }

    /// How often the user was waited for.
    pub fn n_waits(&self) -> usize {
        self.earlier.n_waits() + self.waits.len()
    }

    /// When the user was waited for before the waits that are kept one by one.
    pub fn times_of_early_waits(&self) -> &[(At, At)] {
        self.earlier.waits()
    }

    /// When the user was waited for until `now`; what is long ago and close together is one time.
    pub fn times_of_waits(&self, now: At) -> impl Iterator<Item = (At, At)> {
        let waits = self.waits.iter();
        let waits = waits.map(move |wait| (wait.from, wait.to.unwrap_or(now)));
        self.earlier.waits().iter().copied().chain(waits)
    }

    /// When turns of a role did not end well.
    pub fn bad_ends(&self, role: Role) -> impl Iterator<Item = At> {
        let turns = self.turns.iter().filter(move |turn| turn.role == role);
        let bad = turns.filter(|turn| turn.end.is_bad());
        let earlier = self.earlier.of(role).bad_ends().iter().copied();
        earlier.chain(bad.filter_map(|turn| turn.to))
    }

    /// When no program worked on the run.
    pub fn pauses(&self) -> &[Span] {
        &self.pauses
    }

    /// The reviews.
    pub fn reviews(&self) -> &[ReviewSpan] {
        &self.reviews
    }

    /// When the last event came; `None` where nothing was kept.
    pub fn last(&self) -> Option<At> {
        self.last
    }

    /// The span of a step, the last one where it was done again.
    pub fn step(&self, n: u32) -> Option<&StepSpan> {
        self.steps.iter().rev().find(|step| step.n == n)
    }

    /// What a role used over all its sessions, as far as its CLIs told.
    pub fn used_by(&self, role: Role) -> Usage {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        turns.fold(self.earlier.of(role).used(), |sum, turn| {
            sum_of(sum, turn.used())
        })
    }

    /// When a role worked until `now`: its turns without the times in which the user was waited for. What is long ago
    /// and close together is one time, so that this is for drawing; [`Self::worked`] counts.
    pub fn work(&self, role: Role, now: At) -> Vec<(At, At)> {
        let earlier = self.earlier.of(role).work().iter().copied();
        earlier.chain(self.late_work(role, now)).collect()
    }

    /// The same of the turns that are kept.
    fn late_work(&self, role: Role, now: At) -> impl Iterator<Item = (At, At)> {
        let turns = self.turns.iter().filter(move |turn| turn.role == role);
        turns.flat_map(move |turn| self.work_in(turn, now))
    }

    /// A turn without the times in which the user was waited for.
    fn work_in(&self, turn: &TurnSpan, now: At) -> Vec<(At, At)> {
        let mut from = turn.from;
        let to = turn.to.unwrap_or(now);
        let mut pieces = Vec::new();
        for (begins, end) in self.times_of_waits(now) {
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
    pub fn worked(&self, role: Role, now: At) -> i64 {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        let late: i64 = turns.map(|turn| self.worked_in(turn, now)).sum();
        self.earlier.of(role).worked() + late
    }

    /// How long it was worked in a turn until `now`, in milliseconds. That is more than [`Self::work_in`] comes to where
    /// waits are long ago: their times are kept as one with what is between them.
    fn worked_in(&self, turn: &TurnSpan, now: At) -> i64 {
        let waits = self.waits.iter();
        let waited: i64 = waits.map(|wait| turn.waited_by(wait, now)).sum();
        let whole = between(turn.from, turn.to, now);
        whole.saturating_sub(turn.waited + waited).max(0)
    }

    /// How long the user was waited for until `now`, in milliseconds.
    pub fn waited(&self, now: At) -> i64 {
        let waits = self.waits.iter();
        let late: i64 = waits.map(|wait| between(wait.from, wait.to, now)).sum();
        self.earlier.waited() + late
    }
}

fn sum_of(one: Usage, other: Usage) -> Usage {
    Usage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        cost_micro_usd: match (one.cost_micro_usd, other.cost_micro_usd) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        },
        ..Usage::default()
    }
}

/// How long a span lasts that may still go on, in milliseconds.
pub fn between(from: At, to: Option<At>, now: At) -> i64 {
    to.unwrap_or(now).0.saturating_sub(from.0).max(0)
}

impl TurnEnd {
    /// Tells whether it did not end well.
    pub fn is_bad(self) -> bool {
        match self {
            Self::Interrupted | Self::Failed | Self::CutOff => true,
            Self::NotYet | Self::Completed => false,
        }
    }

    /// How a turn ended, in a word.
    pub fn word(self) -> &'static str {
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
