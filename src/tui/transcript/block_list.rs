//! The list of blocks: what is folded and dropped, and what linear mode prints of it.

use std::ops::Range;

use super::ChatTranscript;
use super::block_content::{BlockContent, FactTone};
use super::block_layout::{BlockVisibility, tone_sign};
use super::read_fold::{FoldState, ReadFold};
use super::run_summary_card::{LOW_WINDOW_ROWS, ROWS_ABOVE_CARD, RunSummaryCard};
use super::transcript_block::{BlockAuthor, PrintedPart, TranscriptBlock};
use super::transcript_news::{TranscriptNews, block_news};
use crate::domain::ids::RunId;
use crate::tui::labels::LocalClock;

/// How much is kept while the view follows the end.
const LIMIT_AT_END: RetentionLimit = RetentionLimit {
    blocks: 2_000,
    bytes: 8 << 20,
};
/// How much is kept while the user reads earlier blocks: practically all, so that the text stays in view.
const LIMIT_WHILE_SCROLLED: RetentionLimit = RetentionLimit {
    blocks: 1_000_000,
    bytes: 1 << 30,
};

#[derive(Debug, Clone, Copy)]
struct RetentionLimit {
    blocks: usize,
    /// Of text, over all blocks.
    bytes: usize,
}

/// What the last blocks say.
impl ChatTranscript {
    /// Hides the last question of the run: its answer says what it was. Until then it is seen where no dialog asks it, as
    /// on a read-only screen.
    pub(super) fn hide_last_question(&mut self) {
        let mut blocks = self.blocks.iter_mut().rev();
        if let Some(block) = blocks.find(|block| block.content.is_question()) {
            block.visibility = BlockVisibility::ShownElsewhere;
        }
    }

    /// Returns whether one of the last blocks has this text, which may be cut; no other agent's text or call is below it.
    pub fn ends_with_text(&self, text: &str) -> bool {
        /// A review, the end of its turn and its question, with room for a warning.
        const N_BLOCKS: usize = 5;
        /// A shorter text is a line of its own, or stands somewhere by chance.
        const MIN_CONTAINED_BYTES: usize = 12;
        let text = text.trim_end_matches('…');
        // A question may be hidden.
        let last = self.blocks.iter().rev().take(N_BLOCKS);
        let last = last.filter(|block| !block.content.is_question());
        for block in last {
            let whole = block.content.to_text();
            let is_there = if text.len() < MIN_CONTAINED_BYTES {
                let mut lines = whole.lines();
                lines.any(|line| line.trim_start_matches('#').trim() == text.trim())
            } else {
                whole.contains(text)
            };
            if is_there || block.author.is_agent() {
                return is_there;
            }
        }
        false
    }
}

/// What is dropped: whole events, which can be loaded again from the log; nothing that the user is reading.
impl ChatTranscript {
    pub(super) fn evict_old_blocks(&mut self) {
        let is_read = !self.follows_end() || self.is_piece || self.earlier.is_going_down();
        let most = if is_read {
            LIMIT_WHILE_SCROLLED
        } else {
            LIMIT_AT_END
        };
        let first = self.first;
        while self.blocks.len() > most.blocks
            || (self.n_bytes > most.bytes && self.blocks.len() > 1)
        {
            let Some(seq) = self.blocks.front().map(|block| block.seq) else {
                break;
            };
            // The blocks of one event are dropped together, because they are rebuilt together.
            while self.blocks.len() > 1 && self.blocks.front().is_some_and(|old| old.seq == seq) {
                self.evict_first_event();
            }
            self.earlier.range.note_evicted(seq);
            if self.blocks.len() <= 1 {
                break;
            }
        }
        if self.first != first {
            self.refold_reads(0);
            self.place_first_turn_ends(0);
        }
    }

    fn evict_first_event(&mut self) {
        if let Some(old) = self.blocks.pop_front() {
            self.n_bytes = self.n_bytes.saturating_sub(old.n_bytes());
            self.first += 1;
        }
    }

    pub(super) fn recount_bytes(&mut self) {
        self.n_bytes = self.blocks.iter().map(TranscriptBlock::n_bytes).sum();
    }
}

/// The line of an agent's name: which CLI it is, what its turn used and how long it took. The blocks that say this stay
/// for linear mode, but have no rows where the name is loaded.
impl ChatTranscript {
    /// Returns the CLI that a notice before an agent's name tells of; the notice has no row any more.
    pub(super) fn take_cli_notice(&mut self, agent: BlockAuthor) -> Option<String> {
        let role = agent.role()?;
        let before = self.blocks.iter_mut().rev();
        let mut before = before.take_while(|block| !block.is_named);
        let notice = before.find(|block| block.cli.is_some() && block.about == Some(role))?;
        notice.visibility = BlockVisibility::ShownElsewhere;
        notice.cli.clone()
    }

    /// Moves the ends of turns among these blocks to the name lines before them.
    pub(super) fn place_turn_ends(&mut self, blocks: Range<usize>) {
        let mut named = None;
        for at in blocks {
            let Some(block) = self.blocks.get_mut(at) else {
                return;
            };
            if block.is_named && block.author.is_agent() {
                named = Some((at, block.author));
            }
            if block.turn_usage.is_empty() {
                continue;
            }
            let owner = block.column_owner();
            let name = named.take().filter(|(_, who)| *who == owner);
            block.visibility = match name {
                Some(_) => BlockVisibility::ShownElsewhere,
                None => BlockVisibility::Shown,
            };
            let usage = block.turn_usage.clone();
            if let Some(block) = name.and_then(|(at, _)| self.blocks.get_mut(at)) {
                block.set_name_meta(usage);
            }
        }
    }

    /// Returns the last name line of an agent before a block.
    pub(super) fn name_line_before(&self, at: usize) -> usize {
        let mut before = self.blocks.range(..at.min(self.blocks.len()));
        let is_name = |block: &TranscriptBlock| block.is_named && block.author.is_agent();
        before.rposition(is_name).unwrap_or(0)
    }

    /// Places the ends of turns again whose name lines are no longer, or only now, among the blocks: `n_new` blocks were
    /// put before the others.
    pub(super) fn place_first_turn_ends(&mut self, n_new: usize) {
        let is_name = |block: &&TranscriptBlock| block.is_named && block.author.is_agent();
        let later = self.blocks.iter().skip(n_new);
        let n_later = later.take_while(|block| !is_name(block)).count();
        self.place_turn_ends(0..n_new + n_later);
    }
}

/// Folds of reads and searches. Each call keeps its block, so that it can be selected and opened by itself; one that runs,
/// waits, failed or was denied is never in a fold.
impl ChatTranscript {
    /// Updates the folds around a block that was added or has changed.
    pub(super) fn refold_reads(&mut self, at: usize) {
        for at in at.saturating_sub(1)..=at.saturating_add(1) {
            if at < self.blocks.len() {
                let run = self.read_run(at);
                self.fold_run(run);
            }
        }
    }

    /// Returns the reads and searches around one that follow each other, or just this block.
    fn read_run(&self, at: usize) -> Range<usize> {
        let joins = |at: usize| {
            let (Some(before), Some(block)) = (
                at.checked_sub(1).and_then(|before| self.blocks.get(before)),
                self.blocks.get(at),
            ) else {
                return false;
            };
            // A name stands above the first row of what its author does.
            let is_next = block.author == before.author && !block.is_named;
            is_next && block.finished_read().is_some() && before.finished_read().is_some()
        };
        let mut run = at..at + 1;
        while joins(run.start) {
            run.start -= 1;
        }
        while joins(run.end) {
            run.end += 1;
        }
        run
    }

    fn fold_run(&mut self, run: Range<usize>) {
        let blocks = self.blocks.range(run.clone());
        let is_open = |block: &TranscriptBlock| {
            let fold = block.reads.as_ref().map(|reads| reads.folding);
            fold == Some(FoldState::Open) || block.is_opened()
        };
        let folding = if blocks.clone().any(is_open) {
            FoldState::Open
        } else {
            FoldState::Folded
        };
        let calls = blocks.filter_map(TranscriptBlock::finished_read);
        let fold = (run.len() > 1).then(|| ReadFold::new(calls, folding));
        let is_hidden = fold.is_some() && folding == FoldState::Folded;
        let rest = match &fold {
            None => BlockVisibility::Shown,
            Some(_) if is_hidden => BlockVisibility::Folded,
            Some(_) => BlockVisibility::Unfolded,
        };
        let first = self.first + run.start;
        for (n, block) in self.blocks.range_mut(run.clone()).enumerate() {
            block.set_reads(fold.clone().filter(|_| n == 0));
            if block.visibility != BlockVisibility::ShownElsewhere {
                block.visibility = if n > 0 { rest } else { BlockVisibility::Shown };
            }
        }
        let hidden = first + 1..self.first + run.end;
        if is_hidden
            && self
                .selected_block
                .is_some_and(|picked| hidden.contains(&picked))
        {
            self.selected_block = Some(first);
        }
    }

    /// Opens the fold at a block, or the block's own call if the fold is open, and folds both after that. Returns whether
    /// there is a fold.
    pub(super) fn toggle_read_fold(&mut self, number: usize) -> bool {
        let at = number.wrapping_sub(self.first);
        let thinking = self.thinking;
        let Some(block) = self.blocks.get_mut(at) else {
            return false;
        };
        let folding = match block.reads.as_ref().map(|fold| fold.folding) {
            None => return false,
            Some(FoldState::Folded) => FoldState::Open,
            Some(FoldState::Open) if !block.is_opened() && block.toggle_fold(thinking) => {
                return true;
            }
            Some(FoldState::Open) => FoldState::Folded,
        };
        self.set_read_fold(number, folding)
    }

    /// Opens or folds the fold that a block is in; returns whether that changed something.
    pub(super) fn set_read_fold(&mut self, number: usize, folding: FoldState) -> bool {
        let at = number.wrapping_sub(self.first);
        if at >= self.blocks.len() {
            return false;
        }
        let run = self.read_run(at);
        let first = self.blocks.get(run.start);
        let before = first
            .and_then(|block| block.reads.as_ref())
            .map(|fold| fold.folding);
        if before.is_none_or(|before| before == folding) {
            return false;
        }
        for block in self.blocks.range_mut(run.clone()) {
            if folding == FoldState::Folded {
                block.close();
            }
            if let Some(mut fold) = block.reads.take() {
                fold.folding = folding;
                block.set_reads(Some(fold));
            }
        }
        self.fold_run(run);
        true
    }

    /// Returns the text of the calls of a fold that is not open.
    pub(super) fn folded_text(&self, at: usize) -> Option<String> {
        let fold = self.blocks.get(at)?.reads.as_ref()?;
        (fold.folding == FoldState::Folded).then(|| {
            let blocks = self.blocks.range(self.read_run(at));
            let texts: Vec<String> = blocks.map(|block| block.content.to_text()).collect();
            texts.join("\n")
        })
    }
}

/// The summary of the run.
impl ChatTranscript {
    /// Shows the result of the open run at the end of the stream; later blocks are inserted before it.
    pub fn show_run_summary(&mut self, ending: RunSummaryCard) {
        let last = self.blocks.back_mut();
        let shown = last.filter(|last| {
            last.run_summary()
                .is_some_and(|shown| shown.run == ending.run)
        });
        match shown {
            Some(block) => {
                let rows = block
                    .run_summary()
                    .map_or(ending.max_rows, |shown| shown.max_rows);
                let ending = RunSummaryCard {
                    max_rows: rows,
                    ..ending
                };
                if block.run_summary() != Some(&ending) {
                    block.set_run_summary(ending);
                    self.recount_bytes();
                }
            }
            None => {
                self.detach_run_summary();
                self.push_blocks(vec![TranscriptBlock::new(
                    BlockAuthor::System,
                    BlockContent::RunSummary(ending),
                )]);
            }
        }
    }

    /// Removes the summary of a run that continues.
    pub fn remove_run_summary(&mut self, run: &RunId) {
        let is_its = |block: &mut TranscriptBlock| {
            block.run_summary().is_some_and(|ending| ending.run == *run)
        };
        if self.blocks.pop_back_if(is_its).is_some() {
            self.scroll
                .follow_end_if_gone(self.end_number(), self.end_number());
            self.recount_bytes();
        } else {
            self.detach_run_summary();
        }
    }

    /// Keeps the last summary but removes its keys, because its run is no longer open.
    pub fn detach_run_summary(&mut self) {
        let Some(block) = self.blocks.back_mut() else {
            return;
        };
        let ending = block.run_summary().filter(|ending| ending.is_current());
        if let Some(ending) = ending.cloned() {
            block.set_run_summary(RunSummaryCard {
                keys: Vec::new(),
                max_rows: usize::MAX,
                ..ending
            });
        }
    }

    /// Returns whether the stream contains a summary.
    pub fn has_run_summary(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| block.run_summary().is_some())
    }

    /// Returns the index of the open run's summary; new blocks go before it.
    pub(super) fn run_summary_index(&self) -> Option<usize> {
        let last = self.blocks.back().and_then(TranscriptBlock::run_summary)?;
        let at = self.blocks.len().checked_sub(1);
        at.filter(|_| last.is_current())
    }

    /// Limits the open run's summary to the rows of a window.
    pub(super) fn fit_run_summary(&mut self, rows: usize) {
        let above = if rows < LOW_WINDOW_ROWS {
            0
        } else {
            ROWS_ABOVE_CARD
        };
        let rows = rows.saturating_sub(above);
        let Some(last) = self.blocks.back_mut() else {
            return;
        };
        let ending = last.run_summary().filter(|ending| ending.is_current());
        if let Some(ending) = ending.filter(|ending| ending.max_rows != rows) {
            let ending = RunSummaryCard {
                max_rows: rows,
                ..ending.clone()
            };
            last.set_run_summary(ending);
        }
    }
}

impl ChatTranscript {
    /// Shows times in the user's time zone, in existing blocks as well.
    pub fn localize_utc_times(&mut self, clock: LocalClock) {
        if self.clock.replace(clock) != Some(clock) {
            self.blocks
                .iter_mut()
                .for_each(|block| block.localize_utc_times(Some(clock)));
        }
    }
}

impl ChatTranscript {
    /// Returns the latest fact with its sign on one line, if it is the last finished block.
    pub fn last_fact_line(&self) -> Option<String> {
        let last = self.blocks.iter().rfind(|block| !block.is_provisional())?;
        let BlockContent::Fact { text, tone, .. } = &last.content else {
            return None;
        };
        let first = text.lines().next().unwrap_or_default();
        Some(format!("{}{first}", tone_sign(*tone).0))
    }
}

/// What linear mode prints.
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
