//! The rows of the transcript that a window shows.

use std::collections::VecDeque;

use ratatui::text::Line;

use super::transcript_block::{BlockAuthor, TranscriptBlock};
use super::transcript_columns::TranscriptColumns;
use super::{ChatTranscript, transcript_scroll};

/// A visible row of the transcript.
#[derive(Debug)]
pub struct TranscriptRow {
    pub line: Line<'static>,
    /// Whether it belongs to the selected block.
    pub is_selected: bool,
    /// Who says it; `None` for the blank row between two blocks.
    pub speaker: Option<BlockAuthor>,
    /// Whether it is the heading of the current step.
    pub is_step_card: bool,
    /// Its indentation, in columns.
    pub indent: usize,
}

impl ChatTranscript {
    /// Leaves out the findings that the last review lists while the Comments tab is visible beside the chat.
    pub fn set_findings_beside(&mut self, is_beside: bool) {
        let at = self.last_review.and_then(|n| n.checked_sub(self.first));
        match at.and_then(|at| self.blocks.get_mut(at)) {
            Some(review) => review.is_list_beside = is_beside,
            // Loaded again, it may have another number.
            None => self.last_review = None,
        }
    }

    /// Returns the row of the step after the current one, if the end of the stream is visible and no list of the steps is.
    pub fn next_step_line(&self, columns: usize) -> Option<Line<'static>> {
        let is_named = !self.are_steps_beside && self.follows_end();
        is_named.then(|| self.steps.next_step_line(columns))?
    }

    /// Returns the visible rows; lays out nothing else.
    pub fn visible_rows(&mut self, wide: TranscriptColumns, rows: usize) -> Vec<TranscriptRow> {
        self.fit_run_summary(rows);
        let (first, folding) = (self.first, self.thinking);
        let mut scroll = std::mem::take(&mut self.scroll);
        let mut window = transcript_scroll::ScrollWindow {
            n_blocks: self.blocks.len(),
            first,
            rows,
            height: |at: usize| {
                set_apart(&mut self.blocks, at);
                let (columns, _) = wide.width_and_indent(&self.blocks[at]);
                self.blocks[at].height(columns, folding)
            },
        };
        let (from, skip) = scroll.resolve(&mut window);
        self.earlier.on_shown(from, !scroll.follows_end());
        self.first_unseen_block = if scroll.follows_end() {
            None
        } else {
            self.first_unseen_block.or(Some(self.end_number()))
        };
        (self.scroll, self.visible_scroll, self.wide) = (scroll, scroll, Some(wide));
        let picked = self.selected_block();
        let mut shown = Vec::with_capacity(rows);
        self.visible_blocks.clear();
        let mut skip = skip;
        let from = from.min(self.blocks.len());
        for at in from..self.blocks.len() {
            let left = rows - shown.len();
            if left == 0 {
                break;
            }
            set_apart(&mut self.blocks, at);
            let (number, block) = (first + at, &mut self.blocks[at]);
            let is_picked = picked == Some(number);
            let (columns, indent) = wide.width_and_indent(block);
            let speaker = block.author;
            // The bar goes on between two texts of a turn.
            let goes_on = speaker.is_agent() && !block.is_named;
            let is_card = block.is_step_card();
            let lines = block.lines(columns, folding).enumerate();
            shown.extend(lines.skip(skip).take(left).map(|(n, line)| {
                // The blank row above a name separates two blocks and is not highlighted.
                let is_between = n == 0 && line.width() == 0;
                TranscriptRow {
                    is_selected: is_picked && !is_between,
                    speaker: (!is_between || goes_on).then_some(speaker),
                    is_step_card: is_card && !is_between,
                    line,
                    indent,
                }
            }));
            self.visible_blocks.resize(shown.len(), number);
            skip = 0;
        }
        shown
    }
}

/// Decides whether a blank row divides a block from the one above it: what comes, goes or is hidden there changes it.
fn set_apart(blocks: &mut VecDeque<TranscriptBlock>, at: usize) {
    let mut above = blocks.range(..at).rev();
    let above = above.find(|block| block.visibility.has_rows());
    let is_set_apart =
        above.is_some_and(|block| block.author.is_agent() || block.is_stage_heading());
    blocks[at].is_set_apart = is_set_apart;
}
