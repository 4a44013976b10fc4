//! What is to be done next in a discussion. It follows from the discussion and the instant alone.
//!
//! Refuses to know how it is done.

use super::mode::{Hearing, rules};
use super::{
    CheckEnd, CheckOrder, GroupDiscussion, Order, Outcome, Part, Participant, Round,
    SpeechErrorCode, StopReason,
};
use crate::domain::ids::{SessionId, UnixMillis};

/// How many checks a round may lead to, and all rounds together.
const CHECKS: (usize, usize) = (3, 6);

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// These speak now, all at once. What each is told is [`GroupDiscussion::context_for`] inside the template
    /// `07_discuss.md`. For each, `SpeechBegan` is fed as soon as it has its session, or `Spoke` with
    /// `E_SESSION` when it got none; who speaks already is not named again.
    Speak(Vec<Speak>),
    /// This command is put to the decision, and runs if it may. `CheckBegan` is fed before, `Checked` after it.
    Check {
        /// Its number.
        n: u32,
        /// After which round.
        round: u32,
        /// Who wants it.
        asked_by: Vec<String>,
        /// The command.
        order: CheckOrder,
    },
    /// These are stopped; each then ends with a `Spoke` that has this error.
    Stop(Stop),
    /// Somebody speaks, or a command runs: nothing is to be done before the next event or this instant.
    Wait {
        /// When to ask again without an event.
        until: UnixMillis,
    },
    /// It is over: `Ended` is fed with this outcome, and the participants' sessions go unless they are kept.
    Conclude(Box<Outcome>),
    /// It has been over for some time.
    Over,
}

/// One who is to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speak {
    /// The round, from 1.
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    pub part: Part,
    /// Who.
    pub participant: Participant,
    /// Its child session, to be gone on with; `None` has one made.
    pub session: Option<SessionId>,
    /// Who has to attack the leading proposal in this round, for `SpeechBegan`.
    pub attacker: Option<String>,
}

/// Who is to be stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Their sessions.
    pub sessions: Vec<SessionId>,
    /// The error that each speech ends with.
    pub code: SpeechErrorCode,
    /// The command that runs and is stopped too; it then ends with a `Checked` that failed.
    pub check: Option<CheckOrder>,
}

impl GroupDiscussion {
    /// What is to be done next. What is under way already is not said again, but for a stop.
    pub fn next(&self, now: UnixMillis) -> Next {
        if !self.is_running() {
            return Next::Over;
        }
        if let Some(reason) = self.stopping {
            return match self.is_busy() {
                true => self.stop(SpeechErrorCode::Stopped),
                false => self.conclude(reason, now),
            };
        }
        let is_late = now >= self.deadline();
        match (self.round(), self.closing_reason(now)) {
            (_, Some(reason)) if self.closing.is_some() => self.conclude(reason, now),
            _ if self.speaking.iter().any(|each| each.part == Part::Closing) => {
                self.wait(now, self.order.terms.timeout_ms)
            }
            _ if is_late && self.is_busy() => self.stop(SpeechErrorCode::Deadline),
            _ if self.checking.is_some() => self.wait(now, self.order.terms.timeout_ms),
            (_, Some(reason)) => self.close(reason, now),
            (Some(round), None) if !self.is_finished(round) => self.speak(round.n, now),
            (round, None) => match self.check() {
                Some(check) => check,
                None => self.speak(round.map_or(1, |round| round.n + 1), now),
            },
        }
    }

    /// When its time is used up.
    pub fn deadline(&self) -> UnixMillis {
        UnixMillis(
            self.running_since
                .0
                .saturating_add_unsigned(self.order.terms.deadline_ms),
        )
    }

    /// How many rounds it has at the most; in a jury one for the answers and one for the vote.
    pub fn n_rounds(&self) -> u32 {
        self.order.terms.n_rounds()
    }

    /// Why no further round begins, in the order in which reasons count; `None` while one is being spoken or may come.
    pub fn closing_reason(&self, now: UnixMillis) -> Option<StopReason> {
        let round = self.round().filter(|round| self.is_finished(round));
        let reason = round.and_then(|round| self.reason_after(round));
        let is_late = now >= self.deadline() && !self.is_busy();
        reason.or(is_late.then_some(StopReason::Deadline))
    }

    fn reason_after(&self, round: &Round) -> Option<StopReason> {
        let terms = &self.order.terms;
        let mode = rules(terms.mode);
        let is_late = round.has(SpeechErrorCode::Deadline);
        let n_heard = u32::try_from(round.heard().count()).unwrap_or(u32::MAX);
        if !is_late && (n_heard < terms.quorum.max(2) || !mode.is_heard(self)) {
            return Some(StopReason::LostQuorum);
        }
        match (self.consensus().is_some(), round.n) {
            (true, 1) => return Some(StopReason::Unanimous),
            (true, _) => return Some(StopReason::Consensus),
            (false, _) => {}
        }
        mode.stop(self)
            .or_else(|| self.is_stale().then_some(StopReason::Stalemate))
            .or_else(|| (round.n >= mode.n_rounds(terms)).then_some(StopReason::MaxRounds))
            .or_else(|| is_late.then_some(StopReason::Deadline))
    }

    fn is_busy(&self) -> bool {
        !self.speaking.is_empty() || self.checking.is_some()
    }

    fn stop(&self, code: SpeechErrorCode) -> Next {
        Next::Stop(Stop {
            sessions: self
                .speaking
                .iter()
                .map(|each| each.session.clone())
                .collect(),
            code,
            check: self.checking.clone(),
        })
    }

    /// Until the deadline, or as long again where that is past.
    fn wait(&self, now: UnixMillis, as_long: u64) -> Next {
        let until = match self.deadline() {
            deadline if deadline > now => deadline,
            _ => UnixMillis(now.0.saturating_add_unsigned(as_long.max(1))),
        };
        Next::Wait { until }
    }

    /// The last word, where somebody has it and there is something to rule on; what is to be checked comes before.
    fn close(&self, reason: StopReason, now: UnixMillis) -> Next {
        let has_speeches = self
            .rounds
            .iter()
            .any(|round| round.heard().next().is_some());
        let closer = self
            .closer()
            .filter(|_| has_speeches && reason != StopReason::LostQuorum);
        let Some(closer) = closer else {
            return self.conclude(reason, now);
        };
        if let Some(check) = self.check().filter(|_| now < self.deadline()) {
            return check;
        }
        let round = self.round().map_or(1, |round| round.n);
        Next::Speak(vec![self.turn_of(closer, (round, Part::Closing), None)])
    }

    fn conclude(&self, reason: StopReason, now: UnixMillis) -> Next {
        Next::Conclude(Box::new(self.outcome_of(reason, now)))
    }

    fn speak(&self, n: u32, now: UnixMillis) -> Next {
        let attacker = self.attacker(n);
        let spoken = self.rounds.iter().find(|round| round.n == n);
        let is_due = |each: &&Participant| {
            let has_spoken = spoken.is_some_and(|round| round.speech(&each.name).is_some());
            let mut speaking = self.speaking.iter();
            !has_spoken && !speaking.any(|other| other.participant == each.name)
        };
        let places = match self.is_one_by_one(n) {
            true => 1,
            false => usize::try_from(self.order.terms.concurrency.max(1)).unwrap_or(1),
        };
        let due: Vec<Speak> = self
            .in_turn(n)
            .into_iter()
            .filter(is_due)
            .take(places.saturating_sub(self.speaking.len()))
            .map(|each| self.turn_of(each, (n, Part::Round), attacker.clone()))
            .collect();
        match due.is_empty() {
            true => self.wait(now, self.order.terms.timeout_ms),
            false => Next::Speak(due),
        }
    }

    fn is_one_by_one(&self, round: u32) -> bool {
        let hears = rules(self.order.terms.mode).hearing() == Hearing::Speeches;
        hears && round > 1 && self.order.terms.order == Order::Sequential
    }

    fn turn_of(
        &self,
        participant: &Participant,
        (round, part): (u32, Part),
        attacker: Option<String>,
    ) -> Speak {
        Speak {
            round,
            part,
            participant: participant.clone(),
            session: self.sessions.get(&participant.name).cloned(),
            attacker,
        }
    }

    /// The first command that the round that was spoken last asks for and that has not run yet.
    fn check(&self) -> Option<Next> {
        let round = self.round()?;
        let (per_round, in_all) = CHECKS;
        // What may not run costs nothing.
        let runs = || {
            let all = self.checks.iter();
            all.filter(|run| !matches!(run.end, CheckEnd::Refused { .. }))
        };
        let n_here = runs().filter(|run| run.round == round.n).count();
        if n_here >= per_round || runs().count() >= in_all {
            return None;
        }
        let (asked_by, order) = self.wanted(round).into_iter().next()?;
        Some(Next::Check {
            n: u32::try_from(self.checks.len() + 1).unwrap_or(u32::MAX),
            round: round.n,
            asked_by,
            order,
        })
    }

    /// The commands that a round asks for and that were not looked at, with who wants them: the first of each
    /// participant, then the second of each.
    pub(super) fn wanted(&self, round: &Round) -> Vec<(Vec<String>, CheckOrder)> {
        let mut all: Vec<(usize, &str, &CheckOrder)> = Vec::new();
        for speech in round.heard() {
            let checks = speech.stance.iter().flat_map(|stance| &stance.checks);
            let name = speech.participant.as_str();
            all.extend(checks.enumerate().map(|(nth, order)| (nth, name, order)));
        }
        all.sort_by_key(|(nth, name, _)| (*nth, *name));
        let mut wanted: Vec<(Vec<String>, CheckOrder)> = Vec::new();
        for (_, name, order) in all {
            let has_run = self
                .checks
                .iter()
                .any(|run| run.order.command == order.command);
            let mut known = wanted.iter_mut();
            match known.find(|(_, other)| other.command == order.command) {
                Some((by, _)) => by.push(name.to_owned()),
                None if has_run => {}
                None => wanted.push((vec![name.to_owned()], order.clone())),
            }
        }
        for (by, _) in &mut wanted {
            by.sort();
            by.dedup();
        }
        wanted
    }
}
