//! Children of the run, by the user's hand: given a task, read, stopped.

use serde_json::Value;

use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::task::{Child, Waits};
use crate::engine::{Caller, TaskAsk};
use crate::store::sessions;
use crate::tui::{Action, Stands};

use super::Shell;
use super::beginning::What;
use super::ending::End;

impl Shell {
    pub(super) fn give_task(&mut self, agent: String, prompt: String) -> Result<Option<End>, End> {
        let Some(engine) = &mut self.engine else {
            let task = Action::GiveTask { agent, prompt };
            return self.begin(What::Beside(Box::new(task)));
        };
        let ask = TaskAsk {
            caller: Caller::User,
            agent,
            prompt,
            description: String::new(),
            task_id: None,
            waits: Waits::Background,
        };
        match engine.start_task(ask) {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => self.screen.on_word(&why.to_string()),
            Err(error) => return Err(End::Failed(error)),
        }
        Ok(None)
    }

    pub(super) fn stop_child(&mut self, session: &SessionId) -> Result<Option<End>, End> {
        let stopped = self
            .engine
            .as_mut()
            .is_some_and(|engine| engine.stop_child(session, "stopped by the user"));
        if !stopped {
            self.screen.on_word("that task is over already");
        }
        Ok(None)
    }

    /// Tells whether an event is of the child whose session is open.
    pub(super) fn is_of_open_child(&self, event: &Event) -> bool {
        let open = self.screen.open_child();
        open.is_some_and(|open| match event {
            Event::TaskNews { session, .. } | Event::TaskBegan { session } => session == open,
            Event::TaskEnded(result) => result.task_id == *open,
            _ => false,
        })
    }

    /// Shows the child's session that is open as it is now.
    pub(super) fn show_open_child(&mut self) {
        if let Some(session) = self.screen.open_child().cloned() {
            self.tell_child(&session);
        }
    }

    pub(super) fn show_child(&mut self, session: &SessionId) -> Result<Option<End>, End> {
        self.tell_child(session);
        Ok(None)
    }

    /// Shows what was said and done in a child's session so far.
    fn tell_child(&mut self, session: &SessionId) {
        let Some(occupied) = &self.occupied else {
            return;
        };
        let messages = match sessions::messages(&occupied.layout, session) {
            Ok(messages) => messages,
            Err(error) => {
                self.screen.on_word(&format!("{error}; {}", error.hint()));
                return;
            }
        };
        let child = self
            .engine
            .as_ref()
            .and_then(|engine| engine.child(session));
        let title = child.map(|child| {
            let (name, title) = (child.order.name(), child.order.title());
            format!("{name}: {title} · {}", child.stands())
        });
        let doing = child.and_then(|child| child.doing.clone());
        let text = in_markdown(&messages, doing.as_deref());
        let stands = match child.is_some_and(Child::is_running) {
            true => Stands::Runs,
            false => Stands::Over,
        };
        let title = title.unwrap_or_default();
        self.screen.on_child(session, (&title, &text), stands);
    }
}

/// The messages of a session, and the call that its agent is at.
fn in_markdown(messages: &[Value], doing: Option<&str>) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for message in messages {
        let word = |key: &str| message[key].as_str().unwrap_or_default();
        last = word("text").to_owned();
        match word("role") {
            "tool" => text.push_str(&call(&last)),
            role => text.push_str(&format!("## {role}\n\n{last}\n\n")),
        }
    }
    if let Some(doing) = doing.filter(|doing| last.lines().next() != Some(doing)) {
        text.push_str(&format!("◌ `{}` runs\n\n", doing.replace('`', "'")));
    }
    text
}

/// A call: what it was, how it ended, and what it put out.
fn call(text: &str) -> String {
    let mut lines = text.lines();
    let (call, end) = (lines.next().unwrap_or_default(), lines.next());
    let output: Vec<&str> = lines.collect();
    let head = format!(
        "▸ `{}` {}\n\n",
        call.replace('`', "'"),
        end.unwrap_or_default()
    );
    match output.is_empty() {
        true => head,
        // No output closes a fence as long as this one.
        false => format!("{head}{FENCE}\n{}\n{FENCE}\n\n", output.join("\n")),
    }
}

/// Around what a call put out.
const FENCE: &str = "````````````";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_told_with_its_calls_and_the_one_that_runs() {
        let messages = [
            json!({"role": "user", "text": "find it"}),
            json!({"role": "tool", "text": "command ls\ncompleted\na.rs\n```"}),
            json!({"role": "tool", "text": "command rm -rf x\nrefused: no"}),
            json!({"role": "assistant", "text": "There."}),
        ];
        let told = in_markdown(&messages, Some("command rg fn"));
        assert_eq!(
            told,
            format!(
                "## user\n\nfind it\n\n▸ `command ls` completed\n\n{FENCE}\na.rs\n```\n{FENCE}\n\n▸ `command rm -rf x` \
                 refused: no\n\n## assistant\n\nThere.\n\n◌ `command rg fn` runs\n\n"
            )
        );
        let over = in_markdown(&messages[..2], Some("command ls"));
        assert!(!over.contains("runs"), "{over}");
    }
}
