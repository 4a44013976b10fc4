//! The rows of the transcript that a window shows.

use std::collections::VecDeque;

use ratatui::text::Line;

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use super::transcript_columns::TranscriptColumns;
use super::transcript_scroll::{ScrollWindow, TranscriptScrollPosition};
use crate::tui::text_wrap::is_blank_line;

/// The rows that a transcript is laid out for.
#[derive(Debug, Clone, Copy)]
pub struct TranscriptWindow {
    pub rows: usize,
    /// Whether the heading of the current step stays on the first row while its place is above the window.
    pub pins_step: bool,
}

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

impl TranscriptWindow {
    /// Returns it with so many rows less.
    #[must_use]
    pub fn without_rows(self, n: usize) -> Self {
        Self {
            rows: self.rows.saturating_sub(n),
            ..self
        }
    }
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

    /// Returns the visible rows; lays out nothing else. At the end of the stream the first of them is not blank; a window
    /// that was scrolled moves by rows as they are.
    pub fn visible_rows(
        &mut self,
        wide: TranscriptColumns,
        window: TranscriptWindow,
    ) -> Vec<TranscriptRow> {
        self.fit_run_summary(window.rows);
        let (first, folding) = (self.first, self.thinking);
        let before = std::mem::take(&mut self.scroll);
        let mut scroll = before;
        let (mut from, mut skip) = self.resolve_scroll(&mut scroll, wide, window.rows);
        let card = self.step_card_index().filter(|_| window.pins_step);
        let pinned = card.filter(|card| *card < from);
        let mut shown = Vec::with_capacity(window.rows);
        if let Some(card) = pinned {
            shown.extend(self.pinned_rows(card, wide));
            scroll = before;
            let rows = window.rows.saturating_sub(shown.len());
            (from, skip) = self.resolve_scroll(&mut scroll, wide, rows);
        }
        self.earlier.on_shown(from, !scroll.follows_end());
        self.first_unseen_block = if scroll.follows_end() {
            None
        } else {
            self.first_unseen_block.or(Some(self.end_number()))
        };
        (self.scroll, self.visible_scroll, self.wide) = (scroll, scroll, Some(wide));
        let follows_end = scroll.follows_end();
        let picked = self.selected_block();
        self.n_pinned_rows = shown.len();
        self.visible_blocks.clear();
        self.visible_blocks
            .resize(shown.len(), first + pinned.unwrap_or_default());
        let mut left = window.rows.saturating_sub(shown.len());
        let from = from.min(self.blocks.len());
        for at in from..self.blocks.len() {
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
            for (n, line) in lines.skip(skip).take(left) {
                left -= 1;
                let is_blank = is_blank_line(line);
                if is_blank && follows_end && shown.len() == self.n_pinned_rows {
                    continue;
                }
                // The blank row above a name separates two blocks and is not highlighted.
                let is_between = n == 0 && is_blank;
                shown.push(TranscriptRow {
                    is_selected: is_picked && !is_between,
                    speaker: (!is_between || goes_on).then_some(speaker),
                    is_step_card: is_card && !is_between,
                    line: line.clone(),
                    indent,
                });
            }
            self.visible_blocks.resize(shown.len(), number);
            skip = 0;
        }
        shown
    }

    /// Carries out a requested move; returns the first visible block and how many of its lines to skip.
    fn resolve_scroll(
        &mut self,
        scroll: &mut TranscriptScrollPosition,
        wide: TranscriptColumns,
        rows: usize,
    ) -> (usize, usize) {
        let (first, folding) = (self.first, self.thinking);
        let mut window = ScrollWindow {
            n_blocks: self.blocks.len(),
            first,
            rows,
            height: |at: usize| {
                set_apart(&mut self.blocks, at);
                let (columns, _) = wide.width_and_indent(&self.blocks[at]);
                self.blocks[at].height(columns, folding)
            },
        };
        scroll.resolve(&mut window)
    }

    /// Returns the heading of the current step, which has the newest one.
    fn step_card_index(&self) -> Option<usize> {
        self.steps.shown_trail?;
        self.blocks.iter().rposition(TranscriptBlock::is_step_card)
    }

    /// Renders the heading of the current step above the rows of a window that is below it, with a blank row between.
    fn pinned_rows(&mut self, card: usize, wide: TranscriptColumns) -> Vec<TranscriptRow> {
        let folding = self.thinking;
        let Some(block) = self.blocks.get_mut(card) else {
            return Vec::new();
        };
        let (columns, indent) = wide.width_and_indent(block);
        let row = |line: Line<'static>| TranscriptRow {
            is_selected: false,
            speaker: None,
            is_step_card: false,
            line,
            indent,
        };
        let heading = block.lines(columns, folding).last().cloned();
        let heading = TranscriptRow {
            speaker: Some(BlockAuthor::System),
            is_step_card: true,
            ..row(heading.unwrap_or_default())
        };
        vec![heading, row(Line::default())]
    }
}

/// Decides whether a blank row divides a block from the one above it: what comes, goes or is hidden there changes it.
fn set_apart(blocks: &mut VecDeque<TranscriptBlock>, at: usize) {
    let mut above = blocks.range(..at).rev();
    let above = above.find(|block| block.has_rows());
    let is_set_apart =
        above.is_some_and(|block| block.author.is_agent() || block.is_stage_heading());
    blocks[at].is_set_apart = is_set_apart;
}
