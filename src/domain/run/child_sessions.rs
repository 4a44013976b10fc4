//! Handles the child sessions of a run: their tasks and results.
//!
//! A child changes nothing in the workflow, and the workflow waits for no child.

use super::{RunState, open_questions, run_discussions, unattributed_changes};
use crate::domain::child_activity::ChildActivity;
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::event::AgentActivity;
use crate::domain::ids::{SessionId, TurnId, UnixMillis};
use crate::domain::task::{
    ChildSession, TaskOrder, TaskReportStatus, TaskResult, TaskStatus, TaskWaitMode,
};
use crate::domain::task_patch::{PatchState, TaskPatch};

pub(super) fn on_task_started(
    state: &mut RunState,
    at: UnixMillis,
    order: &TaskOrder,
) -> Vec<Effect> {
    match child_mut(state, &order.session) {
        Some(child) if child.is_running() => {}
        Some(child) => {
            let (external_id, n_tasks) = (child.external_id.take(), child.n_tasks + 1);
            *child = ChildSession {
                external_id,
                n_tasks,
                // The old patch stays known until the child's next changes replace it.
                patch: child.patch.take(),
                ..new_child(at, order)
            };
        }
        None => state.children.push(new_child(at, order)),
    }
    Vec::new()
}

fn new_child(at: UnixMillis, order: &TaskOrder) -> ChildSession {
    ChildSession {
        order: order.clone(),
        external_id: None,
        status: TaskStatus::Running,
        given_at: at,
        began_at: None,
        tool_calls: 0,
        n_tasks: 1,
        doing: None,
        took_ms: None,
        report: TaskReportStatus::Given,
        patch: None,
    }
}

fn child_mut<'a>(state: &'a mut RunState, session: &SessionId) -> Option<&'a mut ChildSession> {
    let mut children = state.children.iter_mut();
    children.find(|child| child.session_id() == session)
}

pub(super) fn on_task_began(
    state: &mut RunState,
    at: UnixMillis,
    session: &SessionId,
) -> Vec<Effect> {
    if let Some(child) = child_mut(state, session).filter(|child| child.is_running()) {
        child.began_at.get_or_insert(at);
    }
    Vec::new()
}

pub(super) fn on_task_opened(
    state: &mut RunState,
    session: &SessionId,
    external_id: &str,
) -> Vec<Effect> {
    if let Some(child) = child_mut(state, session) {
        child.external_id = Some(external_id.to_owned());
    }
    Vec::new()
}

pub(super) fn on_task_activity(
    state: &mut RunState,
    session: &SessionId,
    news: &AgentActivity,
) -> Vec<Effect> {
    if let (
        Some(child),
        AgentActivity::ToolStarted {
            tool,
            title,
            detail,
            ..
        },
    ) = (child_mut(state, session), news)
    {
        child.tool_calls += 1;
        child.doing = Some(ChildActivity::Call {
            tool: tool.clone(),
            title: title.clone(),
            detail: detail.clone(),
        });
    }
    Vec::new()
}

/// Records what happened to a child's changes.
pub(super) fn on_task_patched(
    state: &mut RunState,
    at: UnixMillis,
    session: &SessionId,
    patch: &TaskPatch,
) -> Vec<Effect> {
    unattributed_changes::on_task_patched(state, at, patch);
    if let Some(child) = child_mut(state, session) {
        child.doing = child
            .is_running()
            .then_some(ChildActivity::Patch(patch.state));
        child.patch = Some(TaskPatch {
            text: String::new(),
            ..patch.clone()
        });
    }
    Vec::new()
}

/// Returns whether a child's agent is done and the question is about its changes.
pub(super) fn is_awaiting_patch_approval(state: &RunState, turn: &TurnId) -> bool {
    let mut running = state.children.iter().filter(|child| child.is_running());
    running.any(|child| {
        let patch = child.patch.as_ref();
        child.order.turn == *turn && patch.is_some_and(|patch| patch.state == PatchState::Waiting)
    })
}

/// Ends a task; its open requests will no longer be answered.
pub(super) fn on_task_ended(state: &mut RunState, result: &TaskResult) -> Vec<Effect> {
    let Some(child) = child_mut(state, &result.task_id).filter(|child| child.is_running()) else {
        return Vec::new();
    };
    child.status = result.end.status();
    child.tool_calls = result.tool_calls;
    child.took_ms = Some(result.duration_ms);
    child.doing = None;
    let order = &child.order;
    // The result of a discussion is reported as a whole, not by each speech.
    let is_told =
        order.parent.is_none() || order.waits == TaskWaitMode::Foreground || order.speaks.is_some();
    child.report = if is_told {
        TaskReportStatus::Given
    } else {
        TaskReportStatus::Due
    };
    let turn = child.order.turn.clone();
    open_questions::drop_child_questions(state, &turn);
    let approvals: Vec<_> = state
        .approvals
        .extract_if(.., |approval| approval.turn == turn)
        .collect();
    if approvals.is_empty() {
        Vec::new()
    } else {
        vec![Effect::ExpireApprovals {
            approvals,
            why: ExpiryReason::TurnEnded,
        }]
    }
}

pub(super) fn on_task_sent_to_background(state: &mut RunState, session: &SessionId) -> Vec<Effect> {
    if let Some(child) = child_mut(state, session).filter(|child| child.is_running()) {
        child.order.waits = TaskWaitMode::Background;
    }
    Vec::new()
}

pub(super) fn on_task_reported(state: &mut RunState, session: &SessionId) -> Vec<Effect> {
    if let Some(child) = child_mut(state, session) {
        child.report = TaskReportStatus::Given;
    }
    Vec::new()
}

/// Deletes a child, unless its task is running.
pub(super) fn on_child_deleted(state: &mut RunState, session: &SessionId) -> Vec<Effect> {
    state
        .children
        .retain(|child| child.session_id() != session || child.is_running());
    if state
        .children
        .iter()
        .all(|child| child.session_id() != session)
    {
        run_discussions::on_session_deleted(state, session);
    }
    Vec::new()
}

/// Returns whether a call belongs to a child with a running task.
pub(super) fn is_child_turn(state: &RunState, turn: &TurnId) -> bool {
    let mut running = state.children.iter().filter(|child| child.is_running());
    running.any(|child| child.order.turn == *turn)
}

/// Stops all running children.
pub(super) fn stop_all_children(state: &RunState) -> Vec<Effect> {
    stop_children_where(state, |_| true)
}

/// Stops the children for which a session waited whose turn is over.
pub(super) fn stop_foreground_children(state: &RunState, parent: &SessionId) -> Vec<Effect> {
    stop_children_where(state, |child| {
        child.order.waits == TaskWaitMode::Foreground && child.order.parent.as_ref() == Some(parent)
    })
}

fn stop_children_where(state: &RunState, which: impl Fn(&ChildSession) -> bool) -> Vec<Effect> {
    let running = state.children.iter().filter(|child| child.is_running());
    let stopped: Vec<SessionId> = running
        .filter(|child| which(child))
        .map(|child| child.session_id().clone())
        .collect();
    if stopped.is_empty() {
        Vec::new()
    } else {
        vec![Effect::StopChildren(stopped)]
    }
}

#[cfg(test)]
mod tests;
