//! Translates codex's items into events and tracks which of them are still open.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::bash_wrapper::strip_bash_wrapper;
use super::thread_items::{
    self, AgentMessageItem, CodexFileChange, CommandExecutionItem, FileChangeItem, McpCallItem,
    OtherToolItem, ReasoningItem, SubAgentActivityItem, ThreadItem, ThreadItemStatus,
    WebSearchItem,
};
use crate::adapter::{AdapterEvent, FileChange, FileChangeKind};
use crate::domain::event::{ToolCallDetail, ToolKind, ToolStatus};
use crate::permission::{AgentToolCall, SandboxReach};

/// The longest title of a tool, in characters.
const MAX_TITLE_CHARS: usize = 2_000;

/// Who produced an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodexSpeaker<'a> {
    /// The agent of our own thread.
    Agent,
    /// A sub-agent, identified by its thread.
    SubAgent(&'a str),
}

impl CodexSpeaker<'_> {
    /// Names an item of this speaker; items of different threads may have the same id.
    pub(super) fn qualify_item_id(self, item_id: &str) -> String {
        match self {
            Self::Agent => item_id.to_owned(),
            Self::SubAgent(thread_id) => format!("{thread_id}:{item_id}"),
        }
    }
}

/// What the start of a tool says about it.
struct ItemLabel {
    tool: ToolKind,
    title: String,
    detail: ToolCallDetail,
}

/// The unfinished items of the running turn, and what its patches change.
#[derive(Debug, Default)]
pub(super) struct OpenItems {
    /// Blocks of text and thinking that have shown deltas, in order.
    texts: Vec<String>,
    /// Tools that started and have not ended, in order.
    tools: Vec<String>,
    /// The file changes of each patch in the turn.
    changes: BTreeMap<String, Vec<FileChange>>,
}

impl OpenItems {
    /// Handles a text delta of our own agent.
    pub(super) fn on_text_delta(&mut self, item: String, text: String) -> AdapterEvent {
        self.track_open_text(&item);
        AdapterEvent::TextDelta { item, text }
    }

    /// Handles a thinking delta of our own agent.
    pub(super) fn on_thinking_delta(&mut self, item: String, text: String) -> AdapterEvent {
        self.track_open_text(&item);
        AdapterEvent::ThinkingDelta { item, text }
    }

    fn track_open_text(&mut self, item: &str) {
        if !self.texts.iter().any(|open| open == item) {
            self.texts.push(item.to_owned());
        }
    }

    /// Stores the current list of changes of a patch.
    pub(super) fn on_patch_changes(
        &mut self,
        item: String,
        changes: &[CodexFileChange],
    ) -> Option<AdapterEvent> {
        let changes: Vec<_> = changes.iter().map(file_change).collect();
        if changes.is_empty() || self.changes.get(&item) == Some(&changes) {
            return None;
        }
        self.changes.insert(item.clone(), changes.clone());
        Some(AdapterEvent::FilesChanged { item, changes })
    }

    /// Returns the changes of a patch, as far as codex reported them.
    pub(super) fn changes_of_patch(&self, item: &str) -> &[FileChange] {
        self.changes.get(item).map_or(&[], Vec::as_slice)
    }

    /// Withdraws all unfinished text, because the request is repeated from its start.
    pub(super) fn withdraw_texts(&mut self) -> Vec<AdapterEvent> {
        let texts = std::mem::take(&mut self.texts).into_iter();
        texts
            .map(|item| AdapterEvent::BlockWithdrawn { item })
            .collect()
    }

    /// Closes everything that is still open and clears the state of the turn.
    pub(super) fn close_turn(&mut self) -> Vec<AdapterEvent> {
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

    /// Handles an item that started.
    pub(super) fn on_started(
        &mut self,
        speaker: CodexSpeaker,
        item: &ThreadItem,
    ) -> Vec<AdapterEvent> {
        match item {
            ThreadItem::Command(command) => {
                let call = command_call(command);
                self.start_call(speaker, &command.id, command_label(command), call)
            }
            ThreadItem::Patch(patch) => self.start_patch(speaker, patch),
            ThreadItem::McpCall(mcp) => self.start_tool(speaker, &mcp.id, mcp_call_label(mcp)),
            ThreadItem::WebSearch(search) => {
                self.start_tool(speaker, &search.id, web_search_label(search))
            }
            ThreadItem::OtherTool(tool) => {
                let call = tool.read_call();
                self.start_call(speaker, &tool.id, other_tool_label(tool), call)
            }
            // These items carry all their content when they end.
            ThreadItem::Message(_)
            | ThreadItem::Reasoning(_)
            | ThreadItem::SubAgent(_)
            | ThreadItem::Compaction
            | ThreadItem::EchoedPrompt
            | ThreadItem::Unknown { .. } => Vec::new(),
        }
    }

    /// Handles an item that ended.
    pub(super) fn on_completed(
        &mut self,
        speaker: CodexSpeaker,
        item: ThreadItem,
    ) -> Vec<AdapterEvent> {
        match item {
            ThreadItem::Message(message) => self.end_message(speaker, message),
            ThreadItem::Reasoning(reasoning) => self.end_reasoning(speaker, reasoning),
            ThreadItem::Command(command) => self.end_command(speaker, command),
            ThreadItem::Patch(patch) => self.end_patch(speaker, &patch),
            ThreadItem::McpCall(mcp) => self.end_mcp_call(speaker, mcp),
            ThreadItem::WebSearch(search) => self.end_web_search(speaker, &search),
            ThreadItem::OtherTool(tool) => self.end_other_tool(speaker, tool),
            ThreadItem::SubAgent(activity) => vec![sub_agent_notice(&activity)],
            ThreadItem::Compaction => vec![AdapterEvent::Notice {
                text: "codex shortened the conversation to make room".to_owned(),
            }],
            ThreadItem::EchoedPrompt | ThreadItem::Unknown { .. } => Vec::new(),
        }
    }

    fn start_tool(
        &mut self,
        speaker: CodexSpeaker,
        id: &str,
        label: ItemLabel,
    ) -> Vec<AdapterEvent> {
        self.start_call(speaker, id, label, None)
    }

    fn start_call(
        &mut self,
        speaker: CodexSpeaker,
        id: &str,
        label: ItemLabel,
        call: Option<AgentToolCall>,
    ) -> Vec<AdapterEvent> {
        let call = call.filter(|_| speaker == CodexSpeaker::Agent);
        let item = speaker.qualify_item_id(id);
        if self.tools.contains(&item) {
            return Vec::new();
        }
        self.tools.push(item.clone());
        vec![AdapterEvent::ToolStarted {
            item,
            tool: label.tool,
            title: first_line_title(&label.title),
            call: call.map(Box::new),
            detail: label.detail,
        }]
    }

    fn start_patch(&mut self, speaker: CodexSpeaker, patch: &FileChangeItem) -> Vec<AdapterEvent> {
        let mut events = self.start_tool(speaker, &patch.id, patch_label(patch));
        events.extend(self.on_patch_changes(speaker.qualify_item_id(&patch.id), &patch.changes));
        events
    }

    /// Ends a tool; a tool whose start was never reported (a call refused at once) also starts here.
    fn end_tool_item(
        &mut self,
        speaker: CodexSpeaker,
        id: &str,
        label: ItemLabel,
        status: ThreadItemStatus,
        exit_code: Option<i32>,
        output: String,
    ) -> Vec<AdapterEvent> {
        let mut events = self.start_tool(speaker, id, label);
        let item = speaker.qualify_item_id(id);
        self.tools.retain(|open| *open != item);
        events.push(AdapterEvent::ToolEnded {
            item,
            status: tool_status(status),
            exit_code,
            output,
        });
        events
    }

    fn end_message(
        &mut self,
        speaker: CodexSpeaker,
        message: AgentMessageItem,
    ) -> Vec<AdapterEvent> {
        match speaker {
            CodexSpeaker::Agent => {
                self.texts.retain(|open| *open != message.id);
                let AgentMessageItem { id: item, text } = message;
                vec![AdapterEvent::Text { item, text }]
            }
            CodexSpeaker::SubAgent(_) => vec![AdapterEvent::Notice {
                text: format!("a sub-agent says: {}", message.text),
            }],
        }
    }

    fn end_reasoning(
        &mut self,
        speaker: CodexSpeaker,
        reasoning: ReasoningItem,
    ) -> Vec<AdapterEvent> {
        if speaker != CodexSpeaker::Agent {
            return Vec::new();
        }
        let ReasoningItem {
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
            (true, true) => vec![AdapterEvent::BlockWithdrawn { item }],
            (true, false) => Vec::new(),
        }
    }

    fn end_command(
        &mut self,
        speaker: CodexSpeaker,
        command: CommandExecutionItem,
    ) -> Vec<AdapterEvent> {
        let label = command_label(&command);
        let output = command.aggregated_output.unwrap_or_default();
        let end = (command.status, command.exit_code, output);
        self.end_tool_item(speaker, &command.id, label, end.0, end.1, end.2)
    }

    fn end_patch(&mut self, speaker: CodexSpeaker, patch: &FileChangeItem) -> Vec<AdapterEvent> {
        let mut events = self.start_patch(speaker, patch);
        let end = (patch.status, None, String::new());
        events.extend(self.end_tool_item(
            speaker,
            &patch.id,
            patch_label(patch),
            end.0,
            end.1,
            end.2,
        ));
        events
    }

    fn end_mcp_call(&mut self, speaker: CodexSpeaker, mcp: McpCallItem) -> Vec<AdapterEvent> {
        let label = mcp_call_label(&mcp);
        let output = match (mcp.error, mcp.result) {
            (Some(error), _) => error.message,
            (None, Some(result)) => thread_items::join_content_texts(&result.content),
            (None, None) => String::new(),
        };
        self.end_tool_item(speaker, &mcp.id, label, mcp.status, None, output)
    }

    fn end_web_search(
        &mut self,
        speaker: CodexSpeaker,
        search: &WebSearchItem,
    ) -> Vec<AdapterEvent> {
        let end = (ThreadItemStatus::Completed, None, String::new());
        self.end_tool_item(
            speaker,
            &search.id,
            web_search_label(search),
            end.0,
            end.1,
            end.2,
        )
    }

    fn end_other_tool(&mut self, speaker: CodexSpeaker, tool: OtherToolItem) -> Vec<AdapterEvent> {
        let label = other_tool_label(&tool);
        // A tool without a status of its own succeeded if it ended.
        let status = match tool.status {
            ThreadItemStatus::Unknown | ThreadItemStatus::InProgress => ThreadItemStatus::Completed,
            told @ (ThreadItemStatus::Completed
            | ThreadItemStatus::Failed
            | ThreadItemStatus::Declined) => told,
        };
        self.end_tool_item(speaker, &tool.id, label, status, None, tool.output)
    }
}

fn command_label(command: &CommandExecutionItem) -> ItemLabel {
    let line = strip_bash_wrapper(&command.command);
    ItemLabel {
        tool: ToolKind::Command,
        detail: ToolCallDetail::of_command(&line),
        title: line,
    }
}

fn command_call(command: &CommandExecutionItem) -> Option<AgentToolCall> {
    Some(AgentToolCall::Command {
        line: strip_bash_wrapper(&command.command),
        cwd: command.cwd.clone()?,
        reach: SandboxReach::Contained,
    })
}

fn patch_label(patch: &FileChangeItem) -> ItemLabel {
    let paths = patch.changes.iter().map(|change| change.path.clone());
    let paths: Vec<String> = paths.collect();
    ItemLabel {
        tool: ToolKind::Edit,
        title: paths.join(", "),
        detail: ToolCallDetail::Edit(paths),
    }
}

fn mcp_call_label(mcp: &McpCallItem) -> ItemLabel {
    let name = format!("{}.{}", mcp.server, mcp.tool);
    ItemLabel {
        tool: ToolKind::Mcp,
        title: format!("{name} {}", mcp.arguments),
        detail: ToolCallDetail::of_mcp_tool(&name),
    }
}

fn web_search_label(search: &WebSearchItem) -> ItemLabel {
    ItemLabel {
        tool: ToolKind::Search,
        title: search.query.clone(),
        detail: ToolCallDetail::Plain,
    }
}

fn other_tool_label(tool: &OtherToolItem) -> ItemLabel {
    ItemLabel {
        tool: tool.name.clone(),
        title: tool.title.clone(),
        detail: ToolCallDetail::Plain,
    }
}

fn sub_agent_notice(activity: &SubAgentActivityItem) -> AdapterEvent {
    AdapterEvent::Notice {
        text: format!("sub-agent {}: {}", activity.agent_path, activity.kind),
    }
}

fn tool_status(status: ThreadItemStatus) -> ToolStatus {
    match status {
        ThreadItemStatus::Completed => ToolStatus::Completed,
        ThreadItemStatus::Failed => ToolStatus::Failed,
        ThreadItemStatus::Declined => ToolStatus::Declined,
        ThreadItemStatus::InProgress | ThreadItemStatus::Unknown => ToolStatus::Abandoned,
    }
}

fn file_change(change: &CodexFileChange) -> FileChange {
    let kind = match &change.kind {
        thread_items::CodexFileChangeKind::Add => FileChangeKind::Add,
        thread_items::CodexFileChangeKind::Delete => FileChangeKind::Delete,
        thread_items::CodexFileChangeKind::Update { move_path: None } => FileChangeKind::Update,
        thread_items::CodexFileChangeKind::Update {
            move_path: Some(path),
        } => FileChangeKind::Move(PathBuf::from(path)),
    };
    FileChange::new(PathBuf::from(&change.path), kind, change.diff.clone())
}

/// Returns the first line of a text; a mark replaces further lines.
fn first_line_title(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    let mut title: String = first.chars().take(MAX_TITLE_CHARS).collect();
    if title.len() < first.len() || lines.next().is_some() {
        title.push('…');
    }
    title
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::event::CommandAccess;
    use crate::domain::own_tool::OwnTool;

    fn detail_of(item: Value) -> ToolCallDetail {
        let item = thread_items::parse_item(item).unwrap();
        let events = OpenItems::default().on_started(CodexSpeaker::Agent, &item);
        match events.into_iter().next() {
            Some(AdapterEvent::ToolStarted { detail, .. }) => detail,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_is_known_by_its_item_and_not_by_its_title() {
        let mcp = |server: &str, tool: &str| {
            detail_of(json!({
                "type": "mcpToolCall", "id": "1", "status": "inProgress",
                "server": server, "tool": tool, "arguments": {},
            }))
        };
        let own = ToolCallDetail::OwnTool(OwnTool::TodoWrite);
        assert_eq!(mcp("agent_collab", "todowrite"), own);
        assert_eq!(mcp("agent_collab", "nothing"), ToolCallDetail::Plain);
        assert_eq!(mcp("notes", "todowrite"), ToolCallDetail::Plain);
        let image = json!({"type": "imageView", "id": "1", "path": "agent_collab.ask_user"});
        assert_eq!(detail_of(image), ToolCallDetail::Plain);
        let command = |line: &str| {
            detail_of(json!({
                "type": "commandExecution", "id": "1", "status": "inProgress", "command": line,
            }))
        };
        let reads = ToolCallDetail::Command(CommandAccess::ReadOnly);
        assert_eq!(command("ls\ncat a"), reads);
        let writes = ToolCallDetail::Command(CommandAccess::MayWrite);
        assert_eq!(command("ls\nrm a"), writes);
    }
}
