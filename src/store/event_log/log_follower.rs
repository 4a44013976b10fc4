//! Follows a log that another process writes: each call reads what was added since the last one.
//!
//! Takes no lock and changes nothing. An incomplete last line is read when it is complete.

use std::io::{Seek, SeekFrom};
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::store::{StoreError, nofollow_fs};

use super::forward_reader::{LogLine, LogLineReader};
use super::{EventLogRecord, LogEnd};

/// Reads what another process appends to an event log.
#[derive(Debug)]
pub struct LogFollower<E> {
    path: PathBuf,
    /// Device and inode number of the file that was read; another file is another log.
    file: Option<(u64, u64)>,
    /// Where the next line starts, in bytes.
    offset: u64,
    n_line: u64,
    last_seq: Option<u64>,
    _event: PhantomData<fn() -> E>,
}

/// What was added to a followed log.
#[derive(Debug)]
pub enum FollowUpdate<E> {
    /// These events; empty if there are none.
    More(Vec<EventLogRecord<E>>),
    /// The log was replaced or removed: everything read so far is invalid.
    Restarted,
}

impl<E: DeserializeOwned> LogFollower<E> {
    /// Follows a log from its beginning; it need not exist yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            file: None,
            offset: 0,
            n_line: 0,
            last_seq: None,
            _event: PhantomData,
        }
    }

    /// Follows a log from where it ended when it was read from the end, which was after the event `last_seq`.
    ///
    /// # Errors
    /// The log cannot be read, or does not have this schema.
    pub fn resume_at(path: &Path, end: LogEnd, last_seq: u64) -> Result<Self, StoreError> {
        if let Some(file) = nofollow_fs::open_read(path)? {
            let mut lines = LogLineReader::from_file(path, file, end.offset, 0);
            if let Some(LogLine::Whole(first)) = lines.next_line()? {
                lines.check_line(&first, None)?;
            }
        }
        Ok(Self {
            file: Some(end.file),
            offset: end.offset,
            // The first line is no event.
            n_line: last_seq + 1,
            last_seq: Some(last_seq),
            ..Self::new(path)
        })
    }

    /// Reads on, at most `most` events.
    ///
    /// # Errors
    /// The log cannot be read, is damaged, or has a newer schema; all events before that were returned.
    pub fn read_new(&mut self, most: usize) -> Result<FollowUpdate<E>, StoreError> {
        let failed = |e| StoreError::from_io("read", &self.path, e);
        let Some(mut file) = nofollow_fs::open_read(&self.path)? else {
            return Ok(self.restart_unless_new());
        };
        let meta = file.metadata().map_err(failed)?;
        let found = (meta.dev(), meta.ino());
        if self.file.is_some_and(|known| known != found) || meta.len() < self.offset {
            return Ok(self.restart_unless_new());
        }
        self.file = Some(found);
        file.seek(SeekFrom::Start(self.offset)).map_err(failed)?;
        let rest = meta.len().saturating_sub(self.offset);
        let mut lines = LogLineReader::from_file(&self.path, file, rest, self.n_line);
        let mut records = Vec::new();
        while records.len() < most {
            match self.read_next_line(&mut lines) {
                Ok(None) => break,
                Ok(Some(record)) => records.extend(record),
                // Events before the error are returned first; the next call reports the error.
                Err(_) if !records.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(FollowUpdate::More(records))
    }

    /// Reads one line, which may be the first one, without an event; `None` if no whole line is left.
    fn read_next_line(
        &mut self,
        lines: &mut LogLineReader,
    ) -> Result<Option<Option<EventLogRecord<E>>>, StoreError> {
        let Some(LogLine::Whole(line)) = lines.next_line()? else {
            return Ok(None);
        };
        let seq = lines.check_line(&line, self.last_seq)?;
        let record = match seq {
            0 => None,
            _ => lines.parse_line_event(&line)?,
        };
        self.last_seq = Some(seq);
        self.offset += line.len() as u64 + 1;
        self.n_line += 1;
        Ok(Some(record))
    }

    /// Returns the number of the last event that was read; 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.last_seq.unwrap_or(0)
    }

    fn restart_unless_new(&mut self) -> FollowUpdate<E> {
        if self.file.is_none() {
            return FollowUpdate::More(Vec::new());
        }
        *self = Self::new(&self.path);
        FollowUpdate::Restarted
    }
}
