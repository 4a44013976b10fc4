//! Writes the files of a child: the session, and its history, which starts with the system prompt and the
//! task.
//!
//! Does not read them back: the record of the run says what a child is.

use serde::Serialize;
use serde_json::json;

use super::SubagentTasks;
use super::background_results::load_task_result;
use crate::domain::event::AgentActivity;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::session::MessageRole;
use crate::domain::task::{TaskOrder, TaskResult, TaskWaitMode};
use crate::engine::engine_error::EngineError;
use crate::engine::run_context::RunContext;
use crate::store::SessionFiles;
use crate::text::clean_text;

/// One message of a child's history.
#[derive(Debug, Serialize)]
struct ChildHistoryMessage {
    id: String,
    turn: String,
    role: MessageRole,
    agent: String,
    /// Whether this program wrote it.
    synthetic: bool,
    ts: UnixMillis,
    text: String,
}

impl SubagentTasks {
    /// Stores what a child's agent says and does.
    pub(in crate::engine) fn append_activity(
        &mut self,
        run: &RunContext,
        session: &SessionId,
        news: &AgentActivity,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.active_tasks.get_mut(session) else {
            return Ok(());
        };
        match at_task.transcript.record_activity(news) {
            Some((role, text)) => {
                let order = at_task.order.clone();
                append_child_message(run, &order, role, &text)
            }
            None => Ok(()),
        }
    }
}

fn child_session_files(run: &RunContext, session: &SessionId) -> SessionFiles {
    run.journal.session_files(session)
}

/// Replaces the child's `session.json`.
pub(in crate::engine) fn save_child(
    run: &RunContext,
    session: &SessionId,
    result: Option<&TaskResult>,
) -> Result<(), EngineError> {
    let Some(child) = run.child_session(session) else {
        return Ok(());
    };
    let order = &child.order;
    let whole = json!({
        "id": session,
        "run_id": run.state().run,
        "parent_id": order.parent,
        "kind": child.kind(),
        "title": order.title(),
        "profile": order.agent,
        "adapter": order.adapter,
        "model": order.model,
        "external_id": child.external_id,
        "status": child.session_status(),
        "created": child.given_at,
        "updated": run.journal.now(),
        "discussion": order.speaks.as_ref().map(|speaks| &speaks.discussion),
        "task": {
            "description": order.description,
            "background": order.waits == TaskWaitMode::Background,
            "n_tasks": child.n_tasks,
            "result": result,
            "tree": order.tree,
            "patch": child.patch,
        },
    });
    Ok(child_session_files(run, session).save(&whole)?)
}

/// Replaces the child's `session.json` after the state of its patch changed.
pub(super) fn resave_child(run: &RunContext, session: &SessionId) -> Result<(), EngineError> {
    let Some(child) = run
        .child_session(session)
        .filter(|child| !child.is_running())
    else {
        return Ok(());
    };
    let result = load_task_result(run, child).map(|result| TaskResult {
        patch: child.patch.clone(),
        ..result
    });
    save_child(run, session, result.as_ref())
}

pub(super) fn append_system_prompt(
    run: &RunContext,
    order: &TaskOrder,
    text: &str,
) -> Result<(), EngineError> {
    append_child_message(run, order, MessageRole::System, text)
}

pub(super) fn append_task_prompt(
    run: &RunContext,
    order: &TaskOrder,
    text: &str,
) -> Result<(), EngineError> {
    append_child_message(run, order, MessageRole::User, text)
}

pub(super) fn append_final_message(
    run: &RunContext,
    order: &TaskOrder,
    text: &str,
) -> Result<(), EngineError> {
    append_child_message(run, order, MessageRole::Assistant, text)
}

fn append_child_message(
    run: &RunContext,
    order: &TaskOrder,
    role: MessageRole,
    text: &str,
) -> Result<(), EngineError> {
    let message = ChildHistoryMessage {
        id: format!("msg_{}", uuid::Uuid::now_v7().simple()),
        turn: order.turn.to_string(),
        role,
        agent: order.agent.clone(),
        synthetic: is_synthetic(order, role),
        ts: run.journal.now(),
        text: clean_text(text),
    };
    Ok(child_session_files(run, &order.session).append_message(&message)?)
}

/// Returns true for messages that this program wrote: all but the agent's own and the task that the user
/// gave.
fn is_synthetic(order: &TaskOrder, role: MessageRole) -> bool {
    match role {
        MessageRole::Assistant => false,
        MessageRole::User => order.parent.is_some() || order.speaks.is_some(),
        MessageRole::System | MessageRole::Tool => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TurnId;

    #[test]
    fn the_users_own_task_is_not_said_to_be_this_programs() {
        let of_the_user = TaskOrder {
            session: SessionId::new("ses_c"),
            parent: None,
            n: 1,
            agent: "explore".to_owned(),
            first_agent: None,
            description: "looks around".to_owned(),
            adapter: "codex".to_owned(),
            model: None,
            waits: TaskWaitMode::Foreground,
            turn: TurnId::new("ses_c.1"),
            speaks: None,
            tree: None,
        };
        let of_an_agent = TaskOrder {
            parent: Some(SessionId::new("ses_p")),
            ..of_the_user.clone()
        };
        assert!(!is_synthetic(&of_the_user, MessageRole::User));
        assert!(is_synthetic(&of_an_agent, MessageRole::User));
        assert!(is_synthetic(&of_the_user, MessageRole::System));
        assert!(!is_synthetic(&of_an_agent, MessageRole::Assistant));
    }
}
