//! Tests that a change of what the approval is bound to asks before the next step, and nothing else does.

use super::*;
use crate::domain::bound_parts::{ApprovalBinding, BindingChange, BoundKind, BoundPart};
use crate::domain::plan_execution::StepOutcome;
use crate::domain::receipt_chain::{ApprovalFacts, ChainLink, LinkKind, missing_links};

fn part(kind: BoundKind, name: &str, value: &str) -> BoundPart {
    BoundPart::new(kind, name, value)
}

fn change(kind: BoundKind, name: &str) -> BindingChange {
    BindingChange {
        kind,
        name: name.to_owned(),
        before: Some("old".to_owned()),
        now: Some("new".to_owned()),
        by_step: false,
    }
}

/// A run that enters EXECUTE with a bound approval; its first step waits for the check.
fn executing(binds_versions: bool) -> RunSimulation {
    let mut world = RunSimulation::approved();
    let state = &mut world.run.state;
    state.settings.proves_steps = true;
    state.settings.binds_versions = binds_versions;
    let terms = ExecutionTerms {
        binding: Some(ApprovalBinding::new(vec![
            part(BoundKind::RuleFile, "AGENTS.md", "old"),
            part(BoundKind::Version, "codex", "old"),
        ])),
        ..world.terms()
    };
    for event in [
        Event::RepositorySurveyed {
            terms: terms.clone(),
        },
        answered(1, QuestionAnswer::Execute),
    ] {
        world.feed(event);
    }
    let entered = world.feed(Event::ExecutionEntered { base: None, terms });
    assert_eq!(entered.last(), Some(&Effect::CheckApproval { step: 1 }));
    world
}

fn checked(changes: Vec<BindingChange>) -> Event {
    Event::ApprovalChecked { step: 1, changes }
}

/// Names what follows a check.
fn follow(effects: &[Effect]) -> String {
    let names = effects.iter().map(|effect| match effect {
        Effect::SnapshotTree { .. } => "step".to_owned(),
        Effect::RunTests { test, .. } => {
            let command = test.as_ref().map(|test| test.command.as_str());
            format!("test with {}", command.unwrap_or("nothing"))
        }
        Effect::CheckApproval { .. } => "check".to_owned(),
        Effect::AppendLog(text) => format!("log {text}"),
        Effect::AskUser(question) => format!("ask {}", question.kind.describe()),
        other => format!("{other:?}"),
    });
    names.collect::<Vec<_>>().join(", ")
}

#[test]
fn only_what_nobody_approved_asks() {
    use BoundKind::{Base, CarriedPath, RuleFile, TestCommand, TestVariable, Version};
    let ask = |what: &str| format!("ask Before step 1: what you approved has changed: {what}");
    let by_step = BindingChange {
        by_step: true,
        ..change(RuleFile, "AGENTS.md")
    };
    let unknown_before = BindingChange {
        before: None,
        ..change(Version, "claude")
    };
    let told = "log Changed since the approval: the version of codex: old → new, step";
    let version = "the version of codex: old → new";
    for (binds_versions, changes, expected) in [
        (false, vec![], "step".to_owned()),
        (
            false,
            vec![change(RuleFile, "AGENTS.md")],
            ask("AGENTS.md: old → new"),
        ),
        (false, vec![by_step], "step".to_owned()),
        (
            false,
            vec![change(Base, "")],
            ask("the base commit, which HEAD no longer contains: old → new"),
        ),
        (
            false,
            vec![change(TestCommand, "")],
            ask("the test command: old → new"),
        ),
        (
            false,
            vec![change(TestVariable, "KEY")],
            ask("test.env KEY: old → new"),
        ),
        (
            false,
            vec![change(CarriedPath, ".env")],
            ask("test.carry .env: old → new"),
        ),
        (false, vec![change(Version, "codex")], told.to_owned()),
        (true, vec![change(Version, "codex")], ask(version)),
        (true, vec![unknown_before], "step".to_owned()),
    ] {
        let mut world = executing(binds_versions);
        let effects = world.feed(checked(changes.clone()));
        assert_eq!(follow(&effects), expected, "{changes:?}");
    }
}

#[test]
fn a_run_that_began_without_a_commit_has_its_own_one_as_base() {
    let first_base = BindingChange {
        before: None,
        ..change(BoundKind::Base, "")
    };
    let asked = "ask Before step 1: what you approved has changed: the base commit, which HEAD no longer contains: \
                 none → new";
    for (commit, change, expected) in [
        ("new", first_base.clone(), "step"),
        ("other", first_base, asked),
        (
            "new",
            change(BoundKind::Base, ""),
            &asked.replace("none", "old"),
        ),
    ] {
        let mut world = executing(false);
        let mut ended = world.run.state.clone();
        ended.execution.as_mut().unwrap().current = Some(current_step::new_current_step(1));
        let (commit, message, size) = (commit.to_owned(), "[Step 1] a".to_owned(), None);
        let outcome = StepOutcome::Committed {
            commit,
            message,
            size,
        };
        step_sequence::record_step(&mut ended, outcome);
        world.run.state.execution.as_mut().unwrap().done = ended.execution.unwrap().done;
        assert_eq!(follow(&world.feed(checked(vec![change]))), expected);
        let execution = world.run.state().execution.as_ref().unwrap();
        let base = execution
            .binding
            .as_ref()
            .unwrap()
            .value_of(BoundKind::Base, "");
        assert_eq!(base, (expected == "step").then_some("new"));
    }
}

#[test]
fn an_approved_change_is_bound_and_the_answer_is_a_link() {
    let mut world = executing(false);
    world.feed(checked(vec![
        change(BoundKind::RuleFile, "AGENTS.md"),
        change(BoundKind::TestCommand, ""),
    ]));
    let again = world.feed(answered(2, QuestionAnswer::Retry));
    assert_eq!(follow(&again), "check");
    world.feed(checked(vec![
        change(BoundKind::RuleFile, "AGENTS.md"),
        change(BoundKind::TestCommand, ""),
    ]));
    let again = world.feed(answered(3, QuestionAnswer::AcceptAsIs));
    assert_eq!(follow(&again), "check");
    assert_eq!(follow(&world.feed(checked(Vec::new()))), "step");
    let state = world.run.state();
    let execution = state.execution.as_ref().unwrap();
    let binding = execution.binding.as_ref().unwrap();
    assert_eq!(
        binding.value_of(BoundKind::RuleFile, "AGENTS.md"),
        Some("new")
    );
    assert_eq!(execution.test.as_ref().unwrap().command, "new");
    let missing = missing_links(&[], state, &ApprovalFacts::default());
    let [LinkKind::Approval(approval), LinkKind::Extension(extension)] = &missing[..] else {
        panic!("{missing:?}");
    };
    assert_eq!(approval.test_command.as_deref(), Some("new"));
    assert_eq!(
        approval.bound,
        [part(BoundKind::RuleFile, "AGENTS.md", "new")]
    );
    assert_eq!(approval.versions["codex"], "old");
    let answers: Vec<(&str, &str)> = extension
        .answers
        .iter()
        .map(|answer| (&*answer.question, &*answer.answer))
        .collect();
    assert_eq!(answers, [("approval_changed", "accept")]);
}

#[test]
fn another_version_is_a_link_of_its_own() {
    let mut world = executing(false);
    let to_chain = |kinds: Vec<LinkKind>| -> Vec<ChainLink> {
        let link = |(number, kind)| ChainLink {
            run: RunId::new("run_1"),
            number,
            previous: None,
            at: AT,
            kind,
        };
        (1..).zip(kinds).map(link).collect()
    };
    let facts = ApprovalFacts::default();
    let mut kinds = missing_links(&[], world.run.state(), &facts);
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    world.feed(checked(vec![change(BoundKind::Version, "codex")]));
    let links = to_chain(kinds.clone());
    let more = missing_links(&links, world.run.state(), &facts);
    let [LinkKind::Versions(versions)] = &more[..] else {
        panic!("{more:?}");
    };
    assert_eq!(versions.versions["codex"], "new");
    kinds.extend(more);
    let none = missing_links(&to_chain(kinds), world.run.state(), &facts);
    assert_eq!(none, []);
}

#[test]
fn the_tests_of_a_step_wait_for_the_check_too() {
    let mut world = executing(false);
    world.feed(checked(Vec::new()));
    world.feed(Event::SnapshotTaken {
        step: 1,
        tree: Some("t".to_owned()),
        attempt: 0,
    });
    world.feed(ended(3));
    let audited = world.feed(Event::StepAudited(audit(1, 1)));
    assert_eq!(follow(&audited), "check");
    let asked = world.feed(checked(vec![change(BoundKind::TestCommand, "")]));
    assert!(follow(&asked).starts_with("ask Before step 1"), "{asked:?}");
    // The program ends and the run is resumed: what changed may have been restored in the meantime.
    let resumed = world.feed(Event::RunResumed { gate: Gate::Auto });
    assert_eq!(resumed.last(), Some(&Effect::CheckApproval { step: 1 }));
    let effects = world.feed(checked(Vec::new()));
    assert_eq!(follow(&effects), "test with sh t.sh");
}

#[test]
fn a_step_that_has_ended_cannot_be_changed_in_the_plan() {
    let mut world = executing(false);
    let state = &mut world.run.state;
    let mut record = current_step::new_current_step(1);
    record
        .text
        .clone_from(&state.plan.as_ref().unwrap().plan.steps[0].text);
    state.execution.as_mut().unwrap().current = Some(record);
    step_sequence::record_step(
        state,
        StepOutcome::Uncommitted {
            reason: "no".to_owned(),
        },
    );
    let mut plan = plan_of(2, 1);
    plan.steps[0].text = "Something else".to_owned();
    world.feed(Event::PlanEdited {
        plan: Some(plan.clone()),
        approval_sha256: plan.approval_sha256.clone(),
        file_sha256: sha("edited"),
        source: None,
    });
    let effects = approval_validity::check_approval_before_step(&mut world.run.state).unwrap();
    let said = follow(&effects);
    assert!(said.contains("step 1 has ended and must stay"), "{said}");
    let id = world.run.state().current_question().unwrap().id;
    let effects = world.feed(answered(id, QuestionAnswer::AcceptAsIs));
    assert!(follow(&effects).contains("must stay"), "{effects:?}");
    assert_ne!(
        world.run.state().approved_sha256.as_ref(),
        Some(&plan.approval_sha256)
    );
}
