//! Records what each event changed in the timeline of a run, and compacts older entries.

use super::{
    ActivitySpan, ReviewSpan, RunTimeline, StepSpan, TurnSpan, TurnSpanEnd, UnopenedFiles,
};
use crate::domain::event::Event;
use crate::domain::findings::{Finding, FindingStatus};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::domain::turn::TurnOutcome;

/// How many of the last turns are kept in full.
pub(super) const MAX_TURNS: usize = 20;
/// How many of the last waits are kept in full.
const MAX_WAITS: usize = 24;
/// How many pauses, steps and reviews are kept; the oldest are dropped first. The state also keeps a plan's steps and
/// their records, so there are equally many of these.
const MAX_ENTRIES: usize = 600;
/// Shorter waits are not recorded, in milliseconds.
const MIN_WAIT_MS: i64 = 500;

/// Records what an event changed; call it after the event was applied to the state.
pub(in crate::domain) fn record_event(state: &mut RunState, at: UnixMillis, event: &Event) {
    // An agent's activity does not change the run, and no snapshot is written for it.
    if matches!(event, Event::Agent { .. } | Event::TaskActivity { .. }) {
        return;
    }
    let mut course = std::mem::take(&mut state.course);
    if matches!(event, Event::RunResumed { .. }) {
        let end = course.last.unwrap_or(at);
        course.close_open_spans(end, TurnSpanEnd::CutOff);
        course.pauses.push(ActivitySpan {
            from: end,
            to: Some(at),
            what: String::new(),
        });
    }
    course.record_turns(state, at, event);
    course.record_wait(state, at);
    course.record_steps(state, at, event);
    course.record_review(state, at, event);
    if let Event::UsageReported { role, usage } = event {
        let mut turns = course.turns.iter_mut().rev();
        if let Some(turn) = turns.find(|turn| turn.role == *role) {
            turn.after = *usage;
        }
    }
    course.last = Some(at);
    course.compact();
    state.course = course;
}

impl RunTimeline {
    /// Ends all open spans.
    fn close_open_spans(&mut self, at: UnixMillis, end: TurnSpanEnd) {
        if let Some(turn) = self.turns.last_mut().filter(|turn| turn.to.is_none()) {
            (turn.to, turn.end) = (Some(at), end);
        }
        if let Some(wait) = self.waits.last_mut() {
            wait.to.get_or_insert(at);
        }
    }

    fn record_turns(&mut self, state: &RunState, at: UnixMillis, event: &Event) {
        let running = state.running.as_ref();
        let open = self.turns.last_mut().filter(|turn| turn.to.is_none());
        if let Some(turn) = open
            && running.is_none_or(|running| running.order.turn != turn.turn)
        {
            (turn.to, turn.end) = (Some(at), turn_end_from_event(event));
        }
        let Some(running) = running else {
            return;
        };
        let turn = &running.order.turn;
        if self.turns.last().is_some_and(|last| last.turn == *turn) {
            return;
        }
        let role = running.order.purpose.role();
        let session = state.session(role);
        // The CLI counts a conversation of its own from zero.
        let session = session.filter(|_| !running.order.purpose.is_isolated());
        let before = session.map(|session| session.usage).unwrap_or_default();
        self.turns.push(TurnSpan {
            turn: turn.clone(),
            role,
            what: running.order.purpose.describe(),
            from: running.started_at,
            to: None,
            end: TurnSpanEnd::NotYet,
            before,
            after: before,
            waited: 0,
        });
    }

    fn record_wait(&mut self, state: &RunState, at: UnixMillis) {
        // After an agent stated the goal, the run waits for the user, who alone can confirm it.
        let has_said = self.turns.last().is_some_and(|turn| turn.to.is_some());
        let is_goal = state.phase == Phase::RefineGoal && has_said && state.is_idle();
        let what = match (state.current_question(), state.approvals.first()) {
            (_, Some(approval)) => Some(approval.permission.to_string()),
            // A limit ends by itself, so the user has nothing to do.
            (Some(question), None) => match question.kind {
                QuestionKind::UsageLimit { .. } => None,
                _ => Some(question.kind.name().to_owned()),
            },
            (None, None) => is_goal.then(|| "goal".to_owned()),
        };
        let open = self.waits.last_mut().filter(|wait| wait.to.is_none());
        match (open, what) {
            (Some(wait), Some(what)) if wait.what == what => {}
            (open, what) => {
                if let Some(wait) = open {
                    wait.to = Some(at);
                    // A call that rules answer does not wait for the user.
                    if at.0.saturating_sub(wait.from.0) < MIN_WAIT_MS {
                        self.waits.pop();
                    }
                }
                self.waits.extend(what.map(|what| ActivitySpan {
                    from: at,
                    to: None,
                    what,
                }));
            }
        }
    }

    fn record_steps(&mut self, state: &RunState, at: UnixMillis, event: &Event) {
        let current = state.current_step();
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

    fn record_review(&mut self, state: &RunState, at: UnixMillis, event: &Event) {
        let Event::ReviewCommitted { review, .. } = event else {
            return;
        };
        let n = state.findings.review_count();
        if n <= self.reviews.last().map_or(0, |last| last.review) {
            return;
        }
        let all = state.findings.all().iter();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        // Reviews of version 0.1 do not say which of them settled a finding.
        let is_settled = |finding: &&Finding| match finding.record.settled_in {
            Some(review) => review == n && finding.is_settled(),
            None => finding.status == FindingStatus::Fixed && finding.last_in + 1 == n,
        };
        let facts = review.facts.as_ref();
        let computed = state.verdict.as_ref().map(|verdict| verdict.value);
        self.reviews.push(ReviewSpan {
            review: n,
            iteration: state.iteration,
            at,
            verdict: computed.unwrap_or(review.verdict),
            consistent: review.consistent,
            n_open: count(state.findings.open().count()),
            n_new: count(all.clone().filter(|f| f.raised_in == n).count()),
            n_settled: count(all.filter(is_settled).count()),
            unopened: facts.map(|facts| match &facts.unopened {
                None => UnopenedFiles::Unknown,
                Some(files) => UnopenedFiles::Files(files.clone()),
            }),
            reverted: facts.map_or_else(Vec::new, |facts| facts.reverted.clone()),
        });
    }

    /// Reduces older entries to sums and working times.
    pub(super) fn compact(&mut self) {
        fn last<T>(of: &mut Vec<T>) {
            let n = of.len().saturating_sub(MAX_ENTRIES);
            of.drain(..n);
        }
        while self.turns.len() > MAX_TURNS {
            let turn = self.turns.remove(0);
            let work = self.turn_work_times(&turn, turn.from);
            let worked = self.turn_work_millis(&turn, turn.from);
            self.earlier.add_turn(&turn, worked, &work);
        }
        while self.waits.len() > MAX_WAITS {
            let wait = self.waits.remove(0);
            for turn in &mut self.turns {
                turn.waited += turn.wait_overlap_millis(&wait, wait.to.unwrap_or(wait.from));
            }
            self.earlier.add_wait(&wait);
        }
        last(&mut self.pauses);
        last(&mut self.steps);
        last(&mut self.reviews);
    }
}

fn turn_end_from_event(event: &Event) -> TurnSpanEnd {
    match event {
        Event::TurnEnded { result, .. } => match result {
            TurnOutcome::Completed { .. } => TurnSpanEnd::Completed,
            TurnOutcome::Interrupted => TurnSpanEnd::Interrupted,
            TurnOutcome::Failed { .. } => TurnSpanEnd::Failed,
        },
        _ => TurnSpanEnd::CutOff,
    }
}
