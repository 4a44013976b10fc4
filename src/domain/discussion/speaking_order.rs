//! Whose turn it is to be heard: who belongs to a round, who is out of it, and who has to attack.
//!
//! Refuses to know stances.

use std::collections::BTreeMap;

use super::mode_rules::{PeerVisibility, rules_for};
use super::{DebateSide, DiscussionParticipant, GroupDiscussion, Round, SpeechErrorCode};

/// After how many failures in a row a participant is not asked again.
const MAX_FAILURES: usize = 2;

impl GroupDiscussion {
    /// Who speaks in a round, in the order in which they were named: who belongs to it and is not out.
    pub fn speakers(&self, round: u32) -> Vec<&DiscussionParticipant> {
        let all = self.order.participants.iter();
        all.filter(|each| {
            rules_for(self.order.terms.mode).speaks_in_rounds(each)
                && !self.is_excluded(each, round)
        })
        .collect()
    }

    /// Who has the last word; `None` where nobody has, or who has is out.
    pub fn closing_speaker(&self) -> Option<&DiscussionParticipant> {
        let mut all = self.order.participants.iter();
        let closer = all.find(|each| rules_for(self.order.terms.mode).has_last_word(each))?;
        (!self.is_excluded(closer, u32::MAX)).then_some(closer)
    }

    /// Tells whether everybody who belongs to a round spoke in it or failed.
    pub fn is_round_finished(&self, round: &Round) -> bool {
        let speakers = self.speakers(round.n);
        speakers
            .iter()
            .all(|each| round.speech(&each.name).is_some())
    }

    /// How many rounds were spoken to their end; one in the middle of which it was stopped is none.
    pub fn n_finished_rounds(&self) -> u32 {
        let last = self.round().map(|round| round.n);
        let finished = self
            .rounds
            .iter()
            .filter(|round| self.is_round_finished(round))
            .filter(|round| last != Some(round.n) || !round.was_interrupted());
        u32::try_from(finished.count()).unwrap_or(u32::MAX)
    }

    /// The speakers of a round as they take turns: the first of each side, then the second of each.
    pub(super) fn speakers_in_order(&self, round: u32) -> Vec<&DiscussionParticipant> {
        let mut n_before: BTreeMap<DebateSide, usize> = BTreeMap::new();
        let mut turns: Vec<(usize, DebateSide, &DiscussionParticipant)> = Vec::new();
        for each in self.speakers(round) {
            let n = n_before.entry(each.side).or_default();
            turns.push((*n, each.side, each));
            *n += 1;
        }
        turns.sort_by_key(|(n, side, _)| (*n, *side));
        turns.into_iter().map(|(.., each)| each).collect()
    }

    /// Who has to attack the leading proposal in a round: each in turn, by name. Nobody in the first round, and nobody
    /// where nobody hears the others.
    pub fn attacker_of_round(&self, round: u32) -> Option<String> {
        let mut names: Vec<&str> = self
            .speakers(round)
            .iter()
            .map(|each| each.name.as_str())
            .collect();
        names.sort_unstable();
        let hears = rules_for(self.order.terms.mode).peer_visibility() == PeerVisibility::Speeches;
        let before = usize::try_from(round.checked_sub(2)?).ok()?;
        let turn = before.checked_rem(names.len()).filter(|_| hears)?;
        names.get(turn).map(|name| (*name).to_owned())
    }

    /// A participant without a session is out for good, and so is one that failed twice in a row before this round.
    fn is_excluded(&self, participant: &DiscussionParticipant, round: u32) -> bool {
        let before = self.rounds.iter().filter(|each| each.n < round);
        let codes: Vec<Option<SpeechErrorCode>> = before
            .filter_map(|each| each.speech(&participant.name))
            .map(|speech| speech.error.as_ref().map(|error| error.code))
            .collect();
        let n_failed = codes.iter().rev().take_while(|code| code.is_some()).count();
        n_failed >= MAX_FAILURES || codes.contains(&Some(SpeechErrorCode::Session))
    }
}
