//! Collaborative: everybody speaks in every round; a moderator among them may end it.
//!
//! Refuses to read agreement out of words.

use super::{Hearing, Rules};
use crate::domain::discussion::{GroupDiscussion, Participant, Side, StopReason, Terms};

pub(super) struct Collaborative;

impl Rules for Collaborative {
    fn speaks(&self, _: &Participant) -> bool {
        true
    }

    fn closes(&self, _: &Participant) -> bool {
        false
    }

    fn n_rounds(&self, terms: &Terms) -> u32 {
        terms.rounds
    }

    fn hearing(&self) -> Hearing {
        Hearing::Speeches
    }

    fn stop(&self, discussion: &GroupDiscussion) -> Option<StopReason> {
        // In the first round it has heard nobody yet.
        let mut heard = discussion.round().filter(|round| round.n > 1)?.heard();
        let ends = heard.any(|speech| {
            let side = discussion
                .participant(&speech.participant)
                .map(|of| of.side);
            let says_so = speech.stance.as_ref().is_some_and(|stance| stance.conclude);
            side == Some(Side::Moderator) && says_so
        });
        ends.then_some(StopReason::Moderator)
    }

    fn is_heard(&self, _: &GroupDiscussion) -> bool {
        true
    }
}
