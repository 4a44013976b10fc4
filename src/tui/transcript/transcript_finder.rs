//! An open search in a transcript, and where it began.

use super::transcript_search::{
    LogSearchProgress, LogSearchResult, TranscriptPosition, TranscriptSearch,
};
use super::{ChatTranscript, ScrollbackDemand};

/// The search that the user has open in a transcript, if there is one.
#[derive(Debug, Default)]
pub struct TranscriptFinder {
    search: TranscriptSearch,
    origin: Option<TranscriptPosition>,
}

impl TranscriptFinder {
    /// Starts a search at the current position.
    pub fn begin(&mut self, transcript: &ChatTranscript) {
        *self = Self {
            search: TranscriptSearch::default(),
            origin: Some(transcript.position()),
        };
    }

    /// Returns the letters searched for, in lower case; empty without a search.
    pub fn query(&self) -> &str {
        self.search.query()
    }

    /// Searches for letters; without letters, goes back to where the search began.
    pub fn search(&mut self, transcript: &mut ChatTranscript, letters: &str) {
        if let Some(origin) = self.origin.filter(|_| letters.is_empty()) {
            transcript.restore_position(origin);
        }
        transcript.search(&mut self.search, letters);
    }

    /// Goes to the next or the previous match.
    pub fn step_match(&mut self, transcript: &mut ChatTranscript, is_next: bool) {
        transcript.step_match(&mut self.search, is_next);
    }

    /// Returns which match is selected, from 1, and how many there are.
    pub fn match_position(&self, transcript: &ChatTranscript) -> (usize, usize) {
        transcript.match_position(&self.search)
    }

    /// Returns how far the search went.
    pub fn progress(&self, transcript: &ChatTranscript) -> LogSearchProgress {
        transcript.search_progress(&self.search)
    }

    /// Goes back to where the search began, and folds what it opened.
    pub fn cancel(&mut self, transcript: &mut ChatTranscript) {
        transcript.refold_opened(&mut self.search);
        if let Some(origin) = self.origin {
            transcript.restore_position(origin);
        }
    }

    /// Ends the search; the transcript stays where it is.
    pub fn end(&mut self, transcript: &mut ChatTranscript) {
        transcript.stop_loading_match();
        *self = Self::default();
    }

    /// Returns the part of the log to search next.
    pub fn wanted_log_search(&self, transcript: &ChatTranscript) -> Option<ScrollbackDemand> {
        transcript.wanted_log_search(&self.search)
    }

    /// Handles the search result for a piece of the log.
    pub fn on_log_search_result(
        &mut self,
        transcript: &mut ChatTranscript,
        result: &LogSearchResult,
    ) {
        if self.origin.is_some() {
            transcript.on_log_search_result(&mut self.search, result);
        }
    }

    /// Goes to a match in older events once they are loaded.
    pub fn go_to_loaded_match(&mut self, transcript: &mut ChatTranscript) {
        transcript.go_to_loaded_match(&mut self.search);
    }

    /// Stops searching older events, because the log cannot be read.
    pub fn stop_log_search(&mut self, transcript: &mut ChatTranscript) {
        if self.origin.is_some() {
            transcript.stop_log_search(&mut self.search);
        }
    }
}
