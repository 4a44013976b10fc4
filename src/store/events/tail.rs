//! Follows a log that somebody else writes: what came since the last look, from where that ended.
//!
//! Takes no lock and changes nothing. Half a last line is no line yet; it is read when it is whole.

use std::io::{Seek, SeekFrom};
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::store::{StoreError, plain};

use super::reading::{Line, Lines};
use super::{LogEnd, Record};

/// A log that is followed.
#[derive(Debug)]
pub struct Tail<E> {
    path: PathBuf,
    /// Device and number of the file that was read; another one there is another log.
    file: Option<(u64, u64)>,
    /// Where the next line begins, in bytes.
    offset: u64,
    n_line: u64,
    before: Option<u64>,
    _event: PhantomData<fn() -> E>,
}

/// What a look at a followed log found.
#[derive(Debug)]
pub enum Look<E> {
    /// These events; empty when nothing came.
    More(Vec<Record<E>>),
    /// The log is another one than before, or gone: everything read so far is void.
    Anew,
}

impl<E: DeserializeOwned> Tail<E> {
    /// Follows a log from its beginning; it need not exist yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            file: None,
            offset: 0,
            n_line: 0,
            before: None,
            _event: PhantomData,
        }
    }

    /// Follows a log from where it ended when it was read from there, which was behind the event of that number.
    ///
    /// # Errors
    /// The log cannot be read, or is none of this schema.
    pub fn behind(path: &Path, end: LogEnd, last_seq: u64) -> Result<Self, StoreError> {
        if let Some(file) = plain::open_read(path)? {
            let mut lines = Lines::of(path, file, end.offset, 0);
            if let Some(Line::Whole(first)) = lines.next_line()? {
                lines.check_line(&first, None)?;
            }
        }
        Ok(Self {
            file: Some(end.file),
            offset: end.offset,
            // The first line is no event.
            n_line: last_seq + 1,
            before: Some(last_seq),
            ..Self::new(path)
        })
    }

    /// Reads on, at most `most` events.
    ///
    /// # Errors
    /// The log cannot be read, is damaged, or is of a newer schema; all events before that were given.
    pub fn read_on(&mut self, most: usize) -> Result<Look<E>, StoreError> {
        let failed = |e| StoreError::io("read", &self.path, e);
        let Some(mut file) = plain::open_read(&self.path)? else {
            return Ok(self.begin_anew_unless_new());
        };
        let meta = file.metadata().map_err(failed)?;
        let found = (meta.dev(), meta.ino());
        if self.file.is_some_and(|known| known != found) || meta.len() < self.offset {
            return Ok(self.begin_anew_unless_new());
        }
        self.file = Some(found);
        file.seek(SeekFrom::Start(self.offset)).map_err(failed)?;
        let rest = meta.len().saturating_sub(self.offset);
        let mut lines = Lines::of(&self.path, file, rest, self.n_line);
        let mut records = Vec::new();
        while records.len() < most {
            match self.read_next(&mut lines) {
                Ok(None) => break,
                Ok(Some(record)) => records.extend(record),
                // What is sound is given first; the next call comes back to the trouble.
                Err(_) if !records.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Look::More(records))
    }

    /// Reads one line, which may be the first one, without an event; `None` where no whole line is left.
    fn read_next(&mut self, lines: &mut Lines) -> Result<Option<Option<Record<E>>>, StoreError> {
        let Some(Line::Whole(line)) = lines.next_line()? else {
            return Ok(None);
        };
        let seq = lines.check_line(&line, self.before)?;
        let record = match seq {
            0 => None,
            _ => lines.read_event(&line)?,
        };
        self.before = Some(seq);
        self.offset += line.len() as u64 + 1;
        self.n_line += 1;
        Ok(Some(record))
    }

    /// The number of the last event that was read; 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.before.unwrap_or(0)
    }

    fn begin_anew_unless_new(&mut self) -> Look<E> {
        if self.file.is_none() {
            return Look::More(Vec::new());
        }
        *self = Self::new(&self.path);
        Look::Anew
    }
}
