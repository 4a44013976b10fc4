//! Handles the user's commands: release, gate, interrupt, stop, cancel, exit, and answers to questions.

use super::{
    ProgramOperation, ResultValidity, RunState, approval_checks, approval_requests,
    approval_validity, child_sessions, deferred_answers, entry_point_questions,
    files_changed_by_tests, held_edit_questions, open_questions, phase_entry, plan_approval,
    plan_reentry, proof_questions, review_loop, run_discussions, run_recovery, scope_questions,
    step_commit, step_execution, step_tests, test_baseline, turn_start, unattributed_changes,
    unfinished_step, usage_limits,
};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Gate, Mode, Phase, TransitionCause};
use crate::domain::plan_execution::PlanExecution;
use crate::domain::question::{
    FileOrigin, Question, QuestionAnswer, QuestionAsker, QuestionKind, TestNetworkChoice,
};
use crate::domain::turn::{Role, TurnOrder, TurnPurpose, TurnRetryReason};

/// Removes and returns the turn that waits at the gate.
fn take_gated_turn(state: &mut RunState) -> Option<TurnOrder> {
    let gated = state
        .awaiting
        .take_if(|question| matches!(question.kind, QuestionKind::Gate { .. }))?;
    match gated.kind {
        QuestionKind::Gate { order } => Some(order),
        _ => None,
    }
}

pub(super) fn on_turn_released(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    match take_gated_turn(state) {
        Some(order) => turn_start::start_turn(state, at, order),
        None => Vec::new(),
    }
}

pub(super) fn on_gate_changed(state: &mut RunState, at: UnixMillis, gate: Gate) -> Vec<Effect> {
    if state.phase.is_final() {
        return Vec::new();
    }
    state.gate = gate;
    usage_limits::on_gate_changed(state, gate);
    match gate {
        Gate::Auto => on_turn_released(state, at),
        Gate::Manual => Vec::new(),
    }
}

pub(super) fn on_mode_changed(state: &mut RunState, mode: Mode) -> Vec<Effect> {
    if !state.phase.is_final() {
        state.mode = mode;
    }
    Vec::new()
}

pub(super) fn on_turn_interrupted(state: &mut RunState) -> Vec<Effect> {
    if state.running.is_none() {
        return proof_questions::on_step_tests_interrupted(state);
    }
    let running = state
        .running
        .iter()
        .filter(|running| running.result == ResultValidity::Yes);
    running
        .map(|running| Effect::InterruptTurn(running.order.turn.clone()))
        .collect()
}

/// Sends a message to the running turn. It changes nothing in the workflow: the turn was released and continues.
/// One that judges a dispute hears neither side nor the user: the next turn gets the message.
pub(super) fn on_turn_steered(state: &mut RunState, text: &str) -> Vec<Effect> {
    let running = state.running.as_ref();
    let counts = running.is_some_and(|running| running.result == ResultValidity::Yes);
    if running.is_some_and(|running| running.order.purpose.is_isolated()) {
        return on_message_queued(state, None, text);
    }
    if counts && !text.trim().is_empty() {
        vec![Effect::SteerTurn(text.to_owned())]
    } else {
        Vec::new()
    }
}

/// Queues a message that no turn can receive now.
pub(super) fn on_message_queued(state: &mut RunState, to: Option<Role>, text: &str) -> Vec<Effect> {
    let text = text.trim();
    if !text.is_empty() && !state.phase.is_final() {
        state.kept.push(to, text);
    }
    Vec::new()
}

/// Ends everything that runs or waits; results of running work no longer count.
fn stop_all_work(state: &mut RunState) -> Vec<Effect> {
    let role = state.running_role();
    let mut effects = approval_requests::expire_approvals(state, role, ExpiryReason::Stopped);
    effects.extend(child_sessions::stop_all_children(state));
    effects.extend(run_discussions::stop_all_discussions(state));
    if let Some(running) = &mut state.running {
        running.result = ResultValidity::No;
        effects.push(Effect::InterruptTurn(running.order.turn.clone()));
    }
    effects.extend(test_baseline::on_baseline_stopped(state));
    if state.is_testing_step() {
        effects.push(Effect::StopTests);
    }
    open_questions::drop_workflow_questions(state);
    state.busy = None;
    state.remarks = None;
    let stopped = state.execution.as_mut().and_then(PlanExecution::stop_step);
    state.stopped_step = stopped.or(state.stopped_step.take());
    effects
}

pub(super) fn on_run_stopped(state: &mut RunState) -> Vec<Effect> {
    if state.is_undo_running() || !phase_entry::change_phase(state, TransitionCause::Stopped) {
        return Vec::new();
    }
    plan_reentry::restore_kept_execution(state);
    state.approved_sha256 = None;
    // After a stop, the user releases the next turn.
    state.gate = Gate::Manual;
    let mut effects = stop_all_work(state);
    effects.push(Effect::AppendLog(
        "Stopped by the user: back to the goal.".to_owned(),
    ));
    effects
}

pub(super) fn on_run_cancelled(state: &mut RunState) -> Vec<Effect> {
    if state.is_undo_running() || !phase_entry::change_phase(state, TransitionCause::Cancelled) {
        return Vec::new();
    }
    plan_reentry::restore_kept_execution(state);
    let mut effects = stop_all_work(state);
    effects.push(Effect::AppendLog("Cancelled by the user.".to_owned()));
    effects.push(Effect::FinishRun);
    effects
}

/// Handles the program's exit: the turn is interrupted, everything else stays for the next start.
pub(super) fn on_program_exit(state: &mut RunState) -> Vec<Effect> {
    let role = state.running_role();
    let mut effects = approval_requests::expire_approvals(state, role, ExpiryReason::ProgramEnded);
    effects.extend(child_sessions::stop_all_children(state));
    if let Some(running) = &state.running {
        effects.push(Effect::InterruptTurn(running.order.turn.clone()));
    }
    effects
}

/// Lets nothing continue by itself: a turn that counts is interrupted and fails, otherwise the next turn waits for the user.
pub(super) fn on_files_tampered(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if state.has_running_turn_that_counts() {
        return on_turn_interrupted(state);
    }
    on_gate_changed(state, at, Gate::Manual)
}

pub(super) fn on_question_answered(
    state: &mut RunState,
    at: UnixMillis,
    id: u32,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let Some(question) = open_questions::take_answered(state, id, answer) else {
        return Vec::new();
    };
    match answer {
        QuestionAnswer::CancelRun => on_run_cancelled(state),
        QuestionAnswer::Stop => on_run_stopped(state),
        _ => {
            approval_checks::record_answer(state, &question.kind, answer);
            dispatch_answer(state, at, question, answer)
        }
    }
}

#[expect(
    clippy::too_many_lines,
    reason = "one arm a kind of question: a list to read"
)]
fn dispatch_answer(
    state: &mut RunState,
    at: UnixMillis,
    question: Question,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    if let Some(late) = deferred_answers::take_deferred(state, &question.kind) {
        return deferred_answers::on_deferred_answer(state, at, late, &question.kind, answer);
    }
    match question.kind {
        QuestionKind::Gate { .. } => Vec::new(),
        QuestionKind::Arbitration { reason, .. } => {
            review_loop::on_arbitration_answered(state, at, reason, answer)
        }
        QuestionKind::Dispute { n } => review_loop::on_dispute_answered(state, at, n, answer),
        QuestionKind::ManualEdit => review_loop::on_manual_edit(state, at, answer),
        QuestionKind::StalePlan { .. } => plan_approval::on_stale_plan_answered(state, at, answer),
        QuestionKind::Execute { terms } => {
            state.approved_by_person =
                state.settings.proves_steps && *answer == QuestionAnswer::Execute;
            plan_approval::on_execute_answered(state, at, &terms, answer)
        }
        QuestionKind::NoDocument { purpose, reason } => turn_start::propose_turn(
            state,
            at,
            purpose,
            Some(TurnRetryReason::NoDocument { reason }),
        ),
        QuestionKind::Agent { request, asker, .. } => match (request, asker) {
            (Some(request), _) => vec![Effect::AnswerAgent {
                request,
                answer: answer.clone(),
            }],
            (None, QuestionAsker::Role { purpose }) => {
                on_text_question_answered(state, at, purpose, answer)
            }
            (None, QuestionAsker::Child { .. }) => Vec::new(),
        },
        QuestionKind::AdapterFailed { purpose, other, .. } => match (answer, other) {
            (QuestionAnswer::SwitchAdapter, Some(other)) => {
                usage_limits::move_role(state, purpose, other)
            }
            _ => on_adapter_failure_answered(state, at, purpose, answer),
        },
        QuestionKind::UsageLimit { .. } => {
            usage_limits::on_usage_limit_answered(state, at, question.kind, answer)
        }
        QuestionKind::Conflict { .. } => settle_conflict(state, answer),
        QuestionKind::DirtyFiles {
            step,
            paths,
            origin,
        } => on_dirty_files_answered(state, step, origin, &paths, answer),
        QuestionKind::HeldEdits { step, edits } => {
            held_edit_questions::on_held_edits_answered(state, step, &edits, answer)
        }
        QuestionKind::OutOfScope { step, changes } => {
            scope_questions::on_out_of_scope_answered(state, step, &changes, answer)
        }
        QuestionKind::ApprovalChanged {
            step,
            changes,
            order,
        } => approval_checks::on_approval_changed_answered(state, step, &changes, order, answer),
        QuestionKind::EntryPoints { changes, .. } => {
            entry_point_questions::on_entry_points_answered(state, &changes)
        }
        QuestionKind::NothingChanged { step, .. } | QuestionKind::Blocked { step, .. } => {
            unfinished_step::on_unfinished_step_answered(state, at, step, answer)
        }
        QuestionKind::TestsFailed { .. } => step_tests::on_tests_failed_answered(state, at, answer),
        QuestionKind::TestsInDoubt { .. } => {
            proof_questions::on_tests_in_doubt_answered(state, at, answer)
        }
        QuestionKind::Unproven { step, .. } => {
            proof_questions::on_unproven_answered(state, at, step, answer)
        }
        QuestionKind::RunnerMissing { .. } => {
            test_baseline::on_runner_missing_answered(state, at, answer)
        }
        QuestionKind::RedBaseline { found } => {
            test_baseline::on_red_baseline_answered(state, at, &found, answer)
        }
        QuestionKind::TestNetwork { step, .. } => {
            let network = match answer {
                QuestionAnswer::HostNetwork => TestNetworkChoice::Host,
                _ => TestNetworkChoice::Loopback,
            };
            let is_given = network == TestNetworkChoice::Host;
            let keep = Effect::SaveTestNetwork(network);
            step_tests::on_test_access_answered(state, at, step, is_given, keep)
        }
        QuestionKind::TestSocket { step, lacked } => {
            let is_reached = *answer == QuestionAnswer::ReachSocket;
            let keep = Effect::SaveTestSocket {
                path: lacked.path,
                is_reached,
            };
            step_tests::on_test_access_answered(state, at, step, is_reached, keep)
        }
        QuestionKind::CommitFailed { message, .. } => {
            step_commit::on_commit_failed_answered(state, &message, answer)
        }
        QuestionKind::CannotExecute { .. } => plan_approval::on_execution_refusal_answered(state),
        QuestionKind::Draft { order, .. } => {
            run_recovery::on_draft_answered(state, at, order, answer)
        }
        QuestionKind::StepRecovery { step, stage } => {
            run_recovery::on_step_recovery_answered(state, at, step, stage, answer)
        }
    }
}

fn on_dirty_files_answered(
    state: &mut RunState,
    step: u32,
    origin: FileOrigin,
    paths: &[String],
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match origin {
        FileOrigin::UsersBefore => step_execution::on_users_files_answered(state, paths, answer),
        FileOrigin::WrittenByTests => {
            files_changed_by_tests::on_rewritten_files_answered(state, paths, answer)
        }
        FileOrigin::OutsideOfCalls => {
            unattributed_changes::on_unattributed_changes_answered(state, step, paths, answer)
        }
    }
}

fn on_text_question_answered(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let again = match answer {
        QuestionAnswer::Texts { answers } => {
            let texts: Vec<&str> = answers.values().map(String::as_str).collect();
            Some(TurnRetryReason::Answered {
                answer: texts.join("\n"),
            })
        }
        _ => None,
    };
    match (&purpose, again) {
        (TurnPurpose::Step { n }, again) => {
            step_execution::on_step_question_answered(state, at, *n, again)
        }
        (_, Some(again)) => turn_start::propose_turn(state, at, purpose, Some(again)),
        (_, None) => {
            let reason = "you asked instead of writing; decide yourself"
                .to_owned()
                .into();
            turn_start::propose_turn(
                state,
                at,
                purpose,
                Some(TurnRetryReason::NoDocument { reason }),
            )
        }
    }
}

fn on_adapter_failure_answered(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    state.failures = 0;
    let mut effects = Vec::new();
    if *answer == QuestionAnswer::NewSession && !purpose.is_isolated() {
        state.kept.redeliver(purpose.role());
        effects.push(Effect::ForgetConversation(purpose.role()));
    }
    let stale = match purpose.phase() {
        Phase::Execute => approval_validity::check_approval_before_step(state),
        _ => None,
    };
    effects.extend(stale.unwrap_or_else(|| {
        turn_start::propose_turn(state, at, purpose, Some(TurnRetryReason::Failed))
    }));
    effects
}

fn settle_conflict(state: &RunState, answer: &QuestionAnswer) -> Vec<Effect> {
    match &state.busy {
        Some(ProgramOperation::Collecting { order, .. }) => {
            vec![Effect::SettleConflict {
                order: order.clone(),
                answer: answer.clone(),
            }]
        }
        _ => Vec::new(),
    }
}
