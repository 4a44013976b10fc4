//! Tests what becomes of a step that its agent does not do: it is asked for its result, amended, planned again or skipped.

use super::*;
use crate::domain::plan_execution::StepStage;
use crate::domain::step_result::{StepResult, StepResultKind};
use crate::domain::turn::TurnRetryReason;

const STEPS: u8 = 3;

/// A run in the first step of an approved plan of three.
fn executing() -> RunSimulation {
    let mut world = RunSimulation::new(Gate::Auto, true, settings(5));
    for event in goal() {
        world.feed(event);
    }
    world.feed(ended(1));
    world.feed(written(1, &plan_of(1, STEPS)));
    approve(&mut world, 2);
    enter(&mut world);
    begin(&mut world, 1);
    world
}

fn written(turn: u32, plan: &Plan) -> Event {
    Event::PlanCommitted {
        turn: TurnId::new(format!("trn_{turn}")),
        plan: plan.clone(),
        file_sha256: sha("p"),
    }
}

/// The reviewer approves the plan as it is.
fn approve(world: &mut RunSimulation, turn: u32) {
    world.feed(ended(turn));
    world.feed(Event::ReviewCommitted {
        turn: TurnId::new(format!("trn_{turn}")),
        review: legacy_review(Verdict::Approved, Vec::new()),
        file_sha256: sha("c"),
        plan_now: world.disk_plan(),
    });
}

/// The user agrees to execute, and the execution begins.
fn enter(world: &mut RunSimulation) {
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    answer(world, QuestionAnswer::Execute);
    world.feed(Event::ExecutionEntered { base: None, terms });
}

fn answer(world: &mut RunSimulation, answer: QuestionAnswer) {
    let id = world.run.state().current_question().unwrap().id;
    world.feed(answered(id, answer));
}

fn begin(world: &mut RunSimulation, step: u32) {
    world.feed(Event::SnapshotTaken {
        step,
        tree: Some(format!("before {step}")),
        attempt: 0,
    });
}

/// The running turn ends with this result, and the program looks at what it changed.
fn end(world: &mut RunSimulation, step: u32, kind: StepResultKind, changed: &[&str]) {
    end_turn(world, kind);
    world.feed(Event::StepAudited(StepAudit {
        changed: changed.iter().map(|path| (*path).to_owned()).collect(),
        step,
        ..audit(step, 1)
    }));
}

fn end_turn(world: &mut RunSimulation, kind: StepResultKind) {
    let turn = world
        .run
        .state()
        .running
        .as_ref()
        .unwrap()
        .order
        .turn
        .clone();
    let result = TurnOutcome::Completed {
        question: None,
        summary: "said".to_owned(),
        result: Some(StepResult::new(kind, "a.rs:1 says \"no\"")),
    };
    world.feed(Event::TurnEnded { turn, result });
}

/// Does a step up to its commit.
fn finish(world: &mut RunSimulation, step: u32) {
    end(world, step, StepResultKind::Done, &["a.rs"]);
    world.feed(tests_ran(step, 1));
    world.feed(Event::CommitMade {
        step,
        commit: "c".repeat(40),
        message: "m".to_owned(),
        size: None,
    });
    record(world, step);
}

fn record(world: &mut RunSimulation, step: u32) {
    world.feed(Event::StepRecorded {
        step,
        plan_file_sha256: Some(sha("ticked")),
    });
}

/// What the run is at: its phase, what runs, what is asked, and the steps that have ended.
fn look(world: &RunSimulation) -> String {
    let state = world.run.state();
    let running = state
        .running
        .as_ref()
        .map(|running| running.order.purpose.describe());
    let storing = match &state.busy {
        Some(ProgramOperation::Storing { order }) => Some(order.purpose.describe()),
        _ => None,
    };
    let asked = state
        .current_question()
        .map(|question| question.kind.name().to_owned());
    let ended = state.ended_steps().map(|record| {
        let why = record.unproven_reason().unwrap_or("proven");
        format!("{} {why}{}", record.n, record.skip_words())
    });
    let parts = [Some(state.phase.to_string()), running, storing, asked];
    let all = parts.into_iter().flatten().chain(ended);
    all.collect::<Vec<_>>().join(" | ")
}

#[track_caller]
fn check_look(world: &RunSimulation, expected: &str) {
    assert_eq!(look(world), expected);
}

/// Checks which steps of the plan the approval of the execution no longer covers.
#[track_caller]
fn check_change(world: &RunSimulation, changed: &[u32]) {
    let change = world.run.state().plan_change().unwrap();
    assert_eq!((&*change.changed, change.removed.len()), (changed, 0));
}

#[test]
fn an_agent_that_states_no_result_is_asked_for_it_once() {
    let mut world = executing();
    end_turn(&mut world, StepResultKind::Unstated);
    check_look(&world, "EXECUTE | works on step 1");
    begin(&mut world, 1);
    let running = world.run.state().running.as_ref().unwrap();
    let again = running.order.again.clone();
    assert!(matches!(again, Some(TurnRetryReason::AskedBack { .. })));
    end_turn(&mut world, StepResultKind::Unstated);
    // What it changed decides.
    let execution = world.run.state().execution.as_ref().unwrap();
    assert_eq!(execution.current.as_ref().unwrap().stage, StepStage::Audit);
}

#[test]
fn a_blocked_step_is_skipped_with_its_reason_and_the_next_one_begins() {
    let mut world = executing();
    end(&mut world, 1, StepResultKind::Blocked, &[]);
    check_look(&world, "EXECUTE | blocked");
    let reason = "not wanted".to_owned();
    answer(&mut world, QuestionAnswer::SkipStep { reason });
    record(&mut world, 1);
    check_look(
        &world,
        "EXECUTE | works on step 2 | 1 was skipped (not wanted)",
    );
    let plan = world.run.state().plan.as_ref().unwrap();
    assert!(
        !plan.plan.steps[0].done,
        "the box of a skipped step stays open"
    );
}

#[test]
fn a_later_step_is_skipped_when_its_turn_comes_and_an_ended_one_never() {
    let mut world = executing();
    let skip = |step| Event::StepSkipped {
        step,
        reason: "later".to_owned(),
    };
    world.feed(skip(2));
    world.feed(skip(7));
    check_look(&world, "EXECUTE | works on step 1");
    finish(&mut world, 1);
    check_look(&world, "EXECUTE | 1 proven | 2 was skipped (later)");
    record(&mut world, 2);
    check_look(
        &world,
        "EXECUTE | works on step 3 | 1 proven | 2 was skipped (later)",
    );
    world.feed(skip(1));
    assert_eq!(
        world.run.state().skip_blocker(1).as_deref(),
        Some("step 1 has ended; /undo 1 takes it back")
    );
    check_look(
        &world,
        "EXECUTE | works on step 3 | 1 proven | 2 was skipped (later)",
    );
}

#[test]
fn a_step_that_is_skipped_in_its_turn_ends_with_the_turn() {
    for result in [TurnOutcome::Interrupted, TurnOutcome::completed("ok")] {
        let mut world = executing();
        let reason = "enough".to_owned();
        world.feed(Event::StepSkipped { step: 1, reason });
        check_look(&world, "EXECUTE | works on step 1");
        let turn = world
            .run
            .state()
            .running
            .as_ref()
            .unwrap()
            .order
            .turn
            .clone();
        world.feed(Event::TurnEnded { turn, result });
        let at = world.run.state().execution.as_ref().unwrap();
        assert_eq!(at.current.as_ref().unwrap().stage, StepStage::Audit);
        world.feed(Event::StepAudited(StepAudit {
            tree: Some("after 1".to_owned()),
            changed: vec!["a.rs".to_owned()],
            ..audit(1, 1)
        }));
        record(&mut world, 1);
        check_look(&world, "EXECUTE | works on step 2 | 1 was skipped (enough)");
        let execution = world.run.state().execution.as_ref().unwrap();
        // What it left is asked about where a later step edits it, and can be undone.
        assert!(execution.pre_dirty.contains(&"a.rs".to_owned()));
        assert!(execution.plan_undo(1, "now").is_ok());
    }
}

#[test]
fn a_step_that_is_skipped_before_it_begins_does_not_keep_others_from_being_undone() {
    let mut world = executing();
    let reason = "later".to_owned();
    world.feed(Event::StepSkipped { step: 2, reason });
    finish(&mut world, 1);
    record(&mut world, 2);
    let execution = world.run.state().execution.as_ref().unwrap();
    assert_eq!(execution.plan_undo(1, "now").unwrap().steps, [1, 2]);
}

#[test]
fn a_skip_counts_for_the_step_that_it_was_about_and_not_for_its_number() {
    let mut world = executing();
    let reason = "later".to_owned();
    world.feed(Event::StepSkipped { step: 2, reason });
    let text = plan_text(1, STEPS).replace("step 2", "another step");
    world.feed(Event::PlanEdited {
        plan: plan::parse(&text).ok(),
        approval_sha256: plan::approval_hash(&text),
        file_sha256: sha(&text),
        source: None,
    });
    finish(&mut world, 1);
    answer(&mut world, QuestionAnswer::AcceptAsIs);
    check_look(&world, "EXECUTE | works on step 2 | 1 proven");
    begin(&mut world, 2);
    finish(&mut world, 2);
    check_look(&world, "EXECUTE | works on step 3 | 1 proven | 2 proven");
}

#[test]
fn while_the_program_works_no_step_is_planned_again() {
    let mut world = executing();
    end(&mut world, 1, StepResultKind::Done, &["a.rs"]);
    let entered = Event::PlanEntered {
        reason: "no".to_owned(),
        step: Some(3),
    };
    world.feed(entered.clone());
    assert_eq!(world.run.state().phase, Phase::Execute, "its tests run");
    world.feed(tests_ran(1, 1));
    world.feed(entered);
    assert_eq!(
        world.run.state().phase,
        Phase::Execute,
        "it is being committed"
    );
}

#[test]
fn a_run_that_is_stopped_while_a_step_is_planned_again_keeps_its_steps() {
    let mut world = executing();
    finish(&mut world, 1);
    begin(&mut world, 2);
    end(&mut world, 2, StepResultKind::Blocked, &[]);
    let text = String::new();
    answer(&mut world, QuestionAnswer::ReplanStep { text });
    assert!(world.run.state().undo_blocker().is_some());
    world.feed(Event::RunCancelled);
    check_look(&world, "CANCELLED | writes the plan | 1 proven");
}

#[test]
fn a_step_that_is_planned_again_keeps_the_ended_ones_and_its_change_alone_is_reviewed() {
    let mut world = executing();
    finish(&mut world, 1);
    begin(&mut world, 2);
    end(&mut world, 2, StepResultKind::Blocked, &[]);
    let text = "use a map".to_owned();
    answer(&mut world, QuestionAnswer::ReplanStep { text });
    check_look(&world, "WRITE_PLAN | writes the plan | 1 proven");
    let record = world.run.state().replanning.clone().unwrap();
    assert_eq!(record.reason, "a.rs:1 says \"no\"\nuse a map");
    assert_eq!(record.step, Some(2));
    let changed = plan_text(2, STEPS).replace("step 2", "step two, with a map");
    let changed = plan::parse(&changed).unwrap();
    let other = plan::parse(&plan_text(2, STEPS).replace("step 1", "step one")).unwrap();
    assert_eq!(record.changed_ended_step(&changed), None);
    assert_eq!(
        record.changed_ended_step(&other).as_deref(),
        Some("step 1 has ended and must stay as it is: \"step 1\"")
    );
    // The boxes that the program ticks do not count, the lines below a step do.
    let ticked = plan_text(2, STEPS).replace("1. [ ] step 1\n", "1. [x] step 1\n\n");
    let ticked = plan::parse(&ticked).unwrap();
    assert_eq!(record.changed_ended_step(&ticked), None);
    let lines = plan_text(2, STEPS).replace("step 1\n", "step 1\n   Files: *\n");
    let lines = record.changed_ended_step(&plan::parse(&lines).unwrap());
    let expected = "step 1 has ended and must stay as it is, with the lines below it: \"step 1\"";
    assert_eq!(lines.as_deref(), Some(expected));
    world.feed(ended(5));
    world.feed(written(5, &changed));
    check_look(&world, "REVIEW | reviews the plan | 1 proven");
    assert!(world.run.state().plan.as_ref().unwrap().plan.steps[0].done);
    assert_eq!(
        world.run.state().iteration,
        2,
        "a later review sees the change"
    );
    approve(&mut world, 6);
    enter(&mut world);
    check_look(&world, "EXECUTE | works on step 2 | 1 proven");
    let state = world.run.state();
    assert!(state.plan.as_ref().unwrap().plan.steps[0].done);
    assert_eq!(state.replanning.as_ref().unwrap().kept, None);
    begin(&mut world, 2);
    finish(&mut world, 2);
    check_look(&world, "EXECUTE | works on step 3 | 1 proven | 2 proven");
}

#[test]
fn what_the_user_changes_in_execute_is_reviewed_where_the_user_wants_it() {
    let mut world = executing();
    let text = plan_text(1, STEPS).replace("step 3", "step three");
    world.feed(Event::PlanEdited {
        plan: plan::parse(&text).ok(),
        approval_sha256: plan::approval_hash(&text),
        file_sha256: sha(&text),
        source: None,
    });
    finish(&mut world, 1);
    check_look(&world, "EXECUTE | stale_plan | 1 proven");
    let question = world.run.state().current_question().unwrap();
    assert_eq!(
        question.kind.describe(),
        "The plan changed after its review. Your approval no longer covers step 3 (changed or new)"
    );
    answer(&mut world, QuestionAnswer::ReviewAgain);
    check_look(&world, "REVIEW | reviews the plan | 1 proven");
    assert_eq!(world.run.state().iteration, 2);
    check_change(&world, &[3]);
    approve(&mut world, 4);
    enter(&mut world);
    check_look(&world, "EXECUTE | works on step 2 | 1 proven");
    check_change(&world, &[]);
}

#[test]
fn an_amended_step_is_asked_about_like_every_change_and_tried_again() {
    let mut world = executing();
    end(&mut world, 1, StepResultKind::Blocked, &[]);
    let text = "in b.rs".to_owned();
    answer(&mut world, QuestionAnswer::AmendStep { text });
    let amended = plan::amend_step(&plan_text(1, STEPS), 1, "in b.rs").unwrap();
    assert!(
        amended.contains("1. [ ] step 1\n   Amended: in b.rs\n2. [ ] step 2\n"),
        "{amended}"
    );
    world.feed(Event::PlanEdited {
        plan: plan::parse(&amended).ok(),
        approval_sha256: plan::approval_hash(&amended),
        file_sha256: sha(&amended),
        source: None,
    });
    world.feed(Event::StepAmended { step: 1 });
    check_look(&world, "EXECUTE | stale_plan");
    check_change(&world, &[1]);
    answer(&mut world, QuestionAnswer::AcceptAsIs);
    check_look(&world, "EXECUTE | works on step 1");
    check_change(&world, &[]);
}
