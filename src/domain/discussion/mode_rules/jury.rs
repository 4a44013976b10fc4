//! Implements the jury mode: every participant answers alone; where the answers differ, all vote on them once. There is
//! no exchange.
//!
//! A juror never learns who gave which answer, or how many did.

use super::{ModeRules, PeerVisibility};
use crate::domain::discussion::{
    DiscussionParticipant, DiscussionSettings, DiscussionStopReason, GroupDiscussion,
};

pub(super) struct JuryRules;

/// One round for the answers and one for the vote.
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
