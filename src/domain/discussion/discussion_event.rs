//! Defines the events of a discussion and applies them to its state. An event that does not fit changes nothing.
//!
//! Does not choose what comes next: `scheduler` does.

use serde::{Deserialize, Serialize};

use super::{
    ActiveSpeech, CheckOrder, CheckRun, DiscussionOutcome, DiscussionParticipant,
    DiscussionSettings, DiscussionSpeech, DiscussionStatus, DiscussionStopReason, GroupDiscussion,
    Round, SpeechPart,
};
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};

/// What a discussion is started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscussionOrder {
    pub id: DiscussionId,
    /// The session that started it; `None` for the user.
    #[serde(default)]
    pub parent: Option<SessionId>,
    /// The question, cleaned.
    pub topic: String,
    /// Additional context for the participants, cleaned.
    #[serde(default)]
    pub context: String,
    /// The files for the participants. Their texts are read again for every prompt and are not stored.
    #[serde(default)]
    pub files: Vec<AttachmentFile>,
    /// Who takes part: at least two, each under a unique name.
    pub participants: Vec<DiscussionParticipant>,
    pub terms: DiscussionSettings,
    /// The preset it was started with.
    #[serde(default)]
    pub preset: Option<String>,
    /// The number of the finding that it is about.
    #[serde(default)]
    pub finding: Option<u32>,
}

/// A file for the participants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentFile {
    /// Its path, from the repository's root.
    pub path: String,
    /// Its length in bytes.
    pub n_bytes: u64,
}

/// Something that happened in a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum DiscussionEvent {
    /// It was started; no participant speaks yet.
    #[serde(rename = "begun")]
    Started {
        order: Box<DiscussionOrder>,
    },
    /// A participant starts to speak. The first one of a round starts the round.
    SpeechBegan {
        /// The round, from 1.
        round: u32,
        /// Whether it belongs to the round or closes the discussion.
        #[serde(default)]
        part: SpeechPart,
        participant: String,
        session: SessionId,
        /// Who has to attack the leading proposal in this round.
        #[serde(default)]
        attacker: Option<String>,
    },
    /// A participant spoke, or could not. One that got no session fails without having started.
    Spoke {
        speech: Box<DiscussionSpeech>,
    },
    /// The program decides whether a check command may run, and runs it if so.
    CheckBegan {
        order: CheckOrder,
    },
    Checked {
        run: CheckRun,
    },
    /// A stop was requested.
    StopAsked {
        reason: DiscussionStopReason,
    },
    Ended {
        outcome: Box<DiscussionOutcome>,
    },
    /// The program ended during the discussion. Unfinished speeches are discarded.
    CutOff,
    /// It resumes after its last finished round.
    Continued,
}

impl GroupDiscussion {
    /// Creates the discussion for this order.
    pub fn begin(at: UnixMillis, order: &DiscussionOrder) -> Self {
        Self {
            order: order.clone(),
            begun_at: at,
            running_since: at,
            status: DiscussionStatus::Running,
            rounds: Vec::new(),
            closing: None,
            speaking: Vec::new(),
            checks: Vec::new(),
            checking: None,
            sessions: std::collections::BTreeMap::new(),
            stopping: None,
            outcome: None,
        }
    }

    /// Applies one event. An event that does not fit changes nothing.
    pub fn apply(&mut self, at: UnixMillis, event: &DiscussionEvent) {
        if !self.is_running() {
            if *event == DiscussionEvent::Continued {
                self.resume(at);
            }
            return;
        }
        match event {
            DiscussionEvent::Started { .. } | DiscussionEvent::Continued => {}
            DiscussionEvent::CutOff => self.on_program_ended(),
            DiscussionEvent::SpeechBegan { .. } => self.on_speech_began(at, event),
            DiscussionEvent::Spoke { speech } => self.on_spoke(speech),
            DiscussionEvent::CheckBegan { order } => self.checking = Some(order.clone()),
            DiscussionEvent::Checked { run } => self.on_checked(run),
            DiscussionEvent::StopAsked { reason } => {
                self.stopping.get_or_insert(*reason);
            }
            DiscussionEvent::Ended { outcome } => self.on_ended(outcome),
        }
    }

    /// Handles a program end during the discussion: discards the unfinished round and keeps the finished ones.
    pub(in crate::domain) fn on_program_ended(&mut self) {
        if self.is_running() {
            self.discard_unfinished_round();
            self.status = DiscussionStatus::Cancelled;
            self.stopping = Some(DiscussionStopReason::ProgramEnded);
        }
    }

    /// Forgets a deleted session, so that it is not resumed.
    pub(in crate::domain) fn on_session_deleted(&mut self, session: &SessionId) {
        self.sessions.retain(|_, of| of != session);
    }

    fn on_speech_began(&mut self, at: UnixMillis, event: &DiscussionEvent) {
        let DiscussionEvent::SpeechBegan {
            round,
            part,
            participant,
            session,
            attacker,
        } = event
        else {
            return;
        };
        if !self.may_speak(*round, *part, participant) {
            return;
        }
        if *part == SpeechPart::Round {
            self.enter_round(*round, attacker.as_deref());
        }
        self.sessions.insert(participant.clone(), session.clone());
        self.speaking.push(ActiveSpeech {
            round: *round,
            part: *part,
            participant: participant.clone(),
            session: session.clone(),
            since: at,
        });
    }

    /// Accepts a known participant that has not spoken in this round and does not speak now. The round must be the
    /// current one or, once that is finished, the next one.
    fn may_speak(&self, round: u32, part: SpeechPart, participant: &str) -> bool {
        let at_hand = self.rounds.last().map_or(0, |round| round.n);
        let has_spoken = match part {
            SpeechPart::Round => self.speech(round, participant).is_some(),
            SpeechPart::Closing => self.closing.is_some(),
        };
        let is_through = self
            .round()
            .is_none_or(|round| self.is_round_finished(round));
        let fits = match part {
            SpeechPart::Round if round > self.max_rounds() || round == 0 => false,
            SpeechPart::Round => round == at_hand || (round == at_hand + 1 && is_through),
            SpeechPart::Closing => round == at_hand,
        };
        let speaks = self
            .speaking
            .iter()
            .any(|each| each.participant == participant);
        self.participant(participant).is_some() && fits && !has_spoken && !speaks
    }

    fn enter_round(&mut self, n: u32, attacker: Option<&str>) {
        if self.rounds.last().is_none_or(|round| round.n < n) {
            let attacker = attacker.map(str::to_owned);
            self.rounds.push(Round {
                n,
                attacker: attacker.or_else(|| self.attacker_of_round(n)),
                speeches: Vec::new(),
            });
        }
    }

    fn on_spoke(&mut self, speech: &DiscussionSpeech) {
        let n_before = self.speaking.len();
        self.speaking.retain(|each| each.slot() != speech.slot());
        let had_begun = self.speaking.len() < n_before;
        if !had_begun
            && (speech.is_heard()
                || !self.may_speak(speech.round, speech.part, &speech.participant))
        {
            return;
        }
        match speech.part {
            SpeechPart::Closing => self.closing = Some(speech.clone()),
            SpeechPart::Round => {
                self.enter_round(speech.round, None);
                let mut rounds = self.rounds.iter_mut();
                if let Some(round) = rounds.find(|round| round.n == speech.round) {
                    round.speeches.push(speech.clone());
                }
            }
        }
    }

    fn on_checked(&mut self, run: &CheckRun) {
        self.checking = None;
        self.checks.push(run.clone());
    }

    fn on_ended(&mut self, outcome: &DiscussionOutcome) {
        self.status = match outcome.stop {
            DiscussionStopReason::User | DiscussionStopReason::ProgramEnded => {
                DiscussionStatus::Cancelled
            }
            DiscussionStopReason::LostQuorum => DiscussionStatus::Failed,
            DiscussionStopReason::Unanimous
            | DiscussionStopReason::Consensus
            | DiscussionStopReason::Moderator
            | DiscussionStopReason::Stalemate
            | DiscussionStopReason::MaxRounds
            | DiscussionStopReason::Deadline => DiscussionStatus::Completed,
        };
        self.speaking.clear();
        self.checking = None;
        self.outcome = Some(outcome.clone());
    }

    /// Resumes only a cancelled or failed discussion, from the round after its last finished one. A round in which too
    /// few could speak does not count as finished.
    fn resume(&mut self, at: UnixMillis) {
        if !self.can_resume() {
            return;
        }
        match self.status {
            DiscussionStatus::Failed => drop(self.rounds.pop()),
            _ => self.discard_unfinished_round(),
        }
        self.status = DiscussionStatus::Running;
        self.running_since = at;
        (self.stopping, self.outcome, self.closing) = (None, None, None);
    }

    fn discard_unfinished_round(&mut self) {
        self.speaking.clear();
        self.checking = None;
        let is_unfinished =
            |round: &Round| !self.is_round_finished(round) || round.was_interrupted();
        if self.round().is_some_and(is_unfinished) {
            self.rounds.pop();
        }
    }
}
