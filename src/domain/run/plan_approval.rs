//! Leads from an agreed plan to its execution: survey, the user's approval, and
//! answers about a stale one.

use std::collections::BTreeMap;

use super::{
    DocumentAuthor, PlanFile, PlanFileState, ProgramOperation, RunState, approval_validity,
    open_questions, phase_entry, plan_reentry, step_sequence, test_baseline, turn_start,
};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::plan::Plan;
use crate::domain::plan_execution::{CurrentStep, PlanExecution};
use crate::domain::question::{ExecutionTerms, QuestionAnswer, QuestionKind};
use crate::domain::turn::{TurnPurpose, TurnRetryReason};

pub(super) fn on_surveyed(state: &mut RunState, terms: &ExecutionTerms) -> Vec<Effect> {
    if state.phase != Phase::Approved
        || state
            .busy
            .take_if(|b| *b == ProgramOperation::Surveying)
            .is_none()
    {
        return Vec::new();
    }
    if !approval_validity::is_approval_current(state)
        || state.approved_sha256.as_ref() != Some(&terms.plan)
    {
        return approval_validity::ask_about_stale_plan(state);
    }
    if let (Some(file), Some(record)) = (&state.plan, &state.replanning)
        && let Some(reason) = record.changed_ended_step(&file.plan)
    {
        let kind = QuestionKind::CannotExecute { reason };
        return open_questions::ask_user(state, kind);
    }
    // With automatic approval the user is not asked, but open notes still count: the planner has not read them.
    if state.settings.auto_approve && state.threads.open().next().is_none() {
        return enter_execution(state, terms);
    }
    open_questions::ask_user(
        state,
        QuestionKind::Execute {
            terms: terms.clone(),
        },
    )
}

fn enter_execution(state: &mut RunState, terms: &ExecutionTerms) -> Vec<Effect> {
    state.busy = Some(ProgramOperation::Entering);
    vec![Effect::EnterExecution(terms.clone())]
}

pub(super) fn on_execute_answered(
    state: &mut RunState,
    at: UnixMillis,
    terms: &ExecutionTerms,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::RequestChanges { text } => request_changes(state, at, Some(text)),
        QuestionAnswer::SendNotes => request_changes(state, at, None),
        QuestionAnswer::SwitchTest => {
            let terms = terms.clone().with_other_test();
            open_questions::ask_user(state, QuestionKind::Execute { terms })
        }
        // The plan may have changed while the question waited.
        _ if approval_validity::is_approval_current(state) => enter_execution(state, terms),
        _ => approval_validity::ask_about_stale_plan(state),
    }
}

/// Returns to the planner with what the user wants: remarks, or only what is said in threads.
fn request_changes(state: &mut RunState, at: UnixMillis, remarks: Option<&String>) -> Vec<Effect> {
    phase_entry::allow_one_more_iteration(state);
    state.approved_sha256 = None;
    state.asked_back.clear();
    state.remarks = remarks.cloned();
    phase_entry::change_phase(state, TransitionCause::ChangesRequested);
    let remarks = remarks.cloned().map(Effect::AppendRemarks);
    let mut effects: Vec<Effect> = remarks.into_iter().collect();
    effects.extend(turn_start::propose_turn(
        state,
        at,
        TurnPurpose::Respond,
        None,
    ));
    effects
}

pub(super) fn on_execution_entered(
    state: &mut RunState,
    at: UnixMillis,
    base: Option<&str>,
    terms: &ExecutionTerms,
) -> Vec<Effect> {
    if state.phase != Phase::Approved
        || state
            .busy
            .take_if(|b| *b == ProgramOperation::Entering)
            .is_none()
    {
        return Vec::new();
    }
    if !approval_validity::is_approval_current(state)
        || state.approved_sha256.as_ref() != Some(&terms.plan)
    {
        return approval_validity::ask_about_stale_plan(state);
    }
    phase_entry::change_phase(state, TransitionCause::ExecutionStarted);
    if let Some(next) = plan_reentry::resume_kept_execution(state, at, terms) {
        let switch = std::iter::once(Effect::SwitchToBuildProfile);
        return switch.chain(next).collect();
    }
    state.execution = Some(PlanExecution {
        allowed_entry_points: Vec::new(),
        commits: terms.commits.clone(),
        base: base.map(str::to_owned),
        binding: terms.binding.clone(),
        approved_steps: state.plan_block_hashes(),
        pre_dirty: terms.dirty.clone(),
        left: terms.left.clone(),
        test: terms.test.clone(),
        baseline: None,
        current: None,
        done: Vec::new(),
        dirty_policy: BTreeMap::new(),
        rewritten_policy: BTreeMap::new(),
        base_tree: None,
        skips: BTreeMap::new(),
        undone: Vec::new(),
        redo_commit: None,
    });
    let mut effects = vec![Effect::SwitchToBuildProfile];
    effects.extend(test_baseline::start_baseline(state, at));
    effects
}

pub(super) fn on_execution_refused(state: &mut RunState, reason: &str) -> Vec<Effect> {
    let was_at_it = state
        .busy
        .take_if(|b| matches!(b, ProgramOperation::Entering | ProgramOperation::Surveying))
        .is_some();
    if state.phase != Phase::Approved || !was_at_it {
        return Vec::new();
    }
    open_questions::ask_user(
        state,
        QuestionKind::CannotExecute {
            reason: reason.to_owned(),
        },
    )
}

pub(super) fn on_execution_refusal_answered(state: &mut RunState) -> Vec<Effect> {
    phase_entry::survey_repository(state)
}

/// Handles an edit by the user: it makes an approval stale when the plan's hash differs.
pub(super) fn on_plan_edited(
    state: &mut RunState,
    plan: Option<&Plan>,
    approval: &Sha256,
    file: &Sha256,
) -> Vec<Effect> {
    if state.phase.is_final() {
        return Vec::new();
    }
    match (plan, &mut state.plan) {
        (Some(plan), _) => state.set_plan(PlanFile::from_plan(plan, file), DocumentAuthor::User),
        // The file is no longer a plan: the known steps stay, and the new hash makes an approval stale.
        (None, Some(known)) => {
            state.plan_by = DocumentAuthor::User;
            known.reading = PlanFileState::Broken;
            known.file_sha256 = file.clone();
            known.plan.approval_sha256 = approval.clone();
        }
        (None, None) => {}
    }
    let stale = state
        .approved_sha256
        .as_ref()
        .is_some_and(|approved| approved != approval);
    // In EXECUTE the current step ends first; the next one does not start on a stale plan.
    if state.phase != Phase::Approved || !stale {
        return Vec::new();
    }
    state.busy = None;
    approval_validity::ask_about_stale_plan(state)
}

pub(super) fn on_stale_plan_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let is_again = *answer == QuestionAnswer::ReviewAgain;
    if is_again && state.phase == Phase::Execute && state.reviewer.is_some() {
        return plan_reentry::review_users_change(state, at);
    }
    if is_again && state.phase != Phase::Execute {
        phase_entry::allow_one_more_iteration(state);
        state.approved_sha256 = None;
        phase_entry::change_phase(state, TransitionCause::StaleReviewedAgain);
        return phase_entry::enter_review(state, at);
    }
    let readable = state
        .plan
        .as_ref()
        .filter(|plan| plan.reading == PlanFileState::Plan);
    let hash = readable.map(|plan| plan.plan.approval_sha256.clone());
    let (QuestionAnswer::AcceptAsIs, Some(hash)) = (answer, hash) else {
        return approval_validity::ask_about_stale_plan(state);
    };
    if state.phase == Phase::Execute {
        if approval_validity::changed_ended_step(state).is_some() {
            return approval_validity::ask_about_stale_plan(state);
        }
        state.approved_sha256 = Some(hash);
        let approved_steps = state.plan_block_hashes();
        if let Some(execution) = &mut state.execution {
            execution.approved_steps = approved_steps;
        }
        let current = state.current_step();
        let obstacle = current.and_then(CurrentStep::obstacle);
        let again = obstacle.map(|_| TurnRetryReason::StepTried);
        return step_sequence::propose_next_step(state, at, again);
    }
    phase_entry::change_phase(state, TransitionCause::StaleAccepted);
    phase_entry::enter_approved(state, hash)
}
