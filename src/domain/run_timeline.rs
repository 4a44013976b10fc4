//! Records the timeline of a run: when each role worked, when the run waited for the user, and what each review said.
//!
//! A fold of the events like the rest of the state, kept for tables and bars, and small: older entries are reduced to
//! sums and working times. No decision depends on it.

mod recorder;
mod timeline_totals;

use serde::{Deserialize, Serialize};

use super::findings::plan_blocks::BlockLabel;
use super::ids::{TurnId, UnixMillis};
use super::review::Verdict;
use super::session::SessionUsage;
use super::turn::Role;
use crate::text::clean_to_one_line;
pub(super) use recorder::record_event;
use timeline_totals::TimelineTotals;

/// The recorded timeline of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTimeline {
    /// The last turns, in order.
    turns: Vec<TurnSpan>,
    /// The last waits for the user.
    waits: Vec<ActivitySpan>,
    /// Times without a running program; the last few hundred.
    pauses: Vec<ActivitySpan>,
    /// The last few hundred steps, in the order in which they were started; a repeated step appears again.
    steps: Vec<StepSpan>,
    /// The last few hundred reviews.
    reviews: Vec<ReviewSpan>,
    /// When the last event arrived.
    last: Option<UnixMillis>,
    /// Sums of the turns and waits before those.
    #[serde(default, skip_serializing_if = "TimelineTotals::is_empty")]
    earlier: TimelineTotals,
}

/// A time span, and what it was spent on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivitySpan {
    pub from: UnixMillis,
    /// When it ended; `None` while it lasts.
    pub to: Option<UnixMillis>,
    /// What it was spent on, in a word or two; may be empty.
    pub what: String,
}

/// A turn with its role, its time and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSpan {
    pub turn: TurnId,
    pub role: Role,
    /// A description of its purpose.
    pub what: String,
    pub from: UnixMillis,
    /// When it ended; `None` while it runs.
    pub to: Option<UnixMillis>,
    pub end: TurnSpanEnd,
    /// The CLI's totals before it.
    before: SessionUsage,
    /// The CLI's last reported totals.
    after: SessionUsage,
    /// Time in it spent waiting for the user, in milliseconds, from waits that are no longer kept one by one.
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
    /// The turn still runs.
    NotYet,
    Completed,
    Interrupted,
    Failed,
    /// The program ended during the turn.
    CutOff,
}

/// One step, from its first turn to its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSpan {
    pub n: u32,
    pub from: UnixMillis,
    /// When it was finished; `None` while it is current.
    pub to: Option<UnixMillis>,
}

/// A review with its verdict, its counts of findings and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewSpan {
    /// Which review of the run, from 1.
    pub review: u32,
    /// Which iteration of its cycle, from 1.
    pub iteration: u32,
    /// When it was committed.
    pub at: UnixMillis,
    pub verdict: Verdict,
    /// False when its signals disagreed.
    pub consistent: bool,
    /// How many findings were open after it.
    pub n_open: u32,
    /// How many of them it raised.
    pub n_new: u32,
    /// How many it settled.
    pub n_settled: u32,
    /// What its reviewer did not open; `None` in logs of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unopened: Option<UnopenedFiles>,
    /// The blocks of the plan that went back to an earlier text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverted: Vec<BlockLabel>,
}

/// The files that a plan names and the reviewer did not open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnopenedFiles {
    /// The calls of the reviewer's adapter are not seen.
    Unknown,
    Files(Vec<String>),
}

impl UnopenedFiles {
    /// Describes them for the user, of the reviewer: `did not open a, b, which the plan names`; `None` where it opened
    /// everything.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Unknown => Some("shows no calls, so what it opened is unknown".to_owned()),
            Self::Files(files) if files.is_empty() => None,
            Self::Files(files) => {
                let files: Vec<String> = files.iter().map(|file| clean_to_one_line(file)).collect();
                Some(format!(
                    "did not open {}, which the plan names",
                    files.join(", ")
                ))
            }
        }
    }
}

impl ReviewSpan {
    /// Describes the files that its reviewer did not open; `None` where there is nothing to say.
    pub fn describe_unopened(&self) -> Option<String> {
        self.unopened.as_ref().and_then(UnopenedFiles::describe)
    }
}

impl TurnSpan {
    /// Returns the usage of the turn itself, as far as the CLI reported it.
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

    /// Returns the overlap of a wait with the turn until `now`, in milliseconds.
    fn wait_overlap_millis(&self, wait: &ActivitySpan, now: UnixMillis) -> i64 {
        let end = self.to.unwrap_or(now).min(wait.to.unwrap_or(now));
        elapsed_millis(self.from.max(wait.from), Some(end), now)
    }
}

impl RunTimeline {
    /// Returns the last turns, in order.
    pub fn turns(&self) -> &[TurnSpan] {
        &self.turns
    }

    /// Returns how many turns a role had.
    pub fn turn_count(&self, role: Role) -> usize {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        self.earlier.role_totals(role).turn_count() + turns.count()
    }

    /// Returns how many turns there were.
    pub fn total_turn_count(&self) -> usize {
        self.turn_count(Role::Planner) + self.turn_count(Role::Reviewer)
    }

    /// Returns the last waits for the user.
    pub fn waits(&self) -> &[ActivitySpan] {
        &self.waits
    }

    /// Returns how often the run waited for the user.
    pub fn wait_count(&self) -> usize {
        self.earlier.wait_count() + self.waits.len()
    }

    /// Returns the waits for the user before those that are kept one by one.
    pub fn early_wait_times(&self) -> &[(UnixMillis, UnixMillis)] {
        self.earlier.wait_times()
    }

    /// Returns the times of all waits for the user until `now`; old ones that are close together are merged.
    pub fn wait_times(&self, now: UnixMillis) -> impl Iterator<Item = (UnixMillis, UnixMillis)> {
        let waits = self.waits.iter();
        let waits = waits.map(move |wait| (wait.from, wait.to.unwrap_or(now)));
        self.earlier.wait_times().iter().copied().chain(waits)
    }

    /// Returns when turns of a role did not end well.
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

    /// Returns the times without a running program.
    pub fn pauses(&self) -> &[ActivitySpan] {
        &self.pauses
    }

    /// Returns the recorded reviews.
    pub fn reviews(&self) -> &[ReviewSpan] {
        &self.reviews
    }

    /// Returns when the last event arrived; `None` where nothing was recorded.
    pub fn last_event_at(&self) -> Option<UnixMillis> {
        self.last
    }

    /// Returns the span of a step, the last one where it was repeated.
    pub fn step_span(&self, n: u32) -> Option<&StepSpan> {
        self.steps.iter().rev().find(|step| step.n == n)
    }

    /// Returns what a role used over all its sessions, as far as its CLIs reported it.
    pub fn role_usage(&self, role: Role) -> SessionUsage {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        turns.fold(self.earlier.role_totals(role).usage(), |sum, turn| {
            add_usage(sum, turn.usage())
        })
    }

    /// Returns when a role worked until `now`: its turns without the waits for the user. Old times that are close
    /// together are merged, so this is only for drawing; [`Self::work_millis`] gives the exact sum.
    pub fn work_times(&self, role: Role, now: UnixMillis) -> Vec<(UnixMillis, UnixMillis)> {
        let earlier = self.earlier.role_totals(role).work_times().iter().copied();
        earlier.chain(self.recent_work_times(role, now)).collect()
    }

    /// Returns the same for the turns that are kept.
    fn recent_work_times(
        &self,
        role: Role,
        now: UnixMillis,
    ) -> impl Iterator<Item = (UnixMillis, UnixMillis)> {
        let turns = self.turns.iter().filter(move |turn| turn.role == role);
        turns.flat_map(move |turn| self.turn_work_times(turn, now))
    }

    /// Returns the times of a turn without the waits for the user.
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

    /// Returns how long a role worked until `now`, in milliseconds, without waits for the user.
    pub fn work_millis(&self, role: Role, now: UnixMillis) -> i64 {
        let turns = self.turns.iter().filter(|turn| turn.role == role);
        let late: i64 = turns.map(|turn| self.turn_work_millis(turn, now)).sum();
        self.earlier.role_totals(role).work_millis() + late
    }

    /// Returns the active time of a turn up to `now`, in milliseconds. It is more than the sum of
    /// [`Self::turn_work_times`] where the waits are old, because old waits are merged with the time between them.
    fn turn_work_millis(&self, turn: &TurnSpan, now: UnixMillis) -> i64 {
        let waits = self.waits.iter();
        let waited: i64 = waits.map(|wait| turn.wait_overlap_millis(wait, now)).sum();
        let whole = elapsed_millis(turn.from, turn.to, now);
        whole.saturating_sub(turn.waited + waited).max(0)
    }

    /// Returns how long the run waited for the user until `now`, in milliseconds.
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

/// Returns how long a span lasts until its end or, while it has none, until `now`, in milliseconds.
pub fn elapsed_millis(from: UnixMillis, to: Option<UnixMillis>, now: UnixMillis) -> i64 {
    to.unwrap_or(now).0.saturating_sub(from.0).max(0)
}

impl TurnSpanEnd {
    /// Returns whether the turn did not end well.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Interrupted | Self::Failed | Self::CutOff => true,
            Self::NotYet | Self::Completed => false,
        }
    }

    /// Returns how the turn ended, in a word.
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
