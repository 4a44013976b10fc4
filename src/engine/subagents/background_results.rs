//! Reports background task results to the session that started them, at the start of its next turn.

use crate::domain::ids::SessionId;
use crate::domain::task::{ChildSession, TaskReportStatus, TaskResult};
use crate::domain::turn::Role;
use crate::engine::run_context::RunContext;
use crate::store::session_files;

/// Returns the tasks whose results the session of a role has not seen yet.
pub(in crate::engine) fn sessions_with_unreported_result(
    run: &RunContext,
    role: Role,
) -> Vec<SessionId> {
    let children = children_with_unreported_result(run, role);
    children.map(|child| child.session_id().clone()).collect()
}

fn children_with_unreported_result(
    run: &RunContext,
    role: Role,
) -> impl Iterator<Item = &ChildSession> {
    let parent = run.state().session(role).map(|session| &session.id);
    let children = run.state().children.iter();
    children.filter(move |child| {
        child.report == TaskReportStatus::Due
            && parent.is_some_and(|parent| child.order.parent.as_ref() == Some(parent))
    })
}

/// Returns the text that reports finished tasks to the session of a role, marked as such; empty if there
/// is nothing to report.
pub(in crate::engine) fn background_results_text(run: &RunContext, role: Role) -> String {
    let told: String = children_with_unreported_result(run, role)
        .map(|child| format!("{}\n\n", describe_task_result(run, child)))
        .collect();
    if told.is_empty() {
        told
    } else {
        format!(
            "[agent-collab tasks ended]\nTasks that you gave in the background are over:\n\n{told}[end of tasks]\n\n"
        )
    }
}

/// Loads the stored result of a child's last task.
pub(super) fn load_task_result(run: &RunContext, child: &ChildSession) -> Option<TaskResult> {
    session_files::load_task_result(run.journal.layout(), child.session_id())
        .ok()
        .flatten()
}

fn describe_task_result(run: &RunContext, child: &ChildSession) -> String {
    match load_task_result(run, child) {
        Some(result) => format!("{}: {result}", child.order.title()),
        None => format!(
            "{}: task_id: {}\n{}, and its result cannot be read any more",
            child.order.title(),
            child.session_id(),
            child.status.name()
        ),
    }
}
