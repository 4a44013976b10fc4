//! What is looked for in the stream: in what is kept at once, and further back a piece of the log at a time.
//!
//! Refuses to read the log: it says what it wants looked through. What has nothing is not kept; once there is
//! a place, everything down to it is told again.

use ratatui::text::Line;

use super::transcript_scroll::TranscriptScrollPosition;
use super::{ChatTranscript, ScrollbackDemand};

/// What is looked for.
#[derive(Debug, Default)]
pub struct TranscriptSearch {
    /// The letters, in lower case.
    query: String,
    /// The numbers of the blocks that have them.
    hits: Vec<usize>,
    /// The block that was opened to show what it has.
    opened_block: Option<usize>,
    log_state: LogSearchState,
}

/// How far back it was looked for beyond what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LogSearchState {
    /// Not at all.
    #[default]
    NotStarted,
    /// Down to this event, and further.
    Searching { last: u64 },
    /// To the event that has it, which is not told yet.
    Loading { seq: u64 },
    /// To the first event.
    Complete,
    /// As far as the log could be read.
    Unreadable,
}

/// What came of looking through a piece of the log.
#[derive(Debug)]
pub struct LogSearchResult {
    query: String,
    /// The number of its last event, and of the last one before it.
    range: (u64, u64),
    /// The last event in it that tells of the letters.
    match_seq: Option<u64>,
}

/// How far it was looked for, to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogSearchProgress {
    /// Through everything that there is.
    Complete,
    /// Through what is kept; there is more.
    LoadedOnly,
    /// So many per cent of the log.
    Searching(u64),
    /// There is a place, which is being told.
    Loading,
    /// What is left cannot be read.
    Unreadable,
}

/// Where the view stands and what is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptPosition {
    scroll: TranscriptScrollPosition,
    selected: Option<usize>,
}

impl ChatTranscript {
    /// Where the view stands, to come back to it.
    pub fn position(&self) -> TranscriptPosition {
        TranscriptPosition {
            scroll: self.scroll,
            selected: self.selected_block,
        }
    }

    /// Stands where it stood, or at the end where that is forgotten.
    pub fn restore_position(&mut self, stand: TranscriptPosition) {
        (self.scroll, self.selected_block) = (stand.scroll, stand.selected);
        self.stop_loading_match();
        self.evict_old_blocks();
    }

    /// Looks for letters, whatever their case; goes to the last place that has them, and further back where
    /// nothing that is kept has.
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
            // What had no part of it has not all of it.
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
        block.is_some_and(|block| block.contains_text(letters))
    }

    fn matching_blocks(&self, letters: &str) -> Vec<usize> {
        let all = self.first..self.end_number();
        all.filter(|n| self.block_contains(*n, letters)).collect()
    }

    /// Looks through what came before everything that is kept; tells whether there is something.
    fn start_log_search(&self, find: &mut TranscriptSearch) -> bool {
        let last = self.earlier.range.last_incomplete_event();
        let begins =
            find.log_state == LogSearchState::NotStarted && last > 0 && !find.query.is_empty();
        if begins {
            find.log_state = LogSearchState::Searching { last };
        }
        begins
    }

    /// What of the log is to be looked through.
    pub fn wanted_log_search(&self, find: &TranscriptSearch) -> Option<ScrollbackDemand> {
        match find.log_state {
            LogSearchState::Searching { last } => Some(ScrollbackDemand::Search {
                last,
                letters: find.query.clone(),
            }),
            _ => None,
        }
    }

    /// Looks for letters in a piece of the past.
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

    /// Takes in what came of a look at a piece of the log.
    pub fn on_log_search_result(&mut self, find: &mut TranscriptSearch, looked: &LogSearchResult) {
        let (last, before) = looked.range;
        if find.log_state != (LogSearchState::Searching { last })
            || !find.query.starts_with(&looked.query)
        {
            return;
        }
        find.log_state = match looked.match_seq {
            // Some of the letters are no hit.
            Some(_) if find.query != looked.query => return,
            Some(seq) => {
                self.earlier.request_down_to(seq);
                LogSearchState::Loading { seq }
            }
            None if before == 0 => LogSearchState::Complete,
            None => LogSearchState::Searching { last: before },
        };
    }

    /// Goes to what was found further back, once that is told.
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
            // It is called something else here.
            (None, true) => {
                self.stop_loading_match();
                self.start_log_search(find);
            }
            (None, false) => find.log_state = LogSearchState::Unreadable,
        }
    }

    /// Has no more told of what was found further back.
    pub fn stop_loading_match(&mut self) {
        if self.earlier.is_going_down() {
            self.earlier.clear_request();
        }
    }

    /// Goes to the next place, or the one before: further back than what is kept, then around the ends.
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

    /// Points at a block and brings the line into view that has the letters; one that is folded is opened for as long.
    fn reveal_match(&mut self, number: usize, find: &mut TranscriptSearch) {
        if let Some(opened) = find.opened_block.take_if(|opened| *opened != number) {
            self.toggle_fold(opened);
        }
        self.select_block(number);
        let (wide, thinking, n_rows) = (self.wide, self.thinking, self.visible_blocks.len());
        let at = number.wrapping_sub(self.first);
        let (Some(wide), Some(block)) = (wide, self.blocks.get_mut(at)) else {
            return;
        };
        let (columns, _) = wide.width_and_indent(block.column_owner());
        let has = |line: Line<'_>| line.to_string().to_lowercase().contains(&find.query);
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
            // What stands above it says what it is about, where both fit.
            let from = if line < n_rows / 2 {
                0
            } else {
                line - 2.min(line)
            };
            self.scroll = TranscriptScrollPosition::at_line(number, from);
        }
    }

    /// Folds what was opened to show what it has.
    pub fn refold_opened(&mut self, find: &mut TranscriptSearch) {
        if let Some(opened) = find.opened_block.take() {
            self.toggle_fold(opened);
        }
    }

    fn toggle_fold(&mut self, number: usize) {
        let thinking = self.thinking;
        if let Some(block) = self.blocks.get_mut(number.wrapping_sub(self.first)) {
            let _can = block.toggle_fold(thinking);
        }
    }

    /// Looks no further back.
    pub fn stop_log_search(&mut self, find: &mut TranscriptSearch) {
        self.stop_loading_match();
        if let LogSearchState::Searching { .. } | LogSearchState::Loading { .. } = find.log_state {
            find.log_state = LogSearchState::Unreadable;
        }
    }

    /// How far it was looked for.
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

    /// Which place of how many is pointed at, from 1; 0 where it is none of them.
    pub fn match_position(&self, find: &TranscriptSearch) -> (usize, usize) {
        let picked = self.selected_block();
        let at = find.hits.iter().position(|hit| Some(*hit) == picked);
        (at.map_or(0, |at| at + 1), find.hits.len())
    }
}
