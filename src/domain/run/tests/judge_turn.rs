//! Tests that a turn that judges a dispute leaves the reviewer's session as it is: its conversation, its totals, and what
//! it has to be told.

use super::*;
use crate::domain::session::SessionUsage;

const REVIEWER: Role = Role::Reviewer;

/// A run whose reviewer has a conversation, in a turn that judges a dispute.
fn judging() -> RunSimulation {
    let mut world = RunSimulation::planning(5);
    for event in [ended(1), planned(1, 1), opened("review"), used(900)] {
        world.feed(event);
    }
    let state = &mut world.run.state;
    (state.running, state.busy) = (None, None);
    state.unanswered.push(UnansweredRequest {
        role: REVIEWER,
        what: "command: cargo tree".to_owned(),
    });
    let text = "mind the tests".to_owned();
    world.feed(Event::MessageQueued { to: None, text });
    let _effects = turn_start::propose_turn(&mut world.run.state, AT, TurnPurpose::Judge, None);
    world
}

fn opened(id: &str) -> Event {
    let external_id = id.to_owned();
    Event::SessionOpened {
        role: REVIEWER,
        external_id,
        model: None,
    }
}

fn used(input_tokens: u64) -> Event {
    let usage = SessionUsage {
        input_tokens,
        ..SessionUsage::default()
    };
    Event::UsageReported {
        role: REVIEWER,
        usage,
    }
}

fn check(world: &RunSimulation, wanted: &str) {
    let state = world.run.state();
    let session = state.reviewer.as_ref().unwrap();
    let running = state.running.as_ref().map(|running| &running.order.purpose);
    let seen = format!(
        "{running:?}: {:?}, {} tokens, degraded {}, {} unanswered, {} queued",
        session.external_id,
        session.usage.input_tokens,
        session.degraded,
        state.unanswered.len(),
        state.kept.messages.len()
    );
    assert_eq!(seen, wanted);
}

#[test]
fn a_judgement_leaves_the_reviewers_session_as_it_is() {
    let mut world = judging();
    let turn = world
        .run
        .state()
        .running
        .as_ref()
        .unwrap()
        .order
        .turn
        .clone();
    world.feed(Event::TurnStarted {
        turn: turn.clone(),
        prompt_sha256: sha("judge"),
        process: None,
    });
    for event in [opened("judge"), used(70)] {
        world.feed(event);
    }
    world.feed(Event::SessionLost {
        role: REVIEWER,
        reason: "none".to_owned(),
    });
    let unchanged = "Some(\"review\"), 900 tokens, degraded false, 1 unanswered";
    check(&world, &format!("Some(Judge): {unchanged}, 1 queued"));
    let text = "and the docs".to_owned();
    assert_eq!(world.feed(Event::Steered { text }), []);
    let summary = "the planner is right".to_owned();
    world.feed(Event::TurnEnded {
        turn: turn.clone(),
        result: TurnOutcome::completed(&summary),
    });
    check(&world, &format!("None: {unchanged}, 2 queued"));
    world.feed(Event::DisputesJudged {
        turn,
        judgements: Vec::new(),
    });
    world.feed(opened("review 2"));
    let session = world.run.state().reviewer.as_ref().unwrap();
    assert_eq!(session.external_id.as_deref(), Some("review 2"));
}

#[test]
fn a_judgement_that_was_cut_off_is_repeated_and_the_reviewer_hears_nothing_of_it() {
    let mut world = judging();
    world.feed(opened("judge"));
    world.feed(Event::RunResumed { gate: Gate::Auto });
    check(
        &world,
        "Some(Judge): Some(\"review\"), 900 tokens, degraded false, 1 unanswered, 1 queued",
    );
}

#[test]
fn the_tokens_of_a_judgement_count_from_zero() {
    let mut world = judging();
    world.feed(used(70));
    let turns = world.run.state().course.turns();
    assert_eq!(turns.last().unwrap().usage().input_tokens, 70);
    assert_eq!(
        world.run.state().course.role_usage(REVIEWER).input_tokens,
        970
    );
}
