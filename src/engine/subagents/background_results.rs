//! Describes the results of background tasks for the session that started them, at the start of its next turn.

use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::domain::task::{ChildSession, TaskReportStatus, TaskResult};
use crate::domain::turn::Role;
use crate::engine::run_context::RunContext;
use crate::store::{WorkdirLayout, session_files};

/// Returns the tasks whose results the session of a role has not seen yet.
pub(in crate::engine) fn sessions_with_unreported_result(
    state: &RunState,
    role: Role,
) -> Vec<SessionId> {
    let children = children_with_unreported_result(state, role);
    children.map(|child| child.session_id().clone()).collect()
}

fn children_with_unreported_result(
    state: &RunState,
    role: Role,
) -> impl Iterator<Item = &ChildSession> {
    let parent = state.session(role).map(|session| &session.id);
    state.children.iter().filter(move |child| {
        child.report == TaskReportStatus::Due
            && parent.is_some_and(|parent| child.order.parent.as_ref() == Some(parent))
    })
}

/// Returns the text that reports finished tasks to the session of a role, marked as such; empty if there is
/// nothing to report.
pub(in crate::engine) fn describe_background_results(run: &RunContext, role: Role) -> String {
    let results: String = children_with_unreported_result(run.state(), role)
        .map(|child| format!("{}\n\n", describe_task_result(run.journal.layout(), child)))
        .collect();
    if results.is_empty() {
        results
    } else {
        format!(
            "[agent-collab tasks ended]\nTasks that you gave in the background are over:\n\n{results}[end of tasks]\n\n"
        )
    }
}

fn describe_task_result(layout: &WorkdirLayout, child: &ChildSession) -> String {
    match load_task_result(layout, child.session_id()) {
        Some(result) => format!("{}: {result}", child.order.title()),
        None => format!(
            "{}: task_id: {}\n{}, and its result cannot be read any more",
            child.order.title(),
            child.session_id(),
            child.status.name()
        ),
    }
}

/// Loads the stored result of a child's last task.
pub(super) fn load_task_result(layout: &WorkdirLayout, session: &SessionId) -> Option<TaskResult> {
    let stored = session_files::load_session(layout, session)
        .ok()
        .flatten()?;
    serde_json::from_value(stored.pointer("/task/result")?.clone()).ok()
}
