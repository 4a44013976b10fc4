//! Resumes a run after the program's end: running work is gone, and waiting questions are asked again.
//!
//! Nothing in EXECUTE continues by itself: the user decides what happens to a step that was cut off.

use super::current_step::audit_again;
use super::{
    ProgramOperation, ResultValidity, RunState, UnansweredRequest, approval_requests,
    approval_validity, open_questions, phase_entry, restored_questions, run_discussions,
    step_sequence, step_undo, test_baseline, turn_start, unattributed_changes,
};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::{Gate, Phase, TurnHold};
use crate::domain::plan_execution::StepStage;
use crate::domain::question::{DraftFile, Question, QuestionAnswer, QuestionKind};
use crate::domain::turn::{Role, TurnOrder, TurnProfile, TurnPurpose, TurnRetryReason};

pub(super) fn on_run_resumed(state: &mut RunState, at: UnixMillis, gate: Gate) -> Vec<Effect> {
    run_discussions::on_program_ended(state);
    unattributed_changes::on_resumed(state);
    // The dialog that held turns back closed with the program.
    state.turn_hold = TurnHold::Free;
    if state.is_over() {
        return Vec::new();
    }
    let mut effects = restore_build_profile(state);
    // A remark whose writing was cut off is written before an agent is asked to answer it.
    let remarks = state.remarks.clone().map(Effect::AppendRemarks);
    effects.extend(remarks);
    effects.extend(resume_workflow(state, at, gate));
    effects
}

/// Sets the build profile again where the program ended after entering the execution and before setting it.
fn restore_build_profile(state: &RunState) -> Vec<Effect> {
    let is_missing =
        state.phase == Phase::Execute && state.planner.current_profile() != TurnProfile::Build;
    if is_missing {
        vec![Effect::SwitchToBuildProfile]
    } else {
        Vec::new()
    }
}

fn resume_workflow(state: &mut RunState, at: UnixMillis, gate: Gate) -> Vec<Effect> {
    state.gate = gate;
    // The user who chose yolo may not be there any more.
    state.mode = state.mode.after_restart();
    state.failures = 0;
    let role = state.running_role();
    let mut effects = approval_requests::expire_approvals(state, role, ExpiryReason::ProgramEnded);
    let draft = state.draft.take();
    let (running, busy) = (state.running.take(), state.busy.take());
    let awaiting = state.awaiting.take();
    // Children's questions end with their tasks.
    let asked = std::mem::take(&mut state.asked);
    effects.extend(match (running, awaiting, busy) {
        // A stopped run's turn no longer counts.
        (Some(running), ..) if running.result == ResultValidity::No => {
            recover_idle_phase(state, at)
        }
        (Some(running), question, _) => {
            open_questions::forget_deferred(state);
            if !running.order.purpose.is_isolated() {
                record_unanswered(state, role, question.into_iter().chain(asked));
            }
            recover_turn(state, at, running.order, draft)
        }
        // The turn was finished: its document is collected as if the program had not ended.
        (
            None,
            None
            | Some(Question {
                kind: QuestionKind::Conflict { .. },
                ..
            }),
            Some(ProgramOperation::Collecting { order, question }),
        ) if draft.as_ref().is_some_and(|(turn, _)| *turn == order.turn) => {
            state.busy = Some(ProgramOperation::Collecting {
                order: order.clone(),
                question,
            });
            vec![Effect::CommitDraft(order)]
        }
        (None, Some(question), _) => restored_questions::ask_question_again(state, at, question),
        (None, None, Some(busy)) => recover_busy(state, at, busy),
        (None, None, None) => recover_idle_phase(state, at),
    });
    effects
}

/// Continues a run that waits for nothing, as earlier versions left it where they restored changed files.
fn recover_idle_phase(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if !state.is_idle() {
        return Vec::new();
    }
    let purpose = match state.phase {
        Phase::WritePlan => return phase_entry::propose_plan_when_idle(state, at),
        Phase::Review => TurnPurpose::Review,
        Phase::Respond => TurnPurpose::Respond,
        Phase::Approved => return phase_entry::survey_repository(state),
        Phase::Execute if state.current_step().is_some() => {
            return restored_questions::ask_about_step_recovery(state);
        }
        Phase::Execute => return step_sequence::propose_next_step(state, at, None),
        Phase::Init | Phase::RefineGoal | Phase::Done | Phase::Cancelled => return Vec::new(),
    };
    turn_start::propose_turn(state, at, purpose, Some(TurnRetryReason::Failed))
}

/// Records that the running turn's open questions got no answer; the agent learns of it with its next turn.
fn record_unanswered(state: &mut RunState, role: Role, open: impl Iterator<Item = Question>) {
    for question in open {
        if question.kind.asking_role().is_some() {
            let questions = question.kind.agent_questions().iter();
            let texts: Vec<&str> = questions.map(|asked| asked.text.as_str()).collect();
            let what = format!("question: {}", texts.join(" / "));
            state.unanswered.push(UnansweredRequest { role, what });
        }
    }
}

pub(super) fn on_draft_found(
    state: &mut RunState,
    turn: &TurnId,
    files: &[DraftFile],
) -> Vec<Effect> {
    state.draft = Some((turn.clone(), files.to_vec()));
    Vec::new()
}

/// Offers the draft that a turn before EXECUTE left, before the turn is repeated.
fn recover_turn(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    draft: Option<(TurnId, Vec<DraftFile>)>,
) -> Vec<Effect> {
    match draft.filter(|(turn, _)| *turn == order.turn) {
        Some((_, files)) => open_questions::ask_user(state, QuestionKind::Draft { order, files }),
        None => restored_questions::recover_work(state, at, order.purpose),
    }
}

pub(super) fn on_draft_answered(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    if *answer == QuestionAnswer::UseDraft {
        state.busy = Some(ProgramOperation::Collecting {
            order: order.clone(),
            question: None,
        });
        return vec![Effect::CommitDraft(order)];
    }
    let mut effects = vec![Effect::DiscardDraft(order.clone())];
    effects.extend(restored_questions::recover_work(state, at, order.purpose));
    effects
}

fn recover_busy(state: &mut RunState, at: UnixMillis, busy: ProgramOperation) -> Vec<Effect> {
    match busy {
        ProgramOperation::Collecting { order, .. } => {
            restored_questions::recover_work(state, at, order.purpose)
        }
        // The turn had not started, so nothing of it is lost.
        ProgramOperation::Storing { order } | ProgramOperation::Held { order, .. } => {
            turn_start::propose_turn(state, at, order.purpose, order.again)
        }
        ProgramOperation::Moving { purpose } => {
            turn_start::propose_turn(state, at, purpose, Some(TurnRetryReason::Failed))
        }
        ProgramOperation::Surveying | ProgramOperation::Entering => {
            phase_entry::survey_repository(state)
        }
        // It is the program's own work, and no step has started.
        ProgramOperation::Baseline => test_baseline::start_baseline(state, at),
        ProgramOperation::Stepping { .. } => restored_questions::ask_about_step_recovery(state),
        busy @ ProgramOperation::Reversing { .. } => step_undo::resume_undo(state, at, busy),
    }
}

pub(super) fn on_step_recovery_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    stage: StepStage,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    if *answer == QuestionAnswer::RedoStep {
        discard_step_record(state, step);
        state.busy = Some(ProgramOperation::Stepping { question: None });
        return vec![Effect::RestoreTree { step }];
    }
    match stage {
        StepStage::Record => {
            state.busy = Some(ProgramOperation::Stepping { question: None });
            vec![Effect::RecordStep { step }]
        }
        StepStage::Code | StepStage::Fix if *answer == QuestionAnswer::ContinueStep => {
            restart_step(state, at, step)
        }
        // The program's own work is repeated from the audit on.
        StepStage::Code
        | StepStage::Fix
        | StepStage::Audit
        | StepStage::Test
        | StepStage::Prove
        | StepStage::Commit => audit_again(state, step),
    }
}

/// Removes the record of a step that is redone, because the step is not done then.
fn discard_step_record(state: &mut RunState, step: u32) {
    if let Some(execution) = &mut state.execution {
        execution.done.retain(|record| record.n != step);
    }
    let steps = state.plan.iter_mut().flat_map(|file| &mut file.plan.steps);
    for redone in steps.filter(|redone| redone.n == step) {
        redone.done = false;
    }
}

fn restart_step(state: &mut RunState, at: UnixMillis, step: u32) -> Vec<Effect> {
    if step_sequence::is_skipped(state, step) {
        return step_sequence::end_skipped_step(state, step);
    }
    if let Some(stale) = approval_validity::check_approval_before_step(state) {
        return stale;
    }
    if let Some(current) = state
        .execution
        .as_mut()
        .and_then(|execution| execution.current.as_mut())
    {
        current.stage = StepStage::Code;
    }
    turn_start::propose_turn(
        state,
        at,
        TurnPurpose::Step { n: step },
        Some(TurnRetryReason::Failed),
    )
}

pub(super) fn on_tree_restored(state: &mut RunState, at: UnixMillis, step: u32) -> Vec<Effect> {
    let stepping = matches!(state.busy, Some(ProgramOperation::Stepping { .. }));
    let current = state
        .execution
        .as_mut()
        .and_then(|execution| execution.current.as_mut());
    let Some(current) = current.filter(|current| current.n == step && stepping) else {
        return Vec::new();
    };
    if state.phase != Phase::Execute {
        return Vec::new();
    }
    (current.fix_turns, current.receipt, current.changed) = (0, None, Vec::new());
    (current.decided, current.tested_again, current.commit_tree) = (None, false, None);
    state.busy = None;
    restart_step(state, at, step)
}
