//! Implements the collaborative mode: every participant speaks in every round, and a moderator among them may end it.

use super::{ModeRules, PeerVisibility};
use crate::domain::discussion::{
    DebateSide, DiscussionParticipant, DiscussionSettings, DiscussionStopReason, GroupDiscussion,
};

pub(super) struct CollaborativeRules;

impl ModeRules for CollaborativeRules {
    fn speaks_in_rounds(&self, _: &DiscussionParticipant) -> bool {
        true
    }

    fn has_last_word(&self, _: &DiscussionParticipant) -> bool {
        false
    }

    fn max_rounds(&self, terms: &DiscussionSettings) -> u32 {
        terms.rounds
    }

    fn peer_visibility(&self) -> PeerVisibility {
        PeerVisibility::Speeches
    }

    fn stop_reason(&self, discussion: &GroupDiscussion) -> Option<DiscussionStopReason> {
        // In the first round the moderator has not read any speech yet.
        let mut heard = discussion
            .round()
            .filter(|round| round.n > 1)?
            .heard_speeches();
        let ends = heard.any(|speech| {
            let side = discussion
                .participant(&speech.participant)
                .map(|of| of.side);
            let says_so = speech.stance.as_ref().is_some_and(|stance| stance.conclude);
            side == Some(DebateSide::Moderator) && says_so
        });
        ends.then_some(DiscussionStopReason::Moderator)
    }

    fn has_enough_speakers(&self, _: &GroupDiscussion) -> bool {
        true
    }
}
