//! Tests that a step that is redone after the program's end starts on the tree from before it, as if it had never run.

use super::*;
use crate::domain::plan_execution::StepStage;

/// A run whose first step was tested, so that its commit is being made.
fn committing() -> RunSimulation {
    let mut world = agreed();
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    world.feed(answered(1, QuestionAnswer::Execute));
    world.feed(Event::ExecutionEntered { base: None, terms });
    check(
        &mut world,
        &[
            Event::SnapshotTaken {
                step: 1,
                tree: Some("before".to_owned()),
                attempt: 0,
            },
            ended(3),
            looked(Vec::new()),
            tests_ran(1, 1),
        ],
        "EXECUTE | start trn_3: works on step 1\nEXECUTE | AuditStep\nEXECUTE | RunTests\nEXECUTE | commit [\"a.rs\"] [Step 1] ok//step 1//tests passed/",
    );
    world
}

fn current(world: &RunSimulation) -> CurrentStep {
    let execution = world.run.state().execution.as_ref();
    let current = execution.and_then(|execution| execution.current.clone());
    current.expect("a step")
}

#[test]
fn a_step_whose_commit_was_being_made_is_redone_from_its_start() {
    let mut world = committing();
    assert_eq!(current(&world).stage, StepStage::Commit);
    check(
        &mut world,
        &[
            Event::RunResumed { gate: Gate::Auto },
            answered(2, QuestionAnswer::RedoStep),
            Event::TreeRestored { step: 1 },
        ],
        "EXECUTE | SwitchToBuildProfile, ask step_recovery\nEXECUTE | RestoreTree\nEXECUTE | SnapshotTree",
    );
    let step = current(&world);
    assert_eq!((step.n, step.stage), (1, StepStage::Code));
    // The second attempt commits nothing of the first one.
    assert_eq!((step.commit_tree, step.receipt), (None, None));
    assert_eq!(step.changed, Vec::<String>::new());
    let state = world.run.state();
    assert_eq!(state.step_count().done, 0);
    assert!(
        matches!(&state.busy, Some(ProgramOperation::Storing { order }) if order.purpose == TurnPurpose::Step { n: 1 })
    );
}

#[test]
fn a_redone_step_goes_through_each_stage_again_up_to_its_commit() {
    let mut world = committing();
    world.feed(Event::RunResumed { gate: Gate::Auto });
    world.feed(answered(2, QuestionAnswer::RedoStep));
    world.feed(Event::TreeRestored { step: 1 });
    check(
        &mut world,
        &[
            Event::SnapshotTaken {
                step: 1,
                tree: Some("before".to_owned()),
                attempt: 0,
            },
            ended(4),
            looked(Vec::new()),
            tests_ran(1, 1),
        ],
        "EXECUTE | start trn_4: works on step 1\nEXECUTE | AuditStep\nEXECUTE | RunTests\nEXECUTE | commit [\"a.rs\"] [Step 1] ok//step 1//tests passed/",
    );
}
