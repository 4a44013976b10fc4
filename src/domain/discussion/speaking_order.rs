//! Decides whose turn it is: who belongs to a round, who is excluded from it, and who has to attack.

use std::collections::BTreeMap;

use super::mode_rules::{PeerVisibility, rules_for};
use super::{DebateSide, DiscussionParticipant, GroupDiscussion, Round, SpeechErrorCode};

/// A participant is no longer asked after this many failures in a row.
const MAX_FAILURES: usize = 2;

impl GroupDiscussion {
    /// Returns who speaks in a round, in the order of the request: all that belong to it and are not excluded.
    pub fn speakers(&self, round: u32) -> Vec<&DiscussionParticipant> {
        let all = self.order.participants.iter();
        all.filter(|each| {
            rules_for(self.order.terms.mode).speaks_in_rounds(each)
                && !self.is_excluded(each, round)
        })
        .collect()
    }

    /// Returns who gives the closing speech; `None` where the mode has none or that participant is excluded.
    pub fn closing_speaker(&self) -> Option<&DiscussionParticipant> {
        let mut all = self.order.participants.iter();
        let closer = all.find(|each| rules_for(self.order.terms.mode).has_last_word(each))?;
        (!self.is_excluded(closer, u32::MAX)).then_some(closer)
    }

    /// Returns whether every participant of a round spoke in it or failed.
    pub fn is_round_finished(&self, round: &Round) -> bool {
        let speakers = self.speakers(round.n);
        speakers
            .iter()
            .all(|each| round.speech(&each.name).is_some())
    }

    /// Returns the number of finished rounds; a round that was stopped midway does not count.
    pub fn n_finished_rounds(&self) -> u32 {
        let last = self.round().map(|round| round.n);
        let finished = self
            .rounds
            .iter()
            .filter(|round| self.is_round_finished(round))
            .filter(|round| last != Some(round.n) || !round.was_interrupted());
        u32::try_from(finished.count()).unwrap_or(u32::MAX)
    }

    /// Returns the speakers of a round in turn: the first of each side, then the second of each.
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

    /// Returns who has to attack the leading proposal in a round: each participant in turn, by name. `None` in the
    /// first round, and where participants do not read each other's speeches.
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

    /// A participant without a session is excluded for good, and so is one that failed twice in a row before this
    /// round.
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
