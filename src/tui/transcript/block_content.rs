//! What a block of the stream shows: its texts, cleaned for display, or a card.

use super::discussion_card::DiscussionCard;
use super::finished_step_row::FinishedStepRow;
use super::run_summary_card::RunSummaryCard;
use super::stage_divider::StageDivider;
use super::todo_list_card::TodoListCard;
use super::tool_call_card::ToolCallCard;
use crate::domain::event_wording::DetailLine;
use crate::text::truncate;
use crate::tui::text_wrap::{clean_for_display, to_drawable};

/// How many bytes of a block are shown; the session's file has the full text.
pub(super) const MAX_BLOCK_BYTES: usize = 256 << 10;

/// The content of a block; all texts are cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockContent {
    Message {
        text: String,
    },
    /// A text that is still being received.
    Provisional {
        /// The CLI's id of the text.
        item: String,
        /// The text so far.
        text: String,
    },
    Thinking {
        text: String,
    },
    Tool(ToolCallCard),
    Discussion(DiscussionCard),
    Todos(TodoListCard),
    RunSummary(RunSummaryCard),
    /// A dimmed line of the program.
    Notice {
        text: String,
    },
    /// A fact that the program checked, or that changed the run.
    Fact {
        text: String,
        /// Whether the fact is good or bad.
        tone: FactTone,
        /// Lines below the text that are always shown, such as the findings of a review; often empty.
        list: Vec<DetailLine>,
        /// Details that are shown when the block is open; often empty.
        more: String,
        /// The row that is drawn in place of the text, if it is about a step that is done.
        step: Option<FinishedStepRow>,
    },
    Divider(StageDivider),
}

/// How a fact is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactTone {
    Plain,
    Good,
    Bad,
    /// Neither an effect nor a problem.
    NoEffect,
    /// The user was asked; a question that is still open has a dialog.
    Question,
}

impl BlockContent {
    /// Creates a finished text.
    pub fn message(text: &str) -> Self {
        // Line breaks before the first line are not part of the message.
        Self::Message {
            text: truncate_text(text.trim_start_matches(['\n', '\r'])),
        }
    }

    /// Creates the start of a text that is being received; the text is already cleaned.
    pub fn provisional(item: &str, text: String) -> Self {
        Self::Provisional {
            item: item.to_owned(),
            text: to_drawable(text),
        }
    }

    /// Creates a dimmed line of the program.
    pub fn notice(text: &str) -> Self {
        Self::Notice {
            text: truncate_text(text),
        }
    }

    /// Creates a fact without details.
    pub fn fact(tone: FactTone, text: &str) -> Self {
        Self::fact_with_detail(tone, text, "")
    }

    /// Creates a fact with details.
    pub fn fact_with_detail(tone: FactTone, text: &str, more: &str) -> Self {
        Self::Fact {
            text: truncate_text(text),
            tone,
            list: Vec::new(),
            more: truncate_text(more),
            step: None,
        }
    }

    /// Creates the row of a step that is done, with the test receipt as details.
    pub fn finished_step(row: FinishedStepRow, more: &str) -> Self {
        Self::Fact {
            text: truncate_text(&row.describe()),
            tone: FactTone::Good,
            list: Vec::new(),
            more: truncate_text(more),
            step: Some(row),
        }
    }

    /// Creates a fact with a list below it.
    pub fn fact_with_list(tone: FactTone, text: &str, list: &[DetailLine]) -> Self {
        let clean = |line: &DetailLine| DetailLine {
            text: truncate_text(&line.text),
            ..line.clone()
        };
        Self::Fact {
            text: truncate_text(text),
            tone,
            list: list.iter().map(clean).collect(),
            more: String::new(),
            step: None,
        }
    }
}

impl BlockContent {
    /// Returns whether it has a list below its text.
    pub fn has_list(&self) -> bool {
        matches!(self, Self::Fact { list, .. } if !list.is_empty())
    }

    /// Returns whether it is a question of the run.
    pub fn is_question(&self) -> bool {
        matches!(
            self,
            Self::Fact {
                tone: FactTone::Question,
                ..
            }
        )
    }

    /// Returns the details of a failure.
    pub fn failure_details(&self) -> Option<&str> {
        match self {
            Self::Fact {
                tone: FactTone::Bad,
                more,
                ..
            } if !more.is_empty() => Some(more),
            _ => None,
        }
    }

    /// Returns all of its text, for the clipboard.
    pub fn to_text(&self) -> String {
        match self {
            Self::Message { text }
            | Self::Provisional { text, .. }
            | Self::Thinking { text }
            | Self::Notice { text } => text.clone(),
            Self::Divider(divider) => divider.text(),
            Self::Fact {
                text, list, more, ..
            } => {
                let list: String = list.iter().map(|line| format!("{line}\n")).collect();
                format!("{text}\n{list}{more}").trim_end().to_owned()
            }
            Self::Tool(card) => card.to_text(),
            Self::Discussion(talk) => talk.to_text(),
            Self::Todos(told) => told.text.clone(),
            Self::RunSummary(ending) => ending.to_text(),
        }
    }
}

fn truncate_text(text: &str) -> String {
    let text = clean_for_display(text.trim_end());
    if text.len() <= MAX_BLOCK_BYTES {
        return text;
    }
    let kept = truncate::to_bytes(&text, MAX_BLOCK_BYTES);
    format!("{kept}\n[cut: the text has {} bytes]", text.len())
}
