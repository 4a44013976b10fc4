//! Translates the agent's messages into events: deltas, finished blocks, tool calls and their results.
//!
//! Deltas may be withdrawn; a finished block replaces them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::messages_api::{
    AssistantFrame, BlockHead, ContentBlock, ContentBlockDelta, MessagesApiEvent, StreamEventFrame,
    UserFrame, parse_content_block,
};
use super::tool_inputs;
use crate::adapter::AdapterEvent;
use crate::domain::event::{ToolKind, ToolStatus};

/// What is known about the messages of a process.
#[derive(Debug, Default)]
pub struct MessageTranslator {
    /// The folder in which commands run.
    cwd: PathBuf,
    partial_message: Option<PartialMessage>,
    n_blocks: BTreeMap<String, u64>,
    running_tools: BTreeMap<String, RunningTool>,
    allowed_calls: BTreeSet<String>,
    last_text: Option<LastText>,
}

/// The message that the model is writing.
#[derive(Debug)]
struct PartialMessage {
    message: String,
    blocks: BTreeMap<u64, PartialBlock>,
    completeness: MessageCompleteness,
}

/// Whether the service said that the message is complete.
#[derive(Debug, PartialEq, Eq)]
enum MessageCompleteness {
    Incomplete,
    Complete,
}

#[derive(Debug)]
struct PartialBlock {
    head: BlockHead,
    state: PartialBlockState,
}

#[derive(Debug, PartialEq, Eq)]
enum PartialBlockState {
    Silent,
    Shown,
    Finished,
}

#[derive(Debug)]
struct RunningTool {
    name: String,
}

#[derive(Debug)]
struct LastText {
    item: String,
    text: String,
}

/// The result of translating a part of a transcript line.
#[derive(Debug)]
pub enum TranslatorOutput {
    /// It became an event.
    Event(AdapterEvent),
    /// A part of the line is unknown.
    Unknown(String),
    /// A part of the line is broken.
    Malformed(String),
}

impl MessageTranslator {
    /// Creates the translator of a process that works in this folder.
    pub fn new(cwd: PathBuf) -> Self {
        Self {
            cwd,
            ..Self::default()
        }
    }

    /// Handles a stream event of a message that the model is writing.
    pub fn on_stream(&mut self, stream: StreamEventFrame) -> Vec<TranslatorOutput> {
        match stream.event {
            MessagesApiEvent::MessageStart { message } => self.on_message_start(message.id),
            MessagesApiEvent::ContentBlockStart {
                index,
                content_block,
            } => self.on_block_start(index, content_block),
            MessagesApiEvent::ContentBlockDelta { index, delta } => self.on_delta(index, delta),
            MessagesApiEvent::MessageDelta {} => self.on_message_complete(),
            MessagesApiEvent::MessageStop {} => self.on_message_stop(
                stream
                    .abandoned_blocks
                    .map(|blocks| blocks.from_block_index),
            ),
            MessagesApiEvent::ContentBlockStop {} | MessagesApiEvent::Ping {} => Vec::new(),
            MessagesApiEvent::Other => vec![TranslatorOutput::Unknown("stream_event".to_owned())],
        }
    }

    fn on_message_start(&mut self, message: String) -> Vec<TranslatorOutput> {
        let told = self.withdraw_unfinished();
        self.partial_message = Some(PartialMessage {
            message,
            blocks: BTreeMap::new(),
            completeness: MessageCompleteness::Incomplete,
        });
        told
    }

    fn on_block_start(&mut self, index: u64, head: BlockHead) -> Vec<TranslatorOutput> {
        let Some(writing) = &mut self.partial_message else {
            return vec![TranslatorOutput::Malformed(
                "stream_event: a block outside a message".to_owned(),
            )];
        };
        if writing.blocks.contains_key(&index) {
            return vec![TranslatorOutput::Malformed(format!(
                "stream_event: block {index} starts twice"
            ))];
        }
        writing.blocks.insert(
            index,
            PartialBlock {
                head,
                state: PartialBlockState::Silent,
            },
        );
        Vec::new()
    }

    fn on_delta(&mut self, index: u64, delta: ContentBlockDelta) -> Vec<TranslatorOutput> {
        let (head, piece) = match delta {
            ContentBlockDelta::Text { text } => (BlockHead::Text {}, text),
            ContentBlockDelta::Thinking { thinking } => (BlockHead::Thinking {}, thinking),
            ContentBlockDelta::InputJson {}
            | ContentBlockDelta::Signature {}
            | ContentBlockDelta::Citations {} => {
                return Vec::new();
            }
            ContentBlockDelta::Other => {
                return vec![TranslatorOutput::Unknown(
                    "stream_event/content_block_delta".to_owned(),
                )];
            }
        };
        let Some(item) = self.show_block(index, head) else {
            return vec![TranslatorOutput::Malformed(format!(
                "stream_event: a piece of block {index}, which is not being written"
            ))];
        };
        vec![TranslatorOutput::Event(match head {
            BlockHead::Thinking {} => AdapterEvent::ThinkingDelta { item, text: piece },
            BlockHead::Text {} | BlockHead::Other => AdapterEvent::TextDelta { item, text: piece },
        })]
    }

    /// Marks a block as shown and returns its name; `None` if no such block is open.
    fn show_block(&mut self, index: u64, head: BlockHead) -> Option<String> {
        let writing = self.partial_message.as_mut()?;
        let piece = writing.blocks.get_mut(&index)?;
        if piece.head != head || piece.state == PartialBlockState::Finished {
            return None;
        }
        piece.state = PartialBlockState::Shown;
        Some(block_item_id(&writing.message, index))
    }

    fn on_message_complete(&mut self) -> Vec<TranslatorOutput> {
        if let Some(writing) = &mut self.partial_message {
            writing.completeness = MessageCompleteness::Complete;
        }
        Vec::new()
    }

    /// Withdraws the unfinished blocks of a message that stops without being marked complete, because it was cut;
    /// all blocks from `abandoned` on are void too.
    fn on_message_stop(&mut self, abandoned: Option<u64>) -> Vec<TranslatorOutput> {
        let Some(writing) = &mut self.partial_message else {
            return Vec::new();
        };
        let cut = writing.completeness == MessageCompleteness::Incomplete;
        let mut void = Vec::new();
        for (index, piece) in &mut writing.blocks {
            let is_void = match piece.state {
                PartialBlockState::Silent => false,
                PartialBlockState::Shown => cut || abandoned.is_some_and(|from| *index >= from),
                PartialBlockState::Finished => {
                    piece.head != BlockHead::Other && abandoned.is_some_and(|from| *index >= from)
                }
            };
            if is_void {
                piece.state = PartialBlockState::Silent;
                void.push(block_item_id(&writing.message, *index));
            }
        }
        if self
            .last_text
            .as_ref()
            .is_some_and(|said| void.contains(&said.item))
        {
            self.last_text = None;
        }
        void.into_iter().map(block_withdrawn).collect()
    }

    fn withdraw_unfinished(&mut self) -> Vec<TranslatorOutput> {
        let Some(writing) = self.partial_message.take() else {
            return Vec::new();
        };
        let shown = writing
            .blocks
            .iter()
            .filter(|(_, piece)| piece.state == PartialBlockState::Shown);
        shown
            .map(|(index, _)| block_withdrawn(block_item_id(&writing.message, *index)))
            .collect()
    }

    /// Handles finished blocks of the model.
    pub fn on_assistant(&mut self, assistant: AssistantFrame) -> Vec<TranslatorOutput> {
        let agent = assistant.agent_id.or(assistant.parent_tool_use_id);
        let message = match &agent {
            Some(agent) => format!("{agent}/{}", assistant.message.id),
            None => assistant.message.id,
        };
        let mut told = Vec::new();
        for block in &assistant.message.content {
            match parse_content_block(block) {
                Ok(parsed) => told.extend(self.on_block(&message, agent.as_deref(), parsed)),
                Err(problem) => told.push(TranslatorOutput::Malformed(problem)),
            }
        }
        told
    }

    fn on_block(
        &mut self,
        message: &str,
        agent: Option<&str>,
        block: ContentBlock,
    ) -> Vec<TranslatorOutput> {
        match block {
            ContentBlock::Text { text } => {
                let (item, before) = self.finish_block(message, BlockHead::Text {});
                if text.is_empty() && before == PartialBlockState::Silent {
                    return Vec::new();
                }
                if agent.is_none() {
                    self.last_text = Some(LastText {
                        item: item.clone(),
                        text: text.clone(),
                    });
                }
                vec![TranslatorOutput::Event(AdapterEvent::Text { item, text })]
            }
            ContentBlock::Thinking { thinking } => {
                let (item, before) = self.finish_block(message, BlockHead::Thinking {});
                if thinking.is_empty() && before == PartialBlockState::Silent {
                    return Vec::new();
                }
                vec![TranslatorOutput::Event(AdapterEvent::Thinking {
                    item,
                    text: thinking,
                })]
            }
            ContentBlock::ToolUse { id, name, input } => {
                self.finish_block(message, BlockHead::Other);
                self.on_tool_use(id, name, &input, agent)
            }
            ContentBlock::RedactedThinking {}
            | ContentBlock::Image {}
            | ContentBlock::Document {} => {
                self.finish_block(message, BlockHead::Other);
                Vec::new()
            }
            ContentBlock::ToolResult { tool_use_id, .. } => {
                vec![TranslatorOutput::Malformed(format!(
                    "assistant: a result of {tool_use_id} from the model itself"
                ))]
            }
            ContentBlock::Other => {
                self.finish_block(message, BlockHead::Other);
                vec![TranslatorOutput::Unknown("assistant/block".to_owned())]
            }
        }
    }

    /// Names a finished block and returns its earlier state. It takes the first open block of its kind in the message
    /// that is being written, or the next number if the message came whole.
    fn finish_block(&mut self, message: &str, head: BlockHead) -> (String, PartialBlockState) {
        let next = self.n_blocks.entry(message.to_owned()).or_default();
        if let Some(writing) = self
            .partial_message
            .as_mut()
            .filter(|writing| writing.message == message)
        {
            let open = writing.blocks.iter_mut().find(|(_, piece)| {
                piece.head == head && piece.state != PartialBlockState::Finished
            });
            if let Some((index, piece)) = open {
                let before = std::mem::replace(&mut piece.state, PartialBlockState::Finished);
                *next = (*next).max(index.saturating_add(1));
                return (block_item_id(message, *index), before);
            }
            let after = writing
                .blocks
                .keys()
                .next_back()
                .map_or(0, |last| last.saturating_add(1));
            *next = (*next).max(after);
        }
        let index = *next;
        *next = next.saturating_add(1);
        (block_item_id(message, index), PartialBlockState::Silent)
    }

    fn on_tool_use(
        &mut self,
        id: String,
        name: String,
        input: &Value,
        agent: Option<&str>,
    ) -> Vec<TranslatorOutput> {
        if self.running_tools.contains_key(&id) {
            return Vec::new();
        }
        let call = match agent {
            Some(_) => None,
            None => tool_inputs::parse_call(&name, input, &self.cwd),
        };
        let started = AdapterEvent::ToolStarted {
            call: call.map(Box::new),
            item: id.clone(),
            tool: tool_inputs::tool_kind(&name),
            detail: tool_inputs::call_detail(&name, input),
            title: tool_inputs::call_title(&name, input),
        };
        let changes = tool_inputs::proposed_changes(&name, input);
        let mut told = vec![TranslatorOutput::Event(started)];
        if !changes.is_empty() {
            told.push(TranslatorOutput::Event(AdapterEvent::FilesChanged {
                item: id.clone(),
                changes,
            }));
        }
        self.running_tools.insert(id, RunningTool { name });
        told
    }

    /// Records that a call was allowed, so that a later failure does not count as a denial.
    pub fn on_allowed(&mut self, call: &str) {
        self.allowed_calls.insert(call.to_owned());
    }

    /// Handles tool results; other user lines contain nothing of interest.
    pub fn on_user(&mut self, user: UserFrame) -> Vec<TranslatorOutput> {
        let Value::Array(blocks) = &user.message.content else {
            return Vec::new();
        };
        let mut told = Vec::new();
        for block in blocks {
            match parse_content_block(block) {
                Ok(ContentBlock::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                }) => {
                    let failed = is_error == Some(true);
                    told.extend(self.on_tool_result(
                        &user,
                        tool_use_id,
                        &tool_result_text(content),
                        failed.into(),
                    ));
                }
                Ok(ContentBlock::Other) => {
                    told.push(TranslatorOutput::Unknown("user/block".to_owned()))
                }
                Ok(_) => {}
                Err(problem) => told.push(TranslatorOutput::Malformed(problem)),
            }
        }
        told
    }

    fn on_tool_result(
        &mut self,
        user: &UserFrame,
        call: String,
        output: &str,
        outcome: ToolResultOutcome,
    ) -> Vec<TranslatorOutput> {
        let Some(tool) = self.running_tools.remove(&call) else {
            return Vec::new();
        };
        let was_allowed = self.allowed_calls.remove(&call);
        let refused = user
            .tool_result_meta
            .iter()
            .flatten()
            .any(|meta| meta.id == call && meta.non_execution_kind.is_some());
        // After an interrupt, claude marks even a running command as rejected; only the text shows that it ran.
        let ran = was_allowed || output.contains("this call was stopped while running");
        let status = match outcome {
            ToolResultOutcome::Succeeded => ToolStatus::Completed,
            ToolResultOutcome::Failed if refused && !ran => ToolStatus::Declined,
            ToolResultOutcome::Failed => ToolStatus::Failed,
        };
        let result = user.tool_use_result.as_ref();
        let mut told = Vec::new();
        if status == ToolStatus::Completed && tool_inputs::tool_kind(&tool.name) == ToolKind::Edit {
            let changes = result.map(tool_inputs::applied_changes).unwrap_or_default();
            if !changes.is_empty() {
                told.push(TranslatorOutput::Event(AdapterEvent::FilesChanged {
                    item: call.clone(),
                    changes,
                }));
            }
        }
        if status != ToolStatus::Completed {
            told.extend(tool_inputs::parse_missing_tool(output).map(TranslatorOutput::Event));
        }
        told.push(TranslatorOutput::Event(AdapterEvent::ToolEnded {
            item: call,
            status,
            exit_code: (tool.name == "Bash")
                .then(|| exit_code(outcome, output, result))
                .flatten(),
            output: output.to_owned(),
        }));
        told
    }

    /// Returns whether a tool runs.
    pub fn has_running_tool(&self) -> bool {
        !self.running_tools.is_empty()
    }

    /// Clears what belongs to the previous turn.
    pub fn begin_turn(&mut self) {
        self.last_text = None;
    }

    /// Returns the last text of the turn, if there is any.
    pub fn last_text(&self) -> Option<&str> {
        self.last_text.as_ref().map(|said| said.text.as_str())
    }

    /// Closes what is still open at the end of a turn.
    pub fn close_turn(&mut self) -> Vec<AdapterEvent> {
        let mut events: Vec<AdapterEvent> = self
            .withdraw_unfinished()
            .into_iter()
            .filter_map(into_event)
            .collect();
        for (item, _) in std::mem::take(&mut self.running_tools) {
            events.push(AdapterEvent::ToolEnded {
                item,
                status: ToolStatus::Abandoned,
                exit_code: None,
                output: String::new(),
            });
        }
        self.allowed_calls.clear();
        self.n_blocks.clear();
        events
    }
}

/// Whether a tool call succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolResultOutcome {
    Succeeded,
    Failed,
}

impl From<bool> for ToolResultOutcome {
    fn from(failed: bool) -> Self {
        if failed {
            Self::Failed
        } else {
            Self::Succeeded
        }
    }
}

/// Returns the exit code from a command's result: a failure starts with it, a plain success is 0.
fn exit_code(outcome: ToolResultOutcome, output: &str, result: Option<&Value>) -> Option<i32> {
    let said = |key| {
        result
            .and_then(|result| result.get(key))
            .is_some_and(|value| !value.is_null())
    };
    match outcome {
        ToolResultOutcome::Failed => output
            .strip_prefix("Exit code ")?
            .split_whitespace()
            .next()?
            .parse()
            .ok(),
        ToolResultOutcome::Succeeded
            if said("returnCodeInterpretation") || said("backgroundTaskId") =>
        {
            None
        }
        ToolResultOutcome::Succeeded => Some(0),
    }
}

/// Returns the text of a tool result, which is either a string or blocks.
pub(super) fn tool_result_text(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _none_or_odd => String::new(),
    }
}

fn block_item_id(message: &str, index: u64) -> String {
    format!("{message}:{index}")
}

fn block_withdrawn(item: String) -> TranslatorOutput {
    TranslatorOutput::Event(AdapterEvent::BlockWithdrawn { item })
}

fn into_event(told: TranslatorOutput) -> Option<AdapterEvent> {
    match told {
        TranslatorOutput::Event(event) => Some(event),
        TranslatorOutput::Unknown(_) | TranslatorOutput::Malformed(_) => None,
    }
}
