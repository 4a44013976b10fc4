//! Starts and ends turns, whatever they are for.

use super::deferred_answers::TurnContinuation;
use super::{
    DeferredResult, ProgramOperation, ResultValidity, RunState, RunningTurn, UnansweredRequest,
    agent_questions, approval_checks, child_sessions, deferred_answers, plan_approval,
    plan_reentry, step_execution, unattributed_changes, unfinished_step, usage_limits,
};
use crate::domain::discussion::GroupDiscussion;
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::event::AgentProcess;
use crate::domain::ids::{SessionId, TurnId, UnixMillis};
use crate::domain::phase::{Gate, Phase, TransitionCause, TurnHold, next_phase};
use crate::domain::question::{Question, QuestionKind};
use crate::domain::session::{AccountUsageWindow, Message, SessionUsage};
use crate::domain::todo_list::TodoList;
use crate::domain::turn::{Role, TurnOrder, TurnOutcome, TurnPurpose, TurnRetryReason};

/// How often a turn that failed for a transient reason is retried automatically.
const MAX_RETRIES: u32 = 1;

/// Changes the phase where the table allows it; returns whether it did.
pub(super) fn change_phase(state: &mut RunState, cause: TransitionCause) -> bool {
    match next_phase(state.phase, cause) {
        Some(phase) => {
            state.phase = phase;
            true
        }
        None => false,
    }
}

/// Creates a turn and starts it, or lets it wait for the user's release.
pub(super) fn propose_turn(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    again: Option<TurnRetryReason>,
) -> Vec<Effect> {
    let order = new_turn_order(state, purpose, again);
    match state.gate {
        Gate::Auto => start_turn(state, at, order),
        Gate::Manual => ask_user(state, QuestionKind::Gate { order }),
    }
}

pub(super) fn new_turn_order(
    state: &mut RunState,
    purpose: TurnPurpose,
    again: Option<TurnRetryReason>,
) -> TurnOrder {
    let turn = TurnId::new(format!("trn_{}", state.next_turn));
    state.next_turn += 1;
    TurnOrder {
        turn,
        purpose,
        again,
    }
}

/// Starts a released turn; one in EXECUTE waits until the approval is checked and the tree is stored.
pub(super) fn start_turn(state: &mut RunState, at: UnixMillis, order: TurnOrder) -> Vec<Effect> {
    let Some((step, _)) = stored_step(&order.purpose) else {
        return run_turn(state, at, order);
    };
    let store = store_tree_before(&order.purpose);
    state.busy = Some(ProgramOperation::Storing { order });
    approval_checks::check_before(state, step).unwrap_or(store)
}

/// Returns the effect that stores the tree before a turn in EXECUTE.
pub(super) fn store_tree_before(purpose: &TurnPurpose) -> Vec<Effect> {
    let stored = stored_step(purpose).into_iter();
    stored
        .map(|(step, attempt)| Effect::SnapshotTree { step, attempt })
        .collect()
}

/// Returns the step and the attempt for the tree before a turn in EXECUTE; step 0 for the summary, which only reads.
fn stored_step(purpose: &TurnPurpose) -> Option<(u32, u32)> {
    match purpose {
        TurnPurpose::Step { n } => Some((*n, 0)),
        TurnPurpose::Fix { n, attempt } => Some((*n, *attempt)),
        TurnPurpose::Summary => Some((0, 0)),
        TurnPurpose::RefineGoal { .. }
        | TurnPurpose::WritePlan
        | TurnPurpose::Review
        | TurnPurpose::Respond
        | TurnPurpose::Judge => None,
    }
}

/// Marks a turn as running, or lets it wait while the user is being asked whether to stop.
pub(super) fn run_turn(state: &mut RunState, at: UnixMillis, order: TurnOrder) -> Vec<Effect> {
    if state.turn_hold == TurnHold::Held {
        let by = state.gate;
        state.busy = Some(ProgramOperation::Held { order, by });
        return Vec::new();
    }
    state.plan_stays = None;
    if order.purpose == TurnPurpose::Review {
        state.reviewing = state.plan_approval_hash().cloned();
        state.threads.on_review_prompt(&order.turn);
    }
    if order.purpose == TurnPurpose::Respond {
        state.threads.on_respond_prompt(&order.turn);
    }
    if !order.purpose.is_isolated() {
        state.kept.assign_to_turn(&order.turn);
    }
    state.running = Some(RunningTurn {
        order: order.clone(),
        started_at: at,
        result: ResultValidity::Yes,
        process: None,
    });
    vec![Effect::StartTurn(order)]
}

/// Continues what was held back, once turns may start.
pub(super) fn on_turn_hold_changed(
    state: &mut RunState,
    at: UnixMillis,
    hold: TurnHold,
) -> Vec<Effect> {
    state.turn_hold = hold;
    if hold == TurnHold::Held {
        return Vec::new();
    }
    let mut effects = start_held_turn(state, at);
    if state.discussions.iter().any(GroupDiscussion::is_running) {
        effects.push(Effect::AdvanceDiscussions);
    }
    effects
}

/// Starts the turn that was held back. One that the auto gate released waits at the gate where the gate is manual by now.
fn start_held_turn(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    match state.busy.take() {
        Some(ProgramOperation::Held { order, by })
            if by == Gate::Auto && state.gate == Gate::Manual =>
        {
            ask_user(state, QuestionKind::Gate { order })
        }
        Some(ProgramOperation::Held { order, .. }) => {
            // The plan may have been edited while the turn was held back.
            let is_step = order.purpose.phase() == Phase::Execute;
            let stale = is_step.then(|| plan_approval::check_approval_before_step(state));
            stale
                .flatten()
                .unwrap_or_else(|| run_turn(state, at, order))
        }
        other => {
            state.busy = other;
            Vec::new()
        }
    }
}

/// Asks the user a question; nothing starts until it is answered.
pub(super) fn ask_user(state: &mut RunState, kind: QuestionKind) -> Vec<Effect> {
    let question = new_question(state, kind);
    state.awaiting = Some(question.clone());
    vec![Effect::AskUser(question)]
}

/// Asks the user a question that blocks only the agent that asks it.
pub(super) fn ask_user_alongside(state: &mut RunState, kind: QuestionKind) -> Vec<Effect> {
    let question = new_question(state, kind);
    state.asked.push(question.clone());
    vec![Effect::AskUser(question)]
}

fn new_question(state: &mut RunState, kind: QuestionKind) -> Question {
    let id = state.next_question;
    state.next_question += 1;
    Question { id, kind }
}

/// Returns whether no turn runs, no question of the workflow waits and the program itself is idle.
pub(in crate::domain) fn is_idle(state: &RunState) -> bool {
    let waits = state.awaiting.is_some() || state.held_end.is_some();
    state.running.is_none() && state.busy.is_none() && !waits
}

pub(super) fn on_turn_started(
    state: &mut RunState,
    turn: &TurnId,
    process: Option<&AgentProcess>,
) -> Vec<Effect> {
    if let Some(running) = state
        .running
        .as_mut()
        .filter(|running| running.order.turn == *turn)
    {
        running.process = process.cloned();
        if running.order.purpose.is_isolated() {
            return Vec::new();
        }
        // The prompt went out, and these texts with it.
        let role = running.order.purpose.role();
        state
            .unanswered
            .retain(|unanswered| unanswered.role != role);
        state.refused.retain(|refused| refused.role != role);
        state.results.retain(|result| result.role != role);
        state.kept.mark_delivered(turn, role);
    }
    Vec::new()
}

pub(super) fn on_turn_ended(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    result: &TurnOutcome,
) -> Vec<Effect> {
    let Some(running) = state.running.take_if(|running| running.order.turn == *turn) else {
        return Vec::new();
    };
    unattributed_changes::on_turn_ended(state, at);
    let role = running.order.purpose.role();
    let asked = agent_questions::take_turn_questions(state);
    let mut effects = expire_approvals(state, role, ExpiryReason::TurnEnded);
    if let Some(session) = state.session(role) {
        effects.extend(child_sessions::stop_foreground_children(state, &session.id));
    }
    if running.result == ResultValidity::No {
        deferred_answers::forget_deferred(state);
        effects.extend(plan_reentry::propose_plan_when_idle(state, at));
        return effects;
    }
    let (running, asked) = match deferred_answers::end_turn(state, running, result, asked) {
        TurnContinuation::Continue(running, asked) => {
            (running, agent_questions::question_texts(&asked))
        }
        TurnContinuation::WaitForAnswers => return effects,
        TurnContinuation::Repeat(order, again) => {
            effects.extend(deferred_answers::repeat_turn(state, at, order, again));
            return effects;
        }
    };
    effects.extend(match (result, asked) {
        // Its agent was instructed to end the turn without the answer.
        (
            TurnOutcome::Completed {
                question: None,
                summary,
                result,
            },
            asked @ Some(_),
        ) => {
            let result = TurnOutcome::Completed {
                question: asked,
                summary: summary.clone(),
                result: result.clone(),
            };
            continue_after_turn(state, at, running, &result)
        }
        (result, _) => continue_after_turn(state, at, running, result),
    });
    effects
}

/// Returns the role whose turn runs; the planner without one, because then no agent waits for anything.
pub(super) fn running_role(state: &RunState) -> Role {
    let running = state.running.as_ref();
    running.map_or(Role::Planner, |running| running.order.purpose.role())
}

/// Returns whether the role's running turn has a conversation of its own, so that what the CLI reports is not about the
/// role's session.
pub(super) fn runs_isolated_turn(state: &RunState, role: Role) -> bool {
    let running = state.running.as_ref();
    running.is_some_and(|running| {
        let purpose = &running.order.purpose;
        purpose.is_isolated() && purpose.role() == role
    })
}

/// Expires every waiting call. The agent learns with its next turn what the program's end cut off.
pub(super) fn expire_approvals(state: &mut RunState, role: Role, why: ExpiryReason) -> Vec<Effect> {
    // Calls of children expire with their own tasks.
    let all = std::mem::take(&mut state.approvals).into_iter();
    let (children, approvals): (Vec<_>, Vec<_>) =
        all.partition(|approval| child_sessions::is_child_turn(state, &approval.turn));
    state.approvals = children;
    if why == ExpiryReason::ProgramEnded && !runs_isolated_turn(state, role) {
        let unanswered = approvals.iter().map(|approval| UnansweredRequest {
            role,
            what: approval.describe(),
        });
        state.unanswered.extend(unanswered);
    }
    if approvals.is_empty() {
        Vec::new()
    } else {
        vec![Effect::ExpireApprovals { approvals, why }]
    }
}

/// Continues with a finished turn.
pub(super) fn continue_after_turn(
    state: &mut RunState,
    at: UnixMillis,
    running: RunningTurn,
    result: &TurnOutcome,
) -> Vec<Effect> {
    if let TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } = running.order.purpose
        && unfinished_step::is_skipped(state, n)
    {
        return unfinished_step::end_skipped_step(state, n);
    }
    match result {
        TurnOutcome::Completed { question, .. } => {
            (state.failures, state.blind_waits) = (0, 0);
            if !running.order.purpose.is_isolated() {
                state.kept.forget_delivered(running.order.purpose.role());
            }
            on_turn_completed(state, at, running.order, question.clone(), result)
        }
        // A run also finishes without its summary.
        TurnOutcome::Interrupted if running.order.purpose == TurnPurpose::Summary => {
            plan_approval::finish_run(state, at)
        }
        TurnOutcome::Interrupted => on_turn_interrupted(state, running.order),
        TurnOutcome::Failed { .. } if running.order.purpose == TurnPurpose::Summary => {
            on_summary_failed(state, at, result)
        }
        TurnOutcome::Failed {
            message,
            limit: Some(limit),
            other,
            ..
        } => usage_limits::wait_for_limit(
            state,
            at,
            running.order.purpose,
            message,
            *limit,
            other.clone(),
        ),
        TurnOutcome::Failed { .. } => on_turn_failed(state, at, running.order, result),
    }
}

pub(super) fn on_background_result(state: &mut RunState, role: Role, text: &str) -> Vec<Effect> {
    let text = text.to_owned();
    state.results.push(DeferredResult { role, text });
    Vec::new()
}

fn on_turn_completed(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    question: Option<String>,
    result: &TurnOutcome,
) -> Vec<Effect> {
    match order.purpose {
        TurnPurpose::RefineGoal { .. } => Vec::new(),
        TurnPurpose::WritePlan
        | TurnPurpose::Review
        | TurnPurpose::Respond
        | TurnPurpose::Judge => {
            state.busy = Some(ProgramOperation::Collecting {
                order: order.clone(),
                question,
            });
            vec![Effect::CollectDocument(order)]
        }
        TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } => {
            step_execution::on_step_turn_completed(state, at, n, order.again.as_ref(), result)
        }
        TurnPurpose::Summary => plan_approval::finish_run(state, at),
    }
}

/// Lets an interrupted turn wait for the user, whatever the gate was.
fn on_turn_interrupted(state: &mut RunState, order: TurnOrder) -> Vec<Effect> {
    state.gate = Gate::Manual;
    let order = new_turn_order(state, order.purpose, Some(TurnRetryReason::Failed));
    ask_user(state, QuestionKind::Gate { order })
}

fn on_summary_failed(state: &mut RunState, at: UnixMillis, result: &TurnOutcome) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let TurnOutcome::Failed { kind, message, .. } = result {
        effects.push(Effect::AppendLog(format!(
            "The summary failed ({kind}): {message}"
        )));
    }
    effects.extend(plan_approval::finish_run(state, at));
    effects
}

fn on_turn_failed(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    result: &TurnOutcome,
) -> Vec<Effect> {
    let TurnOutcome::Failed {
        kind,
        message,
        transient,
        other,
        ..
    } = result
    else {
        return Vec::new();
    };
    let retry = *transient && state.failures < MAX_RETRIES;
    state.failures += 1;
    if retry {
        return propose_turn(state, at, order.purpose, Some(TurnRetryReason::Failed));
    }
    let (kind, message, other) = (kind.clone(), message.clone(), other.clone());
    ask_user(
        state,
        QuestionKind::AdapterFailed {
            purpose: order.purpose,
            kind,
            message,
            other,
        },
    )
}

pub(super) fn on_session_opened(
    state: &mut RunState,
    role: Role,
    external_id: &str,
    model: Option<&str>,
) -> Vec<Effect> {
    if runs_isolated_turn(state, role) {
        return Vec::new();
    }
    if let Some(session) = state.session_mut(role) {
        session.external_id = Some(external_id.to_owned());
        session.model = model.map(str::to_owned);
    }
    Vec::new()
}

pub(super) fn on_session_version(state: &mut RunState, role: Role, version: &str) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.version = Some(version.to_owned());
    }
    Vec::new()
}

pub(super) fn on_session_lost(state: &mut RunState, role: Role) -> Vec<Effect> {
    if runs_isolated_turn(state, role) {
        return Vec::new();
    }
    // A running turn starts again with its full prompt.
    if state.running.is_none() {
        state.kept.redeliver(role);
    }
    if let Some(session) = state.session_mut(role) {
        session.external_id = None;
        session.degraded = true;
    }
    Vec::new()
}

pub(super) fn on_usage_reported(
    state: &mut RunState,
    role: Role,
    usage: SessionUsage,
) -> Vec<Effect> {
    if runs_isolated_turn(state, role) {
        return Vec::new();
    }
    if let Some(session) = state.session_mut(role) {
        session.usage = usage;
    }
    Vec::new()
}

pub(super) fn on_plan_usage_reported(
    state: &mut RunState,
    role: Role,
    windows: &[AccountUsageWindow],
) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.plan = windows.to_vec();
    }
    Vec::new()
}

pub(super) fn on_todos_written(
    state: &mut RunState,
    session: &SessionId,
    todos: &TodoList,
) -> Vec<Effect> {
    let sessions = [Some(&mut state.planner), state.reviewer.as_mut()];
    let mut sessions = sessions.into_iter().flatten();
    if let Some(session) = sessions.find(|known| known.id == *session) {
        session.todos = todos.clone();
    }
    Vec::new()
}

pub(super) fn on_message_appended(
    state: &mut RunState,
    role: Role,
    message: &Message,
) -> Vec<Effect> {
    if let Some(session) = state.session_mut(role) {
        session.record_message(message.role, message.agent);
    }
    Vec::new()
}
