//! Children of the run, by the user's hand: given a task, read, stopped.

use crate::domain::ids::SessionId;
use crate::domain::task::Waits;
use crate::engine::{Caller, TaskAsk};
use crate::store::sessions;

use super::Shell;
use super::ending::End;

impl Shell {
    pub(super) fn give_task(&mut self, agent: String, prompt: String) -> Result<Option<End>, End> {
        let Some(engine) = &mut self.engine else {
            self.screen
                .on_word("there is no run yet: write the goal first");
            return Ok(None);
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

    /// Shows what was said in a child's session so far.
    pub(super) fn show_child(&mut self, session: &SessionId) -> Result<Option<End>, End> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        let messages = match sessions::messages(&occupied.layout, session) {
            Ok(messages) => messages,
            Err(error) => {
                self.screen.on_word(&format!("{error}; {}", error.hint()));
                return Ok(None);
            }
        };
        let mut text = String::new();
        for message in &messages {
            let word = |key: &str| message[key].as_str().unwrap_or_default();
            text.push_str(&format!("## {}\n\n{}\n\n", word("role"), word("text")));
        }
        let child = self
            .engine
            .as_ref()
            .and_then(|engine| engine.child(session));
        let title = child.map(|child| format!("{}: {}", child.order.name(), child.order.title()));
        self.screen.on_child(&title.unwrap_or_default(), &text);
        Ok(None)
    }
}
