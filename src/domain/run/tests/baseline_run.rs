//! Tests the test run before the first step: failures are reported and not blamed on a step.

use std::collections::BTreeMap;

use super::*;
use crate::domain::event::{AgentActivity, PathChange};
use crate::domain::question::TestNetworkChoice;
use crate::domain::receipt::TestCounts;
use crate::domain::step_proof::TestNames;
use crate::domain::test_report::TestIdentity;

/// A run that just entered its execution, with the tests before its first step.
fn entered() -> (RunSimulation, Vec<Effect>) {
    entered_with(WorkflowSettings {
        baseline: true,
        ..settings(1)
    })
}

fn entered_with(settings: WorkflowSettings) -> (RunSimulation, Vec<Effect>) {
    let mut world = RunSimulation::new(Gate::Auto, true, settings);
    let until_approved = [
        ended(1),
        planned(1, 1),
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
    world.feed(answered(1, QuestionAnswer::Execute));
    let effects = world.feed(Event::ExecutionEntered { base: None, terms });
    (world, effects)
}

fn found(receipt: Receipt) -> Event {
    Event::BaselineRan(TestBaseline {
        receipt,
        made_by_tests: vec!["cache.tmp".to_owned()],
        changed: vec!["golden.txt".to_owned()],
        proof_cost: None,
        unplanned_failures: None,
    })
}

/// A test run with this number of passed tests and these failures.
fn run(passed: u64, failing: &[&str]) -> Receipt {
    let failed = u64::try_from(failing.len()).unwrap_or_default();
    let outcome = match failing {
        [] => TestOutcome::Passed,
        _ => TestOutcome::Failed,
    };
    Receipt {
        exit_code: Some(i32::from(failed > 0)),
        counts: Some(TestCounts {
            passed,
            failed,
            skipped: 0,
        }),
        failed_tests: failing.iter().map(|name| (*name).to_owned()).collect(),
        ..receipt(outcome)
    }
}

fn names(effects: &[Effect]) -> String {
    let told = effects.iter().map(|effect| match effect {
        Effect::AskUser(question) => format!("ask {}", question.kind.describe()),
        Effect::SnapshotTree { step, attempt: 0 } => format!("begin step {step}"),
        Effect::SnapshotTree { attempt, .. } => format!("fix {attempt}"),
        Effect::RunBaseline(test) => format!("baseline {}", test.command),
        Effect::RunTests { .. } => "test".to_owned(),
        Effect::CommitStep { paths, .. } => format!("commit {}", paths.join(" ")),
        Effect::SaveTestNetwork(TestNetworkChoice::Host) => "host".to_owned(),
        Effect::SaveTestNetwork(TestNetworkChoice::Loopback) => "loopback".to_owned(),
        Effect::SaveTestSocket { path, is_reached } => format!("{path} {is_reached}"),
        other => format!("{other:?}"),
    });
    told.collect::<Vec<_>>().join(", ")
}

fn check(world: &mut RunSimulation, event: Event, expected: &str) {
    assert_eq!(names(&world.feed(event)), expected);
}

/// Runs step 1 until its tests have run; returns what follows.
fn after_tests(world: &mut RunSimulation, receipt: Receipt, changed: &[&str]) -> String {
    let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
    for event in [
        Event::SnapshotTaken {
            step: 1,
            tree: Some("t".to_owned()),
            attempt: 0,
        },
        ended(3),
        Event::StepAudited(StepAudit {
            changed: changed.clone(),
            ..audit(1, 1)
        }),
    ] {
        world.feed(event);
    }
    names(&world.feed(Event::TestsRan {
        step: 1,
        receipt,
        changed,
        made_by_tests: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        rewritten: Vec::new(),
        tree: Some("after".to_owned()),
    }))
}

#[test]
fn the_tests_run_once_before_the_first_step_and_red_holds_nothing_up() {
    let (mut world, effects) = entered();
    assert_eq!(names(&effects), "SwitchToBuildProfile, baseline sh t.sh");
    check(&mut world, found(run(3, &["a", "b"])), "begin step 1");
    let execution = world.run.state().execution.as_ref().unwrap();
    let told = execution.baseline.as_ref().unwrap().describe();
    let expected = "Before step 1: tests failed (exit 1): 3 passed, 2 failed, 0 skipped; failing: a, b \
        (no step has to fix what already fails)";
    assert_eq!(told, expected);
    // The same result again changes nothing.
    check(&mut world, found(run(3, &[])), "");
}

#[test]
fn failures_that_the_plan_does_not_name_are_asked_about_where_steps_are_proven() {
    let settings = WorkflowSettings {
        baseline: true,
        proves_steps: true,
        ..settings(1)
    };
    let red = |unplanned: Option<&[TestIdentity]>| {
        Event::BaselineRan(TestBaseline {
            receipt: run(3, &["a", "b"]),
            made_by_tests: Vec::new(),
            changed: Vec::new(),
            proof_cost: None,
            unplanned_failures: unplanned.map(TestNames::from_tests),
        })
    };
    let failing = [TestIdentity {
        file: String::new(),
        name: "a".to_owned(),
    }];
    let asked = "ask Before step 1: tests failed (exit 1): 3 passed, 2 failed, 0 skipped; failing: a, b. Continue with \
        these known failures, which are no step's fault, or have them fixed first?";
    for (unplanned, expected) in [
        (Some(&failing[..]), asked),
        (None, asked),
        (Some(&[][..]), "begin step 1"),
    ] {
        let (mut world, _) = entered_with(settings.clone());
        check(&mut world, red(unplanned), expected);
    }
    let (mut world, _) = entered_with(settings.clone());
    world.feed(red(None));
    check(
        &mut world,
        answered(2, QuestionAnswer::AcceptAsIs),
        "begin step 1",
    );
    assert_eq!(world.run.state().extensions.len(), 1);
    let (mut world, _) = entered_with(settings);
    world.feed(red(None));
    world.feed(answered(2, QuestionAnswer::FixFirst));
    let state = world.run.state();
    assert_eq!(state.phase, Phase::WritePlan);
    let reason = &state.replanning.as_ref().unwrap().reason;
    assert!(reason.contains("failing: a, b"), "{reason}");
}

#[test]
fn nothing_is_tested_before_the_step_that_adds_the_first_tests() {
    let settings = WorkflowSettings {
        baseline: true,
        proves_steps: true,
        ..settings(1)
    };
    let text =
        "# Task: version 1\n1. [ ] one\n2. [ ] two\n   Test from here: sh t.sh\n3. [ ] three\n";
    for (source, follows, tested) in [
        (TestCommandSource::Proposed, "begin step 1", "2 3"),
        (TestCommandSource::Detected, "baseline sh t.sh", "1 2 3"),
    ] {
        let mut world = RunSimulation::new(Gate::Auto, true, settings.clone());
        let plan = plan::parse(text).unwrap();
        assert_eq!(plan.test_command.as_deref(), Some("sh t.sh"));
        let mut approved = reviewed(2, Verdict::Approved, Vec::new());
        if let Event::ReviewCommitted { plan_now, .. } = &mut approved {
            *plan_now = plan.approval_sha256.clone();
        }
        let written = Event::PlanCommitted {
            turn: TurnId::new("trn_1"),
            plan,
            file_sha256: sha("p"),
        };
        for event in goal()
            .into_iter()
            .chain([ended(1), written, ended(2), approved])
        {
            world.feed(event);
        }
        let mut terms = world.terms();
        if let Some(test) = &mut terms.test {
            test.origin.source = source;
        }
        world.feed(Event::RepositorySurveyed {
            terms: terms.clone(),
        });
        world.feed(answered(1, QuestionAnswer::Execute));
        let entered = Event::ExecutionEntered { base: None, terms };
        let expected = format!("SwitchToBuildProfile, {follows}");
        check(&mut world, entered, &expected);
        let has_test = |n: &u32| world.run.state().test_of_step(*n).is_some();
        let steps = (1..=3).filter(has_test).map(|n| n.to_string());
        assert_eq!(steps.collect::<Vec<_>>().join(" "), tested);
    }
}

#[test]
fn no_fix_turn_is_spent_on_what_failed_before() {
    let (mut world, _) = entered();
    world.feed(found(run(3, &["a", "b"])));
    assert_eq!(
        after_tests(&mut world, run(4, &["b"]), &["a.rs"]),
        "ask Step 1: tests failed (exit 1): 4 passed, 1 failed, 0 skipped; \
         no failures beyond those before step 1: b"
    );
    // The user may still want it fixed.
    check(&mut world, answered(2, QuestionAnswer::Retry), "fix 1");
    let (mut world, _) = entered();
    world.feed(found(run(3, &["a"])));
    assert_eq!(
        after_tests(&mut world, run(2, &["a", "b"]), &["a.rs"]),
        "fix 1"
    );
}

#[test]
fn the_counts_of_the_first_step_are_held_against_those_before_it() {
    let (mut world, _) = entered();
    world.feed(found(run(3, &[])));
    assert_eq!(
        after_tests(&mut world, run(2, &[]), &["a.rs"]),
        "ask Step 1: fewer tests ran than before: before 3 passed, 0 failed, 0 skipped; \
         now 2 passed, 0 failed, 0 skipped"
    );
    let (mut world, _) = entered();
    world.feed(found(run(3, &[])));
    // What they made before the step is in no commit.
    let changed = ["a.rs", "cache.tmp"];
    assert_eq!(
        after_tests(&mut world, run(3, &[]), &changed),
        "commit a.rs"
    );
}

#[test]
fn a_file_that_changed_while_they_ran_is_asked_about_where_a_step_edits_it() {
    let (mut world, _) = entered();
    world.feed(found(run(3, &[])));
    let stored = Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    };
    world.feed(stored);
    world.feed(ended(3));
    let edits = Event::StepAudited(StepAudit {
        changed: vec!["golden.txt".to_owned()],
        dirty: Vec::new(),
        ..audit(1, 1)
    });
    let asked = "ask Step 1 edited files with uncommitted changes: golden.txt";
    check(&mut world, edits, asked);
    check(&mut world, answered(2, QuestionAnswer::LeaveOut), "test");
}

#[test]
fn a_file_that_they_made_and_a_step_writes_is_the_steps() {
    let (mut world, _) = entered();
    world.feed(found(run(3, &[])));
    world.feed(Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    });
    let edited = BTreeMap::from([("/repository/cache.tmp".to_owned(), PathChange::Add)]);
    world.feed(Event::Agent {
        turn: TurnId::new("trn_3"),
        role: Role::Planner,
        news: AgentActivity::FilesChanged {
            item: "call_1".to_owned(),
            paths: edited,
            diffs: BTreeMap::new(),
        },
    });
    let changed = ["cache.tmp"];
    assert_eq!(
        after_tests(&mut world, run(3, &[]), &changed),
        "commit cache.tmp"
    );
}

#[test]
fn a_runner_that_is_not_there_is_asked_about_before_the_first_step() {
    let missing = || {
        let outcome = TestOutcome::NotStarted("pytest is not installed".to_owned());
        Receipt {
            command: "pytest".to_owned(),
            ..receipt(outcome)
        }
    };
    let asked = "ask Before step 1: tests could not be started: pytest is not installed";
    let (mut world, _) = entered();
    check(&mut world, found(missing()), asked);
    let baseline = "baseline sh t.sh";
    check(&mut world, answered(2, QuestionAnswer::Retry), baseline);
    check(&mut world, found(missing()), asked);
    check(
        &mut world,
        answered(3, QuestionAnswer::AcceptAsIs),
        "begin step 1",
    );
}

#[test]
fn a_network_that_they_lack_is_asked_about_before_the_first_step() {
    let lacking = || Receipt {
        lacks_network: Some("ECONNREFUSED".to_owned()),
        ..run(0, &["a"])
    };
    let asked = "ask The tests before step 1 fail without the machine's network: ECONNREFUSED";
    let (mut world, _) = entered();
    check(&mut world, found(lacking()), asked);
    let again = "host, baseline sh t.sh";
    check(&mut world, answered(2, QuestionAnswer::HostNetwork), again);
    check(&mut world, found(run(3, &[])), "begin step 1");
    let (mut world, _) = entered();
    check(&mut world, found(lacking()), asked);
    let on = "loopback, begin step 1";
    check(&mut world, answered(2, QuestionAnswer::LoopbackNetwork), on);
}

#[test]
fn a_socket_that_they_lack_is_asked_about_before_the_first_step() {
    let lacking = || Receipt {
        lacks_socket: Some(MissingSocket {
            path: "/run/docker.sock".to_owned(),
            line: "no daemon".to_owned(),
        }),
        ..run(0, &["a"])
    };
    let asked = "ask The tests before step 1 fail without /run/docker.sock, which is hidden from them: no daemon";
    for (answer, follows) in [
        (
            QuestionAnswer::ReachSocket,
            "/run/docker.sock true, baseline sh t.sh",
        ),
        (
            QuestionAnswer::HideSocket,
            "/run/docker.sock false, begin step 1",
        ),
    ] {
        let (mut world, _) = entered();
        check(&mut world, found(lacking()), asked);
        check(&mut world, answered(2, answer), follows);
    }
}

#[test]
fn a_run_that_was_cut_off_in_them_runs_them_again() {
    let (mut world, _) = entered();
    let resumed = Event::RunResumed { gate: Gate::Auto };
    // The simulated shell reports no messages, so the profile is set again.
    check(
        &mut world,
        resumed,
        "SwitchToBuildProfile, baseline sh t.sh",
    );
    check(&mut world, found(run(3, &[])), "begin step 1");
}

#[test]
fn the_user_stops_them_and_the_first_step_begins_once_they_are_gone() {
    let (mut world, _) = entered();
    check(&mut world, Event::BaselineStopped, "StopTests");
    let skipped = || Event::BaselineSkipped {
        reason: "you stopped them".to_owned(),
    };
    check(&mut world, skipped(), "begin step 1");
    check(&mut world, skipped(), "");
    check(&mut world, Event::BaselineStopped, "");
    // Stopping the run stops them, too.
    let (mut world, _) = entered();
    let effects = world.feed(Event::RunStopped);
    assert!(effects.contains(&Effect::StopTests), "{effects:?}");
    check(&mut world, found(run(3, &[])), "");
}

#[test]
fn a_run_of_an_earlier_version_begins_with_its_first_step() {
    let old = r#"{"max_iterations":5,"stall_limit":2,"auto_approve":false,"max_fix_turns":2}"#;
    let settings: WorkflowSettings = serde_json::from_str(old).unwrap();
    assert!(!settings.baseline);
}
