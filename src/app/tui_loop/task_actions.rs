//! Starts, shows and stops child tasks of the run for the user.

use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::session::ChildMessage;
use crate::domain::task::TaskWaitMode;
use crate::engine::{TaskCaller, TaskRequest};
use crate::store::event_log::{EventLogReader, EventLogRecord, LogUpdate};
use crate::store::session_files::SessionMessageReader;
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{Action, ChildSessionView};

use super::run_startup::RunStartKind;
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

impl TuiApp {
    pub(super) fn give_task(
        &mut self,
        agent: String,
        prompt: String,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let task = Action::GiveTask {
            agent: agent.clone(),
            prompt: prompt.clone(),
        };
        let Some(engine) = &mut self.engine else {
            return self.start_run(RunStartKind::ForAction(Box::new(task)));
        };
        let ask = TaskRequest {
            caller: TaskCaller::User,
            agent,
            prompt,
            description: String::new(),
            task_id: None,
            wait_mode: TaskWaitMode::Background,
        };
        match engine.start_task(ask) {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => self.return_to_composer(&why.to_string(), &task),
            Err(error) => return Err(TuiEnd::Failed(error)),
        }
        Ok(None)
    }

    pub(super) fn stop_child(&mut self, session: &SessionId) -> Result<Option<TuiEnd>, TuiEnd> {
        let stopped = self
            .engine
            .as_mut()
            .is_some_and(|engine| engine.stop_child_task(session, "stopped by the user"));
        if !stopped {
            self.screen.set_toast("That task has already finished.");
        }
        Ok(None)
    }

    /// Gives the open child session the text of its next task, which the event does not have.
    pub(super) fn load_next_task(&mut self, event: &Event) {
        let (Event::TaskStarted(order), Some(occupied)) = (event, &self.occupied) else {
            return;
        };
        let child = self.screen.open_child_mut();
        let Some(child) = child.filter(|child| *child.session() == order.session) else {
            return;
        };
        match load_messages(&occupied.layout, &order.session) {
            Ok(prompts) => child.set_prompts(prompts),
            Err(error) => self.screen.set_toast(&error.to_string()),
        }
    }

    /// Reads a child session in the background, because the log may be long.
    pub(super) fn show_child(&mut self, session: &SessionId) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        let (layout, child) = (occupied.layout.clone(), self.screen.new_child_view(session));
        self.tasks.spawn_blocking(move || {
            BackgroundResult::ChildRead(ChildHistory::load(&layout, child))
        });
        Ok(None)
    }

    pub(super) fn on_child_read(
        &mut self,
        read: Result<ChildHistory, StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        // Whatever was recorded by now is in the log. The session gets from the screen what comes later.
        let end = self.show_updates()?;
        self.apply_updates();
        match read.and_then(ChildHistory::read_rest) {
            Ok(child) => self.screen.show_child_session(child),
            Err(error) => {
                self.screen.set_toast(&format!("{error}; {}", error.hint()));
            }
        }
        Ok(end)
    }
}

/// A child session as far as it was read.
pub struct ChildHistory {
    child: Box<ChildSessionView>,
    log: EventLogReader<Event>,
}

impl ChildHistory {
    /// Reads a session: its messages, and its part of the log. Blocks.
    fn load(layout: &WorkdirLayout, mut child: Box<ChildSessionView>) -> Result<Self, StoreError> {
        child.set_prompts(load_messages(layout, child.session())?);
        let mut log = EventLogReader::from_start(&layout.events());
        log.read_all(|record: EventLogRecord<Event>| child.on_event(record.at, &record.event))?;
        Ok(Self { child, log })
    }

    /// Adds what was recorded meanwhile.
    fn read_rest(mut self) -> Result<Box<ChildSessionView>, StoreError> {
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
    use crate::domain::task::TaskOrder;
    use crate::store::WorkdirNames;
    use crate::store::event_log::EventOrigin;
    use crate::tui::{Screen, ScreenSettings};

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
