//! Dialog: the tests of a step pass, but the program did not see what the plan promises as its proof.

use super::blocked_step::command_choice;
use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::plan::proof_lines::ProofClaim;
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::step_proof::{CommandProof, StepProof};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let title = format!("Step {step} is not proven");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text(found, theme::BAD);
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    if let Some(proof) = current.and_then(|current| current.proof.as_ref()) {
        let claim = state.step_proof_plan(step).claim;
        sheet = sheet
            .with_text(&proof.found.summary(), theme::QUIET)
            .with_text(remedy(&proof.found, &claim), theme::PLAIN);
        sheet.full_text = Some((title, proof.found.describe_cells()));
    }
    sheet
        .with_choice(
            'r',
            "Let the agent supply what is missing",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice('w', "Waive the proof, with a reason…", waive_choice())
        .with_choice('l', "Plan the step again…", command_choice("replan", step))
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}

/// Says what would prove the step.
fn remedy(found: &StepProof, claim: &ProofClaim) -> &'static str {
    let changes_old_tests = "Old tests have to pass as they were. If they have to change, plan the step again with a \
        line `Changes tests: <path> — <why>`.";
    let without_ci = found.without_ci.as_ref();
    if !found.broken.is_empty() || !found.lost.is_empty() {
        return changes_old_tests;
    }
    if !found.failing.is_empty() {
        return "The tests have to pass with the step's change.";
    }
    if without_ci.is_some_and(|run| !run.failing.is_empty()) {
        return "The tests have to pass where the variable `CI` is not set, too.";
    }
    match claim {
        ProofClaim::Command(_) if !found.command.is_some_and(CommandProof::is_met) => {
            "The command of `Proof:` has to fail without the step's change and pass with it."
        }
        ProofClaim::Command(_) | ProofClaim::KeepsBehaviour | ProofClaim::NoTest(_) => {
            changes_old_tests
        }
        ProofClaim::TestFirst(_) | ProofClaim::Unnamed
            if (found.mutants.as_ref()).is_some_and(|trial| trial.n_tried > 0) =>
        {
            "A test that asserts what this line does would prove it."
        }
        ProofClaim::TestFirst(_) | ProofClaim::Unnamed => {
            "A new test that fails without the step's change and passes with it would prove it."
        }
    }
}

/// Lets the user write why the step counts without its proof.
fn waive_choice() -> ChoiceAction {
    ChoiceAction::FillComposer("/answer waive: ".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::step_proof::{MutantTrial, TestNames};

    #[test]
    fn the_remedy_follows_what_was_found_and_what_the_plan_says() {
        let one = || TestNames {
            count: 1,
            first: vec!["a test".to_owned()],
        };
        let command = || ProofClaim::Command("make check".to_owned());
        let met = CommandProof {
            failed_before: true,
            passed_after: true,
        };
        let with = |change: &dyn Fn(&mut StepProof)| {
            let mut found = StepProof::default();
            change(&mut found);
            found
        };
        let tried = MutantTrial {
            n_tried: 1,
            ..MutantTrial::default()
        };
        for (found, claim, start) in [
            (with(&|_| {}), ProofClaim::Unnamed, "A new test that fails"),
            (
                with(&|found| found.mutants = Some(tried.clone())),
                ProofClaim::Unnamed,
                "A test that asserts",
            ),
            (with(&|_| {}), command(), "The command of `Proof:`"),
            (
                with(&|found| found.command = Some(met)),
                command(),
                "Old tests have to pass",
            ),
            (
                with(&|found| found.failing = one()),
                command(),
                "The tests have to pass with",
            ),
            (
                with(&|found| found.lost = one()),
                ProofClaim::Unnamed,
                "Old tests have to pass",
            ),
        ] {
            let said = remedy(&found, &claim);
            assert!(said.starts_with(start), "{claim:?}: {said}");
        }
    }
}
