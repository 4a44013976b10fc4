//! Events before the rows that are kept. They are loaded while the user reads or searches them and dropped
//! afterwards.
//!
//! This module only requests parts of the log; the caller reads them.

use std::collections::VecDeque;

use super::{EventLogFilter, EventLogList, EventLogRow, MAX_EVENTS, MAX_OLDER_EVENTS};
use crate::domain::run::RunState;
use crate::tui::keymap::{ActiveKeymap, ComposerFocus};
use crate::tui::transcript::{LogSearchProgress, ScrollbackDemand};

/// Events before the latest rows.
#[derive(Debug, Default)]
pub(super) struct OlderEvents {
    pub(super) rows: VecDeque<EventLogRow>,
    /// The number of the last event that was not loaded; `None` while earlier events are not needed.
    pub(super) last_unread: Option<u64>,
    /// Whether reading the log failed.
    pub(super) is_unreadable: bool,
    /// Whether more events are requested now.
    is_wanted: bool,
    /// The search text that all of these rows match.
    query: String,
    /// Whether the rows were filtered by that search text.
    is_filtered: bool,
}

impl EventLogList {
    /// Starts a chunk of earlier events, which is kept whole; `before` events of the log precede it.
    pub fn start_after(&mut self, before: u64) {
        self.range.start_after(before);
        self.is_chunk = true;
    }

    /// Prepends a chunk that directly precedes the rows, or the earlier events that were loaded.
    pub fn prepend_chunk(&mut self, piece: Self) {
        let last = piece.range.last_event();
        if self
            .older
            .last_unread
            .is_none_or(|to| to == self.range.last_incomplete_event())
        {
            if !self.range.is_preceded_by(last) {
                return;
            }
            let n_before = self.range.set_events_before(last);
            self.rows.iter_mut().for_each(|row| row.seq += n_before);
        } else if self.older.last_unread != Some(last) {
            return;
        }
        self.n_seen += piece.n_seen;
        let before = piece.range.last_incomplete_event();
        let mut rows = piece.rows;
        if self.older.last_unread.is_none() {
            while self.rows.len() < MAX_EVENTS
                && let Some(row) = rows.pop_back()
            {
                let n = self.rows.front().map_or(0, |first| first.n - 1);
                self.rows.push_front(EventLogRow { n, ..row });
            }
            self.range.extend_back(&piece.range);
            if let Some(row) = rows.back() {
                self.range.note_evicted(row.seq);
            }
            return;
        }
        for row in rows.into_iter().rev() {
            let n = self.all_rows().next().map_or(0, |first| first.n - 1);
            self.older.rows.push_front(EventLogRow { n, ..row });
        }
        self.older.last_unread = Some(before);
        self.older.is_filtered = false;
        self.older.is_wanted = false;
    }

    /// Drops the first of the latest rows; while the user reads earlier events, the row moves to those.
    pub(super) fn drop_first(&mut self) {
        let Some(row) = self.rows.pop_front() else {
            return;
        };
        self.range.note_evicted(row.seq);
        if self.older.last_unread.is_some() {
            self.older.rows.push_back(row);
            self.older.is_filtered = false;
        }
    }

    /// Keeps only those earlier events that are listed.
    pub(super) fn filter_older(&mut self, find: &str, state: Option<&RunState>) {
        // A longer search text only drops more rows; for any other text, dropped rows must be loaded again.
        if !find.starts_with(&self.older.query) {
            self.older = OlderEvents::default();
        }
        if self.older.query != find {
            find.clone_into(&mut self.older.query);
            self.older.is_filtered = false;
        }
        if self.has_filter(find) {
            let _more = self.request_older();
        }
        if std::mem::replace(&mut self.older.is_filtered, true) {
            return;
        }
        let filter = self.filter;
        let is_listed =
            |row: &EventLogRow| filter.matches(row) && row.match_query(find, state).is_some();
        self.older.rows.retain(is_listed);
        // Rows beyond the limit count as unread again, so that they can be loaded later.
        while self.older.rows.len() > MAX_OLDER_EVENTS
            && let Some(row) = self.older.rows.pop_front()
        {
            self.older.last_unread = self.older.last_unread.max(Some(row.seq));
        }
    }

    /// Notes how a frame showed the list: the earlier events are dropped once the user no longer reads
    /// them.
    pub(super) fn on_shown(&mut self, is_away: bool, find: &str) {
        let is_read = is_away || self.has_filter(find) || self.selected.is_some();
        if !is_read && !self.older.is_wanted {
            self.older = OlderEvents::default();
        }
    }

    /// Requests earlier events; returns whether there are more and there is room for them.
    pub fn request_older(&mut self) -> bool {
        let has_room = self.older.rows.len() < MAX_OLDER_EVENTS && !self.older.is_unreadable;
        self.older.is_wanted = has_room && self.last_unread() > 0;
        if self.older.is_wanted {
            self.older
                .last_unread
                .get_or_insert(self.range.last_incomplete_event());
        }
        self.older.is_wanted
    }

    /// Returns whether a search or a filter hides events.
    fn has_filter(&self, find: &str) -> bool {
        !find.is_empty() || self.filter != EventLogFilter::All
    }

    /// Returns the part of the log that is requested, by the number of its last event.
    pub fn wanted_scrollback(&self) -> Option<ScrollbackDemand> {
        let last = self.older.last_unread.filter(|last| *last > 0)?;
        self.older
            .is_wanted
            .then_some(ScrollbackDemand::Rows { last })
    }

    /// Stops all requests, because the log cannot be read.
    pub fn stop_scrollback(&mut self) {
        if self.older.last_unread.is_some() {
            self.older.is_unreadable = true;
            self.older.is_wanted = false;
        }
    }

    /// Returns the number of the last event that is not loaded.
    fn last_unread(&self) -> u64 {
        self.older
            .last_unread
            .unwrap_or(self.range.last_incomplete_event())
    }

    /// Returns how much of the log was searched.
    pub fn search_progress(&self) -> LogSearchProgress {
        let (unread, all) = (self.last_unread(), self.range.last_event().max(1));
        match self.older.is_wanted {
            _ if unread == 0 => LogSearchProgress::Complete,
            _ if self.older.is_unreadable => LogSearchProgress::Unreadable,
            true => LogSearchProgress::Searching(100 - (unread * 100 / all).min(100)),
            false => LogSearchProgress::LoadedOnly,
        }
    }

    /// Describes which part of the log is loaded, if it is not all.
    pub(super) fn describe_range(&self, find: &str, keymap: &ActiveKeymap) -> Option<String> {
        let unread = self.last_unread();
        let last = self.range.last_event();
        let of = format!("the last {} of {last} events", last.saturating_sub(unread));
        Some(match self.search_progress() {
            LogSearchProgress::Complete => return None,
            LogSearchProgress::Unreadable => format!("{of}, earlier ones cannot be read"),
            LogSearchProgress::Searching(percent) if self.has_filter(find) => {
                format!("{of}, searching further back … {percent} %")
            }
            LogSearchProgress::Searching(_) => format!("{of}, loading earlier ones …"),
            LogSearchProgress::LoadedOnly | LogSearchProgress::Loading
                if self.older.rows.len() >= MAX_OLDER_EVENTS =>
            {
                let key = keymap.key_label("find", ComposerFocus::Unfocused);
                format!("{of}, {key} finds earlier ones")
            }
            LogSearchProgress::LoadedOnly | LogSearchProgress::Loading => {
                let key = keymap.key_label("page-up", ComposerFocus::Unfocused);
                format!("{of}, {key} here loads earlier ones")
            }
        })
    }
}
