//! Tests that no turn starts while the user is being asked whether to stop, whatever the gate is.

use super::*;
use crate::domain::phase::TurnHold;

fn hold(hold: TurnHold) -> Event {
    Event::TurnHoldChanged { hold }
}

/// The planner's turn ends while the dialog is open, in the auto gate.
fn held() -> RunSimulation {
    let mut world = RunSimulation::planning(1);
    world.feed(hold(TurnHold::Held));
    world.feed(ended(1));
    world.feed(planned(1, 1));
    world
}

fn check(world: &RunSimulation, wanted: &str) {
    let state = world.run.state();
    let runs = state.running.as_ref().map(|running| &running.order);
    let held = match &state.busy {
        Some(ProgramOperation::Held { order, .. }) => Some(order),
        _ => None,
    };
    let asked = match state.awaiting.as_ref().map(|question| &question.kind) {
        Some(QuestionKind::Gate { order }) => Some(order),
        _ => None,
    };
    let purpose = |order: Option<&TurnOrder>| order.map(|order| order.purpose.clone());
    let seen = format!(
        "{} {:?}: runs {:?}, held {:?}, asks {:?}",
        state.phase,
        state.gate,
        purpose(runs),
        purpose(held),
        purpose(asked)
    );
    assert_eq!(seen, wanted);
}

#[test]
fn a_turn_that_ends_is_followed_by_none_until_the_user_has_answered() {
    let mut world = held();
    check(
        &world,
        "REVIEW Auto: runs None, held Some(Review), asks None",
    );
    world.feed(hold(TurnHold::Free));
    check(
        &world,
        "REVIEW Auto: runs Some(Review), held None, asks None",
    );
}

#[test]
fn a_stop_drops_the_turn_that_was_held_back_and_the_gate_is_manual() {
    let mut world = held();
    world.feed(Event::RunStopped);
    world.feed(hold(TurnHold::Free));
    check(
        &world,
        "REFINE_GOAL Manual: runs None, held None, asks None",
    );
    let text = "Goal".to_owned();
    world.feed(Event::GoalConfirmed {
        title: text.clone(),
        text,
    });
    check(
        &world,
        "WRITE_PLAN Manual: runs None, held None, asks Some(WritePlan)",
    );
}

#[test]
fn a_turn_that_auto_released_waits_at_the_gate_where_that_is_manual_by_now() {
    let mut world = held();
    world.feed(Event::GateChanged { gate: Gate::Manual });
    check(
        &world,
        "REVIEW Manual: runs None, held Some(Review), asks None",
    );
    world.feed(hold(TurnHold::Free));
    check(
        &world,
        "REVIEW Manual: runs None, held None, asks Some(Review)",
    );
}

#[test]
fn a_release_by_hand_counts_once_the_user_has_answered() {
    let mut world = RunSimulation::new(Gate::Manual, true, settings(1));
    for event in goal() {
        world.feed(event);
    }
    world.feed(hold(TurnHold::Held));
    world.feed(Event::TurnSendConfirmed);
    check(
        &world,
        "WRITE_PLAN Manual: runs None, held Some(WritePlan), asks None",
    );
    world.feed(hold(TurnHold::Free));
    check(
        &world,
        "WRITE_PLAN Manual: runs Some(WritePlan), held None, asks None",
    );
}

#[test]
fn the_end_of_the_program_ends_the_hold_and_keeps_the_turn() {
    let mut world = held();
    world.feed(Event::RunResumed { gate: Gate::Manual });
    assert!(world.run.state().turn_hold.is_free());
    check(
        &world,
        "REVIEW Manual: runs None, held None, asks Some(Review)",
    );
}
