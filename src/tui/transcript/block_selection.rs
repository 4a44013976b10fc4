//! The block that the user selected, to open it, copy it or continue from it.
//!
//! Block numbers never change, so the selection stays on its block.

use super::ChatTranscript;
use super::block_content::BlockContent;
use super::transcript_block::BlockAuthor;
use super::transcript_scroll::TranscriptScrollPosition;
use crate::domain::ids::DiscussionId;
use crate::tui::truncated_call::TruncatedToolCall;
use crate::tui::view_moves::SelectionMove;

impl ChatTranscript {
    /// Moves the selection and scrolls it into view.
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
            // The first move selects a block that is visible.
            (SelectionMove::Next | SelectionMove::NextTurn, None) => {
                let top = self.visible_blocks.get(self.n_pinned_rows);
                let top = top.copied().unwrap_or(self.first);
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

    /// Selects a block by its number.
    pub(super) fn select_block(&mut self, number: usize) {
        self.selected_block = Some(number);
        // The first and the last row may show only a part of their block.
        let rows = self
            .visible_blocks
            .get(1..self.visible_blocks.len().saturating_sub(1));
        let is_shown =
            self.scroll == self.visible_scroll && rows.is_some_and(|rows| rows.contains(&number));
        if !is_shown {
            self.scroll = TranscriptScrollPosition::at_line(number, 0);
        }
    }

    /// Selects the block at a row of the window.
    pub fn select_row(&mut self, row: usize) {
        if let Some(number) = self.visible_blocks.get(row).copied() {
            self.selected_block = Some(number).filter(|number| self.is_selectable(*number));
        }
    }

    /// Clears the selection; returns whether there was one.
    pub fn clear_selection(&mut self) -> bool {
        self.selected_block.take().is_some()
    }

    /// Returns the number of the selected block, if it is still kept.
    pub(super) fn selected_block(&self) -> Option<usize> {
        self.selected_block
            .filter(|picked| (self.first..self.end_number()).contains(picked))
    }

    /// Opens or folds the selected block; returns whether it can be opened.
    pub fn toggle_selected(&mut self) -> bool {
        let (first, thinking) = (self.first, self.thinking);
        let Some(picked) = self.selected_block() else {
            return false;
        };
        let is_fold = self.toggle_read_fold(picked);
        let block = self.blocks.get_mut(picked - first);
        let turned = is_fold || block.is_some_and(|block| block.toggle_fold(thinking));
        if turned {
            self.anchor_block(picked);
        }
        turned
    }

    /// Keeps the block at its row, so that opening it does not push its first line out of the window.
    fn anchor_block(&mut self, number: usize) {
        if let Some(row) = self
            .visible_blocks
            .iter()
            .position(|shown| *shown == number)
        {
            let row = row.saturating_sub(self.n_pinned_rows);
            self.scroll.anchor_block(number, row);
        }
    }

    /// Returns the id of the selected discussion.
    pub fn selected_discussion(&self) -> Option<&DiscussionId> {
        let at = self.selected_block()? - self.first;
        self.blocks.get(at)?.discussion().map(|talk| &talk.id)
    }

    /// Returns the selected call if only a part of its output is kept.
    pub fn selected_truncated_call(&self) -> Option<TruncatedToolCall> {
        let at = self.selected_block()? - self.first;
        self.blocks.get(at)?.card()?.truncated_call()
    }

    /// Returns the text of the selected block.
    pub fn selected_text(&self) -> Option<String> {
        let at = self.selected_block()? - self.first;
        let one = || self.blocks.get(at).map(|block| block.content.to_text());
        self.folded_text(at).or_else(one)
    }

    /// Returns the text of all blocks.
    pub fn whole_text(&self) -> String {
        let texts = self.blocks.iter().map(|block| block.content.to_text());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the agents' finished texts in order.
    pub fn agent_texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.blocks
            .iter()
            .filter(|block| block.author.is_agent())
            .filter_map(|block| match &block.content {
                BlockContent::Message { text } => Some(text.as_str()),
                _ => None,
            })
    }

    /// Returns the latest finished text of an agent.
    pub fn last_agent_text(&self) -> Option<&str> {
        self.agent_texts().next_back()
    }

    fn is_selectable(&self, number: usize) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        let block = block.filter(|block| block.has_rows());
        block.is_some_and(|block| match &block.content {
            BlockContent::Message { .. }
            | BlockContent::Provisional { .. }
            | BlockContent::Thinking { .. }
            | BlockContent::Tool(_)
            | BlockContent::Todos(_)
            | BlockContent::RunSummary(_)
            | BlockContent::Discussion(_) => true,
            BlockContent::Fact { more, .. } => !more.is_empty(),
            BlockContent::Notice { .. } | BlockContent::Divider(_) => false,
        })
    }

    fn starts_turn(&self, number: usize) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        block.is_some_and(|block| block.is_named && block.author != BlockAuthor::System)
    }
}
