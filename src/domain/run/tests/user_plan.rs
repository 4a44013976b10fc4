//! Tests runs that begin with a plan of the user's.

use super::*;

fn given(text: &str) -> Event {
    Event::PlanEdited {
        plan: plan::parse(text).ok(),
        approval_sha256: plan::approval_hash(text),
        file_sha256: sha(text),
        source: Some("mine.md".to_owned()),
    }
}

fn check_start(reviewer: bool, gate: Gate, then: &[Event], expected: &str) {
    let mut world = RunSimulation::new(gate, reviewer, settings(5));
    world.feed(given(&plan_text(1, 2)));
    for event in then {
        world.feed(event.clone());
    }
    check(&mut world, &goal(), expected);
    assert_eq!(world.run.state().plan_by, DocumentAuthor::User);
}

#[test]
fn a_run_with_a_plan_of_the_user_begins_at_its_review_or_without_a_reviewer_at_its_approval() {
    let reviews = "REFINE_GOAL | \nREVIEW | start trn_1: reviews the plan";
    check_start(true, Gate::Auto, &[], reviews);
    check_start(true, Gate::Manual, &[], "REFINE_GOAL | \nREVIEW | ask gate");
    check_start(
        false,
        Gate::Auto,
        &[],
        "REFINE_GOAL | \nAPPROVED | SurveyRepository",
    );
    // The user changes the copy before the goal is confirmed.
    check_start(true, Gate::Auto, &[given(&plan_text(2, 1))], reviews);
    let writes = "REFINE_GOAL | \nWRITE_PLAN | start trn_1: writes the plan";
    check_start(true, Gate::Auto, &[given("no plan")], writes);
}

#[test]
fn only_the_first_goal_of_a_run_has_the_plan_of_the_user() {
    let mut world = RunSimulation::new(Gate::Auto, true, settings(5));
    world.feed(given(&plan_text(1, 2)));
    for event in goal() {
        world.feed(event);
    }
    world.feed(Event::RunStopped);
    let [_, confirmed] = goal();
    world.feed(Event::TurnEnded {
        turn: TurnId::new("trn_1"),
        result: TurnOutcome::Interrupted,
    });
    check(&mut world, &[confirmed], "WRITE_PLAN | ask gate");
}
