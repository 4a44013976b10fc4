//! What a child's agent says and does, as messages of its history.
//!
//! Refuses to write them down.

use std::collections::BTreeMap;

use crate::domain::event::AgentActivity;
use crate::domain::session::MessageRole;

/// What is known of the task at hand.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Calls that are not over, by their ids.
    open: BTreeMap<String, String>,
    /// The texts so far.
    said: Vec<String>,
}

impl History {
    /// The message that news are; `None` for what is none, or none yet.
    pub(super) fn take(&mut self, news: &AgentActivity) -> Option<(MessageRole, String)> {
        match news {
            AgentActivity::Text { text } => {
                self.said.push(text.clone());
                Some((MessageRole::Assistant, text.clone()))
            }
            AgentActivity::ToolStarted { item, tool, title } => {
                self.open.insert(item.clone(), format!("{tool} {title}"));
                None
            }
            AgentActivity::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => {
                let call = self.open.remove(item)?;
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

    /// Tells whether a text is among what was said.
    pub(super) fn has(&self, text: &str) -> bool {
        self.said.iter().any(|said| said.trim() == text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_calls_are_messages_once_they_are_over() {
        let mut history = History::default();
        let started = AgentActivity::ToolStarted {
            item: "1".to_owned(),
            tool: "command".to_owned(),
            title: "ls".to_owned(),
        };
        let ended = |item: &str| AgentActivity::ToolEnded {
            item: item.to_owned(),
            status: "failed".to_owned(),
            exit_code: Some(2),
            output: "no such file\n".to_owned(),
        };
        let said = AgentActivity::Text {
            text: "Looking.".to_owned(),
        };
        assert_eq!(
            history.take(&said),
            Some((MessageRole::Assistant, "Looking.".to_owned()))
        );
        assert_eq!(history.take(&started), None);
        let call = "command ls\nfailed, exit 2\nno such file".to_owned();
        assert_eq!(history.take(&ended("1")), Some((MessageRole::Tool, call)));
        assert_eq!(history.take(&ended("2")), None);
        assert!(history.has("Looking.\n") && !history.has("Look"));
    }
}
