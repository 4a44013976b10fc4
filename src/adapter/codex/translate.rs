//! Turns items into the program's own events and remembers which of them are still open.
//!
//! Refuses to know requests, answers and how a turn ends.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::items::{
    self, Change, Command, Item, Mcp, Message, Patch, Reasoning, Search, Status, SubAgent, Tool,
};
use super::shell::without_wrapper;
use crate::adapter::{AdapterEvent, ChangeKind, FileChange, ToolStatus};

/// The longest title of a tool, in characters.
const TITLE_LIMIT: usize = 2_000;

/// Whose item it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker<'a> {
    /// The agent of our own thread.
    Agent,
    /// A sub-agent, by its thread.
    SubAgent(&'a str),
}

impl Speaker<'_> {
    /// Names an item of this speaker; items of different threads may bear the same id.
    pub(super) fn key(self, item_id: &str) -> String {
        match self {
            Self::Agent => item_id.to_owned(),
            Self::SubAgent(thread_id) => format!("{thread_id}:{item_id}"),
        }
    }
}

/// What of the running turn is unfinished, and what its patches change.
#[derive(Debug, Default)]
pub(super) struct OpenItems {
    /// Blocks of text and thinking that have shown deltas, in order.
    texts: Vec<String>,
    /// Tools that began and did not end, in order.
    tools: Vec<String>,
    /// What each patch of the turn changes.
    changes: BTreeMap<String, Vec<FileChange>>,
}

impl OpenItems {
    /// Takes a piece of a message of our own agent.
    pub(super) fn on_text(&mut self, item: String, text: String) -> AdapterEvent {
        self.note_text(&item);
        AdapterEvent::TextDelta { item, text }
    }

    /// Takes a piece of our own agent's thinking.
    pub(super) fn on_thinking(&mut self, item: String, text: String) -> AdapterEvent {
        self.note_text(&item);
        AdapterEvent::ThinkingDelta { item, text }
    }

    fn note_text(&mut self, item: &str) {
        if !self.texts.iter().any(|open| open == item) {
            self.texts.push(item.to_owned());
        }
    }

    /// Takes a new list of what a patch changes.
    pub(super) fn on_changes(&mut self, item: String, changes: &[Change]) -> Option<AdapterEvent> {
        let changes: Vec<_> = changes.iter().map(file_change).collect();
        if changes.is_empty() || self.changes.get(&item) == Some(&changes) {
            return None;
        }
        self.changes.insert(item.clone(), changes.clone());
        Some(AdapterEvent::FilesChanged { item, changes })
    }

    /// Returns what a patch changes, as far as codex told.
    pub(super) fn changes(&self, item: &str) -> &[FileChange] {
        self.changes.get(item).map_or(&[], Vec::as_slice)
    }

    /// Takes back all unfinished text: the request is made again from its start.
    pub(super) fn withdraw_texts(&mut self) -> Vec<AdapterEvent> {
        let texts = std::mem::take(&mut self.texts).into_iter();
        texts.map(|item| AdapterEvent::Withdrawn { item }).collect()
    }

    /// Closes everything that is still open and forgets the turn.
    pub(super) fn close(&mut self) -> Vec<AdapterEvent> {
        let mut events = self.withdraw_texts();
        let tools = std::mem::take(&mut self.tools).into_iter();
        events.extend(tools.map(|item| AdapterEvent::ToolEnded {
            item,
            status: ToolStatus::Abandoned,
            exit_code: None,
            output: String::new(),
        }));
        self.changes.clear();
        events
    }

    /// Takes an item that began.
    pub(super) fn on_started(&mut self, speaker: Speaker, item: &Item) -> Vec<AdapterEvent> {
        match item {
            Item::Command(command) => self.start(speaker, &command.id, command_words(command)),
            Item::Patch(patch) => self.start_patch(speaker, patch),
            Item::Mcp(mcp) => self.start(speaker, &mcp.id, mcp_words(mcp)),
            Item::Search(search) => self.start(speaker, &search.id, search_words(search)),
            Item::Tool(tool) => self.start(speaker, &tool.id, tool_words(tool)),
            // These say at their end all that there is to say.
            Item::Message(_)
            | Item::Reasoning(_)
            | Item::SubAgent(_)
            | Item::Compaction
            | Item::Echo
            | Item::Unknown { .. } => Vec::new(),
        }
    }

    /// Takes an item that ended.
    pub(super) fn on_completed(&mut self, speaker: Speaker, item: Item) -> Vec<AdapterEvent> {
        match item {
            Item::Message(message) => self.end_message(speaker, message),
            Item::Reasoning(reasoning) => self.end_reasoning(speaker, reasoning),
            Item::Command(command) => self.end_command(speaker, command),
            Item::Patch(patch) => self.end_patch(speaker, &patch),
            Item::Mcp(mcp) => self.end_mcp(speaker, mcp),
            Item::Search(search) => self.end_search(speaker, &search),
            Item::Tool(tool) => self.end_tool(speaker, tool),
            Item::SubAgent(activity) => vec![sub_agent_notice(&activity)],
            Item::Compaction => vec![AdapterEvent::Notice {
                text: "codex shortened the conversation to make room".to_owned(),
            }],
            Item::Echo | Item::Unknown { .. } => Vec::new(),
        }
    }

    fn start(
        &mut self,
        speaker: Speaker,
        id: &str,
        (tool, title): (String, String),
    ) -> Vec<AdapterEvent> {
        let item = speaker.key(id);
        if self.tools.contains(&item) {
            return Vec::new();
        }
        self.tools.push(item.clone());
        let title = one_line(&title);
        vec![AdapterEvent::ToolStarted { item, tool, title }]
    }

    fn start_patch(&mut self, speaker: Speaker, patch: &Patch) -> Vec<AdapterEvent> {
        let mut events = self.start(speaker, &patch.id, patch_words(patch));
        events.extend(self.on_changes(speaker.key(&patch.id), &patch.changes));
        events
    }

    /// Ends a tool; one whose beginning was never told (a call refused at once) begins here.
    fn end(
        &mut self,
        speaker: Speaker,
        id: &str,
        words: (String, String),
        (status, exit_code, output): (Status, Option<i32>, String),
    ) -> Vec<AdapterEvent> {
        let mut events = self.start(speaker, id, words);
        let item = speaker.key(id);
        self.tools.retain(|open| *open != item);
        events.push(AdapterEvent::ToolEnded {
            item,
            status: tool_status(status),
            exit_code,
            output,
        });
        events
    }

    fn end_message(&mut self, speaker: Speaker, message: Message) -> Vec<AdapterEvent> {
        match speaker {
            Speaker::Agent => {
                self.texts.retain(|open| *open != message.id);
                let Message { id: item, text } = message;
                vec![AdapterEvent::Text { item, text }]
            }
            Speaker::SubAgent(_) => vec![AdapterEvent::Notice {
                text: format!("a sub-agent says: {}", message.text),
            }],
        }
    }

    fn end_reasoning(&mut self, speaker: Speaker, reasoning: Reasoning) -> Vec<AdapterEvent> {
        if speaker != Speaker::Agent {
            return Vec::new();
        }
        let Reasoning {
            id: item,
            summary,
            content,
        } = reasoning;
        let n_open = self.texts.len();
        self.texts.retain(|open| *open != item);
        let parts = if summary.is_empty() { content } else { summary };
        let text = parts.join("\n\n");
        match (text.is_empty(), self.texts.len() < n_open) {
            (false, _) => vec![AdapterEvent::Thinking { item, text }],
            (true, true) => vec![AdapterEvent::Withdrawn { item }],
            (true, false) => Vec::new(),
        }
    }

    fn end_command(&mut self, speaker: Speaker, command: Command) -> Vec<AdapterEvent> {
        let words = command_words(&command);
        let output = command.aggregated_output.unwrap_or_default();
        let end = (command.status, command.exit_code, output);
        self.end(speaker, &command.id, words, end)
    }

    fn end_patch(&mut self, speaker: Speaker, patch: &Patch) -> Vec<AdapterEvent> {
        let mut events = self.start_patch(speaker, patch);
        let end = (patch.status, None, String::new());
        events.extend(self.end(speaker, &patch.id, patch_words(patch), end));
        events
    }

    fn end_mcp(&mut self, speaker: Speaker, mcp: Mcp) -> Vec<AdapterEvent> {
        let words = mcp_words(&mcp);
        let output = match (mcp.error, mcp.result) {
            (Some(error), _) => error.message,
            (None, Some(result)) => items::contents_text(&result.content),
            (None, None) => String::new(),
        };
        self.end(speaker, &mcp.id, words, (mcp.status, None, output))
    }

    fn end_search(&mut self, speaker: Speaker, search: &Search) -> Vec<AdapterEvent> {
        let end = (Status::Completed, None, String::new());
        self.end(speaker, &search.id, search_words(search), end)
    }

    fn end_tool(&mut self, speaker: Speaker, tool: Tool) -> Vec<AdapterEvent> {
        let words = tool_words(&tool);
        // A tool without a state of its own has ended well once it has ended.
        let status = match tool.status {
            Status::Unknown | Status::InProgress => Status::Completed,
            told @ (Status::Completed | Status::Failed | Status::Declined) => told,
        };
        self.end(speaker, &tool.id, words, (status, None, tool.output))
    }
}

fn command_words(command: &Command) -> (String, String) {
    ("command".to_owned(), without_wrapper(&command.command))
}

fn patch_words(patch: &Patch) -> (String, String) {
    let paths = patch.changes.iter().map(|change| change.path.as_str());
    ("edit".to_owned(), paths.collect::<Vec<_>>().join(", "))
}

fn mcp_words(mcp: &Mcp) -> (String, String) {
    let title = format!("{}.{} {}", mcp.server, mcp.tool, mcp.arguments);
    ("mcp".to_owned(), title)
}

fn search_words(search: &Search) -> (String, String) {
    ("search".to_owned(), search.query.clone())
}

fn tool_words(tool: &Tool) -> (String, String) {
    (tool.name.clone(), tool.title.clone())
}

fn sub_agent_notice(activity: &SubAgent) -> AdapterEvent {
    AdapterEvent::Notice {
        text: format!("sub-agent {}: {}", activity.agent_path, activity.kind),
    }
}

fn tool_status(status: Status) -> ToolStatus {
    match status {
        Status::Completed => ToolStatus::Completed,
        Status::Failed => ToolStatus::Failed,
        Status::Declined => ToolStatus::Declined,
        Status::InProgress | Status::Unknown => ToolStatus::Abandoned,
    }
}

fn file_change(change: &Change) -> FileChange {
    let kind = match &change.kind {
        items::ChangeKind::Add => ChangeKind::Add,
        items::ChangeKind::Delete => ChangeKind::Delete,
        items::ChangeKind::Update { move_path: None } => ChangeKind::Update,
        items::ChangeKind::Update {
            move_path: Some(path),
        } => ChangeKind::Move(PathBuf::from(path)),
    };
    FileChange {
        path: PathBuf::from(&change.path),
        kind,
        diff: change.diff.clone(),
    }
}

/// Makes one line of a text: further lines are left out and a mark says so.
fn one_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    let mut title: String = first.chars().take(TITLE_LIMIT).collect();
    if title.len() < first.len() || lines.next().is_some() {
        title.push('…');
    }
    title
}
