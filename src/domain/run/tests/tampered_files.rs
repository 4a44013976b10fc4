//! Tests that a run waits for the user after the program's own files were restored, whatever it did at that time.

use super::*;

fn tampered() -> Event {
    Event::StoreTampered {
        files: vec![("log.md".to_owned(), None)],
    }
}

/// The end of the running turn, as the engine reports it.
fn failed(world: &RunSimulation) -> Event {
    let running = world.run.state().running.as_ref().unwrap();
    Event::TurnEnded {
        turn: running.order.turn.clone(),
        result: TurnOutcome::Failed {
            kind: TurnFailureKind::TamperedFiles,
            message: "restored log.md".to_owned(),
            transient: false,
            limit: None,
            other: None,
        },
    }
}

/// A run that executes in the auto gate; its first step's turn runs.
fn executing() -> RunSimulation {
    let mut world = agreed();
    let terms = world.terms();
    for event in [
        Event::RepositorySurveyed {
            terms: terms.clone(),
        },
        answered(1, QuestionAnswer::Execute),
        Event::ExecutionEntered { base: None, terms },
        Event::ApprovalChecked {
            step: 1,
            changes: Vec::new(),
        },
        Event::SnapshotTaken {
            step: 1,
            tree: Some("t".to_owned()),
            attempt: 0,
        },
    ] {
        world.feed(event);
    }
    assert!(world.run.state().has_running_turn_that_counts());
    world
}

#[test]
fn a_turn_that_fails_for_it_is_asked_about_and_goes_again_by_the_users_word() {
    let mut world = executing();
    let failed = failed(&world);
    let resumed = Event::RunResumed { gate: Gate::Auto };
    check(
        &mut world,
        &[tampered(), failed, resumed],
        "EXECUTE | InterruptTurn\nEXECUTE | ask adapter_failed\nEXECUTE | SwitchToBuildProfile, ask adapter_failed",
    );
    let id = world.run.state().current_question().unwrap().id;
    let again = answered(id, QuestionAnswer::Retry);
    check(&mut world, &[again], "EXECUTE | SnapshotTree");
}

#[test]
fn no_other_turn_starts_by_itself_while_the_plan_is_written() {
    let mut world = RunSimulation::planning(1);
    let failed = failed(&world);
    check(
        &mut world,
        &[tampered(), failed],
        "WRITE_PLAN | InterruptTurn\nWRITE_PLAN | ask adapter_failed",
    );
}

#[test]
fn between_two_turns_the_next_one_waits_for_the_user() {
    let mut world = agreed();
    check(&mut world, &[tampered()], "APPROVED | ");
    assert_eq!(world.run.state().gate, Gate::Manual);
}

#[test]
fn a_run_that_an_earlier_version_left_without_a_question_continues_when_it_is_resumed() {
    let executing = executing();
    for (phase, expected) in [
        (
            Phase::WritePlan,
            "WRITE_PLAN | start trn_4: writes the plan",
        ),
        (Phase::Review, "REVIEW | start trn_4: reviews the plan"),
        (Phase::Respond, "RESPOND | start trn_4: answers the review"),
        (Phase::Approved, "APPROVED | SurveyRepository"),
        (
            Phase::Execute,
            "EXECUTE | SwitchToBuildProfile, ask step_recovery",
        ),
        (Phase::RefineGoal, "REFINE_GOAL | "),
    ] {
        for gone in [false, true] {
            let mut world = RunSimulation {
                run: executing.run.clone(),
                log: Vec::new(),
                pending: Vec::new(),
                plan_version: 1,
                reviewed_plans: Vec::new(),
            };
            let state = &mut world.run.state;
            state.phase = phase;
            if gone {
                state.running = None;
            } else if let Some(running) = &mut state.running {
                running.result = ResultValidity::No;
            }
            check(
                &mut world,
                &[Event::RunResumed { gate: Gate::Auto }],
                expected,
            );
        }
    }
}
