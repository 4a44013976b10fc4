//! Converts what a child's agent says and does into messages of its history.
//!
//! Does not write them to disk: `child_session_files` does.

use std::collections::BTreeMap;

use crate::domain::event::AgentActivity;
use crate::domain::session::MessageRole;

/// What is known about the current task.
#[derive(Debug, Default)]
pub(super) struct TaskTranscript {
    /// Unfinished calls by their ids.
    open_calls: BTreeMap<String, String>,
    /// The texts so far.
    texts: Vec<String>,
}

impl TaskTranscript {
    /// Converts an event of the agent into a message; `None` if it is none, or not complete yet.
    pub(super) fn record_activity(
        &mut self,
        news: &AgentActivity,
    ) -> Option<(MessageRole, String)> {
        match news {
            AgentActivity::Text { text } => {
                self.texts.push(text.clone());
                Some((MessageRole::Assistant, text.clone()))
            }
            AgentActivity::ToolStarted {
                item, tool, title, ..
            } => {
                self.open_calls
                    .insert(item.clone(), format!("{tool} {title}"));
                None
            }
            AgentActivity::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => {
                let call = self.open_calls.remove(item)?;
                let exit = exit_code.filter(|code| *code != 0);
                let exit = exit.map_or(String::new(), |code| format!(", exit {code}"));
                let text = format!("{call}\n{status}{exit}\n{output}");
                Some((MessageRole::Tool, text.trim_end().to_owned()))
            }
            AgentActivity::CallDenied { tool, reason } => {
                Some((MessageRole::Tool, format!("{tool}\nrefused: {reason}")))
            }
            AgentActivity::Thinking { .. }
            | AgentActivity::FilesChanged { .. }
            | AgentActivity::Retrying { .. }
            | AgentActivity::Notice { .. }
            | AgentActivity::Silent { .. }
            | AgentActivity::Unknown { .. }
            | AgentActivity::Malformed { .. } => None,
        }
    }

    /// Returns true if a text is among the messages.
    pub(super) fn contains_text(&self, text: &str) -> bool {
        self.texts.iter().any(|said| said.trim() == text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{ToolKind, ToolStatus};

    #[test]
    fn texts_and_calls_are_messages_once_they_are_over() {
        let mut history = TaskTranscript::default();
        let started = AgentActivity::ToolStarted {
            item: "1".to_owned(),
            tool: ToolKind::Command,
            title: "ls".to_owned(),
            detail: None,
        };
        let ended = |item: &str| AgentActivity::ToolEnded {
            item: item.to_owned(),
            status: ToolStatus::Failed,
            exit_code: Some(2),
            output: "no such file\n".to_owned(),
        };
        let said = AgentActivity::Text {
            text: "Looking.".to_owned(),
        };
        assert_eq!(
            history.record_activity(&said),
            Some((MessageRole::Assistant, "Looking.".to_owned()))
        );
        assert_eq!(history.record_activity(&started), None);
        let call = "command ls\nfailed, exit 2\nno such file".to_owned();
        assert_eq!(
            history.record_activity(&ended("1")),
            Some((MessageRole::Tool, call))
        );
        assert_eq!(history.record_activity(&ended("2")), None);
        assert!(history.contains_text("Looking.\n") && !history.contains_text("Look"));
    }
}
