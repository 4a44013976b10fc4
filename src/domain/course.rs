//! The course of a run: who worked from when to when, when the user was waited for, and what each review said.
//!
//! A fold of the events like the rest of the state, kept for tables and bars, and small: of what is long ago only sums and
//! the times of work are known. Refuses to decide anything by it.

mod earlier;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::ids::{At, TurnId};
use super::phase::Phase;
use super::question::QuestionKind;
use super::review::Verdict;
use super::run::{State, is_idle};
use super::session::Usage;
use super::turn::{Role, TurnResult};
use earlier::Earlier;

/// How many of the last turns are kept with all that is known of them.
const TURNS: usize = 20;
/// How many waits are.
const WAITS: usize = 24;
/// How many pauses, steps and reviews are kept; the oldest go first.
const MOST: usize = 48;
/// Shorter waits are none, in milliseconds.
const SHORTEST: i64 = 500;

/// What happened when, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Course {
    /// The turns, in their order.
    turns: Vec<TurnSpan>,
    /// When the user was waited for.
    waits: Vec<Span>,
    /// When no program worked on the run.
    pauses: Vec<Span>,
    /// The steps, in the order in which they were begun; one that is done again is there again.
    steps: Vec<StepSpan>,
    /// The reviews.
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
    /// and close together is one time.
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
        let late = self.late_work(role, now);
        let late: i64 = late.map(|(from, to)| between(from, Some(to), now)).sum();
        self.earlier.of(role).worked() + late
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

/// Takes note of what an event changed, after the state has taken it in.
pub(super) fn note(state: &mut State, at: At, event: &Event) {
    // What agents say changes no run, and no snapshot is written for it.
    if matches!(event, Event::Agent { .. } | Event::TaskNews { .. }) {
        return;
    }
    let mut course = std::mem::take(&mut state.course);
    if matches!(event, Event::Resumed { .. }) {
        let end = course.last.unwrap_or(at);
        course.close(end, TurnEnd::CutOff);
        course.pauses.push(Span {
            from: end,
            to: Some(at),
            what: String::new(),
        });
    }
    course.note_turns(state, at, event);
    course.note_wait(state, at);
    course.note_steps(state, at, event);
    course.note_review(state, at, event);
    if let Event::UsageReported { role, usage } = event {
        let mut turns = course.turns.iter_mut().rev();
        if let Some(turn) = turns.find(|turn| turn.role == *role) {
            turn.after = *usage;
        }
    }
    course.last = Some(at);
    course.forget();
    state.course = course;
}

impl Course {
    /// Ends whatever goes on.
    fn close(&mut self, at: At, end: TurnEnd) {
        if let Some(turn) = self.turns.last_mut().filter(|turn| turn.to.is_none()) {
            (turn.to, turn.end) = (Some(at), end);
        }
        if let Some(wait) = self.waits.last_mut() {
            wait.to.get_or_insert(at);
        }
    }

    fn note_turns(&mut self, state: &State, at: At, event: &Event) {
        let running = state.running.as_ref();
        let open = self.turns.last_mut().filter(|turn| turn.to.is_none());
        if let Some(turn) = open
            && running.is_none_or(|running| running.order.turn != turn.turn)
        {
            (turn.to, turn.end) = (Some(at), end_of(event));
        }
        let Some(running) = running else {
            return;
        };
        let turn = &running.order.turn;
        if self.turns.last().is_some_and(|last| last.turn == *turn) {
            return;
        }
        let role = running.order.purpose.role();
        let before = state.session(role).map(|session| session.usage);
        let before = before.unwrap_or_default();
        self.turns.push(TurnSpan {
            turn: turn.clone(),
            role,
            what: running.order.purpose.in_words(),
            from: running.started_at,
            to: None,
            end: TurnEnd::NotYet,
            before,
            after: before,
        });
    }

    fn note_wait(&mut self, state: &State, at: At) {
        // Whoever talks about the goal says what it is now; whether it is that, only the user can say.
        let has_said = self.turns.last().is_some_and(|turn| turn.to.is_some());
        let is_goal = state.phase == Phase::RefineGoal && has_said && is_idle(state);
        let what = match (state.question(), state.approvals.first()) {
            (_, Some(approval)) => Some(approval.permission.as_str()),
            // A limit passes by itself: nobody has to do anything.
            (Some(question), None) => match question.kind {
                QuestionKind::UsageLimit { .. } => None,
                _ => Some(question.kind.name()),
            },
            (None, None) => is_goal.then_some("goal"),
        };
        let open = self.waits.last_mut().filter(|wait| wait.to.is_none());
        match (open, what) {
            (Some(wait), Some(what)) if wait.what == what => {}
            (open, what) => {
                if let Some(wait) = open {
                    wait.to = Some(at);
                    // A call that rules answer waits for nobody.
                    if at.0.saturating_sub(wait.from.0) < SHORTEST {
                        self.waits.pop();
                    }
                }
                self.waits.extend(what.map(|what| Span {
                    from: at,
                    to: None,
                    what: what.to_owned(),
                }));
            }
        }
    }

    fn note_steps(&mut self, state: &State, at: At, event: &Event) {
        let execution = state.execution.as_ref();
        let current = execution.and_then(|execution| execution.current.as_ref());
        let recorded = match event {
            Event::StepRecorded { step, .. } => Some(*step),
            _ => None,
        };
        let open = self.steps.last_mut().filter(|step| step.to.is_none());
        if let Some(step) = open
            && (recorded == Some(step.n) || current.is_none_or(|current| current.n != step.n))
        {
            step.to = Some(at);
        }
        let is_open = self.steps.last().is_some_and(|step| step.to.is_none());
        if let Some(current) = current.filter(|_| !is_open) {
            self.steps.push(StepSpan {
                n: current.n,
                from: at,
                to: None,
            });
        }
    }

    fn note_review(&mut self, state: &State, at: At, event: &Event) {
        let Event::ReviewCommitted { review, .. } = event else {
            return;
        };
        let n = state.findings.reviews();
        if n <= self.reviews.last().map_or(0, |last| last.review) {
            return;
        }
        let all = state.findings.all().iter();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let is_settled = |finding: &&super::findings::Finding| {
            finding.status == super::findings::Status::SettledByReview && finding.last_in + 1 == n
        };
        self.reviews.push(ReviewSpan {
            review: n,
            iteration: state.iteration,
            at,
            verdict: review.verdict,
            consistent: review.consistent,
            n_open: count(state.findings.open().count()),
            n_new: count(all.clone().filter(|f| f.raised_in == n).count()),
            n_settled: count(all.filter(is_settled).count()),
        });
    }

    fn forget(&mut self) {
        fn last<T>(of: &mut Vec<T>) {
            let n = of.len().saturating_sub(MOST);
            of.drain(..n);
        }
        while self.turns.len() > TURNS {
            let turn = self.turns.remove(0);
            let work = self.work_in(&turn, turn.from);
            self.earlier.take_turn(&turn, &work);
        }
        while self.waits.len() > WAITS {
            self.earlier.take_wait(&self.waits.remove(0));
        }
        last(&mut self.pauses);
        last(&mut self.steps);
        last(&mut self.reviews);
    }
}

fn end_of(event: &Event) -> TurnEnd {
    match event {
        Event::TurnEnded { result, .. } => match result {
            TurnResult::Completed { .. } => TurnEnd::Completed,
            TurnResult::Interrupted => TurnEnd::Interrupted,
            TurnResult::Failed { .. } => TurnEnd::Failed,
        },
        _ => TurnEnd::CutOff,
    }
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
