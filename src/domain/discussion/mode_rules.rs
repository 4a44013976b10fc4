//! Defines the rules of the discussion modes, one file each: who speaks, and when to stop.
//!
//! Rules that are the same in all modes are in `scheduler` and `speaking_order`.

mod collaborative;
mod debate;
mod jury;

use super::{
    DiscussionMode, DiscussionParticipant, DiscussionSettings, DiscussionStopReason,
    GroupDiscussion,
};

/// The rules of a mode.
pub(super) trait ModeRules {
    /// Returns whether this participant speaks in the rounds.
    fn speaks_in_rounds(&self, participant: &DiscussionParticipant) -> bool;

    /// Returns whether this participant gives the closing speech after the rounds.
    fn has_last_word(&self, participant: &DiscussionParticipant) -> bool;

    /// Returns the maximum number of rounds.
    fn max_rounds(&self, terms: &DiscussionSettings) -> u32;

    /// Returns what participants see of each other.
    fn peer_visibility(&self) -> PeerVisibility;

    /// Returns why the finished current round is the last one; the reasons common to all modes are checked elsewhere.
    fn stop_reason(&self, discussion: &GroupDiscussion) -> Option<DiscussionStopReason>;

    /// Returns whether the right participants spoke in the last round. Their number is checked elsewhere.
    fn has_enough_speakers(&self, discussion: &GroupDiscussion) -> bool;
}

/// What participants see of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerVisibility {
    /// Their speeches, from the second round on.
    Speeches,
    /// Only the list of proposals.
    Proposals,
}

pub(super) fn rules_for(mode: DiscussionMode) -> &'static dyn ModeRules {
    match mode {
        DiscussionMode::Debate => &debate::DebateRules,
        DiscussionMode::Collaborative => &collaborative::CollaborativeRules,
        DiscussionMode::Jury => &jury::JuryRules,
    }
}
