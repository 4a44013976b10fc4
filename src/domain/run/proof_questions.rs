//! Proves a step before it is committed, and asks the user about what is missing and about doubtful tests (TRUTH.md
//! T22 to T25).

use super::current_step::{current_at_stage, enter_stage, propose_fix};
use super::{
    ProgramOperation, RunState, open_questions, plan_reentry, restored_questions, step_commit,
    step_sequence, unfinished_step,
};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::plan::proof_lines::StepProofPlan;
use crate::domain::plan_execution::{
    CurrentStep, PlanExecution, StepOutcome, StepOverride, StepStage,
};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::recorded_proof::RecordedProof;
use crate::domain::step_proof::{ProofStatus, StepProof};
use crate::text::clean_to_one_line;

impl RunState {
    /// Returns whether the tests of the current step run.
    pub fn is_testing_step(&self) -> bool {
        matches!(self.busy, Some(ProgramOperation::Stepping { .. }))
            && self.current_step().is_some_and(CurrentStep::is_at_tests)
    }

    /// Returns whether the user can interrupt the tests of the current step.
    pub fn may_interrupt_step_tests(&self) -> bool {
        self.settings.proves_steps && self.is_testing_step()
    }
}

/// Ends the tests of the current step at once; as after the program's end, the user decides what becomes of the step.
pub(super) fn on_step_tests_interrupted(state: &mut RunState) -> Vec<Effect> {
    if !state.may_interrupt_step_tests() {
        return Vec::new();
    }
    state.busy = None;
    let asked = restored_questions::ask_about_step_recovery(state);
    std::iter::once(Effect::StopTests).chain(asked).collect()
}

/// Returns whether the current step has tests that can prove it.
fn is_proving(state: &RunState) -> bool {
    let step = state.current_step_number();
    let has_tests = step.is_some_and(|step| state.test_of_step(step).is_some());
    state.settings.proves_steps && has_tests
}

/// Accepts tests that do not fail. The user decides where they may not have tested what they tested before.
pub(super) fn accept_tests(state: &mut RunState) -> Vec<Effect> {
    if is_proving(state) {
        return prove_step(state);
    }
    accept_checked_tests(state)
}

/// Accepts tests of which only the numbers are known.
fn accept_checked_tests(state: &mut RunState) -> Vec<Effect> {
    let step = state.current_step_number().unwrap_or(0);
    let execution = state.execution.as_ref();
    match execution.and_then(PlanExecution::describe_test_doubt) {
        Some(found) => open_questions::ask_user(state, QuestionKind::TestsInDoubt { step, found }),
        None => step_commit::commit_step(state),
    }
}

/// Runs old and new tests on old and new code.
fn prove_step(state: &mut RunState) -> Vec<Effect> {
    let Some(execution) = enter_stage(state, StepStage::Prove) else {
        return Vec::new();
    };
    let current = execution.current.iter();
    current
        .map(|current| Effect::ProveStep { step: current.n })
        .collect()
}

/// Runs the planned proof of a step that changed nothing on the code before it, where its agent states that the step was
/// already true; `None` where its plan names nothing that could show it (TRUTH.md T20).
pub(super) fn look_for_earlier_proof(state: &mut RunState, step: u32) -> Option<Vec<Effect>> {
    let is_provable = is_proving(state) && state.step_proof_plan(step).claim.names_proof();
    let current = state.current_step_mut()?;
    current.proof = None;
    if !is_provable || !current.claims_already_true() {
        return None;
    }
    current.commit_tree = current.tree_after.clone();
    Some(prove_step(state))
}

/// Records a step that was already true, or asks about it as about any step that changed nothing.
fn on_earlier_proof(
    state: &mut RunState,
    step: u32,
    found: &StepProof,
    planned: &StepProofPlan,
) -> Vec<Effect> {
    let is_plan_approved = state.approved_by_person;
    let Some(current) = state.current_step_mut() else {
        return Vec::new();
    };
    match found.assess_already_true(planned) {
        Ok(seen) => {
            current.proof = Some(RecordedProof {
                found: found.clone(),
                status: ProofStatus::Checked(format!("already true, seen by the baseline: {seen}")),
                is_plan_approved,
                waiver: None,
            });
            step_sequence::record_step(state, StepOutcome::NoChange)
        }
        Err(missing) => {
            current.stage = StepStage::Audit;
            current.commit_tree = None;
            unfinished_step::ask_about_no_change(state, step, missing)
        }
    }
}

pub(super) fn on_step_proved(
    state: &mut RunState,
    step: u32,
    found: &StepProof,
    tree: Option<&String>,
) -> Vec<Effect> {
    let current = current_at_stage(state, step, &[StepStage::Prove]);
    // A proof that comes late may be of an earlier try.
    if current.is_none_or(|current| current.commit_tree.as_ref() != tree) {
        return Vec::new();
    }
    let busy = state.busy.take();
    if !matches!(busy, Some(ProgramOperation::Stepping { .. })) {
        state.busy = busy;
        return Vec::new();
    }
    let planned = state.step_proof_plan(step);
    let is_plan_approved = state.approved_by_person;
    let Some(current) = state.current_step_mut() else {
        return Vec::new();
    };
    if current.claims_already_true() {
        return on_earlier_proof(state, step, found, &planned);
    }
    let status = found.assess(&planned, &current.changed);
    current.proof = Some(RecordedProof {
        found: found.clone(),
        status: status.clone(),
        is_plan_approved,
        waiver: None,
    });
    match status {
        ProofStatus::Unproven(found) => {
            open_questions::ask_user(state, QuestionKind::Unproven { step, found })
        }
        ProofStatus::Checked(_) => accept_checked_tests(state),
        ProofStatus::Proven | ProofStatus::Kept | ProofStatus::Waived(_) => {
            step_commit::commit_step(state)
        }
    }
}

pub(super) fn on_tests_in_doubt_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::Retry => propose_fix(state, at),
        QuestionAnswer::SkipTests => {
            let reason = "its tests are doubtful and the user continued without a commit";
            let reason = reason.to_owned();
            step_sequence::record_step(state, StepOutcome::Uncommitted { reason })
        }
        _ => {
            if let Some(current) = state.current_step_mut() {
                current.decided = Some(StepOverride::TestsInDoubt);
            }
            step_commit::commit_step(state)
        }
    }
}

pub(super) fn on_unproven_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let Some(current) = current_at_stage(state, step, &[StepStage::Prove]) else {
        return Vec::new();
    };
    match answer {
        QuestionAnswer::WaiveProof { reason } => {
            if let Some(proof) = &mut current.proof {
                proof.waiver = Some(clean_to_one_line(reason));
            }
            step_commit::commit_step(state)
        }
        QuestionAnswer::ReplanStep { text } => {
            plan_reentry::on_plan_entered(state, at, text, Some(step))
        }
        _ => propose_fix(state, at),
    }
}
