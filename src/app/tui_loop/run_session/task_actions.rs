//! Starts tasks for the user, and reads the sessions of tasks.

use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::session::ChildMessage;
use crate::domain::task::{TaskOrder, TaskWaitMode};
use crate::engine::{Engine, EngineError, TaskCaller, TaskRequest};
use crate::store::event_log::{EventLogReader, EventLogRecord, LogUpdate};
use crate::store::session_files::SessionMessageReader;
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{ChildSessionView, Screen};

/// Starts a task. Returns why it did not start.
pub fn start_task(
    engine: &mut Engine,
    agent: &str,
    prompt: &str,
) -> Result<Result<(), String>, EngineError> {
    let started = engine.start_task(TaskRequest {
        caller: TaskCaller::User,
        agent: agent.to_owned(),
        prompt: prompt.to_owned(),
        description: String::new(),
        task_id: None,
        wait_mode: TaskWaitMode::Background,
    })?;
    Ok(started.map(drop).map_err(|why| why.to_string()))
}

/// Gives the open child session the text of its next task, which the event does not have.
pub fn load_next_task(layout: &WorkdirLayout, order: &TaskOrder, screen: &mut Screen) {
    let child = screen.open_child_mut();
    let Some(child) = child.filter(|child| *child.session() == order.session) else {
        return;
    };
    match load_messages(layout, &order.session) {
        Ok(prompts) => child.set_prompts(prompts),
        Err(error) => screen.set_toast(&error.to_string()),
    }
}

/// A child session as far as it was read.
pub struct ChildHistory {
    child: Box<ChildSessionView>,
    log: EventLogReader<Event>,
}

impl ChildHistory {
    /// Reads a session: its messages, and its part of the log. Blocks.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn load(
        layout: &WorkdirLayout,
        mut child: Box<ChildSessionView>,
    ) -> Result<Self, StoreError> {
        child.set_prompts(load_messages(layout, child.session())?);
        let mut log = EventLogReader::from_start(&layout.events());
        log.read_all(|record: EventLogRecord<Event>| child.on_event(record.at, &record.event))?;
        Ok(Self { child, log })
    }

    /// Adds what was recorded meanwhile.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read_rest(mut self) -> Result<Box<ChildSessionView>, StoreError> {
        if let LogUpdate::More(records) = self.log.read_new(usize::MAX)? {
            for record in records {
                self.child.on_event(record.at, &record.event);
            }
        }
        Ok(self.child)
    }
}

/// Reads the messages of a child's session.
fn load_messages(
    layout: &WorkdirLayout,
    session: &SessionId,
) -> Result<Vec<ChildMessage>, StoreError> {
    let messages = SessionMessageReader::new(layout, session).read_new()?;
    let parsed = messages.into_iter().map(serde_json::from_value);
    Ok(parsed.filter_map(Result::ok).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;
    use crate::domain::event::AgentActivity;
    use crate::domain::ids::{RunId, UnixMillis};
    use crate::store::WorkdirNames;
    use crate::store::event_log::EventOrigin;
    use crate::tui::ScreenSettings;

    fn append(path: &Path, lines: &[String]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(path).unwrap_or_default();
        fs::write(path, format!("{before}{}\n", lines.join("\n"))).unwrap();
    }

    fn line(seq: u64, event: Event) -> String {
        let record = EventLogRecord {
            seq,
            at: UnixMillis(0),
            run: RunId::new("run_a"),
            origin: EventOrigin::default(),
            event,
        };
        record.to_line().unwrap()
    }

    fn started(session: &str, turn: u32) -> Event {
        let order = json!({
            "session": session, "n": 1, "agent": "explore", "description": "looks", "adapter": "codex",
            "waits": "background", "turn": format!("{session}.{turn}"),
        });
        Event::TaskStarted(serde_json::from_value::<TaskOrder>(order).unwrap())
    }

    fn said(session: &str, text: &str) -> Event {
        let news = AgentActivity::Text {
            text: text.to_owned(),
        };
        Event::TaskActivity {
            session: SessionId::new(session),
            news,
        }
    }

    #[test]
    fn a_session_has_its_tasks_and_what_was_said_while_it_was_read() {
        let place = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(place.path(), WorkdirNames::default()).unwrap();
        let session = SessionId::new("ses_a");
        let message = |role: &str, turn: u32, text: &str| {
            json!({"role": role, "turn": format!("ses_a.{turn}"), "text": text}).to_string()
        };
        let messages = [
            message("user", 1, "find it"),
            message("assistant", 1, "There."),
            message("user", 2, "and the rest"),
        ];
        append(
            &layout.session_folder(&session).join("messages.jsonl"),
            &messages,
        );
        let events = [
            started("ses_a", 1),
            said("ses_a", "There."),
            started("ses_b", 1),
            said("ses_b", "Not here."),
            started("ses_a", 2),
        ];
        let mut opened: Value = serde_json::from_str(&line(0, said("ses_a", ""))).unwrap();
        opened["kind"] = json!("log.opened");
        opened["data"] = json!({"schema": 1});
        append(&layout.events(), &[opened.to_string()]);
        let lines = (1..).zip(events).map(|(seq, event)| line(seq, event));
        append(&layout.events(), &lines.collect::<Vec<_>>());
        let history = {
            let screen = Screen::new(ScreenSettings::default());
            ChildHistory::load(&layout, screen.new_child_view(&session)).unwrap()
        };
        append(&layout.events(), &[line(6, said("ses_a", "Here, too."))]);
        let child = history.read_rest().unwrap();
        let start = "explore#1 gets a task that only reads: looks";
        assert_eq!(
            child.whole_text(),
            format!("{start}\n\nfind it\n\nThere.\n\n{start}\n\nand the rest\n\nHere, too.")
        );
    }
}
