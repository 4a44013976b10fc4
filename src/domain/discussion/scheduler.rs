//! Decides the next effect of a discussion, from its state and the current instant alone.

use super::mode_rules::{PeerVisibility, rules_for};
use super::{
    CheckOrder, CheckOutcome, DiscussionOutcome, DiscussionParticipant, DiscussionStopReason,
    GroupDiscussion, Round, SpeakingOrder, SpeechErrorCode, SpeechPart,
};
use crate::domain::ids::{SessionId, UnixMillis};

/// How many checks may run per round, and in all rounds together.
const CHECK_LIMITS: (usize, usize) = (3, 6);

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscussionEffect {
    /// Let these participants speak, all at once. The prompt of each is [`GroupDiscussion::participant_context`] inside
    /// the template `07_discuss.md`. For each, feed `SpeechBegan` as soon as it has its session, or `Spoke` with
    /// `E_SESSION` when it got none. A participant that already speaks is not listed again.
    Speak(Vec<SpeechRequest>),
    /// Decide whether this command may run, and run it if so. Feed `CheckBegan` before and `Checked` after it.
    RunCheck {
        n: u32,
        /// The round after which it runs.
        round: u32,
        asked_by: Vec<String>,
        order: CheckOrder,
    },
    /// Stop these; each then ends with a `Spoke` that has this error.
    Stop(StopRequest),
    /// A participant speaks, or a command runs: there is nothing to do before the next event or this instant.
    Wait {
        /// When to ask again without an event.
        until: UnixMillis,
    },
    /// It is over: feed `Ended` with this outcome, and delete the participants' sessions unless they are kept.
    Conclude(Box<DiscussionOutcome>),
    /// It was already over.
    Over,
}

/// One participant that has to speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeechRequest {
    /// The round, from 1.
    pub round: u32,
    /// Whether it belongs to the round or closes the discussion.
    pub part: SpeechPart,
    pub participant: DiscussionParticipant,
    /// Its child session to resume; `None` creates one.
    pub session: Option<SessionId>,
    /// Who has to attack the leading proposal in this round, for `SpeechBegan`.
    pub attacker: Option<String>,
}

/// Speeches that are to be stopped, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRequest {
    pub sessions: Vec<SessionId>,
    /// The error that each speech ends with.
    pub code: SpeechErrorCode,
    /// The running command, to be stopped too; it then ends with a `Checked` that failed.
    pub check: Option<CheckOrder>,
}

impl GroupDiscussion {
    /// Returns what to do next. Work in progress is not listed again, except for a stop.
    pub fn next_effect(&self, now: UnixMillis) -> DiscussionEffect {
        if !self.is_running() {
            return DiscussionEffect::Over;
        }
        if let Some(reason) = self.stopping {
            return if self.is_busy() {
                self.stop_speakers(SpeechErrorCode::Stopped)
            } else {
                self.conclude(reason, now)
            };
        }
        let is_late = now >= self.deadline();
        match (self.round(), self.stop_reason(now)) {
            (_, Some(reason)) if self.closing.is_some() => self.conclude(reason, now),
            _ if self
                .speaking
                .iter()
                .any(|each| each.part == SpeechPart::Closing) =>
            {
                self.wait_until_deadline(now, self.order.terms.timeout_ms)
            }
            _ if is_late && self.is_busy() => self.stop_speakers(SpeechErrorCode::Deadline),
            _ if self.checking.is_some() => {
                self.wait_until_deadline(now, self.order.terms.timeout_ms)
            }
            (_, Some(reason)) => self.request_last_word(reason, now),
            (Some(round), None) if !self.is_round_finished(round) => {
                self.request_speeches(round.n, now)
            }
            (round, None) => match self.next_check() {
                Some(check) => check,
                None => self.request_speeches(round.map_or(1, |round| round.n + 1), now),
            },
        }
    }

    /// Returns the instant at which the time limit ends.
    pub fn deadline(&self) -> UnixMillis {
        UnixMillis(
            self.running_since
                .0
                .saturating_add_unsigned(self.order.terms.deadline_ms),
        )
    }

    /// Returns the maximum number of rounds. A jury has one for the answers and one for the vote.
    pub fn max_rounds(&self) -> u32 {
        self.order.terms.max_rounds()
    }

    /// Returns why no further round starts; the first reason in the order of the checks counts. `None` while a round is
    /// in progress or may follow.
    pub fn stop_reason(&self, now: UnixMillis) -> Option<DiscussionStopReason> {
        let round = self.round().filter(|round| self.is_round_finished(round));
        let reason = round.and_then(|round| self.stop_reason_after(round));
        let is_late = now >= self.deadline() && !self.is_busy();
        reason.or(is_late.then_some(DiscussionStopReason::Deadline))
    }

    fn stop_reason_after(&self, round: &Round) -> Option<DiscussionStopReason> {
        let terms = &self.order.terms;
        let mode = rules_for(terms.mode);
        let is_late = round.has_error(SpeechErrorCode::Deadline);
        let n_heard = u32::try_from(round.heard_speeches().count()).unwrap_or(u32::MAX);
        // When the deadline stopped speakers, the reason is the deadline and not a lost quorum.
        if !is_late && (n_heard < terms.quorum.max(2) || !mode.has_enough_speakers(self)) {
            return Some(DiscussionStopReason::LostQuorum);
        }
        match (self.consensus().is_some(), round.n) {
            (true, 1) => return Some(DiscussionStopReason::Unanimous),
            (true, _) => return Some(DiscussionStopReason::Consensus),
            (false, _) => {}
        }
        mode.stop_reason(self)
            .or_else(|| {
                self.is_stalemate()
                    .then_some(DiscussionStopReason::Stalemate)
            })
            .or_else(|| {
                (round.n >= mode.max_rounds(terms)).then_some(DiscussionStopReason::MaxRounds)
            })
            .or_else(|| is_late.then_some(DiscussionStopReason::Deadline))
    }

    fn is_busy(&self) -> bool {
        !self.speaking.is_empty() || self.checking.is_some()
    }

    fn stop_speakers(&self, code: SpeechErrorCode) -> DiscussionEffect {
        DiscussionEffect::Stop(StopRequest {
            sessions: self
                .speaking
                .iter()
                .map(|each| each.session.clone())
                .collect(),
            code,
            check: self.checking.clone(),
        })
    }

    /// Waits until the deadline, or for this duration where the deadline has passed.
    fn wait_until_deadline(&self, now: UnixMillis, as_long: u64) -> DiscussionEffect {
        let until = match self.deadline() {
            deadline if deadline > now => deadline,
            _ => UnixMillis(now.0.saturating_add_unsigned(as_long.max(1))),
        };
        DiscussionEffect::Wait { until }
    }

    /// Requests the closing speech, where the mode has one and there are speeches to rule on. Checks come first.
    fn request_last_word(&self, reason: DiscussionStopReason, now: UnixMillis) -> DiscussionEffect {
        let has_speeches = self
            .rounds
            .iter()
            .any(|round| round.heard_speeches().next().is_some());
        let closer = self
            .closing_speaker()
            .filter(|_| has_speeches && reason != DiscussionStopReason::LostQuorum);
        let Some(closer) = closer else {
            return self.conclude(reason, now);
        };
        if let Some(check) = self.next_check().filter(|_| now < self.deadline()) {
            return check;
        }
        let round = self.round().map_or(1, |round| round.n);
        DiscussionEffect::Speak(vec![self.speech_request(
            closer,
            round,
            SpeechPart::Closing,
            None,
        )])
    }

    fn conclude(&self, reason: DiscussionStopReason, now: UnixMillis) -> DiscussionEffect {
        DiscussionEffect::Conclude(Box::new(self.build_outcome(reason, now)))
    }

    fn request_speeches(&self, n: u32, now: UnixMillis) -> DiscussionEffect {
        let attacker = self.attacker_of_round(n);
        let spoken = self.rounds.iter().find(|round| round.n == n);
        let is_due = |each: &&DiscussionParticipant| {
            let has_spoken = spoken.is_some_and(|round| round.speech(&each.name).is_some());
            let mut speaking = self.speaking.iter();
            !has_spoken && !speaking.any(|other| other.participant == each.name)
        };
        let places = if self.is_sequential(n) {
            1
        } else {
            usize::try_from(self.order.terms.concurrency.max(1)).unwrap_or(1)
        };
        let due: Vec<SpeechRequest> = self
            .speakers_in_order(n)
            .into_iter()
            .filter(is_due)
            .take(places.saturating_sub(self.speaking.len()))
            .map(|each| self.speech_request(each, n, SpeechPart::Round, attacker.clone()))
            .collect();
        if due.is_empty() {
            self.wait_until_deadline(now, self.order.terms.timeout_ms)
        } else {
            DiscussionEffect::Speak(due)
        }
    }

    fn is_sequential(&self, round: u32) -> bool {
        let hears = rules_for(self.order.terms.mode).peer_visibility() == PeerVisibility::Speeches;
        hears && round > 1 && self.order.terms.order == SpeakingOrder::Sequential
    }

    fn speech_request(
        &self,
        participant: &DiscussionParticipant,
        round: u32,
        part: SpeechPart,
        attacker: Option<String>,
    ) -> SpeechRequest {
        SpeechRequest {
            round,
            part,
            participant: participant.clone(),
            session: self.sessions.get(&participant.name).cloned(),
            attacker,
        }
    }

    /// Returns the first command that the last round asks for and that has not run yet.
    fn next_check(&self) -> Option<DiscussionEffect> {
        let round = self.round()?;
        let (per_round, in_all) = CHECK_LIMITS;
        // A refused command does not count against the limits.
        let runs = || {
            let all = self.checks.iter();
            all.filter(|run| !matches!(run.end, CheckOutcome::Refused { .. }))
        };
        let n_here = runs().filter(|run| run.round == round.n).count();
        if n_here >= per_round || runs().count() >= in_all {
            return None;
        }
        let (asked_by, order) = self.requested_checks(round).into_iter().next()?;
        Some(DiscussionEffect::RunCheck {
            n: u32::try_from(self.checks.len() + 1).unwrap_or(u32::MAX),
            round: round.n,
            asked_by,
            order,
        })
    }

    /// Returns the unhandled commands that a round asks for, with the participants that want them: the first command of
    /// each participant, then the second of each.
    pub(super) fn requested_checks(&self, round: &Round) -> Vec<(Vec<String>, CheckOrder)> {
        let mut all: Vec<(usize, &str, &CheckOrder)> = Vec::new();
        for speech in round.heard_speeches() {
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
