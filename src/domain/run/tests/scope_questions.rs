//! Tests the question about what a step changed outside of the files that its plan names.

use super::*;
use crate::domain::plan::proof_lines::StepProofPlan;

const ASK: &str = "ask Step 1 changed files that its plan does not name: mine.txt";
const ASK_DELETED: &str =
    "ask Step 1 changed files that its plan does not name: mine.txt (deleted)";

fn mine(is_deleted: bool) -> ScopeChange {
    ScopeChange {
        path: "mine.txt".to_owned(),
        is_deleted,
    }
}

fn audited(out_of_scope: Vec<ScopeChange>) -> Event {
    Event::StepAudited(StepAudit {
        out_of_scope,
        ..audit(1, 1)
    })
}

#[test]
fn what_is_allowed_once_is_not_asked_again_but_its_deletion_is() {
    check_held(
        &[
            ended(3),
            audited(vec![mine(false)]),
            answered(2, QuestionAnswer::Allow),
            audited(vec![mine(true)]),
            answered(3, QuestionAnswer::Allow),
            audited(vec![mine(true)]),
        ],
        &["audit", ASK, "audit", ASK_DELETED, "audit", "test"],
    );
}

#[test]
fn what_is_put_back_is_restored_and_the_rest_is_audited_again() {
    let put_back = Event::EditsPutBack {
        step: 1,
        paths: vec!["mine.txt".to_owned()],
        kept: "k".to_owned(),
    };
    check_held(
        &[
            ended(3),
            audited(vec![mine(false)]),
            answered(2, QuestionAnswer::PutBack),
            put_back,
            audited(Vec::new()),
        ],
        &["audit", ASK, "put back mine.txt", "audit", "test"],
    );
}

#[test]
fn what_the_user_keeps_against_a_rule_or_takes_out_of_the_step_is_not_asked_about() {
    let edit = held("mine.txt", PermissionAction::Deny, 1);
    let held_too = |held| {
        Event::StepAudited(StepAudit {
            held,
            out_of_scope: vec![mine(false)],
            ..audit(1, 1)
        })
    };
    check_held(
        &[
            ended(3),
            held_too(vec![edit.clone()]),
            answered(2, QuestionAnswer::Keep),
            held_too(vec![edit]),
        ],
        &[
            "audit",
            "ask Step 1 changed files that your rules protect: mine.txt (a rule)",
            "audit",
            "test",
        ],
    );
    let unattributed = Event::StepAudited(StepAudit {
        out_of_scope: vec![mine(false)],
        ..audit(1, 25)
    });
    let asked = "ask Files changed during step 1, apparently not by its agent (leave-out keeps them out of the step and \
                 its undo): mine.txt";
    check_held(
        &[
            ended(3),
            unattributed.clone(),
            answered(2, QuestionAnswer::LeaveOut),
            unattributed,
        ],
        &["audit", asked, "audit", "test"],
    );
}

#[test]
fn only_a_run_that_proves_its_steps_knows_the_scope_of_a_step() {
    let scope = |proves_steps: bool, lines: &str| {
        let mut world = agreed();
        world.run.state.settings.proves_steps = proves_steps;
        let mut current = current_step::new_current_step(1);
        current.allowed_outside = vec![mine(false)];
        let mut terms = world.terms();
        terms.test = None;
        world.feed(Event::RepositorySurveyed {
            terms: terms.clone(),
        });
        world.feed(answered(1, QuestionAnswer::Execute));
        world.feed(Event::ExecutionEntered { base: None, terms });
        let state = &mut world.run.state;
        state.execution.as_mut().unwrap().current = Some(current);
        let plan = &mut state.plan.as_mut().unwrap().plan;
        plan.steps[0].proof = StepProofPlan::parse(&format!("Title\n{lines}"));
        let current = state.current_step().unwrap();
        assert!(current.allows_change(&mine(false)) && !current.allows_change(&mine(true)));
        let scope = state.step_scope(&["checks".to_owned()]);
        scope.map(|scope| ["src/a", "b", "checks/c"].map(|path| scope.contains(path, true)))
    };
    assert_eq!(
        scope(true, "Files: src"),
        Some([true, false, true]),
        "with the user's own pattern for tests"
    );
    assert_eq!(scope(true, "Test first: b"), None);
    assert_eq!(scope(false, "Files: src"), None);
}
