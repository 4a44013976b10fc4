//! The block that the user points at: to be opened, copied, gone on from.
//!
//! Refuses to know keys. Numbers of blocks never change, so what is pointed at stays.

use super::ChatTranscript;
use super::tool_call_card::TruncatedToolCall;
use super::transcript_block::{BlockAuthor, BlockContent};
use super::transcript_scroll::TranscriptScrollPosition;
use crate::domain::ids::DiscussionId;

/// Where to point next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionMove {
    /// The next block.
    Next,
    /// The one before.
    Previous,
    /// The next turn.
    NextTurn,
    /// The turn before.
    PreviousTurn,
}

impl ChatTranscript {
    /// Points at another block, and brings it into view.
    pub fn move_selection(&mut self, along: SelectionMove) {
        let wanted = |at: &usize| match along {
            SelectionMove::Next | SelectionMove::Previous => self.is_selectable(*at),
            SelectionMove::NextTurn | SelectionMove::PreviousTurn => self.starts_turn(*at),
        };
        let end = self.end_number();
        let found = match (along, self.selected_block()) {
            (SelectionMove::Next | SelectionMove::NextTurn, Some(picked)) => {
                (picked + 1..end).find(wanted)
            }
            (SelectionMove::Previous | SelectionMove::PreviousTurn, Some(picked)) => {
                (self.first..picked).rev().find(wanted)
            }
            // Whoever begins to point means what is on the screen.
            (SelectionMove::Next | SelectionMove::NextTurn, None) => {
                let top = self.visible_blocks.first().copied().unwrap_or(self.first);
                (top..end).find(wanted)
            }
            (SelectionMove::Previous | SelectionMove::PreviousTurn, None) => {
                let bottom = self.visible_blocks.last().map_or(end, |last| last + 1);
                (self.first..bottom).rev().find(wanted)
            }
        };
        if let Some(number) = found {
            self.select_block(number);
        }
    }

    /// Points at a block, by its number.
    pub(super) fn select_block(&mut self, number: usize) {
        self.selected_block = Some(number);
        // The row at the edge may be a part of it only.
        let rows = self
            .visible_blocks
            .get(1..self.visible_blocks.len().saturating_sub(1));
        let is_shown =
            self.scroll == self.visible_scroll && rows.is_some_and(|rows| rows.contains(&number));
        if !is_shown {
            self.scroll = TranscriptScrollPosition::at_line(number, 0);
        }
    }

    /// Points at the block of a row of the window.
    pub fn select_row(&mut self, row: usize) {
        if let Some(number) = self.visible_blocks.get(row).copied() {
            self.selected_block = Some(number).filter(|number| self.is_selectable(*number));
        }
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn clear_selection(&mut self) -> bool {
        self.selected_block.take().is_some()
    }

    /// The number of the block that is pointed at, while it is kept.
    pub(super) fn selected_block(&self) -> Option<usize> {
        self.selected_block
            .filter(|picked| (self.first..self.end_number()).contains(picked))
    }

    /// Opens or folds what is pointed at; tells whether there is something to open.
    pub fn toggle_selected(&mut self) -> bool {
        let (first, thinking) = (self.first, self.thinking);
        let Some(picked) = self.selected_block() else {
            return false;
        };
        let block = self.blocks.get_mut(picked - first);
        let turned = block.is_some_and(|block| block.toggle_fold(thinking));
        if turned {
            self.anchor_block(picked);
        }
        turned
    }

    /// Keeps the rows above a block where they are: what opens pushes its own head out of no window.
    fn anchor_block(&mut self, number: usize) {
        if let Some(row) = self
            .visible_blocks
            .iter()
            .position(|shown| *shown == number)
        {
            self.scroll.anchor_block(number, row);
        }
    }

    /// The discussion that is pointed at.
    pub fn selected_discussion(&self) -> Option<&DiscussionId> {
        let at = self.selected_block()? - self.first;
        self.blocks.get(at)?.discussion().map(|talk| &talk.id)
    }

    /// The call that is pointed at, where its tool said more than is here.
    pub fn selected_truncated_call(&self) -> Option<TruncatedToolCall> {
        let at = self.selected_block()? - self.first;
        self.blocks.get(at)?.card()?.truncated_call()
    }

    /// The text of what is pointed at.
    pub fn selected_text(&self) -> Option<String> {
        let at = self.selected_block()? - self.first;
        self.blocks.get(at).map(|block| block.content.to_text())
    }

    /// The finished texts of agents, the last one last.
    pub fn agent_texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.blocks
            .iter()
            .filter_map(|block| match (&block.author, &block.content) {
                (BlockAuthor::Agent(_), BlockContent::Message { text }) => Some(text.as_str()),
                _ => None,
            })
    }

    /// The last of them.
    pub fn last_agent_text(&self) -> Option<&str> {
        self.agent_texts().next_back()
    }

    fn is_selectable(&self, number: usize) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        block.is_some_and(|block| match &block.content {
            BlockContent::Message { .. }
            | BlockContent::Provisional { .. }
            | BlockContent::Thinking { .. }
            | BlockContent::Tool(_)
            | BlockContent::Todos(_)
            | BlockContent::RunSummary(_)
            | BlockContent::Discussion(_) => true,
            BlockContent::Fact { more, .. } => !more.is_empty(),
            BlockContent::Notice { .. } | BlockContent::Divider { .. } => false,
        })
    }

    fn starts_turn(&self, number: usize) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        block.is_some_and(|block| block.is_named && block.author != BlockAuthor::System)
    }
}
