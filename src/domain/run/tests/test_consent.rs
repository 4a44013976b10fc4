//! Tests that the approved plan is consent to its test command, in every mode: it runs without asking, and no other one
//! does.

use super::*;
use crate::domain::phase::Mode;
use crate::permission::permission_mode::MODES;

/// Returns what follows the audit of a run's first step in this mode.
fn after_a_step(mode: Mode, entry_points: Vec<EntryPoint>) -> Vec<Effect> {
    let mut world = RunSimulation::approved();
    world.feed(Event::ModeChanged { mode });
    let terms = world.terms();
    let audit = StepAudit {
        entry_points,
        ..audit(1, 1)
    };
    let before = [
        Event::RepositorySurveyed {
            terms: terms.clone(),
        },
        Event::QuestionAnswered {
            id: 1,
            answer: QuestionAnswer::Execute,
        },
        Event::ExecutionEntered { base: None, terms },
        Event::SnapshotTaken {
            step: 1,
            tree: Some("t".to_owned()),
            attempt: 0,
        },
        ended(3),
    ];
    for event in before {
        world.feed(event);
    }
    assert_eq!(world.run.state().mode, mode);
    world.feed(Event::StepAudited(audit))
}

#[test]
fn in_every_mode_the_approved_command_runs_unasked() {
    for mode in MODES {
        let effects = after_a_step(mode, Vec::new());
        let test = RunSimulation::approved().terms().test;
        assert_eq!(effects, [Effect::RunTests { step: 1, test }], "{mode:?}");
    }
}

#[test]
fn in_every_mode_a_step_that_changed_what_the_command_runs_asks_first() {
    for mode in MODES {
        let changed = EntryPoint {
            path: "t.sh".to_owned(),
            why: "the test command runs it".to_owned(),
            content: None,
        };
        let effects = after_a_step(mode, vec![changed]);
        let [Effect::AskUser(question)] = effects.as_slice() else {
            panic!("{mode:?}: {effects:?}");
        };
        assert!(matches!(question.kind, QuestionKind::EntryPoints { .. }));
    }
}

#[test]
fn in_every_mode_a_command_that_changed_since_it_was_approved_is_asked_about_again() {
    for mode in MODES {
        let mut world = RunSimulation::approved();
        world.feed(Event::ModeChanged { mode });
        let terms = world.terms();
        world.feed(Event::RepositorySurveyed { terms });
        world.feed(Event::QuestionAnswered {
            id: 1,
            answer: QuestionAnswer::Execute,
        });
        let changed = "the test command changed".to_owned();
        let effects = world.feed(Event::ExecutionRefused { reason: changed });
        assert_eq!(world.run.state().phase, Phase::Approved, "{mode:?}");
        let [Effect::AskUser(question)] = effects.as_slice() else {
            panic!("{mode:?}: {effects:?}");
        };
        assert!(matches!(question.kind, QuestionKind::CannotExecute { .. }));
    }
}

/// Runs the same random events in a mode; returns the effects of each.
fn played(mode: Mode, auto_approve: bool, dice: &[u8]) -> Vec<Vec<Effect>> {
    let settings = WorkflowSettings {
        auto_approve,
        ..settings(2)
    };
    let mut world = RunSimulation::new(Gate::Auto, true, settings);
    world.feed(Event::ModeChanged { mode });
    let mut done: Vec<Vec<Effect>> = goal().map(|event| world.feed(event)).into();
    for dice in dice {
        if world.pending.is_empty() {
            break;
        }
        let effect = world.pending.remove(0);
        if let Some(event) = world.react(&effect, *dice) {
            done.push(world.feed(event));
        }
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The mode decides single calls, about writing and verifying; the course of a run is the same in all modes.
    #[test]
    fn no_mode_changes_what_a_run_does_and_only_the_approved_command_is_run(
        auto_approve in any::<bool>(),
        dice in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let usual = played(Mode::Default, auto_approve, &dice);
        for mode in MODES {
            prop_assert_eq!(&played(mode, auto_approve, &dice), &usual);
        }
        let approved = RunSimulation::approved().terms().test;
        for effect in usual.iter().flatten() {
            if let Effect::RunTests { test, .. } = effect {
                prop_assert_eq!(test, &approved);
            }
        }
    }
}
