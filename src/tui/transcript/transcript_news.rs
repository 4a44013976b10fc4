//! What of the transcript has not been printed yet, for linear mode: each block once, when it is complete.
//!
//! A text that is being received is printed by whole lines. How much of a block is printed is kept in the block, so it
//! does not matter where later blocks are inserted.

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, BlockContent, FactTone, TranscriptBlock};
use crate::text::pluralize;
use crate::tui::markdown;

/// How many lines of details are printed, such as those of failed tests.
const MAX_DETAIL_LINES: usize = 12;

/// How much of a block is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrintedPart {
    #[default]
    Nothing,
    /// That many bytes of its text, which are whole lines; of a discussion, that it started.
    Beginning(usize),
    Whole,
}

impl PrintedPart {
    /// Returns how many bytes are printed.
    fn n_bytes(self) -> usize {
        match self {
            Self::Beginning(n_bytes) => n_bytes,
            Self::Nothing | Self::Whole => 0,
        }
    }
}

/// Something to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptNews {
    /// Words of an agent or the user.
    Speech {
        author: BlockAuthor,
        /// Whether the beginning of the text is printed already.
        continues: bool,
        lines: Vec<String>,
    },
    /// What an agent did or thought.
    Deed {
        author: BlockAuthor,
        lines: Vec<String>,
    },
    /// The start of a phase or a step.
    Heading(String),
    /// What the program says.
    Report(Vec<String>),
}

impl ChatTranscript {
    /// Returns what has not been printed yet, and notes it as printed. A question to the user is left out: its dialog is
    /// printed.
    pub fn take_news(&mut self) -> Vec<TranscriptNews> {
        self.blocks
            .iter_mut()
            .filter_map(|block| {
                let (news, printed) = block_news(block, block.printed)?;
                block.printed = printed;
                let is_question = matches!(
                    block.content,
                    BlockContent::Fact {
                        tone: FactTone::Question,
                        ..
                    }
                );
                Some(news).filter(|_| !is_question)
            })
            .collect()
    }

    /// Returns everything that is complete, whether or not it has been printed.
    pub fn all_news(&self) -> Vec<TranscriptNews> {
        let news = |block| block_news(block, PrintedPart::Nothing).map(|(news, _)| news);
        self.blocks.iter().filter_map(news).collect()
    }

    /// Notes that all blocks are printed: older parts of the log are no news.
    pub(super) fn mark_printed(&mut self) {
        for block in &mut self.blocks {
            block.printed = PrintedPart::Whole;
        }
    }

    /// Says that a text that is printed in part starts over.
    pub(super) fn note_withdrawn_text(&mut self, who: BlockAuthor, item: &str) {
        let is_printed = |block: &TranscriptBlock| {
            block.is_provisional_of(who, Some(item)) && block.printed != PrintedPart::Nothing
        };
        if self.blocks.iter().any(is_printed) {
            self.push_notice("The agent starts this text over");
        }
    }
}

/// Returns how much of a finished text is printed, given the text as it was received so far.
pub(super) fn printed_of_finished(received: &TranscriptBlock, finished: &str) -> PrintedPart {
    let BlockContent::Provisional { text, .. } = &received.content else {
        return received.printed;
    };
    let printed = text.get(..received.printed.n_bytes()).unwrap_or_default();
    let printed = printed.trim_start_matches(['\n', '\r']);
    let same = printed
        .split_inclusive('\n')
        .zip(finished.split_inclusive('\n'))
        .take_while(|(one, other)| one.trim_end() == other.trim_end());
    let n_bytes: usize = same.map(|(_, line)| line.len()).sum();
    match (n_bytes, received.printed) {
        (_, PrintedPart::Nothing) => PrintedPart::Nothing,
        (n_bytes, _) if n_bytes == finished.len() => PrintedPart::Whole,
        (n_bytes, _) => PrintedPart::Beginning(n_bytes),
    }
}

/// Returns what of a block is to be printed, and how much is printed then.
fn block_news(
    block: &TranscriptBlock,
    printed: PrintedPart,
) -> Option<(TranscriptNews, PrintedPart)> {
    if printed == PrintedPart::Whole {
        return None;
    }
    let author = block.author;
    let news = match &block.content {
        BlockContent::Provisional { text, .. } => {
            let rest = text.get(printed.n_bytes()..)?;
            let n_bytes = rest.rfind('\n')? + 1;
            let news = speech(author, printed, rest.get(..n_bytes)?);
            return Some((news, PrintedPart::Beginning(printed.n_bytes() + n_bytes)));
        }
        BlockContent::Message { text } => speech(author, printed, text.get(printed.n_bytes()..)?),
        BlockContent::Thinking { text } => TranscriptNews::Deed {
            author,
            lines: vec![format!("thought: {}", first_line(text))],
        },
        BlockContent::Tool(card) => TranscriptNews::Deed {
            author,
            lines: card.ended_lines()?,
        },
        BlockContent::Discussion(talk) if talk.is_over() => {
            TranscriptNews::Report(talk.outcome_lines())
        }
        BlockContent::Discussion(talk) => {
            let is_first = printed == PrintedPart::Nothing;
            let news = TranscriptNews::Report(talk.start_lines());
            return is_first.then_some((news, PrintedPart::Beginning(0)));
        }
        BlockContent::Todos(told) => TranscriptNews::Report(vec![first_line(&told.text)]),
        BlockContent::RunSummary(ending) => TranscriptNews::Report(ending.linear_lines()),
        BlockContent::Notice { text } => TranscriptNews::Report(to_lines(text)),
        BlockContent::Divider { text } => TranscriptNews::Heading(text.clone()),
        BlockContent::Fact { text, tone, more } => {
            let mut lines = to_lines(text);
            if *tone == FactTone::Bad {
                lines.extend(detail_lines(more));
            }
            TranscriptNews::Report(lines)
        }
    };
    Some((news, PrintedPart::Whole))
}

fn speech(author: BlockAuthor, printed: PrintedPart, text: &str) -> TranscriptNews {
    TranscriptNews::Speech {
        author,
        continues: printed != PrintedPart::Nothing,
        lines: to_lines(text),
    }
}

fn to_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn first_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    markdown::strip_marks(first.unwrap_or_default())
}

/// Returns the last lines of details, and says how many come before them.
fn detail_lines(more: &str) -> Vec<String> {
    let all = to_lines(more);
    let n_left = all.len().saturating_sub(MAX_DETAIL_LINES);
    let left = (n_left > 0).then(|| format!("  ({} before these)", pluralize(n_left, "line")));
    let shown = all.iter().skip(n_left).map(|line| format!("  {line}"));
    left.into_iter().chain(shown).collect()
}
