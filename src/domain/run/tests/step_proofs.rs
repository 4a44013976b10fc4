//! Tests what follows from the cells of a step: commit, question, waiver.

use super::*;
use crate::domain::plan::proof_lines::{ProofClaim, StepProofPlan};
use crate::domain::plan_execution::{StepAssessment, StepSkip, StepStage};
use crate::domain::step_proof::CommandProof;
use crate::domain::step_result::{StepResult, StepResultKind};

/// A run whose first step is changed and tested, and is being proven.
fn proving(claim: ProofClaim, approval: QuestionAnswer) -> RunSimulation {
    let mut world = begun(claim, approval);
    end_turn(&mut world, TurnOutcome::completed("Done."));
    audit_paths(&mut world, vec!["a.rs".to_owned()]);
    world.feed(Event::TestsRan {
        step: 1,
        receipt: receipt(TestOutcome::Passed),
        changed: vec!["a.rs".to_owned()],
        made_by_tests: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        rewritten: Vec::new(),
        tree: Some("after".to_owned()),
    });
    world
}

/// A run in the turn of its first step.
fn begun(claim: ProofClaim, approval: QuestionAnswer) -> RunSimulation {
    let settings = WorkflowSettings {
        proves_steps: true,
        ..settings(1)
    };
    let mut world = RunSimulation::new(Gate::Auto, true, settings);
    let mut planned = planned(1, 1);
    if let Event::PlanCommitted { plan, .. } = &mut planned {
        plan.steps[0].proof = StepProofPlan {
            claim,
            ..StepProofPlan::default()
        };
    }
    let until_approved = [
        ended(1),
        planned,
        ended(2),
        reviewed(2, Verdict::Approved, Vec::new()),
    ];
    for event in goal().into_iter().chain(until_approved) {
        world.feed(event);
    }
    let terms = world.terms();
    world.feed(Event::RepositorySurveyed {
        terms: terms.clone(),
    });
    world.feed(answered(1, approval));
    world.feed(Event::ExecutionEntered { base: None, terms });
    world.feed(Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    });
    world
}

fn end_turn(world: &mut RunSimulation, result: TurnOutcome) {
    let running = world.run.state().running.as_ref();
    let turn = running.map(|running| running.order.turn.clone()).unwrap();
    world.feed(Event::TurnEnded { turn, result });
}

fn audit_paths(world: &mut RunSimulation, changed: Vec<String>) -> Vec<Effect> {
    world.feed(Event::StepAudited(StepAudit {
        step: 1,
        changed,
        dirty: Vec::new(),
        outside_of_calls: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        out_of_scope: Vec::new(),
        tree: Some("t".to_owned()),
    }))
}

/// A run whose first step changed nothing, because its agent states that it was already true.
fn already_true(claim: ProofClaim) -> (RunSimulation, Vec<Effect>) {
    let mut world = begun(claim, QuestionAnswer::Execute);
    let result = StepResult::new(StepResultKind::AlreadyTrue, "a.rs has it");
    let mut stated = TurnOutcome::completed("Nothing to do.");
    if let TurnOutcome::Completed { result: stated, .. } = &mut stated {
        *stated = Some(result);
    }
    end_turn(&mut world, stated);
    let effects = audit_paths(&mut world, Vec::new());
    (world, effects)
}

#[test]
fn a_step_that_was_already_true_is_proven_on_the_code_before_it() {
    let named = || ProofClaim::TestFirst("t.py::test_a".to_owned());
    let command = || ProofClaim::Command("sh a.sh".to_owned());
    let passed = StepProof {
        passed_before: Some(TestNames {
            count: 1,
            first: vec!["t.py::test_a".to_owned()],
        }),
        ..StepProof::default()
    };
    let ran = |passed_after: bool| StepProof {
        command: Some(CommandProof {
            failed_before: !passed_after,
            passed_after,
        }),
        ..StepProof::default()
    };
    let doubted = StepProof {
        doubts: vec!["the report is cut".to_owned()],
        ..passed.clone()
    };
    for (claim, proof, seen) in [
        (named(), passed.clone(), Some("t.py::test_a passes")),
        (named(), StepProof::default(), None),
        (named(), ran(true), None),
        (named(), doubted, None),
        (
            named(),
            StepProof::without_cells("there is no sandbox"),
            None,
        ),
        (command(), ran(true), Some("`sh a.sh` passes")),
        (command(), ran(false), None),
        (command(), passed, None),
    ] {
        let (mut world, effects) = already_true(claim);
        assert_eq!(effects, [Effect::ProveStep { step: 1 }]);
        world.feed(Event::StepProved {
            step: 1,
            proof,
            tree: Some("t".to_owned()),
        });
        let Some(seen) = seen else {
            assert_eq!(first(&world), Some("nothing_changed"));
            let id = world.run.state().current_question().unwrap().id;
            world.feed(answered(id, QuestionAnswer::AlreadyTrue));
            assert_eq!(finish(&mut world), "unproven: changed nothing");
            continue;
        };
        assert_eq!(first(&world), None);
        let end = "checked: was already true, seen by the baseline";
        assert_eq!(finish(&mut world), end);
        let record = &world.run.state().execution.as_ref().unwrap().done[0];
        let told = format!("checked: already true, seen by the baseline: {seen}");
        assert_eq!(record.describe_tests(), told);
        assert_eq!(record.assessment(), StepAssessment::Unchanged);
    }
    // Without tests or a command there is nothing to run.
    for claim in [
        ProofClaim::Unnamed,
        ProofClaim::KeepsBehaviour,
        ProofClaim::NoTest("words".to_owned()),
        ProofClaim::TestFirst(String::new()),
    ] {
        let (world, _) = already_true(claim);
        assert_eq!(first(&world), Some("nothing_changed"));
    }
}

fn prove(world: &mut RunSimulation, dice: u8) -> Vec<Effect> {
    world.feed(Event::StepProved {
        step: 1,
        proof: step_proof(dice),
        tree: Some("after".to_owned()),
    })
}

/// Finishes the commit and the record of the step; returns what the run says of its proof at the end.
fn finish(world: &mut RunSimulation) -> String {
    world.feed(Event::CommitMade {
        step: 1,
        commit: "c".repeat(40),
        message: "[Step 1] Done".to_owned(),
        size: None,
    });
    world.feed(Event::StepRecorded {
        step: 1,
        plan_file_sha256: None,
    });
    let state = world.run.state();
    let record = &state.execution.as_ref().unwrap().done[0];
    format!(
        "{}: {}",
        record.proof_word(),
        record.unproven_reason().unwrap_or("fine")
    )
}

fn first(world: &RunSimulation) -> Option<&'static str> {
    world
        .run
        .state()
        .current_question()
        .map(|asked| asked.kind.name())
}

#[test]
fn a_proven_step_is_committed_without_a_question() {
    let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::ExecuteByFlag);
    assert!(matches!(
        prove(&mut world, 3)[..],
        [Effect::CommitStep { .. }]
    ));
    assert_eq!(finish(&mut world), "proven: fine");
    assert_eq!(
        world.run.state().describe_proofs().unwrap(),
        "1 of 1 proven"
    );
}

#[test]
fn what_is_missing_is_asked_and_counts_only_as_waived() {
    for dice in [1, 2] {
        let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::Execute);
        prove(&mut world, dice);
        assert_eq!(first(&world), Some("unproven"));
        let id = world.run.state().current_question().unwrap().id;
        let reason = "it is urgent".to_owned();
        let effects = world.feed(answered(id, QuestionAnswer::WaiveProof { reason }));
        assert!(
            matches!(effects[..], [Effect::CommitStep { .. }]),
            "{effects:?}"
        );
        assert_eq!(finish(&mut world), "waived: was waived by you");
    }
}

#[test]
fn the_agent_may_supply_what_is_missing() {
    let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::Execute);
    prove(&mut world, 1);
    let id = world.run.state().current_question().unwrap().id;
    world.feed(answered(id, QuestionAnswer::Retry));
    let current = world
        .run
        .state()
        .execution
        .as_ref()
        .unwrap()
        .current
        .as_ref();
    assert_eq!(current.unwrap().stage, StepStage::Fix);
    assert_eq!(current.unwrap().fix_turns, 1);
}

#[test]
fn without_a_sandbox_a_step_is_at_most_checked() {
    let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::Execute);
    prove(&mut world, 0);
    let said = match first(&world) {
        None => finish(&mut world),
        Some(asked) => asked.to_owned(),
    };
    assert!(
        ["unproven", "checked: was checked, not proven"].contains(&said.as_str()),
        "{said}"
    );
}

#[test]
fn a_waiver_in_the_plan_needs_a_person_who_saw_it() {
    for (approval, expected) in [
        (QuestionAnswer::Execute, "waived: fine"),
        (
            QuestionAnswer::ExecuteByFlag,
            "waived: was waived by the plan, which nobody approved on the screen",
        ),
    ] {
        let claim = ProofClaim::NoTest("it is only shown".to_owned());
        let mut world = proving(claim, approval);
        let mut proof = step_proof(3);
        proof.changed_tests.clear();
        world.feed(Event::StepProved {
            step: 1,
            proof,
            tree: Some("after".to_owned()),
        });
        assert_eq!(finish(&mut world), expected);
    }
}

proptest! {
    /// TRUTH.md T24: no way to exit 0 without cells, or a waiver that a person approved, for every step.
    #[test]
    fn no_run_ends_well_without_cells_or_a_persons_waiver(
        dice in any::<u8>(),
        by_person in any::<bool>(),
        is_waived in any::<bool>(),
        gives_in in any::<bool>(),
    ) {
        let claim = if is_waived {
            ProofClaim::NoTest("none".to_owned())
        } else {
            ProofClaim::Unnamed
        };
        let approval = if by_person {
            QuestionAnswer::Execute
        } else {
            QuestionAnswer::ExecuteByFlag
        };
        let mut world = proving(claim, approval);
        prove(&mut world, dice);
        if let Some(asked) = world.run.state().current_question().map(|asked| asked.id) {
            let reason = "later".to_owned();
            let answer = if gives_in {
                QuestionAnswer::WaiveProof { reason }
            } else {
                QuestionAnswer::Stop
            };
            world.feed(answered(asked, answer));
        }
        finish_if_committing(&mut world);
        let state = world.run.state();
        let records: Vec<_> = state.execution.iter().flat_map(|e| &e.done).collect();
        for record in records.iter().filter(|record| record.unproven_reason().is_none()) {
            let proof = record.proof.as_ref().expect("a proof");
            let has_cells = proof.found.run_of(ProofCell::Green).is_some();
            let is_persons = by_person && is_waived;
            prop_assert!(has_cells || is_persons, "{record:?}");
            prop_assert_ne!(record.assessment(), StepAssessment::Failing);
        }
    }
}

fn finish_if_committing(world: &mut RunSimulation) {
    let execution = world.run.state().execution.as_ref();
    let current = execution.and_then(|execution| execution.current.as_ref());
    if current.is_some_and(|current| current.stage == StepStage::Commit) {
        finish(world);
    }
}

#[test]
fn a_slow_suite_runs_with_the_last_step_only() {
    use crate::domain::step_proof::ProofScope::{StepTests, StepTestsAndSuite, WholeSuite};
    let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::Execute);
    let state = &mut world.run.state;
    let mut steps = state.plan.clone().unwrap();
    let mut second = steps.plan.steps[0].clone();
    second.n = 2;
    steps.plan.steps.push(second);
    state.plan = Some(steps);
    let scopes = |state: &RunState| [state.proof_scope(1), state.proof_scope(2)];
    assert_eq!(scopes(state), [WholeSuite; 2]);
    state.settings.proves_by_step_tests = true;
    assert_eq!(scopes(state), [StepTests; 2]);
    let text = state.plan.as_ref().unwrap().plan.steps[1].text.clone();
    let reason = "not needed".to_owned();
    let execution = state.execution.as_mut().unwrap();
    execution.skips.insert(2, StepSkip { text, reason });
    assert_eq!(state.proof_scope(1), StepTestsAndSuite);
}

#[test]
fn tests_that_the_user_ends_prove_nothing_and_the_step_is_tested_again() {
    let late = Event::StepProved {
        step: 1,
        proof: step_proof(3),
        tree: Some("after".to_owned()),
    };
    let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::Execute);
    assert!(world.run.state().may_interrupt_step_tests());
    let effects = world.feed(Event::InterruptRequested);
    assert_eq!(effects[0], Effect::StopTests);
    assert_eq!(first(&world), Some("step_recovery"));
    // A second interrupt finds nothing, and a proof that was on its way is refused.
    assert_eq!(world.feed(Event::InterruptRequested), []);
    assert_eq!(world.feed(late.clone()), []);
    let id = world.run.state().current_question().unwrap().id;
    let effects = world.feed(answered(id, QuestionAnswer::ContinueStep));
    assert_eq!(effects, [Effect::AuditStep { step: 1 }]);
    for stop in [Event::RunStopped, Event::RunCancelled] {
        let mut world = proving(ProofClaim::Unnamed, QuestionAnswer::Execute);
        let effects = world.feed(stop);
        assert!(effects.contains(&Effect::StopTests), "{effects:?}");
        assert_eq!(world.feed(late.clone()), []);
    }
}
