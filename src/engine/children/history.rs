//! What a child's agent says and does, as messages of its history.
//!
//! Refuses to write them down.

use std::collections::BTreeMap;

use crate::domain::event::News;
use crate::domain::session::Speaker;

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
    pub(super) fn take(&mut self, news: &News) -> Option<(Speaker, String)> {
        match news {
            News::Text { text } => {
                self.said.push(text.clone());
                Some((Speaker::Assistant, text.clone()))
            }
            News::ToolStarted { item, tool, title } => {
                self.open.insert(item.clone(), format!("{tool} {title}"));
                None
            }
            News::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => {
                let call = self.open.remove(item)?;
                let exit = exit_code.filter(|code| *code != 0);
                let exit = exit.map_or(String::new(), |code| format!(", exit {code}"));
                let text = format!("{call}\n{status}{exit}\n{output}");
                Some((Speaker::Tool, text.trim_end().to_owned()))
            }
            News::CallDenied { tool, reason } => {
                Some((Speaker::Tool, format!("{tool}\nrefused: {reason}")))
            }
            News::Thinking { .. }
            | News::FilesChanged { .. }
            | News::Retrying { .. }
            | News::Notice { .. }
            | News::Silent { .. }
            | News::Unknown { .. }
            | News::Malformed { .. } => None,
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
        let started = News::ToolStarted {
            item: "1".to_owned(),
            tool: "command".to_owned(),
            title: "ls".to_owned(),
        };
        let ended = |item: &str| News::ToolEnded {
            item: item.to_owned(),
            status: "failed".to_owned(),
            exit_code: Some(2),
            output: "no such file\n".to_owned(),
        };
        let said = News::Text {
            text: "Looking.".to_owned(),
        };
        assert_eq!(
            history.take(&said),
            Some((Speaker::Assistant, "Looking.".to_owned()))
        );
        assert_eq!(history.take(&started), None);
        let call = "command ls\nfailed, exit 2\nno such file".to_owned();
        assert_eq!(history.take(&ended("1")), Some((Speaker::Tool, call)));
        assert_eq!(history.take(&ended("2")), None);
        assert!(history.has("Looking.\n") && !history.has("Look"));
    }
}
