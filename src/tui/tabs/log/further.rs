//! What of the log came before the rows that are kept: read while somebody reads or looks for it, as far as it is
//! listed, and forgotten again at the end.
//!
//! Refuses to read the log: it says what it wants of it.

use std::collections::VecDeque;

use super::{Filter, MAX_EVENTS, MAX_FURTHER, Record, Row};
use crate::domain::run::RunState;
use crate::tui::keymap::{IsWriting, Keymap};
use crate::tui::transcript::{Standing, WantsEarlier};

/// What came before the latest rows.
#[derive(Debug, Default)]
pub(super) struct Further {
    pub(super) rows: VecDeque<Row>,
    /// The number of the last event that was not read; `None` where nobody wants what came before.
    pub(super) to: Option<u64>,
    /// Whether the log could not be read further.
    pub(super) is_unread: bool,
    /// Whether more is wanted now.
    is_wanted: bool,
    /// The letters that all of these rows have.
    letters: String,
    /// Whether all of them have those letters by now.
    is_settled: bool,
}

impl Record {
    /// Begins a piece of the past, which is kept whole: how many events of the log came before it.
    pub fn begin_after(&mut self, before: u64) {
        self.part.begin_after(before);
        self.is_piece = true;
    }

    /// Puts a piece in front that lies right before the rows, or before what was read of what came before them.
    pub fn put_before(&mut self, piece: Self) {
        let last = piece.part.last();
        if self.further.to.is_none_or(|to| to == self.part.untold()) {
            if !self.part.is_preceded_by(last) {
                return;
            }
            let n_before = self.part.count_from(last);
            self.rows.iter_mut().for_each(|row| row.seq += n_before);
        } else if self.further.to != Some(last) {
            return;
        }
        self.n_seen += piece.n_seen;
        let before = piece.part.untold();
        let mut rows = piece.rows;
        if self.further.to.is_none() {
            while self.rows.len() < MAX_EVENTS
                && let Some(row) = rows.pop_back()
            {
                let n = self.rows.front().map_or(0, |first| first.n - 1);
                self.rows.push_front(Row { n, ..row });
            }
            self.part.reach_back(&piece.part);
            if let Some(row) = rows.back() {
                self.part.on_forgotten(row.seq);
            }
            return;
        }
        for row in rows.into_iter().rev() {
            let n = self.all().next().map_or(0, |first| first.n - 1);
            self.further.rows.push_front(Row { n, ..row });
        }
        self.further.to = Some(before);
        self.further.is_settled = false;
        self.further.is_wanted = false;
    }

    /// Forgets the first of the latest rows; whoever reads what came before keeps it.
    pub(super) fn forget_first(&mut self) {
        let Some(row) = self.rows.pop_front() else {
            return;
        };
        self.part.on_forgotten(row.seq);
        if self.further.to.is_some() {
            self.further.rows.push_back(row);
            self.further.is_settled = false;
        }
    }

    /// Keeps of what came before only what is listed.
    pub(super) fn settle(&mut self, (find, state): (&str, Option<&RunState>)) {
        if !find.starts_with(&self.further.letters) {
            self.further = Further::default();
        }
        if self.further.letters != find {
            find.clone_into(&mut self.further.letters);
            self.further.is_settled = false;
        }
        if self.is_choosy(find) {
            let _more = self.read_more();
        }
        if std::mem::replace(&mut self.further.is_settled, true) {
            return;
        }
        let filter = self.filter;
        let is_listed = |row: &Row| filter.lists(row) && row.listed(find, state).is_some();
        self.further.rows.retain(is_listed);
        while self.further.rows.len() > MAX_FURTHER
            && let Some(row) = self.further.rows.pop_front()
        {
            self.further.to = self.further.to.max(Some(row.seq));
        }
    }

    /// Takes in how the window stood with a frame.
    pub(super) fn on_shown(&mut self, is_away: bool, find: &str) {
        let is_read = is_away || self.is_choosy(find) || self.picked.is_some();
        if !is_read && !self.further.is_wanted {
            self.further = Further::default();
        }
    }

    /// Wants what came before; tells whether there is more that has room.
    pub fn read_more(&mut self) -> bool {
        let has_room = self.further.rows.len() < MAX_FURTHER && !self.further.is_unread;
        self.further.is_wanted = has_room && self.unread() > 0;
        if self.further.is_wanted {
            self.further.to.get_or_insert(self.part.untold());
        }
        self.further.is_wanted
    }

    /// Tells whether not all events are listed.
    fn is_choosy(&self, find: &str) -> bool {
        !find.is_empty() || self.filter != Filter::All
    }

    /// The number of the last event that somebody wants to see who reads or looks for what came before.
    pub fn wants_earlier(&self) -> Option<WantsEarlier> {
        let last = self.further.to.filter(|last| *last > 0)?;
        self.further
            .is_wanted
            .then_some(WantsEarlier::Rows { last })
    }

    /// Wants nothing more of the log, which cannot be read.
    pub fn stop_reading(&mut self) {
        if self.further.to.is_some() {
            self.further.is_unread = true;
            self.further.is_wanted = false;
        }
    }

    /// The number of the last event that is neither among the latest nor was read.
    fn unread(&self) -> u64 {
        self.further.to.unwrap_or(self.part.untold())
    }

    /// How far it was looked for.
    pub fn standing(&self) -> Standing {
        let (unread, all) = (self.unread(), self.part.last().max(1));
        match self.further.is_wanted {
            _ if unread == 0 => Standing::Whole,
            _ if self.further.is_unread => Standing::Unread,
            true => Standing::Looking(100 - (unread * 100 / all).min(100)),
            false => Standing::Kept,
        }
    }

    /// Says how much of the log is here where that is not all.
    pub(super) fn reach_in_words(&self, find: &str, keymap: &Keymap) -> Option<String> {
        let unread = self.unread();
        let last = self.part.last();
        let of = format!("the last {} of {last} events", last.saturating_sub(unread));
        Some(match self.standing() {
            Standing::Whole => return None,
            Standing::Unread => format!("{of}; what came before cannot be read"),
            Standing::Looking(percent) if self.is_choosy(find) => {
                format!("{of}; looking further back … {percent} %")
            }
            Standing::Looking(_) => format!("{of}; reading what came before …"),
            Standing::Kept | Standing::Telling if self.further.rows.len() >= MAX_FURTHER => {
                let key = keymap.named("find", IsWriting::No);
                format!("{of}; {key} finds what came before")
            }
            Standing::Kept | Standing::Telling => {
                let key = keymap.named("page-up", IsWriting::No);
                format!("{of}; {key} here reads what came before")
            }
        })
    }
}
