//! Reads the lines of an event log: a scan of all, or a stream of events.
//!
//! Refuses to change the file, and to hold more than one line of it in memory.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::domain::ids::RunId;
use crate::store::{StoreError, plain};

use super::{Envelope, OPENED, Origin, Record, SCHEMA, join_event};

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 64 * 1024 * 1024;

/// What a scan needs of a line; the rest is only checked to be JSON.
#[derive(Deserialize)]
struct Number {
    seq: u64,
    #[serde(default, rename = "data")]
    _data: IgnoredAny,
}

/// Streams the events of a log from number `from` on; half a last line ends the stream quietly.
///
/// Needs no lock and holds one line in memory. A log that does not exist has no events.
pub fn read<E: DeserializeOwned>(path: &Path, from: u64) -> Result<Events<E>, StoreError> {
    Ok(Events {
        lines: Lines::open(path)?,
        from,
        before: None,
        _event: PhantomData,
    })
}

/// The events of a log, one by one; ends after the first error.
#[derive(Debug)]
pub struct Events<E> {
    lines: Lines,
    from: u64,
    before: Option<u64>,
    _event: PhantomData<fn() -> E>,
}

impl<E: DeserializeOwned> Iterator for Events<E> {
    type Item = Result<Record<E>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next_line() {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::Torn(_)) | None) => return None,
                Err(e) => return Some(Err(e)),
            };
            match self.read_line(&line) {
                Ok(None) => {}
                Ok(Some(record)) => return Some(Ok(record)),
                Err(e) => {
                    self.lines.reader = None;
                    return Some(Err(e));
                }
            }
        }
    }
}

impl<E: DeserializeOwned> Events<E> {
    fn read_line(&mut self, line: &[u8]) -> Result<Option<Record<E>>, StoreError> {
        let seq = self.lines.check_line(line, self.before)?;
        self.before = Some(seq);
        match seq == 0 || seq < self.from {
            true => Ok(None),
            false => self.lines.read_event(line),
        }
    }
}

/// Reads the event of a line; `None` for the first line of a log.
pub(super) fn parse_event<E: DeserializeOwned>(
    line: &[u8],
) -> Result<Option<Record<E>>, serde_json::Error> {
    let envelope: Envelope = serde_json::from_slice(line)?;
    if envelope.seq == 0 {
        return Ok(None);
    }
    let event = join_event(envelope.kind, envelope.data);
    Ok(Some(Record {
        seq: envelope.seq,
        at: envelope.at,
        run: envelope.run,
        origin: Origin {
            session: envelope.session,
            turn: envelope.turn,
        },
        event: serde_json::from_value(event)?,
    }))
}

pub(super) enum Line {
    Whole(Vec<u8>),
    Torn(u64),
}

/// The lines of a log file as it was when it was opened.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    reader: Option<BufReader<std::io::Take<File>>>,
    n_line: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let Some(file) = plain::open_read(path)? else {
            return Ok(Self {
                path: path.to_path_buf(),
                reader: None,
                n_line: 0,
            });
        };
        let meta = file.metadata();
        let len = meta.map_err(|e| StoreError::io("look at", path, e))?.len();
        Ok(Self::of(path, file, len, 0))
    }

    /// The lines from where a file stands, which is after line `n_line`, over `len` bytes.
    pub(super) fn of(path: &Path, file: File, len: u64, n_line: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            reader: Some(BufReader::new(file.take(len))),
            n_line,
        }
    }

    pub(super) fn next_line(&mut self) -> Result<Option<Line>, StoreError> {
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let n = reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|e| StoreError::io("read", &self.path, e))?;
        if n == 0 {
            return Ok(None);
        }
        self.n_line += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some(Line::Whole(line)));
        }
        if n as u64 == MAX_LINE {
            return Err(self.damaged(format!("the line is longer than {MAX_LINE} bytes")));
        }
        Ok(Some(Line::Torn(n as u64)))
    }

    /// Reads the event of a line whose form was checked.
    pub(super) fn read_event<E: DeserializeOwned>(
        &self,
        line: &[u8],
    ) -> Result<Option<Record<E>>, StoreError> {
        parse_event(line).map_err(|e| self.damaged(e.to_string()))
    }

    /// Checks the form of a line and that its number is above the one `before` it.
    pub(super) fn check_line(&self, line: &[u8], before: Option<u64>) -> Result<u64, StoreError> {
        let number: Number =
            serde_json::from_slice(line).map_err(|e| self.damaged(e.to_string()))?;
        let seq = number.seq;
        match before {
            None => self.read_first(line).map(|_| seq),
            Some(before) if seq <= before => {
                Err(self.damaged(format!("seq {seq} comes after seq {before}")))
            }
            Some(_) => Ok(seq),
        }
    }

    fn read_first(&self, line: &[u8]) -> Result<RunId, StoreError> {
        let first: Envelope =
            serde_json::from_slice(line).map_err(|e| self.damaged(e.to_string()))?;
        let schema = first.data.get("schema").and_then(Value::as_u64);
        match schema {
            Some(schema) if first.kind == OPENED && schema > SCHEMA => Err(StoreError::Newer {
                path: self.path.clone(),
                found: schema,
                known: SCHEMA,
            }),
            Some(_) if first.kind == OPENED && first.seq == 0 => Ok(first.run),
            Some(_) | None => Err(self.damaged(format!(
                "the first line is not {OPENED} with a schema number"
            ))),
        }
    }

    fn damaged(&self, reason: String) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            line: self.n_line,
            reason,
        }
    }
}

/// What a log holds, as far as its form goes.
pub(super) struct Scan {
    pub(super) run: Option<RunId>,
    pub(super) last_seq: u64,
    /// The length of all whole lines.
    pub(super) whole: u64,
    /// The length of half a line after them.
    pub(super) torn: u64,
}

/// Checks every line of a log.
pub(super) fn scan(path: &Path) -> Result<Scan, StoreError> {
    let mut lines = Lines::open(path)?;
    let mut scan = Scan {
        run: None,
        last_seq: 0,
        whole: 0,
        torn: 0,
    };
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Torn(bytes) => scan.torn = bytes,
            Line::Whole(line) => {
                let before = scan.run.as_ref().map(|_| scan.last_seq);
                scan.last_seq = lines.check_line(&line, before)?;
                if scan.run.is_none() {
                    scan.run = Some(lines.read_first(&line)?);
                }
                scan.whole += line.len() as u64 + 1;
            }
        }
    }
    Ok(scan)
}
