//! Starts, shows and stops child tasks of the run for the user.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::session::MessageRole;
use crate::domain::task::{ChildSession, TaskWaitMode};
use crate::engine::{TaskCaller, TaskRequest};
use crate::store::session_files::SessionMessageReader;
use crate::store::{StoreError, WorkdirLayout};
use crate::text::pluralize;
use crate::tui::{Action, ConversationStatus};

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

    /// Returns whether an event belongs to the child whose session is open.
    pub(super) fn is_about_open_child(&self, event: &Event) -> bool {
        let open = self.screen.open_child_session();
        open.is_some_and(|open| match event {
            Event::TaskActivity { session, .. } | Event::TaskDispatched { session } => {
                session == open
            }
            Event::TaskEnded(result) => result.task_id == *open,
            _ => false,
        })
    }

    /// Refreshes the child session that is open on the screen.
    pub(super) fn show_open_child(&mut self) {
        let open = self.screen.open_child_session();
        let story = self.child_transcript.as_mut();
        let Some(story) = story.filter(|story| Some(&story.session) == open) else {
            // It is being read and will be shown then.
            return;
        };
        let read = story.read_new_messages();
        self.show_child_transcript(read);
    }

    /// Reads a child session in the background, because it may be long.
    pub(super) fn show_child(&mut self, session: &SessionId) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        let mut story = ChildTranscript::new(&occupied.layout, session);
        self.tasks.spawn_blocking(move || {
            let read = story.read_new_messages();
            BackgroundResult::ChildRead(Box::new(story), read)
        });
        Ok(None)
    }

    pub(super) fn on_child_read(
        &mut self,
        story: ChildTranscript,
        read: Result<(), StoreError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        self.child_transcript = Some(story);
        self.show_child_transcript(read);
        Ok(None)
    }

    /// Shows the messages of a child session read so far.
    fn show_child_transcript(&mut self, read: Result<(), StoreError>) {
        if let Err(error) = read {
            self.screen.set_toast(&format!("{error}; {}", error.hint()));
            return;
        }
        let Some(story) = &self.child_transcript else {
            return;
        };
        let session = &story.session;
        let engine = self.engine.as_ref();
        let child = engine.and_then(|engine| engine.child_session(session));
        let title = child.map(|child| {
            let (name, title) = (child.order.short_name(), child.order.title());
            format!("{name}: {title} · {}", child.status_label())
        });
        let doing = child.and_then(|child| child.doing.as_ref());
        let text = story.to_markdown(doing.map(ToString::to_string).as_deref());
        let stands = if child.is_some_and(ChildSession::is_running) {
            ConversationStatus::Running
        } else {
            ConversationStatus::Ended
        };
        let title = title.unwrap_or_default();
        self.screen
            .show_child_session(session, &title, &text, stands);
    }
}

/// Maximum size of a session shown, in bytes; a longer one shows its end.
const MAX_TRANSCRIPT_BYTES: usize = 1 << 20;

/// The messages of a child session read so far.
#[derive(Debug)]
pub struct ChildTranscript {
    session: SessionId,
    messages: SessionMessageReader,
    /// The messages as Markdown, oldest first; of a long session only the last.
    rendered_messages: VecDeque<String>,
    n_bytes: usize,
    /// Number of earlier messages that are not shown.
    n_left_out: usize,
    /// The text of the last message.
    last: String,
}

impl ChildTranscript {
    fn new(layout: &WorkdirLayout, session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            messages: SessionMessageReader::new(layout, session),
            rendered_messages: VecDeque::new(),
            n_bytes: 0,
            n_left_out: 0,
            last: String::new(),
        }
    }

    /// Adds the messages since the last call. Blocks while reading.
    fn read_new_messages(&mut self) -> Result<(), StoreError> {
        for message in self.messages.read_new()? {
            self.add_message(&message);
        }
        Ok(())
    }

    fn add_message(&mut self, message: &Value) {
        let word = |key: &str| message[key].as_str().unwrap_or_default();
        self.last = word("text").to_owned();
        let told = match MessageRole::deserialize(&message["role"]) {
            Ok(MessageRole::Tool) => render_call(&self.last),
            _ => format!("## {}\n\n{}\n\n", word("role"), self.last),
        };
        self.n_bytes += told.len();
        self.rendered_messages.push_back(told);
        while self.n_bytes > MAX_TRANSCRIPT_BYTES && self.rendered_messages.len() > 1 {
            let Some(oldest) = self.rendered_messages.pop_front() else {
                return;
            };
            self.n_bytes -= oldest.len();
            self.n_left_out += 1;
        }
    }

    /// Returns the messages, and the call that the agent is making.
    fn to_markdown(&self, doing: Option<&str>) -> String {
        let mut text = match self.n_left_out {
            0 => String::new(),
            n => format!(
                "*{} before this. Read all of them with `agent-collab sessions show {}`*\n\n",
                pluralize(n, "message"),
                self.session
            ),
        };
        text.extend(self.rendered_messages.iter().map(String::as_str));
        if let Some(doing) = doing.filter(|doing| self.last.lines().next() != Some(doing)) {
            text.push_str(&format!("◌ `{}` runs\n\n", doing.replace('`', "'")));
        }
        text
    }
}

/// Renders a call: its title, result and output.
fn render_call(text: &str) -> String {
    let mut lines = text.lines();
    let (call, end) = (lines.next().unwrap_or_default(), lines.next());
    let output: Vec<&str> = lines.collect();
    let head = format!(
        "▸ `{}` {}\n\n",
        call.replace('`', "'"),
        end.unwrap_or_default()
    );
    if output.is_empty() {
        head
    } else {
        // No output closes a fence this long.
        format!(
            "{head}{OUTPUT_FENCE}\n{}\n{OUTPUT_FENCE}\n\n",
            output.join("\n")
        )
    }
}

/// The fence around a call's output.
const OUTPUT_FENCE: &str = "````````````";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::WorkdirNames;

    fn story(messages: &[Value]) -> ChildTranscript {
        let place = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(place.path(), WorkdirNames::default()).unwrap();
        let mut story = ChildTranscript::new(&layout, &SessionId::new("ses_a"));
        messages
            .iter()
            .for_each(|message| story.add_message(message));
        story
    }

    #[test]
    fn a_session_is_told_with_its_calls_and_the_one_that_runs() {
        let messages = [
            json!({"role": "user", "text": "find it"}),
            json!({"role": "tool", "text": "command ls\ncompleted\na.rs\n```"}),
            json!({"role": "tool", "text": "command rm -rf x\nrefused: no"}),
            json!({"role": "assistant", "text": "There."}),
        ];
        let told = story(&messages).to_markdown(Some("command rg fn"));
        assert_eq!(
            told,
            format!(
                "## user\n\nfind it\n\n▸ `command ls` \
                completed\n\n{OUTPUT_FENCE}\na.rs\n```\n{OUTPUT_FENCE}\n\n▸ `command rm -rf x` \
                 refused: no\n\n## assistant\n\nThere.\n\n◌ `command rg fn` runs\n\n"
            )
        );
        let over = story(&messages[..2]).to_markdown(Some("command ls"));
        assert!(!over.contains("runs"), "{over}");
    }

    #[test]
    fn of_a_long_session_the_end_is_told_and_that_there_is_more() {
        let long = "x".repeat(MAX_TRANSCRIPT_BYTES / 4);
        let messages: Vec<Value> = (0..9)
            .map(|n| json!({"role": "assistant", "text": format!("{n} {long}")}))
            .collect();
        let told = story(&messages).to_markdown(None);
        assert!(
            told.starts_with("*6 messages before this. "),
            "{}",
            &told[..80]
        );
        assert!(told.contains("## assistant\n\n6 x") && told.contains("\n\n8 x"));
        assert!(told.len() < MAX_TRANSCRIPT_BYTES + 200);
    }
}
