//! Tests which test command runs, where the plan names another one than the repository.

use super::*;

fn command(line: &str, source: TestCommandSource) -> TestCommand {
    TestCommand {
        command: line.to_owned(),
        parts: Vec::new(),
        origin: TestCommandOrigin {
            source,
            place: None,
        },
    }
}

/// The commands in the question: the one that runs, then the one that does not.
fn shown(effects: &[Effect]) -> String {
    let [Effect::AskUser(question)] = effects else {
        panic!("{effects:?}");
    };
    let QuestionKind::Execute { terms } = &question.kind else {
        panic!("{effects:?}");
    };
    let of = |test: &Option<TestCommand>| test.as_ref().map_or("", |t| &t.command).to_owned();
    format!("{} not {}", of(&terms.test), of(&terms.other_test))
}

fn asked(other_test: Option<TestCommand>) -> (RunSimulation, Vec<Effect>) {
    let mut world = RunSimulation::approved();
    let terms = ExecutionTerms {
        test: Some(command("cargo test", TestCommandSource::Detected)),
        other_test,
        ..world.terms()
    };
    let effects = world.feed(Event::RepositorySurveyed { terms });
    (world, effects)
}

fn answer(world: &mut RunSimulation, answer: QuestionAnswer) -> Vec<Effect> {
    let id = world
        .run
        .state()
        .current_question()
        .map_or(0, |question| question.id);
    world.feed(answered(id, answer))
}

#[test]
fn the_user_switches_to_the_plans_command_and_back_before_approving() {
    let (mut world, effects) = asked(Some(command("make check", TestCommandSource::Proposed)));
    assert_eq!(shown(&effects), "cargo test not make check");
    let effects = answer(&mut world, QuestionAnswer::SwitchTest);
    assert_eq!(shown(&effects), "make check not cargo test");
    let effects = answer(&mut world, QuestionAnswer::SwitchTest);
    assert_eq!(shown(&effects), "cargo test not make check");
    answer(&mut world, QuestionAnswer::SwitchTest);
    let effects = answer(&mut world, QuestionAnswer::Execute);
    let [Effect::EnterExecution(terms)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(terms.runs_plan_test());
    assert_eq!(
        terms.describe_test(),
        "Tested with `make check` (proposed by the plan), not with `cargo test` (detected)"
    );
}

#[test]
fn one_command_is_no_choice() {
    let (mut world, effects) = asked(None);
    assert_eq!(shown(&effects), "cargo test not ");
    assert_eq!(answer(&mut world, QuestionAnswer::SwitchTest), []);
    assert!(matches!(
        answer(&mut world, QuestionAnswer::Execute)[..],
        [Effect::EnterExecution(_)]
    ));
}
