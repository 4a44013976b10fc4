//! A discussion with all that is shown of it beside its state: what is being said, and who waits for a place.

use std::collections::BTreeMap;

use super::Spot;
use super::cell::Entry;
use crate::domain::discussion::{
    DebateSide, DiscussionMode, DiscussionParticipant, DiscussionSpeech, GroupDiscussion,
    ProposalAttitude, SpeechPart, StanceChange, VoteTally,
};
use crate::domain::ids::SessionId;
use crate::domain::task::ChildSession;

/// A discussion as the board shows it.
#[derive(Debug, Clone, Copy)]
pub struct Minutes<'a> {
    /// The discussion.
    pub discussion: &'a GroupDiscussion,
    /// What is being said, by the speaker's session; drawable.
    pub live: &'a BTreeMap<SessionId, String>,
    /// The run's child sessions.
    pub children: &'a [ChildSession],
    /// Which of how many discussions of the run it is, from 1.
    pub of_several: (usize, usize),
    /// What was counted of it.
    pub counted: &'a Counted,
}

/// What is counted of a discussion: nothing of it changes between two speeches.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// Who moved, and which moves do not count.
    pub shifts: Vec<StanceChange>,
    /// Where the proposals stand by what was said last, the leading one first.
    pub standing: Vec<VoteTally>,
}

impl Counted {
    /// Nothing.
    pub const NONE: Self = Self {
        shifts: Vec::new(),
        standing: Vec::new(),
    };

    /// Counts what was said until now.
    pub fn of(discussion: &GroupDiscussion) -> Self {
        match (&discussion.outcome, discussion.round()) {
            (Some(outcome), _) => Self {
                shifts: outcome.shifts.clone(),
                standing: outcome.votes.clone(),
            },
            (None, Some(round)) => {
                let standings = discussion.stance_table(round.n);
                Self {
                    standing: standings.tallies(),
                    shifts: standings.changes,
                }
            }
            (None, None) => Self::NONE,
        }
    }
}

impl<'a> Minutes<'a> {
    /// Who has a column: everybody who speaks in rounds. A debate's moderator speaks after them.
    pub fn seats(&self) -> Vec<&'a DiscussionParticipant> {
        let all = self.discussion.order.participants.iter();
        all.filter(|participant| !self.only_closes(participant))
            .collect()
    }

    /// Who speaks after the rounds and in none of them.
    pub fn closer(&self) -> Option<&'a DiscussionParticipant> {
        let mut all = self.discussion.order.participants.iter();
        all.find(|participant| self.only_closes(participant))
    }

    fn only_closes(&self, participant: &DiscussionParticipant) -> bool {
        self.discussion.order.terms.mode == DiscussionMode::Debate
            && participant.side == DebateSide::Moderator
    }

    /// All that can be pointed at, from above.
    pub fn rows(&self) -> Vec<Spot> {
        let mut rows = vec![Spot::Outcome];
        for (at, round) in self.discussion.rounds.iter().enumerate() {
            rows.push(Spot::Round(at));
            let checks = self.discussion.checks.iter().enumerate();
            let of_round = checks.filter(|(_, check)| check.round == round.n);
            rows.extend(of_round.map(|(n, _)| Spot::Check(n)));
        }
        rows.extend(self.closer().map(|_| Spot::Closing));
        rows
    }

    /// Tells whether there is such a thing.
    pub fn has(&self, spot: Spot) -> bool {
        self.rows().contains(&spot)
    }

    /// What one looks at who points at nothing: the outcome, else what is being said.
    pub fn latest(&self) -> Spot {
        let closes = self
            .discussion
            .speaking
            .iter()
            .any(|each| each.part == SpeechPart::Closing);
        match self.last_round() {
            _ if self.discussion.outcome.is_some() => Spot::Outcome,
            _ if closes => Spot::Closing,
            Some(last) => last,
            None => Spot::Outcome,
        }
    }

    /// The round that was begun last.
    pub fn last_round(&self) -> Option<Spot> {
        self.discussion.rounds.len().checked_sub(1).map(Spot::Round)
    }

    /// The column of who speaks first among those who speak now.
    pub fn speaking_column(&self) -> Option<usize> {
        let seats = self.seats();
        let speaks = |seat: &&DiscussionParticipant| {
            let mut speaking = self.discussion.speaking.iter();
            speaking.any(|each| each.participant == seat.name)
        };
        seats.iter().position(speaks)
    }

    /// What somebody does in a round, by its place.
    pub fn entry(&self, round: usize, name: &str) -> Entry<'_> {
        let Some(of) = self.discussion.rounds.get(round) else {
            return Entry::ToCome;
        };
        if let Some(speech) = of.speech(name) {
            return self.spoke(speech, of.n.saturating_sub(1));
        }
        match self.now_in(name, SpeechPart::Round) {
            Some(entry) if round + 1 == self.discussion.rounds.len() => entry,
            _ if round + 1 == self.discussion.rounds.len() && self.discussion.is_running() => {
                Entry::ToCome
            }
            _ => Entry::Silent,
        }
    }

    /// What the moderator of a debate says last.
    pub fn closing(&self) -> Entry<'_> {
        match (&self.discussion.closing, self.closer()) {
            (Some(speech), _) => self.spoke(speech, 0),
            (None, Some(closer)) => match self.now_in(&closer.name, SpeechPart::Closing) {
                Some(entry) => entry,
                None if self.discussion.outcome.is_some() => Entry::Silent,
                None => Entry::ToCome,
            },
            (None, None) => Entry::Silent,
        }
    }

    fn spoke<'m>(&'m self, speech: &'m DiscussionSpeech, before: u32) -> Entry<'m> {
        let mut shifts = self.counted.shifts.iter();
        let shift = shifts
            .find(|shift| shift.round == speech.round && shift.participant == speech.participant);
        let earlier = self.discussion.speech(before, &speech.participant);
        Entry::Spoke {
            speech,
            before: earlier.and_then(|speech| speech.stance.as_ref()),
            refused: shift.and_then(|shift| shift.refused.as_deref()),
        }
    }

    /// What somebody does now; `None` where it neither speaks nor waits for a place.
    pub fn now_of(&self, name: &str) -> Option<Entry<'_>> {
        let each = self
            .discussion
            .speaking
            .iter()
            .find(|each| each.participant == name)?;
        let child = self
            .children
            .iter()
            .find(|child| *child.session_id() == each.session);
        Some(match child {
            Some(child) if child.is_running() && child.began_at.is_none() => Entry::Waits {
                since: child.given_at,
            },
            _ => Entry::Speaks {
                since: each.since,
                text: self
                    .live
                    .get(&each.session)
                    .map_or("", |text| before_stance(text)),
            },
        })
    }

    fn now_in(&self, name: &str, part: SpeechPart) -> Option<Entry<'_>> {
        let mut speaking = self.discussion.speaking.iter();
        let is_here = speaking.any(|each| each.participant == name && each.part == part);
        self.now_of(name).filter(|_| is_here)
    }

    /// How somebody stands in the round at hand, as a sign behind a name; empty before it speaks.
    pub fn sign(&self, name: &str) -> &'static str {
        let last = self.discussion.rounds.len().saturating_sub(1);
        match self.entry(last, name) {
            Entry::Speaks { .. } => " ◌",
            Entry::Silent | Entry::ToCome | Entry::Waits { .. } => "",
            Entry::Spoke { speech, .. } => match (&speech.error, &speech.stance) {
                (Some(_), _) => " !",
                (None, None) => " ?",
                (None, Some(stance)) => match stance.stance {
                    ProposalAttitude::Agree => " ✓",
                    ProposalAttitude::AgreeWithChanges => " ±",
                    ProposalAttitude::Disagree => " ✗",
                    ProposalAttitude::Abstain => " –",
                },
            },
        }
    }
}

/// What is said, without the block that only states where the speaker stands.
fn before_stance(text: &str) -> &str {
    let said = text.split("```stance").next().unwrap_or(text);
    said.trim_end()
}
