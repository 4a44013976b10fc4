//! Reads and checks the lines of an event log, one after another, and scans all of them.
//!
//! Does not change the file, and keeps at most one line of it in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::domain::ids::RunId;
use crate::store::{StoreError, nofollow_fs};

use super::{EventEnvelope, EventLogRecord, EventOrigin, OPENED_KIND, SCHEMA, join_event};

/// The maximum length of a line, in bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// What a scan needs of a line; the rest is only checked to be JSON.
#[derive(Deserialize)]
struct SequenceNumber {
    seq: u64,
    #[serde(default, rename = "data")]
    _data: IgnoredAny,
}

/// Parses the event of a line; `None` for the first line of a log.
pub(super) fn parse_event<E: DeserializeOwned>(
    line: &[u8],
) -> Result<Option<EventLogRecord<E>>, serde_json::Error> {
    let envelope: EventEnvelope = serde_json::from_slice(line)?;
    if envelope.seq == 0 {
        return Ok(None);
    }
    let event = join_event(envelope.kind, envelope.data);
    Ok(Some(EventLogRecord {
        seq: envelope.seq,
        at: envelope.at,
        run: envelope.run,
        origin: EventOrigin {
            session: envelope.session,
            turn: envelope.turn,
        },
        event: serde_json::from_value(event)?,
    }))
}

pub(super) enum LogLine {
    Whole(Vec<u8>),
    Torn(u64),
}

/// Reads the lines of a log file as it was when it was opened.
#[derive(Debug)]
pub(super) struct LogLineReader {
    path: PathBuf,
    reader: Option<BufReader<std::io::Take<File>>>,
    n_line: u64,
}

impl LogLineReader {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let Some(file) = nofollow_fs::open_read(path)? else {
            return Ok(Self {
                path: path.to_path_buf(),
                reader: None,
                n_line: 0,
            });
        };
        let meta = file.metadata();
        let len = meta
            .map_err(|e| StoreError::from_io("access", path, e))?
            .len();
        Ok(Self::from_file(path, file, len, 0))
    }

    /// Reads `len` bytes of lines from the current position of a file, which is after line `n_line`.
    pub(super) fn from_file(path: &Path, file: File, len: u64, n_line: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            reader: Some(BufReader::new(file.take(len))),
            n_line,
        }
    }

    pub(super) fn next_line(&mut self) -> Result<Option<LogLine>, StoreError> {
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let n = reader
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(|e| StoreError::from_io("read", &self.path, e))?;
        if n == 0 {
            return Ok(None);
        }
        self.n_line += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some(LogLine::Whole(line)));
        }
        if n as u64 == MAX_LINE_BYTES {
            return Err(
                self.damaged_line(format!("the line is longer than {MAX_LINE_BYTES} bytes"))
            );
        }
        Ok(Some(LogLine::Torn(n as u64)))
    }

    /// Parses the event of a line that was already checked.
    pub(super) fn parse_line_event<E: DeserializeOwned>(
        &self,
        line: &[u8],
    ) -> Result<Option<EventLogRecord<E>>, StoreError> {
        parse_event(line).map_err(|e| self.damaged_line(e.to_string()))
    }

    /// Checks the form of a line, and that its number is above the one `before` it.
    pub(super) fn check_line(&self, line: &[u8], before: Option<u64>) -> Result<u64, StoreError> {
        let number: SequenceNumber =
            serde_json::from_slice(line).map_err(|e| self.damaged_line(e.to_string()))?;
        let seq = number.seq;
        match before {
            None => self.check_header(line).map(|_| seq),
            Some(before) if seq <= before => {
                Err(self.damaged_line(format!("seq {seq} follows seq {before}")))
            }
            Some(_) => Ok(seq),
        }
    }

    fn check_header(&self, line: &[u8]) -> Result<RunId, StoreError> {
        let first: EventEnvelope =
            serde_json::from_slice(line).map_err(|e| self.damaged_line(e.to_string()))?;
        let schema = first.data.get("schema").and_then(Value::as_u64);
        match schema {
            Some(schema) if first.kind == OPENED_KIND && schema > SCHEMA => {
                Err(StoreError::NewerSchema {
                    path: self.path.clone(),
                    found: schema,
                    known: SCHEMA,
                })
            }
            Some(_) if first.kind == OPENED_KIND && first.seq == 0 => Ok(first.run),
            Some(_) | None => Err(self.damaged_line(format!(
                "the first line is not {OPENED_KIND} with a schema number"
            ))),
        }
    }

    fn damaged_line(&self, reason: String) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            line: self.n_line,
            reason,
        }
    }
}

/// The result of a scan, which checks only the form of the lines.
pub(super) struct LogScan {
    pub(super) run: Option<RunId>,
    pub(super) last_seq: u64,
    /// The length of all whole lines.
    pub(super) whole_bytes: u64,
    /// The length of an incomplete line after them.
    pub(super) torn_bytes: u64,
}

/// Checks every line of a log.
pub(super) fn scan_log(path: &Path) -> Result<LogScan, StoreError> {
    let mut lines = LogLineReader::open(path)?;
    let mut scan = LogScan {
        run: None,
        last_seq: 0,
        whole_bytes: 0,
        torn_bytes: 0,
    };
    while let Some(line) = lines.next_line()? {
        match line {
            LogLine::Torn(bytes) => scan.torn_bytes = bytes,
            LogLine::Whole(line) => {
                let before = scan.run.as_ref().map(|_| scan.last_seq);
                scan.last_seq = lines.check_line(&line, before)?;
                if scan.run.is_none() {
                    scan.run = Some(lines.check_header(&line)?);
                }
                scan.whole_bytes += line.len() as u64 + 1;
            }
        }
    }
    Ok(scan)
}
