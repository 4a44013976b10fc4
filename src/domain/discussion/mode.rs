//! The modes, one file each: who speaks, and when to stop.
//!
//! Refuses to know votes and prompts. What is the same in all modes is not said here.

mod collaborative;
mod debate;
mod jury;

use super::{GroupDiscussion, Mode, Participant, StopReason, Terms};

/// What makes a mode.
pub(super) trait Rules {
    /// Tells whether this participant speaks in the rounds.
    fn speaks(&self, participant: &Participant) -> bool;

    /// Who has the last word after the rounds, where somebody has.
    fn closes(&self, participant: &Participant) -> bool;

    /// How many rounds there are at the most.
    fn n_rounds(&self, terms: &Terms) -> u32;

    /// Whether participants hear what the others said.
    fn hearing(&self) -> Hearing;

    /// Why this round, which was spoken to its end, is the last one, beside what holds in all modes.
    fn stop(&self, discussion: &GroupDiscussion) -> Option<StopReason>;

    /// Tells whether enough were heard in the round that was spoken last, beside the number.
    fn is_heard(&self, discussion: &GroupDiscussion) -> bool;
}

/// Whether participants hear what the others said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    /// From the second round on.
    Speeches,
    /// Only which proposals there are.
    Proposals,
}

/// The rules of a mode.
pub(super) fn rules(mode: Mode) -> &'static dyn Rules {
    match mode {
        Mode::Debate => &debate::Debate,
        Mode::Collaborative => &collaborative::Collaborative,
        Mode::Jury => &jury::Jury,
    }
}
