//! Jury: everybody answers alone; where the answers differ, everybody votes on them once. No talk.
//!
//! Refuses to let a juror know who gave which answer and how many did.

use super::{ModeRules, PeerVisibility};
use crate::domain::discussion::{
    DiscussionParticipant, DiscussionSettings, DiscussionStopReason, GroupDiscussion,
};

pub(super) struct JuryRules;

/// The answers, and the vote on them.
const JURY_ROUNDS: u32 = 2;

impl ModeRules for JuryRules {
    fn speaks_in_rounds(&self, _: &DiscussionParticipant) -> bool {
        true
    }

    fn has_last_word(&self, _: &DiscussionParticipant) -> bool {
        false
    }

    fn max_rounds(&self, terms: &DiscussionSettings) -> u32 {
        terms.rounds.min(JURY_ROUNDS)
    }

    fn peer_visibility(&self) -> PeerVisibility {
        PeerVisibility::Proposals
    }

    fn stop_reason(&self, _: &GroupDiscussion) -> Option<DiscussionStopReason> {
        None
    }

    fn has_enough_speakers(&self, _: &GroupDiscussion) -> bool {
        true
    }
}
