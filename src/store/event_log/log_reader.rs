//! Reads the events of a log: from its beginning or its end, backwards in pieces, and forwards while another process
//! writes it.
//!
//! Takes no lock and changes nothing. It reads no more than was requested: the last events of a long log are there at
//! once, however much comes before them. An incomplete last line is read when it is complete.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::store::{StoreError, nofollow_fs};

use super::EventLogRecord;
use super::log_lines::{LogLine, LogLineReader, parse_event};

/// Reads one log. The part that was read grows at its start by [`Self::read_before`], and at its end by
/// [`Self::read_new`].
#[derive(Debug)]
pub struct EventLogReader<E> {
    path: PathBuf,
    /// Device and inode number of the file that was read; another file is another log.
    file: Option<(u64, u64)>,
    /// The part that was read, in bytes; `None` before the first read from the end.
    part: Option<Range<u64>>,
    n_line: u64,
    last_seq: Option<u64>,
    _event: PhantomData<fn() -> E>,
}

/// What was added to a log.
#[derive(Debug)]
pub enum LogUpdate<E> {
    /// These events; empty if there are none.
    More(Vec<EventLogRecord<E>>),
    /// The log was replaced or removed: everything read so far is invalid.
    Restarted,
}

impl<E: DeserializeOwned> EventLogReader<E> {
    /// Starts at the beginning of a log, which need not exist yet.
    pub fn from_start(path: &Path) -> Self {
        Self {
            part: Some(0..0),
            ..Self::from_end(path)
        }
    }

    /// Starts at the end of a log, which need not exist.
    pub fn from_end(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            file: None,
            part: None,
            n_line: 0,
            last_seq: None,
            _event: PhantomData,
        }
    }

    /// Returns true if the log's first event was read.
    pub fn is_at_start(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.start == 0)
    }

    /// Returns the number of the last event that was read; 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.last_seq.unwrap_or(0)
    }

    /// Reads the events in about the last `n_bytes` before those already read, in the order in which they
    /// happened; at least one if there is one.
    ///
    /// # Errors
    /// The log cannot be read, or a line of it is damaged; then the position does not change.
    pub fn read_before(&mut self, n_bytes: u64) -> Result<Vec<EventLogRecord<E>>, StoreError> {
        let Some(mut file) = nofollow_fs::open_read(&self.path)? else {
            self.part = Some(0..0);
            return Ok(Vec::new());
        };
        let failed = |e| StoreError::from_io("read", &self.path, e);
        let end = match &self.part {
            Some(part) => part.start,
            None => file.seek(SeekFrom::End(0)).map_err(failed)?,
        };
        let mut wanted = n_bytes.max(1);
        loop {
            let from = end.saturating_sub(wanted);
            let bytes = read_range(&mut file, from..end).map_err(failed)?;
            let whole = whole_line_range(&bytes, from);
            if whole.is_empty() && from > 0 {
                // A single line is longer than the requested size.
                wanted *= 2;
                continue;
            }
            let records = self.parse_records(&bytes[whole.clone()])?;
            let start = from + whole.start as u64;
            match &mut self.part {
                Some(part) => part.start = start,
                None => {
                    let meta = file.metadata().map_err(failed)?;
                    self.file = Some((meta.dev(), meta.ino()));
                    self.part = Some(start..from + whole.end as u64);
                    self.last_seq =
                        (!whole.is_empty()).then(|| records.last().map_or(0, |record| record.seq));
                    // The first line is no event.
                    self.n_line = self.last_seq.map_or(0, |seq| seq + 1);
                }
            }
            return Ok(records);
        }
    }

    fn parse_records(&self, bytes: &[u8]) -> Result<Vec<EventLogRecord<E>>, StoreError> {
        let mut records = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            let record = parse_event(line).map_err(|error| StoreError::Damaged {
                path: self.path.clone(),
                line: records.len() as u64 + 1,
                reason: format!("counted from its last {} bytes on: {error}", bytes.len()),
            })?;
            // The first line of a log is no event.
            records.extend(record);
        }
        Ok(records)
    }

    /// Reads on after the events already read, at most `most` events.
    ///
    /// # Errors
    /// The log cannot be read, is damaged, or has a newer schema; all events before that were returned.
    pub fn read_new(&mut self, most: usize) -> Result<LogUpdate<E>, StoreError> {
        let mut records = Vec::new();
        match self.read_lines(most, |record| records.push(record)) {
            Ok(true) => Ok(LogUpdate::Restarted),
            // Events before the error are returned first; the next call reports the error.
            Err(error) if records.is_empty() => Err(error),
            Ok(false) | Err(_) => Ok(LogUpdate::More(records)),
        }
    }

    /// Reads the whole log from its beginning and passes on each event; keeps one line in memory.
    ///
    /// # Errors
    /// Same as [`Self::read_new`]; all events before the error were passed on.
    pub fn read_all(&mut self, each: impl FnMut(EventLogRecord<E>)) -> Result<(), StoreError> {
        *self = Self::from_start(&self.path);
        self.read_lines(usize::MAX, each).map(|_| ())
    }

    /// Reads on; returns true if the log was replaced or removed.
    fn read_lines(
        &mut self,
        most: usize,
        mut each: impl FnMut(EventLogRecord<E>),
    ) -> Result<bool, StoreError> {
        let Some(mut file) = nofollow_fs::open_read(&self.path)? else {
            return Ok(self.restart_unless_new());
        };
        let failed = |e| StoreError::from_io("read", &self.path, e);
        let meta = file.metadata().map_err(failed)?;
        let found = (meta.dev(), meta.ino());
        let mut offset = self.part.as_ref().map_or(0, |part| part.end);
        if self.file.is_some_and(|known| known != found) || meta.len() < offset {
            return Ok(self.restart_unless_new());
        }
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut lines =
            LogLineReader::from_file(&self.path, file, meta.len() - offset, self.n_line);
        self.file = Some(found);
        let mut n_read = 0;
        while n_read < most {
            let Some(LogLine::Whole(line)) = lines.next_line()? else {
                break;
            };
            let seq = lines.check_line(&line, self.last_seq)?;
            let record = match seq {
                0 => None,
                _ => lines.parse_line_event(&line)?,
            };
            offset += line.len() as u64 + 1;
            self.part.get_or_insert(0..0).end = offset;
            self.last_seq = Some(seq);
            self.n_line += 1;
            if let Some(record) = record {
                each(record);
                n_read += 1;
            }
        }
        Ok(false)
    }

    /// Checks the log's first line, which reading from the end leaves out.
    ///
    /// # Errors
    /// The log cannot be read, or does not have this schema.
    pub fn check_first_line(&self) -> Result<(), StoreError> {
        let mut lines = LogLineReader::open(&self.path)?;
        if let Some(LogLine::Whole(first)) = lines.next_line()? {
            lines.check_line(&first, None)?;
        }
        Ok(())
    }

    fn restart_unless_new(&mut self) -> bool {
        let was_read = self.file.is_some();
        if was_read {
            *self = Self::from_start(&self.path);
        }
        was_read
    }
}

fn read_range(file: &mut File, range: Range<u64>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(range.start))?;
    file.take(range.end - range.start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the range of whole lines in these bytes, which start at `from` in the file.
fn whole_line_range(bytes: &[u8], from: u64) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = match from {
        0 => 0,
        _ => bytes
            .iter()
            .position(is_end)
            .map_or(bytes.len(), |at| at + 1),
    };
    let end = bytes.iter().rposition(is_end).map_or(0, |at| at + 1);
    start..end.max(start)
}
