//! Proposes and starts turns, whatever they are for.

use super::{
    ProgramOperation, ResultValidity, RunState, RunningTurn, approval_validity, open_questions,
};
use crate::domain::discussion::GroupDiscussion;
use crate::domain::effect::Effect;
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::{Gate, Phase, TurnHold};
use crate::domain::question::QuestionKind;
use crate::domain::turn::{TurnOrder, TurnPurpose, TurnRetryReason};

/// Creates a turn and starts it, or lets it wait for the user's release.
pub(super) fn propose_turn(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    again: Option<TurnRetryReason>,
) -> Vec<Effect> {
    let order = new_turn_order(state, purpose, again);
    match state.gate {
        Gate::Auto => start_turn(state, at, order),
        Gate::Manual => open_questions::ask_user(state, QuestionKind::Gate { order }),
    }
}

pub(super) fn new_turn_order(
    state: &mut RunState,
    purpose: TurnPurpose,
    again: Option<TurnRetryReason>,
) -> TurnOrder {
    let turn = TurnId::new(format!("trn_{}", state.next_turn));
    state.next_turn += 1;
    TurnOrder {
        turn,
        purpose,
        again,
    }
}

/// Starts a released turn; one in EXECUTE waits until the approval is checked and the tree is stored.
pub(super) fn start_turn(state: &mut RunState, at: UnixMillis, order: TurnOrder) -> Vec<Effect> {
    let Some((step, _)) = stored_step(&order.purpose) else {
        return run_turn(state, at, order);
    };
    let store = store_tree_before(&order.purpose);
    state.busy = Some(ProgramOperation::Storing { order });
    approval_validity::check_binding(state, step).unwrap_or(store)
}

/// Returns the effect that stores the tree before a turn in EXECUTE.
pub(super) fn store_tree_before(purpose: &TurnPurpose) -> Vec<Effect> {
    let stored = stored_step(purpose).into_iter();
    stored
        .map(|(step, attempt)| Effect::SnapshotTree { step, attempt })
        .collect()
}

/// Returns the step and the attempt for the tree before a turn in EXECUTE; step 0 for the summary, which only reads.
pub(super) fn stored_step(purpose: &TurnPurpose) -> Option<(u32, u32)> {
    match purpose {
        TurnPurpose::Step { n } => Some((*n, 0)),
        TurnPurpose::Fix { n, attempt } => Some((*n, *attempt)),
        TurnPurpose::Summary => Some((0, 0)),
        TurnPurpose::RefineGoal { .. }
        | TurnPurpose::WritePlan
        | TurnPurpose::Review
        | TurnPurpose::Respond
        | TurnPurpose::Judge => None,
    }
}

/// Marks a turn as running, or lets it wait while the user is being asked whether to stop.
pub(super) fn run_turn(state: &mut RunState, at: UnixMillis, order: TurnOrder) -> Vec<Effect> {
    if state.turn_hold == TurnHold::Held {
        let by = state.gate;
        state.busy = Some(ProgramOperation::Held { order, by });
        return Vec::new();
    }
    state.plan_stays = None;
    if order.purpose == TurnPurpose::Review {
        state.reviewing = state.plan_approval_hash().cloned();
        state.threads.on_review_prompt(&order.turn);
    }
    if order.purpose == TurnPurpose::Respond {
        state.threads.on_respond_prompt(&order.turn);
    }
    if !order.purpose.is_isolated() {
        state.kept.assign_to_turn(&order.turn);
    }
    state.running = Some(RunningTurn {
        order: order.clone(),
        started_at: at,
        result: ResultValidity::Yes,
        process: None,
    });
    vec![Effect::StartTurn(order)]
}

/// Continues what was held back, once turns may start.
pub(super) fn on_turn_hold_changed(
    state: &mut RunState,
    at: UnixMillis,
    hold: TurnHold,
) -> Vec<Effect> {
    state.turn_hold = hold;
    if hold == TurnHold::Held {
        return Vec::new();
    }
    let mut effects = start_held_turn(state, at);
    if state.discussions.iter().any(GroupDiscussion::is_running) {
        effects.push(Effect::AdvanceDiscussions);
    }
    effects
}

/// Starts the turn that was held back. One that the auto gate released waits at the gate where the gate is manual by now.
fn start_held_turn(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    match state.busy.take() {
        Some(ProgramOperation::Held { order, by })
            if by == Gate::Auto && state.gate == Gate::Manual =>
        {
            open_questions::ask_user(state, QuestionKind::Gate { order })
        }
        Some(ProgramOperation::Held { order, .. }) => {
            // The plan may have been edited while the turn was held back.
            let is_step = order.purpose.phase() == Phase::Execute;
            let stale = is_step.then(|| approval_validity::check_approval_before_step(state));
            stale
                .flatten()
                .unwrap_or_else(|| run_turn(state, at, order))
        }
        other => {
            state.busy = other;
            Vec::new()
        }
    }
}

/// Removes and returns late results for an agent, where it gets them at once and not with a later turn.
pub(super) fn take_background_results(
    state: &mut RunState,
    purpose: &TurnPurpose,
) -> Option<TurnRetryReason> {
    let role = purpose.role();
    let own = state.results.extract_if(.., |result| result.role == role);
    let texts: Vec<String> = own.map(|result| result.text).collect();
    (!texts.is_empty()).then(|| TurnRetryReason::Answered {
        answer: texts.join("\n"),
    })
}
