//! The agent's messages: pieces, finished blocks, tool calls and their results become events.
//!
//! Refuses to know turns and requests. Pieces may be withdrawn; a finished block replaces them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::messages::{Assistant, Block, BlockHead, Delta, Sse, Stream, User, parse_block};
use super::tools;
use crate::adapter::{AdapterEvent, ToolStatus};

/// What is known of the messages of a process.
#[derive(Debug, Default)]
pub struct Transcript {
    writing: Option<Writing>,
    n_blocks: BTreeMap<String, u64>,
    tools: BTreeMap<String, Tool>,
    allowed: BTreeSet<String>,
    last_text: Option<Said>,
}

/// The message that is being written.
#[derive(Debug)]
struct Writing {
    message: String,
    blocks: BTreeMap<u64, Piece>,
    whole: Whole,
}

/// Whether the service said that the message is whole.
#[derive(Debug, PartialEq, Eq)]
enum Whole {
    NotYet,
    Yes,
}

#[derive(Debug)]
struct Piece {
    head: BlockHead,
    state: PieceState,
}

#[derive(Debug, PartialEq, Eq)]
enum PieceState {
    Silent,
    Shown,
    Finished,
}

#[derive(Debug)]
struct Tool {
    name: String,
}

#[derive(Debug)]
struct Said {
    item: String,
    text: String,
}

/// What came of a line of the transcript.
#[derive(Debug)]
pub enum Told {
    /// Something that happened.
    Event(AdapterEvent),
    /// A part of the line is unknown.
    Unknown(String),
    /// A part of the line is broken.
    Malformed(String),
}

impl Transcript {
    /// Takes a piece of a message that is being written.
    pub fn on_stream(&mut self, stream: Stream) -> Vec<Told> {
        match stream.event {
            Sse::MessageStart { message } => self.on_message_start(message.id),
            Sse::ContentBlockStart {
                index,
                content_block,
            } => self.on_block_start(index, content_block),
            Sse::ContentBlockDelta { index, delta } => self.on_delta(index, delta),
            Sse::MessageDelta {} => self.on_message_whole(),
            Sse::MessageStop {} => self.on_message_stop(
                stream
                    .abandoned_blocks
                    .map(|blocks| blocks.from_block_index),
            ),
            Sse::ContentBlockStop {} | Sse::Ping {} => Vec::new(),
            Sse::Other => vec![Told::Unknown("stream_event".to_owned())],
        }
    }

    fn on_message_start(&mut self, message: String) -> Vec<Told> {
        let told = self.withdraw_unfinished();
        self.writing = Some(Writing {
            message,
            blocks: BTreeMap::new(),
            whole: Whole::NotYet,
        });
        told
    }

    fn on_block_start(&mut self, index: u64, head: BlockHead) -> Vec<Told> {
        let Some(writing) = &mut self.writing else {
            return vec![Told::Malformed(
                "stream_event: a block outside a message".to_owned(),
            )];
        };
        if writing.blocks.contains_key(&index) {
            return vec![Told::Malformed(format!(
                "stream_event: block {index} begins twice"
            ))];
        }
        writing.blocks.insert(
            index,
            Piece {
                head,
                state: PieceState::Silent,
            },
        );
        Vec::new()
    }

    fn on_delta(&mut self, index: u64, delta: Delta) -> Vec<Told> {
        let (head, piece) = match delta {
            Delta::Text { text } => (BlockHead::Text {}, text),
            Delta::Thinking { thinking } => (BlockHead::Thinking {}, thinking),
            Delta::InputJson {} | Delta::Signature {} | Delta::Citations {} => {
                return Vec::new();
            }
            Delta::Other => {
                return vec![Told::Unknown("stream_event/content_block_delta".to_owned())];
            }
        };
        let Some(item) = self.grow(index, head) else {
            return vec![Told::Malformed(format!(
                "stream_event: a piece of block {index}, which is not being written"
            ))];
        };
        vec![Told::Event(match head {
            BlockHead::Thinking {} => AdapterEvent::ThinkingDelta { item, text: piece },
            BlockHead::Text {} | BlockHead::Other => AdapterEvent::TextDelta { item, text: piece },
        })]
    }

    /// Notes that a block is shown and returns its name; `None` when no such block is open.
    fn grow(&mut self, index: u64, head: BlockHead) -> Option<String> {
        let writing = self.writing.as_mut()?;
        let piece = writing.blocks.get_mut(&index)?;
        if piece.head != head || piece.state == PieceState::Finished {
            return None;
        }
        piece.state = PieceState::Shown;
        Some(item(&writing.message, index))
    }

    fn on_message_whole(&mut self) -> Vec<Told> {
        if let Some(writing) = &mut self.writing {
            writing.whole = Whole::Yes;
        }
        Vec::new()
    }

    /// A message that stops without having been called whole was cut: its unfinished blocks are void, and
    /// so are all from `abandoned` on.
    fn on_message_stop(&mut self, abandoned: Option<u64>) -> Vec<Told> {
        let Some(writing) = &mut self.writing else {
            return Vec::new();
        };
        let cut = writing.whole == Whole::NotYet;
        let mut void = Vec::new();
        for (index, piece) in &mut writing.blocks {
            let is_void = match piece.state {
                PieceState::Silent => false,
                PieceState::Shown => cut || abandoned.is_some_and(|from| *index >= from),
                PieceState::Finished => {
                    piece.head != BlockHead::Other && abandoned.is_some_and(|from| *index >= from)
                }
            };
            if is_void {
                piece.state = PieceState::Silent;
                void.push(item(&writing.message, *index));
            }
        }
        if self
            .last_text
            .as_ref()
            .is_some_and(|said| void.contains(&said.item))
        {
            self.last_text = None;
        }
        void.into_iter().map(withdrawn).collect()
    }

    fn withdraw_unfinished(&mut self) -> Vec<Told> {
        let Some(writing) = self.writing.take() else {
            return Vec::new();
        };
        let shown = writing
            .blocks
            .iter()
            .filter(|(_, piece)| piece.state == PieceState::Shown);
        shown
            .map(|(index, _)| withdrawn(item(&writing.message, *index)))
            .collect()
    }

    /// Takes finished blocks of the model.
    pub fn on_assistant(&mut self, assistant: Assistant) -> Vec<Told> {
        let agent = assistant.agent_id.or(assistant.parent_tool_use_id);
        let message = match &agent {
            Some(agent) => format!("{agent}/{}", assistant.message.id),
            None => assistant.message.id,
        };
        let mut told = Vec::new();
        for block in &assistant.message.content {
            match parse_block(block) {
                Ok(parsed) => told.extend(self.on_block(&message, agent.as_deref(), parsed)),
                Err(problem) => told.push(Told::Malformed(problem)),
            }
        }
        told
    }

    fn on_block(&mut self, message: &str, agent: Option<&str>, block: Block) -> Vec<Told> {
        match block {
            Block::Text { text } => {
                let (item, before) = self.finish(message, BlockHead::Text {});
                if text.is_empty() && before == PieceState::Silent {
                    return Vec::new();
                }
                if agent.is_none() {
                    self.last_text = Some(Said {
                        item: item.clone(),
                        text: text.clone(),
                    });
                }
                vec![Told::Event(AdapterEvent::Text { item, text })]
            }
            Block::Thinking { thinking } => {
                let (item, before) = self.finish(message, BlockHead::Thinking {});
                if thinking.is_empty() && before == PieceState::Silent {
                    return Vec::new();
                }
                vec![Told::Event(AdapterEvent::Thinking {
                    item,
                    text: thinking,
                })]
            }
            Block::ToolUse { id, name, input } => {
                self.finish(message, BlockHead::Other);
                self.on_call(id, name, &input)
            }
            Block::RedactedThinking {} | Block::Image {} | Block::Document {} => {
                self.finish(message, BlockHead::Other);
                Vec::new()
            }
            Block::ToolResult { tool_use_id, .. } => {
                vec![Told::Malformed(format!(
                    "assistant: a result of {tool_use_id} from the model itself"
                ))]
            }
            Block::Other => {
                self.finish(message, BlockHead::Other);
                vec![Told::Unknown("assistant/block".to_owned())]
            }
        }
    }

    /// Names a finished block: the first open one of its kind in the message that is being written, or the
    /// next number where the message came whole. Returns also how far it was.
    fn finish(&mut self, message: &str, head: BlockHead) -> (String, PieceState) {
        let next = self.n_blocks.entry(message.to_owned()).or_default();
        if let Some(writing) = self
            .writing
            .as_mut()
            .filter(|writing| writing.message == message)
        {
            let open = writing
                .blocks
                .iter_mut()
                .find(|(_, piece)| piece.head == head && piece.state != PieceState::Finished);
            if let Some((index, piece)) = open {
                let before = std::mem::replace(&mut piece.state, PieceState::Finished);
                *next = (*next).max(index.saturating_add(1));
                return (item(message, *index), before);
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
        (item(message, index), PieceState::Silent)
    }

    fn on_call(&mut self, id: String, name: String, input: &Value) -> Vec<Told> {
        if self.tools.contains_key(&id) {
            return Vec::new();
        }
        let started = AdapterEvent::ToolStarted {
            item: id.clone(),
            tool: tools::kind(&name).to_owned(),
            title: tools::title(&name, input),
        };
        let changes = tools::changes(&name, input);
        let mut told = vec![Told::Event(started)];
        if !changes.is_empty() {
            told.push(Told::Event(AdapterEvent::FilesChanged {
                item: id.clone(),
                changes,
            }));
        }
        self.tools.insert(id, Tool { name });
        told
    }

    /// Notes that a call was allowed, so that its failing later is no refusal.
    pub fn on_allowed(&mut self, call: &str) {
        self.allowed.insert(call.to_owned());
    }

    /// Takes results of tools; other user lines tell nothing.
    pub fn on_user(&mut self, user: User) -> Vec<Told> {
        let Value::Array(blocks) = &user.message.content else {
            return Vec::new();
        };
        let mut told = Vec::new();
        for block in blocks {
            match parse_block(block) {
                Ok(Block::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                }) => {
                    let failed = is_error == Some(true);
                    told.extend(self.on_result(&user, tool_use_id, &plain(content), failed.into()));
                }
                Ok(Block::Other) => told.push(Told::Unknown("user/block".to_owned())),
                Ok(_) => {}
                Err(problem) => told.push(Told::Malformed(problem)),
            }
        }
        told
    }

    fn on_result(
        &mut self,
        user: &User,
        call: String,
        output: &str,
        outcome: Outcome,
    ) -> Vec<Told> {
        let Some(tool) = self.tools.remove(&call) else {
            return Vec::new();
        };
        let was_allowed = self.allowed.remove(&call);
        let refused = user
            .tool_result_meta
            .iter()
            .flatten()
            .any(|meta| meta.id == call && meta.non_execution_kind.is_some());
        // An interrupt calls also a running command rejected, and only the text corrects that.
        let ran = was_allowed || output.contains("this call was stopped while running");
        let status = match outcome {
            Outcome::Well => ToolStatus::Completed,
            Outcome::Failed if refused && !ran => ToolStatus::Declined,
            Outcome::Failed => ToolStatus::Failed,
        };
        let result = user.tool_use_result.as_ref();
        let mut told = Vec::new();
        if status == ToolStatus::Completed && tools::kind(&tool.name) == "edit" {
            let changes = result.map(tools::changes_made).unwrap_or_default();
            if !changes.is_empty() {
                told.push(Told::Event(AdapterEvent::FilesChanged {
                    item: call.clone(),
                    changes,
                }));
            }
        }
        if status != ToolStatus::Completed {
            told.extend(tools::missing(output).map(Told::Event));
        }
        told.push(Told::Event(AdapterEvent::ToolEnded {
            item: call,
            status,
            exit_code: (tool.name == "Bash")
                .then(|| exit_code(outcome, output, result))
                .flatten(),
            output: output.to_owned(),
        }));
        told
    }

    /// Tells whether a tool runs.
    pub fn has_running_tool(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Forgets what the turn before said.
    pub fn begin_turn(&mut self) {
        self.last_text = None;
    }

    /// Returns the last text of the turn.
    pub fn last_text(&self) -> Option<&str> {
        self.last_text.as_ref().map(|said| said.text.as_str())
    }

    /// Closes what is still open at the end of a turn.
    pub fn close(&mut self) -> Vec<AdapterEvent> {
        let mut events: Vec<AdapterEvent> = self
            .withdraw_unfinished()
            .into_iter()
            .filter_map(event)
            .collect();
        for (item, _) in std::mem::take(&mut self.tools) {
            events.push(AdapterEvent::ToolEnded {
                item,
                status: ToolStatus::Abandoned,
                exit_code: None,
                output: String::new(),
            });
        }
        self.allowed.clear();
        self.n_blocks.clear();
        events
    }
}

/// Whether a tool did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Well,
    Failed,
}

impl From<bool> for Outcome {
    fn from(failed: bool) -> Self {
        if failed { Self::Failed } else { Self::Well }
    }
}

/// The exit code that a command's result tells: a failure begins with it, a plain success is 0.
fn exit_code(outcome: Outcome, output: &str, result: Option<&Value>) -> Option<i32> {
    let said = |key| {
        result
            .and_then(|result| result.get(key))
            .is_some_and(|value| !value.is_null())
    };
    match outcome {
        Outcome::Failed => output
            .strip_prefix("Exit code ")?
            .split_whitespace()
            .next()?
            .parse()
            .ok(),
        Outcome::Well if said("returnCodeInterpretation") || said("backgroundTaskId") => None,
        Outcome::Well => Some(0),
    }
}

/// The text of a tool's result, which is a text or blocks.
pub(super) fn plain(content: Option<Value>) -> String {
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

fn item(message: &str, index: u64) -> String {
    format!("{message}:{index}")
}

fn withdrawn(item: String) -> Told {
    Told::Event(AdapterEvent::Withdrawn { item })
}

fn event(told: Told) -> Option<AdapterEvent> {
    match told {
        Told::Event(event) => Some(event),
        Told::Unknown(_) | Told::Malformed(_) => None,
    }
}
