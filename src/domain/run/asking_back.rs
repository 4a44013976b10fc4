//! A document that lacks something is asked for once more; what came before is kept.
//!
//! Refuses to ask for the same twice in one review or answer.

use super::{Busy, State, flow, planning};
use crate::domain::asked_back::{self, Lack};
use crate::domain::effect::Effect;
use crate::domain::findings::Findings;
use crate::domain::ids::{At, TurnId};
use crate::domain::review::Review;
use crate::domain::turn::{Again, Purpose};

impl State {
    /// What the reviewer is asked for before this review counts; nothing where it was asked for that before.
    pub fn lacks_of_review(&self, review: &Review) -> Vec<Lack> {
        let lacks = asked_back::of_review(review, &self.findings);
        asked_back::not_asked_yet(&lacks, &self.asked_back)
    }

    /// The same of answers, under the ledger that has taken them in.
    pub fn lacks_of_answers(&self, answered: &Findings) -> Vec<Lack> {
        asked_back::not_asked_yet(&asked_back::of_answers(answered), &self.asked_back)
    }
}

/// The document of a turn does not count yet; its agent is asked for what it lacks.
pub(super) fn on_asked_back(
    state: &mut State,
    at: At,
    turn: &TurnId,
    lacks: &[Lack],
) -> Vec<Effect> {
    let lacks = asked_back::not_asked_yet(lacks, &state.asked_back);
    let collecting = match &state.busy {
        Some(Busy::Collecting { order, .. }) if order.turn == *turn => order.purpose.clone(),
        _ => return Vec::new(),
    };
    if lacks.is_empty() || collecting != Purpose::Review {
        return Vec::new();
    }
    planning::take_collecting(state, turn, |_| true);
    again(state, at, collecting, lacks)
}

/// Asks the agent of a turn for what its document lacks.
pub(super) fn again(state: &mut State, at: At, purpose: Purpose, lacks: Vec<Lack>) -> Vec<Effect> {
    let reason = asked_back::in_words(&lacks);
    state.asked_back.extend(lacks);
    flow::propose(state, at, purpose, Some(Again::AskedBack { reason }))
}

/// Tells whether the planner's answers to the review are kept, and it was asked for the others.
pub(super) fn has_answered(state: &State) -> bool {
    let mut asked = state.asked_back.iter();
    asked.any(|lack| matches!(lack, Lack::Answers { .. }))
}
