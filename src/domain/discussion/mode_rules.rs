//! The modes, one file each: who speaks, and when to stop.
//!
//! Refuses to know votes and prompts. What is the same in all modes is not said here.

mod collaborative;
mod debate;
mod jury;

use super::{
    DiscussionMode, DiscussionParticipant, DiscussionSettings, DiscussionStopReason,
    GroupDiscussion,
};

/// What makes a mode.
pub(super) trait ModeRules {
    /// Tells whether this participant speaks in the rounds.
    fn speaks_in_rounds(&self, participant: &DiscussionParticipant) -> bool;

    /// Who has the last word after the rounds, where somebody has.
    fn has_last_word(&self, participant: &DiscussionParticipant) -> bool;

    /// How many rounds there are at the most.
    fn max_rounds(&self, terms: &DiscussionSettings) -> u32;

    /// Whether participants hear what the others said.
    fn peer_visibility(&self) -> PeerVisibility;

    /// Why this round, which was spoken to its end, is the last one, beside what holds in all modes.
    fn stop_reason(&self, discussion: &GroupDiscussion) -> Option<DiscussionStopReason>;

    /// Tells whether enough were heard in the round that was spoken last, beside the number.
    fn has_enough_speakers(&self, discussion: &GroupDiscussion) -> bool;
}

/// Whether participants hear what the others said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerVisibility {
    /// From the second round on.
    Speeches,
    /// Only which proposals there are.
    Proposals,
}

/// The rules of a mode.
pub(super) fn rules_for(mode: DiscussionMode) -> &'static dyn ModeRules {
    match mode {
        DiscussionMode::Debate => &debate::DebateRules,
        DiscussionMode::Collaborative => &collaborative::CollaborativeRules,
        DiscussionMode::Jury => &jury::JuryRules,
    }
}
