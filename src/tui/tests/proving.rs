//! Tests of what the screen says of a step's proof: while its tests run, in the plan, and at the end of the run.

use super::pictures::{check, not_writing};
use super::world::{NOW, asking, drawn, press, questions, state};
use crate::domain::event::{Event, StepAudit};
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::plan;
use crate::domain::plan_execution::{CommitSize, StepOutcome, StepRecord, StepStage, TestBaseline};
use crate::domain::proof_progress::{ProofProgress, ProofRun, ProofRunEnd, RunTime};
use crate::domain::question::QuestionKind;
use crate::domain::receipt::TestOutcome;
use crate::domain::recorded_proof::RecordedProof;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::step_proof::{CellRun, ProofCell, ProofCost, ProofStatus, StepProof, TestNames};
use crate::domain::test_command::{TestCommandOrigin, TestCommandSource};
use crate::tui::{Action, RunDocumentFiles, Screen};

const PLAN: &str = "# Task: sums\n\n## Steps\n1. [ ] add `sum(numbers)`\n   Files: src/**, tests/**\n   Test first: tests/test_sum.py\n2. [ ] add `product(numbers)`\n   Files: src/**, tests/**\n   Test first: tests/test_product.py\n3. [ ] describe both in the README\n   No test: documentation only\n";

fn proof(status: ProofStatus, summary: &str) -> RecordedProof {
    let cell = CellRun {
        cell: ProofCell::Green,
        tree: "t".to_owned(),
        outcome: TestOutcome::Passed,
        exit_code: Some(0),
        duration_ms: 4_100,
        n_passed: 14,
        n_failed: 0,
        n_skipped: 0,
        receipt: None,
        is_reused: false,
    };
    let red = match summary {
        "red" => TestNames {
            count: 1,
            first: vec!["tests/test_sum.py: adds".to_owned()],
        },
        _ => TestNames::default(),
    };
    let found = StepProof {
        cells: vec![cell],
        is_by_identity: true,
        red,
        n_kept: 13,
        ..StepProof::default()
    };
    RecordedProof {
        found,
        status,
        is_plan_approved: true,
        waiver: None,
    }
}

/// A run of three steps, of which these have ended.
fn with_steps(phase: Phase, proofs: &[RecordedProof]) -> RunState {
    let mut state = state(phase);
    state.settings.proves_steps = true;
    state.receipt_head = Some(Sha256::new("0123456789abcdef"));
    let file = state.plan.as_mut().unwrap();
    file.plan = plan::parse(PLAN).unwrap();
    let steps = file.plan.steps.clone();
    let execution = state.execution.as_mut().unwrap();
    let first = execution.done.remove(0);
    execution.done = (steps.iter().zip(proofs))
        .map(|(step, proof)| StepRecord {
            n: step.n,
            text: step.text.clone(),
            outcome: StepOutcome::Committed {
                commit: "3f2a91c0".repeat(5),
                message: step.text.clone(),
                size: Some(CommitSize {
                    files: step.n,
                    added: 9 * step.n,
                    removed: step.n - 1,
                }),
            },
            proof: Some(proof.clone()),
            decided: None,
            ..first.clone()
        })
        .collect();
    state
}

/// A run that proves its second step.
fn proving() -> (Screen, RunState) {
    let mut state = with_steps(Phase::Execute, &[proof(ProofStatus::Proven, "red")]);
    state.busy = Some(ProgramOperation::Stepping { question: None });
    let current = state.execution.as_mut().unwrap().current.as_mut().unwrap();
    current.n = 2;
    current.stage = StepStage::Prove;
    current.fix_turns = 0;
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        plan: Some(PLAN.to_owned()),
        ..RunDocumentFiles::default()
    });
    (screen, state)
}

fn report(screen: &mut Screen, run: ProofRun, end: Option<ProofRunEnd>) {
    let progress = ProofProgress { step: 2, run, end };
    screen.on_proof_progress(UnixMillis(NOW.0 - 3_000), &progress);
}

#[test]
fn the_approval_says_with_which_step_tests_begin() {
    let mut kinds = questions().into_iter().map(|(_, kind)| kind);
    let mut kind = kinds.find(|kind| kind.name() == "execute").unwrap();
    let text = "# Task: a\n1. [ ] one\n2. [ ] two\n   Test from here: pytest\n";
    for (source, is_said) in [
        (TestCommandSource::Proposed, true),
        (TestCommandSource::Configured, false),
    ] {
        if let QuestionKind::Execute { terms } = &mut kind {
            terms.test.as_mut().unwrap().origin.source = source;
        }
        let mut state = asking(Phase::Approved, kind.clone());
        state.settings.proves_steps = true;
        state.plan.as_mut().unwrap().plan = plan::parse(text).unwrap();
        let seen = drawn(&mut not_writing(), (120, 40), Some(&state));
        let said = "Tests begin with step 2, nothing tests those before it";
        assert_eq!(seen.contains(said), is_said, "{seen}");
    }
}

/// Checks that the screen shows all these texts.
fn check_shown(screen: &mut Screen, size: (u16, u16), state: &RunState, texts: &[&str]) {
    let seen = drawn(screen, size, Some(state));
    for text in texts {
        assert!(seen.contains(text), "no `{text}` in\n{seen}");
    }
}

#[test]
fn the_screen_says_which_test_run_of_a_proof_runs_and_how_the_others_ended() {
    let (mut screen, state) = proving();
    let cell = ProofRun::Cell;
    let (passed, failed) = (TestOutcome::Passed, TestOutcome::Failed);
    for (run, outcome, time) in [
        (cell(ProofCell::Green), &passed, RunTime::Took(4_200)),
        (cell(ProofCell::Baseline), &passed, RunTime::Reused),
        (ProofRun::ExpectedRed, &failed, RunTime::Took(3_900)),
    ] {
        report(&mut screen, run, None);
        report(&mut screen, run, Some(run.end(outcome, Some(0), time)));
    }
    report(&mut screen, cell(ProofCell::Kept), None);
    check("proving_chat", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["2"]);
    check("proving_plan", &mut screen, Some(&state));
    let texts = [
        "Proving step 2: old tests on new code  0:03",
        "new tests on new code ✓ 4 s · old tests on old code ✓ · new tests on old code ✗ as it should 4 s",
        "Files: src/**, tests/**",
    ];
    check_shown(&mut screen, (160, 30), &state, &texts);
    // Another try begins with nothing.
    screen.on_event(
        NOW,
        &Event::StepAudited(StepAudit {
            step: 2,
            changed: Vec::new(),
            dirty: Vec::new(),
            outside_of_calls: Vec::new(),
            entry_points: Vec::new(),
            held: Vec::new(),
            out_of_scope: Vec::new(),
            tree: None,
        }),
    );
    let seen = drawn(&mut screen, (160, 30), Some(&state));
    assert!(!seen.contains("as it should"), "{seen}");
}

#[test]
fn the_tests_of_a_step_can_be_interrupted() {
    let (mut screen, mut state) = proving();
    let expected = [Action::Event(Event::InterruptRequested)];
    assert_eq!(press(&mut screen, Some(&state), &["x"]), expected);
    state.settings.proves_steps = false;
    assert_eq!(press(&mut screen, Some(&state), &["x"]), []);
}

#[test]
fn the_end_of_a_run_says_what_is_proven_of_each_step() {
    let waived = ProofStatus::Waived("documentation only".to_owned());
    let unproven = RecordedProof {
        waiver: Some("by hand".to_owned()),
        ..proof(ProofStatus::Unproven("no test is red".to_owned()), "")
    };
    let proofs = [
        proof(ProofStatus::Proven, "red"),
        unproven,
        proof(waived, ""),
    ];
    let mut state = with_steps(Phase::Done, &proofs);
    state.execution.as_mut().unwrap().current = None;
    let mut screen = not_writing();
    check("proven_end", &mut screen, Some(&state));
    let texts = [
        "✓ Done  3 of 3 steps · 3 commits · 1 of 3 proven, 2 waived",
        "1 of 3 proven, 2 waived · agent-collab verify checks it",
        "1 3f2a91c0  add sum(numbers)  ",
        "2 3f2a91c0  add product(numbers) · waived: by hand (you)",
        "3 3f2a91c0  describe both in the README · waived: documentation only (you)",
        "Tests       passed after every step, 11 passed at the end",
    ];
    check_shown(&mut screen, (120, 40), &state, &texts);
    press(&mut screen, Some(&state), &["5"]);
    let texts = [
        "1 of 3 proven, 2 waived",
        "proven: tests fail on the old code and pass on the new",
        "Records   every check is recorded. agent-collab verify says",
        "step 2 was waived by you",
    ];
    check_shown(&mut screen, (120, 60), &state, &texts);
}

#[test]
fn the_chat_says_what_proofs_cost_once_the_tests_have_run() {
    let (mut screen, state) = proving();
    let receipt = state.execution.as_ref().unwrap().done[0].receipt.clone();
    let mut receipt = receipt.unwrap();
    receipt.duration_ms = 4_000;
    let baseline = TestBaseline {
        receipt,
        made_by_tests: Vec::new(),
        changed: Vec::new(),
        proof_cost: Some(ProofCost {
            n_steps: 3,
            n_runs: 9,
        }),
        unplanned_failures: None,
    };
    screen.on_event(NOW, &Event::BaselineRan(baseline));
    let text = "The tests took 4 s. Proving 3 steps runs them about 9 times, about 36 s";
    check_shown(&mut screen, (120, 40), &state, &[text]);
}

#[test]
fn a_short_test_run_has_no_cost_and_its_command_no_origin_in_the_chat() {
    let (mut screen, state) = proving();
    let receipt = state.execution.as_ref().unwrap().done[0].receipt.clone();
    let mut receipt = receipt.unwrap();
    receipt.duration_ms = 1_000;
    receipt.origin = Some(TestCommandOrigin {
        source: TestCommandSource::Proposed,
        place: None,
    });
    let baseline = TestBaseline {
        receipt: receipt.clone(),
        made_by_tests: Vec::new(),
        changed: Vec::new(),
        proof_cost: Some(ProofCost {
            n_steps: 3,
            n_runs: 9,
        }),
        unplanned_failures: None,
    };
    assert!(
        baseline
            .describe()
            .contains("test command proposed by the plan")
    );
    screen.on_event(NOW, &Event::BaselineRan(baseline));
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("Before step 1: tests passed"), "{seen}");
    for text in ["proposed by the plan", "Proving 3 steps"] {
        assert!(!seen.contains(text), "{seen}");
    }
}

#[test]
fn where_all_is_proven_the_heading_says_that_the_tests_passed() {
    let proofs = [(); 3].map(|()| proof(ProofStatus::Proven, "red"));
    let mut state = with_steps(Phase::Done, &proofs);
    state.execution.as_mut().unwrap().current = None;
    let texts = [
        "✓ Done  3 of 3 steps · 3 commits · tests passed after every step",
        "Proof       3 of 3 proven · agent-collab verify checks it",
    ];
    check_shown(&mut not_writing(), (120, 40), &state, &texts);
}
