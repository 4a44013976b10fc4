//! Implements the debate mode: advocates and critics argue in rounds, and the moderator, who has read the last one,
//! rules once.

use super::{ModeRules, PeerVisibility};
use crate::domain::discussion::{
    DebateSide, DiscussionParticipant, DiscussionSettings, DiscussionStopReason, GroupDiscussion,
};

pub(super) struct DebateRules;

impl ModeRules for DebateRules {
    fn speaks_in_rounds(&self, participant: &DiscussionParticipant) -> bool {
        participant.side != DebateSide::Moderator
    }

    fn has_last_word(&self, participant: &DiscussionParticipant) -> bool {
        participant.side == DebateSide::Moderator
    }

    fn max_rounds(&self, terms: &DiscussionSettings) -> u32 {
        terms.rounds
    }

    fn peer_visibility(&self) -> PeerVisibility {
        PeerVisibility::Speeches
    }

    fn stop_reason(&self, _: &GroupDiscussion) -> Option<DiscussionStopReason> {
        None
    }

    /// Requires one speaker of each side that takes part: a debate with only one side is not a debate.
    fn has_enough_speakers(&self, discussion: &GroupDiscussion) -> bool {
        let Some(round) = discussion.round() else {
            return false;
        };
        let of_side = |side: DebateSide| {
            let all = discussion.order.participants.iter();
            all.filter(move |each| each.side == side)
        };
        let is_silent = |name: &str| round.speech(name).is_none_or(|speech| !speech.is_heard());
        [DebateSide::Advocate, DebateSide::Critic]
            .into_iter()
            .all(|side| {
                let n = of_side(side).count();
                n == 0 || of_side(side).any(|each| !is_silent(&each.name))
            })
    }
}
