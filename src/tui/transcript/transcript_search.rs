//! Search in the stream: first in the kept blocks, then backwards through the log, one chunk at a time.
//!
//! The caller reads the log. Chunks without a match are not kept; once there is a match, everything down to
//! it is loaded.

use ratatui::text::Line;

use super::block_layout::BlockVisibility;
use super::read_fold::FoldState;
use super::transcript_block::TranscriptBlock;
use super::transcript_scroll::TranscriptScrollPosition;
use super::{ChatTranscript, ScrollbackDemand};

/// A search in the stream.
#[derive(Debug, Default)]
pub struct TranscriptSearch {
    /// The search text, in lower case.
    query: String,
    /// The numbers of the matching blocks.
    hits: Vec<usize>,
    /// The block that was opened to show its match.
    opened_block: Option<usize>,
    /// A block in the fold of reads that was opened to show its match.
    opened_fold: Option<usize>,
    log_state: LogSearchState,
}

impl TranscriptSearch {
    /// Returns the search text, in lower case.
    pub fn query(&self) -> &str {
        &self.query
    }
}

/// How far the search went beyond the kept blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LogSearchState {
    /// Only the kept blocks were searched.
    #[default]
    NotStarted,
    /// Down to this event, and still searching.
    Searching { last: u64 },
    /// Down to the matching event, which is not loaded yet.
    Loading { seq: u64 },
    /// Down to the first event.
    Complete,
    /// As far as the log could be read.
    Unreadable,
}

/// The result of searching one chunk of the log.
#[derive(Debug)]
pub struct LogSearchResult {
    query: String,
    /// The number of its last event, and of the last event before the chunk.
    range: (u64, u64),
    /// The last event in it that matches.
    match_seq: Option<u64>,
}

/// The progress of a search, for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogSearchProgress {
    /// The whole log was searched.
    Complete,
    /// The loaded part was searched; there is more.
    LoadedOnly,
    /// Percentage of the log that was searched.
    Searching(u64),
    /// A match was found and is being loaded.
    Loading,
    /// The rest of the log cannot be read.
    Unreadable,
}

/// The scroll position and the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptPosition {
    scroll: TranscriptScrollPosition,
    selected: Option<usize>,
}

impl ChatTranscript {
    /// Returns the current position, to restore it later.
    pub fn position(&self) -> TranscriptPosition {
        TranscriptPosition {
            scroll: self.scroll,
            selected: self.selected_block,
        }
    }

    /// Restores a position; the view follows the end if its block is gone.
    pub fn restore_position(&mut self, stand: TranscriptPosition) {
        (self.scroll, self.selected_block) = (stand.scroll, stand.selected);
        self.stop_loading_match();
        self.evict_old_blocks();
    }

    /// Searches for a text, ignoring case; goes to the last match, and searches further back if no kept
    /// block matches.
    pub fn search(&mut self, find: &mut TranscriptSearch, letters: &str) {
        let letters = letters.to_lowercase();
        let narrows = !find.query.is_empty() && letters.starts_with(&find.query);
        find.hits = match (letters.is_empty(), narrows) {
            (true, _) => Vec::new(),
            (false, true) => {
                let hits = find.hits.iter().copied();
                hits.filter(|n| self.block_contains(*n, &letters)).collect()
            }
            (false, false) => self.matching_blocks(&letters),
        };
        find.query = letters;
        self.stop_loading_match();
        find.log_state = match find.log_state {
            // A chunk without the shorter text cannot contain the longer one, so earlier results stay
            // valid.
            LogSearchState::Searching { .. }
            | LogSearchState::Complete
            | LogSearchState::Unreadable
                if narrows =>
            {
                find.log_state
            }
            _ => LogSearchState::NotStarted,
        };
        match find.hits.last().copied() {
            Some(last) => {
                self.reveal_match(last, find);
                if let LogSearchState::Searching { .. } = find.log_state {
                    find.log_state = LogSearchState::NotStarted;
                }
            }
            None => {
                let _begins = self.start_log_search(find);
            }
        }
    }

    fn block_contains(&self, number: usize, letters: &str) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        let is_row = |block: &&TranscriptBlock| block.visibility != BlockVisibility::ShownElsewhere;
        let block = block.filter(is_row);
        block.is_some_and(|block| block.contains_text(letters))
    }

    fn matching_blocks(&self, letters: &str) -> Vec<usize> {
        let all = self.first..self.end_number();
        all.filter(|n| self.block_contains(*n, letters)).collect()
    }

    /// Starts a search in the log before the kept blocks; returns whether there is anything to search.
    fn start_log_search(&self, find: &mut TranscriptSearch) -> bool {
        let last = self.earlier.range.last_incomplete_event();
        let begins =
            find.log_state == LogSearchState::NotStarted && last > 0 && !find.query.is_empty();
        if begins {
            find.log_state = LogSearchState::Searching { last };
        }
        begins
    }

    /// Returns the part of the log to search next.
    pub fn wanted_log_search(&self, find: &TranscriptSearch) -> Option<ScrollbackDemand> {
        match find.log_state {
            LogSearchState::Searching { last } => Some(ScrollbackDemand::Search {
                last,
                letters: find.query.clone(),
            }),
            _ => None,
        }
    }

    /// Searches a chunk of earlier events.
    pub fn search_chunk(&self, letters: &str) -> LogSearchResult {
        let found = self
            .blocks
            .iter()
            .rev()
            .find(|block| block.contains_text(letters));
        LogSearchResult {
            query: letters.to_owned(),
            range: (
                self.earlier.range.last_event(),
                self.earlier.range.last_incomplete_event(),
            ),
            match_seq: found.map(|block| block.seq),
        }
    }

    /// Applies the result of searching one chunk.
    pub fn on_log_search_result(&mut self, find: &mut TranscriptSearch, looked: &LogSearchResult) {
        let (last, before) = looked.range;
        if find.log_state != (LogSearchState::Searching { last })
            || !find.query.starts_with(&looked.query)
        {
            return;
        }
        find.log_state = match looked.match_seq {
            // The chunk was searched for a shorter text: its match may not match the current text.
            Some(_) if find.query != looked.query => return,
            Some(seq) => {
                self.earlier.request_down_to(seq);
                LogSearchState::Loading { seq }
            }
            None if before == 0 => LogSearchState::Complete,
            None => LogSearchState::Searching { last: before },
        };
    }

    /// Goes to a match further back once it is loaded.
    pub fn go_to_loaded_match(&mut self, find: &mut TranscriptSearch) {
        let LogSearchState::Loading { seq } = find.log_state else {
            return;
        };
        if self.wanted_scrollback().is_some() && self.earlier.is_going_down() {
            return;
        }
        find.hits = self.matching_blocks(&find.query);
        find.log_state = LogSearchState::NotStarted;
        let before = |n: &&usize| {
            let block = self.blocks.get(n.wrapping_sub(self.first));
            block.is_some_and(|block| block.seq <= seq)
        };
        let found = find.hits.iter().rev().find(before).copied();
        match (found, self.earlier.is_going_down()) {
            (Some(number), _) => {
                self.reveal_match(number, find);
                self.stop_loading_match();
            }
            // The loaded blocks show the event differently and contain no match.
            (None, true) => {
                self.stop_loading_match();
                self.start_log_search(find);
            }
            (None, false) => find.log_state = LogSearchState::Unreadable,
        }
    }

    /// Stops loading down to a match.
    pub fn stop_loading_match(&mut self) {
        if self.earlier.is_going_down() {
            self.earlier.clear_request();
        }
    }

    /// Goes to the next or the previous match; before the first one, it searches further back, then wraps
    /// around.
    pub fn step_match(&mut self, find: &mut TranscriptSearch, is_next: bool) {
        let picked = self.selected_block().unwrap_or(self.first);
        let next = if is_next {
            let next = find.hits.iter().find(|hit| **hit > picked);
            next.or(find.hits.first())
        } else {
            let before = |hit: &&usize| **hit < picked;
            if !find.hits.iter().any(|hit| before(&hit)) && self.start_log_search(find) {
                return;
            }
            find.hits.iter().rev().find(before).or(find.hits.last())
        };
        if let Some(number) = next.copied() {
            self.reveal_match(number, find);
        }
    }

    /// Selects a block and scrolls its match into view; a folded block is opened while its match is
    /// selected.
    fn reveal_match(&mut self, number: usize, find: &mut TranscriptSearch) {
        if let Some(opened) = find.opened_block.take_if(|opened| *opened != number) {
            self.toggle_fold(opened);
        }
        if let Some(opened) = find.opened_fold.take_if(|opened| *opened != number) {
            self.set_read_fold(opened, FoldState::Folded);
        }
        if self.set_read_fold(number, FoldState::Open) {
            find.opened_fold = Some(number);
        }
        self.select_block(number);
        let (wide, thinking, n_rows) = (self.wide, self.thinking, self.visible_blocks.len());
        let at = number.wrapping_sub(self.first);
        let (Some(wide), Some(block)) = (wide, self.blocks.get_mut(at)) else {
            return;
        };
        let (columns, _) = wide.width_and_indent(block);
        let has = |line: &Line<'_>| line.to_string().to_lowercase().contains(&find.query);
        let mut line = block.lines(columns, thinking).position(has);
        if line.is_none() && block.toggle_fold(thinking) {
            find.opened_block = Some(number);
            line = block.lines(columns, thinking).position(has);
        }
        let n_shown = self
            .visible_blocks
            .iter()
            .filter(|shown| **shown == number)
            .count();
        let is_whole =
            self.scroll == self.visible_scroll && n_shown == block.height(columns, thinking);
        if let Some(line) = line.filter(|_| !is_whole) {
            // Lines above the match give context, if both fit.
            let from = if line < n_rows / 2 {
                0
            } else {
                line - 2.min(line)
            };
            self.scroll = TranscriptScrollPosition::at_line(number, from);
        }
    }

    /// Folds the block that was opened to show its match.
    pub fn refold_opened(&mut self, find: &mut TranscriptSearch) {
        if let Some(opened) = find.opened_block.take() {
            self.toggle_fold(opened);
        }
        if let Some(opened) = find.opened_fold.take() {
            self.set_read_fold(opened, FoldState::Folded);
        }
    }

    fn toggle_fold(&mut self, number: usize) {
        let thinking = self.thinking;
        if let Some(block) = self.blocks.get_mut(number.wrapping_sub(self.first)) {
            let _can = block.toggle_fold(thinking);
        }
    }

    /// Stops the search in the log, because the log cannot be read.
    pub fn stop_log_search(&mut self, find: &mut TranscriptSearch) {
        self.stop_loading_match();
        if let LogSearchState::Searching { .. } | LogSearchState::Loading { .. } = find.log_state {
            find.log_state = LogSearchState::Unreadable;
        }
    }

    /// Returns how far the search went.
    pub fn search_progress(&self, find: &TranscriptSearch) -> LogSearchProgress {
        let all = self.earlier.range.last_event().max(1);
        match find.log_state {
            LogSearchState::Searching { last } => {
                LogSearchProgress::Searching(100 - (last * 100 / all).min(100))
            }
            LogSearchState::Loading { .. } => LogSearchProgress::Loading,
            LogSearchState::Unreadable => LogSearchProgress::Unreadable,
            LogSearchState::NotStarted if self.has_scrollback() => LogSearchProgress::LoadedOnly,
            LogSearchState::NotStarted | LogSearchState::Complete => LogSearchProgress::Complete,
        }
    }

    /// Returns the position of the selected match, from 1, and the count of matches; the position is 0 if
    /// the selection is no match.
    pub fn match_position(&self, find: &TranscriptSearch) -> (usize, usize) {
        let picked = self.selected_block();
        let at = find.hits.iter().position(|hit| Some(*hit) == picked);
        (at.map_or(0, |at| at + 1), find.hits.len())
    }
}
