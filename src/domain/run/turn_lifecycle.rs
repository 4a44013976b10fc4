//! Records what the CLIs report of turns and sessions, and ends turns.
//!
//! How a turn starts is in `turn_start`, and how the run continues after it in `turn_results`.

use super::deferred_answers::TurnContinuation;
use super::{
    DeferredResult, ResultValidity, RunState, approval_requests, child_sessions, deferred_answers,
    open_questions, phase_entry, turn_results, unattributed_changes,
};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::event::AgentProcess;
use crate::domain::ids::{SessionId, TurnId, UnixMillis};
use crate::domain::session::{AccountUsageWindow, Message, SessionUsage};
use crate::domain::todo_list::TodoList;
use crate::domain::turn::{Role, TurnOutcome};

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
    let asked = open_questions::take_turn_questions(state);
    let mut effects = approval_requests::expire_approvals(state, role, ExpiryReason::TurnEnded);
    if let Some(session) = state.session(role) {
        effects.extend(child_sessions::stop_foreground_children(state, &session.id));
    }
    if running.result == ResultValidity::No {
        open_questions::forget_deferred(state);
        effects.extend(phase_entry::propose_plan_when_idle(state, at));
        return effects;
    }
    let (running, asked) = match deferred_answers::end_turn(state, running, result, asked) {
        TurnContinuation::Continue(running, asked) => {
            (running, open_questions::question_texts(&asked))
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
            turn_results::continue_after_turn(state, at, running, &result)
        }
        (result, _) => turn_results::continue_after_turn(state, at, running, result),
    });
    effects
}

pub(super) fn on_background_result(state: &mut RunState, role: Role, text: &str) -> Vec<Effect> {
    let text = text.to_owned();
    state.results.push(DeferredResult { role, text });
    Vec::new()
}

pub(super) fn on_session_opened(
    state: &mut RunState,
    role: Role,
    external_id: &str,
    model: Option<&str>,
) -> Vec<Effect> {
    if state.runs_isolated_turn(role) {
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
    if state.runs_isolated_turn(role) {
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
    if state.runs_isolated_turn(role) {
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
