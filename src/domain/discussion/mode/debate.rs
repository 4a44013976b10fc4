//! Debate: advocates and critics argue in rounds; the moderator, who has read the last one, rules once.
//!
//! Refuses to end before each side that is there was heard.

use super::{Hearing, Rules};
use crate::domain::discussion::{GroupDiscussion, Participant, Side, StopReason, Terms};

pub(super) struct Debate;

impl Rules for Debate {
    fn speaks(&self, participant: &Participant) -> bool {
        participant.side != Side::Moderator
    }

    fn closes(&self, participant: &Participant) -> bool {
        participant.side == Side::Moderator
    }

    fn n_rounds(&self, terms: &Terms) -> u32 {
        terms.rounds
    }

    fn hearing(&self) -> Hearing {
        Hearing::Speeches
    }

    fn stop(&self, _: &GroupDiscussion) -> Option<StopReason> {
        None
    }

    /// One of each side: an argument that only one side is there to have is none.
    fn is_heard(&self, discussion: &GroupDiscussion) -> bool {
        let Some(round) = discussion.round() else {
            return false;
        };
        let of_side = |side: Side| {
            let all = discussion.order.participants.iter();
            all.filter(move |each| each.side == side)
        };
        let is_silent = |name: &str| round.speech(name).is_none_or(|speech| !speech.is_heard());
        [Side::Advocate, Side::Critic].into_iter().all(|side| {
            let n = of_side(side).count();
            n == 0 || of_side(side).any(|each| !is_silent(&each.name))
        })
    }
}
