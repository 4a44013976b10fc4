//! Writes the files of a child: the session, and its history, which starts with the system prompt and the
//! task.
//!
//! Does not read them back: the record of the run says what a child is.

use serde::Serialize;
use serde_json::json;

use super::background_results::load_task_result;
use crate::domain::event::AgentActivity;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::session::MessageRole;
use crate::domain::task::{TaskOrder, TaskResult, TaskWaitMode};
use crate::engine::{Engine, EngineError};
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

impl Engine {
    fn child_session_files(&self, session: &SessionId) -> SessionFiles {
        self.run.journal.session_files(session)
    }

    /// Replaces the child's `session.json`.
    pub(super) fn save_child(
        &self,
        session: &SessionId,
        result: Option<&TaskResult>,
    ) -> Result<(), EngineError> {
        let Some(child) = self.run.child_session(session) else {
            return Ok(());
        };
        let order = &child.order;
        let whole = json!({
            "id": session,
            "run_id": self.state().run,
            "parent_id": order.parent,
            "kind": match order.speaks {
                Some(_) => "participant",
                None => "task",
            },
            "title": order.title(),
            "profile": order.agent,
            "adapter": order.adapter,
            "model": order.model,
            "external_id": child.external_id,
            "status": child.status_label(),
            "created": child.given_at,
            "updated": self.run.journal.now(),
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
        Ok(self.child_session_files(session).save(&whole)?)
    }

    /// Replaces the child's `session.json` after the state of its patch changed.
    pub(super) fn resave_child(&self, session: &SessionId) -> Result<(), EngineError> {
        let Some(child) = self
            .run
            .child_session(session)
            .filter(|child| !child.is_running())
        else {
            return Ok(());
        };
        let result =
            load_task_result(self.run.journal.layout(), session).map(|result| TaskResult {
                patch: child.patch.clone(),
                ..result
            });
        self.save_child(session, result.as_ref())
    }

    pub(super) fn append_system_prompt(
        &self,
        order: &TaskOrder,
        text: &str,
    ) -> Result<(), EngineError> {
        self.append_child_message(order, MessageRole::System, text)
    }

    pub(super) fn append_task_prompt(
        &self,
        order: &TaskOrder,
        text: &str,
    ) -> Result<(), EngineError> {
        self.append_child_message(order, MessageRole::User, text)
    }

    pub(super) fn append_final_message(
        &self,
        order: &TaskOrder,
        text: &str,
    ) -> Result<(), EngineError> {
        self.append_child_message(order, MessageRole::Assistant, text)
    }

    /// Stores what a child's agent says and does.
    pub(super) fn append_child_activity(
        &mut self,
        session: &SessionId,
        news: &AgentActivity,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.subagent_tasks.active_tasks.get_mut(session) else {
            return Ok(());
        };
        match at_task.transcript.record_activity(news) {
            Some((role, text)) => {
                let order = at_task.order.clone();
                self.append_child_message(&order, role, &text)
            }
            None => Ok(()),
        }
    }

    fn append_child_message(
        &self,
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
            ts: self.run.journal.now(),
            text: clean_text(text),
        };
        Ok(self
            .child_session_files(&order.session)
            .append_message(&message)?)
    }
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
