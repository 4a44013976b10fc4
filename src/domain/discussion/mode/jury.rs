//! Jury: everybody answers alone; where the answers differ, everybody votes on them once. No talk.
//!
//! Refuses to let a juror know who gave which answer and how many did.

use super::{Hearing, Rules};
use crate::domain::discussion::{GroupDiscussion, Participant, StopReason, Terms};

pub(super) struct Jury;

/// The answers, and the vote on them.
const ROUNDS: u32 = 2;

impl Rules for Jury {
    fn speaks(&self, _: &Participant) -> bool {
        true
    }

    fn closes(&self, _: &Participant) -> bool {
        false
    }

    fn n_rounds(&self, terms: &Terms) -> u32 {
        terms.rounds.min(ROUNDS)
    }

    fn hearing(&self) -> Hearing {
        Hearing::Proposals
    }

    fn stop(&self, _: &GroupDiscussion) -> Option<StopReason> {
        None
    }

    fn is_heard(&self, _: &GroupDiscussion) -> bool {
        true
    }
}
