//! Starts, shows and stops child tasks of the run for the user.

use serde_json::Value;

use crate::domain::event::Event;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::session::MessageRole;
use crate::domain::task::TaskWaitMode;
use crate::engine::{TaskCaller, TaskRequest};
use crate::store::event_log::{EventLogReader, EventLogRecord, LogUpdate};
use crate::store::session_files::SessionMessageReader;
use crate::store::{StoreError, WorkdirLayout};
use crate::tui::{Action, ChildPrompt, ChildSessionView};

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
        match load_prompts(&occupied.layout, &order.session) {
            Ok(prompts) => child.set_prompts(prompts),
            Err(error) => self.screen.set_toast(&error.to_string()),
        }
    }

    /// Reads a child session in the background, because the log may be long.
    pub(super) fn show_child(&mut self, session: &SessionId) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        let (layout, session) = (occupied.layout.clone(), session.clone());
        self.tasks.spawn_blocking(move || {
            BackgroundResult::ChildRead(ChildHistory::load(&layout, &session).map(Box::new))
        });
        Ok(None)
    }

    pub(super) fn on_child_read(
        &mut self,
        read: Result<Box<ChildHistory>, StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        // Whatever was recorded by now is in the log. The session gets from the screen what comes later.
        let end = self.show_updates()?;
        self.apply_updates();
        match read.and_then(|history| history.read_rest()) {
            Ok(child) => self.screen.show_child_session(child),
            Err(error) => {
                self.screen.set_toast(&format!("{error}; {}", error.hint()));
            }
        }
        Ok(end)
    }
}

/// How many bytes of the log are read at once.
const LOG_PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// A child session as far as it was read.
pub struct ChildHistory {
    child: Box<ChildSessionView>,
    log: EventLogReader<Event>,
}

impl ChildHistory {
    /// Reads a session: the texts of its tasks, and the log since its first one. Blocks.
    fn load(layout: &WorkdirLayout, session: &SessionId) -> Result<Self, StoreError> {
        let mut log = EventLogReader::from_end(&layout.events());
        let mut child = ChildSessionView::new(session, load_prompts(layout, session)?);
        let first = TurnId::new(format!("{session}.1"));
        let is_first = |record: &EventLogRecord<Event>| matches!(&record.event, Event::TaskStarted(order) if order.turn == first);
        let mut pages = Vec::new();
        let mut is_whole = false;
        while !is_whole {
            let mut page = log.read_before(LOG_PAGE_BYTES)?;
            page.retain(|record| child.is_about(&record.event));
            is_whole = log.is_at_start() || page.iter().any(is_first);
            pages.push(page);
        }
        for record in pages.iter().rev().flatten() {
            child.on_event(record.at, &record.event);
        }
        Ok(Self {
            child: Box::new(child),
            log,
        })
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

/// Reads the texts that were sent to a child's agent.
fn load_prompts(
    layout: &WorkdirLayout,
    session: &SessionId,
) -> Result<Vec<ChildPrompt>, StoreError> {
    let messages = SessionMessageReader::new(layout, session).read_new()?;
    Ok(messages.iter().filter_map(parse_prompt).collect())
}

/// Returns a message of a session if it was sent to its agent.
fn parse_prompt(message: &Value) -> Option<ChildPrompt> {
    let word = |key: &str| message[key].as_str();
    let role = match word("role")? {
        "system" => MessageRole::System,
        "user" => MessageRole::User,
        _ => return None,
    };
    Some(ChildPrompt {
        turn: TurnId::new(word("turn")?),
        role,
        text: word("text")?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::domain::event::AgentActivity;
    use crate::domain::ids::{RunId, UnixMillis};
    use crate::domain::task::TaskOrder;
    use crate::store::WorkdirNames;
    use crate::store::event_log::EventOrigin;

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
        let lines = (1..).zip(events).map(|(seq, event)| line(seq, event));
        append(&layout.events(), &lines.collect::<Vec<_>>());
        let history = ChildHistory::load(&layout, &session).unwrap();
        append(&layout.events(), &[line(6, said("ses_a", "Here, too."))]);
        let child = history.read_rest().unwrap();
        let start = "explore#1 gets a task that only reads: looks";
        assert_eq!(
            child.whole_text(),
            format!("{start}\n\nfind it\n\nThere.\n\n{start}\n\nand the rest\n\nHere, too.")
        );
    }
}
