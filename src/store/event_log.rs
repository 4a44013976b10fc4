//! Appends to and opens the event log `events.jsonl`: one envelope per line, numbered without a gap, never
//! rewritten.
//!
//! Does not know any event: an event is whatever serialises as `{"kind": …, "data": …}` (serde's adjacent
//! tagging). The first line has `seq` 0 and kind `log.opened` and carries the schema number; events count
//! from 1.

mod log_lines;
mod log_reader;

use std::io::{Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::ids::{RunId, SessionId, TurnId, UnixMillis};

use super::{StoreError, TamperGuard, WorkdirLayout, atomic_file, nofollow_fs, utc_time};

use log_lines::scan_log;
pub use log_reader::{EventLogReader, LogUpdate};

/// The schema number of the log that this version writes.
pub const SCHEMA: u64 = 1;
/// The kind of the first line.
const OPENED_KIND: &str = "log.opened";
/// The session and the turn that an event belongs to, if any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventOrigin {
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
}

/// One event with its envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct EventLogRecord<E> {
    /// Its number, strictly increasing within a log, from 1.
    pub seq: u64,
    pub at: UnixMillis,
    pub run: RunId,
    pub origin: EventOrigin,
    pub event: E,
}

impl<E: Serialize> EventLogRecord<E> {
    /// Formats the line as it is in the log, without its end.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        let event = serde_json::to_value(&self.event)?;
        let (kind, data) = split_event(event).map_err(serde::ser::Error::custom)?;
        serde_json::to_string(&EventEnvelope {
            seq: self.seq,
            at: self.at,
            run: self.run.clone(),
            session: self.origin.session.clone(),
            turn: self.origin.turn.clone(),
            kind,
            data,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct EventEnvelope {
    seq: u64,
    #[serde(rename = "ts", with = "utc_time::text")]
    at: UnixMillis,
    run: RunId,
    session: Option<SessionId>,
    turn: Option<TurnId>,
    kind: String,
    #[serde(default)]
    data: Value,
}

fn split_event(event: Value) -> Result<(String, Value), String> {
    let wrong = || "an event must serialise as {\"kind\": text, \"data\": …}".to_owned();
    let Value::Object(mut fields) = event else {
        return Err(wrong());
    };
    let Some(Value::String(kind)) = fields.remove("kind") else {
        return Err(wrong());
    };
    let data = fields.remove("data").unwrap_or(Value::Null);
    if fields.is_empty() {
        Ok((kind, data))
    } else {
        Err(wrong())
    }
}

fn join_event(kind: String, data: Value) -> Value {
    let mut fields = Map::new();
    fields.insert("kind".into(), Value::String(kind));
    if !data.is_null() {
        fields.insert("data".into(), data);
    }
    Value::Object(fields)
}

/// An incomplete last line that a crash left in the log; it is no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    pub bytes: u64,
    /// Where a copy is stored.
    pub kept_copy: PathBuf,
}

/// A log that already existed on disk.
#[derive(Debug)]
pub struct OpenedEventLog<E> {
    /// The log, ready for appending.
    pub log: EventLog<E>,
    /// What was cut off its end, if anything.
    pub torn: Option<TornTail>,
}

/// The log of one run, open for appending.
#[derive(Debug)]
pub struct EventLog<E> {
    guard: TamperGuard,
    path: PathBuf,
    run: RunId,
    last_seq: u64,
    _event: PhantomData<fn(&E)>,
}

impl<E> EventLog<E> {
    /// Creates the log of a new run; fails if a log with events or a first line exists.
    pub fn create(guard: &TamperGuard, run: &RunId, at: UnixMillis) -> Result<Self, StoreError> {
        let path = guard.layout().events();
        if guard.len(&path).unwrap_or(0) > 0 {
            return Err(StoreError::RunExists { path });
        }
        let log = Self::new(guard, run.clone(), 0);
        let mut schema = Map::new();
        schema.insert("schema".into(), SCHEMA.into());
        log.append_envelope(&EventEnvelope {
            seq: 0,
            at,
            run: run.clone(),
            session: None,
            turn: None,
            kind: OPENED_KIND.into(),
            data: Value::Object(schema),
        })?;
        log.sync()?;
        Ok(log)
    }

    /// Opens the existing log; `None` if there is none, or none with at least one line.
    ///
    /// An incomplete last line is cut off and stored in `history/`. A malformed line before it, a number that
    /// does not increase and a newer schema are errors; then nothing is changed.
    pub fn open(guard: &TamperGuard) -> Result<Option<OpenedEventLog<E>>, StoreError> {
        let path = guard.layout().events();
        if guard.len(&path).is_none() {
            return Ok(None);
        }
        let scan = scan_log(&path)?;
        let torn = match scan.torn_bytes {
            0 => None,
            bytes => {
                let kept_copy = save_torn_tail(guard.layout(), &path, scan.whole_bytes)?;
                guard.truncate(&path, scan.whole_bytes)?;
                Some(TornTail { bytes, kept_copy })
            }
        };
        let Some(run) = scan.run else {
            return Ok(None);
        };
        let log = Self::new(guard, run, scan.last_seq);
        Ok(Some(OpenedEventLog { log, torn }))
    }

    /// Returns the log of a run for a reader that appends nothing: its events are not counted.
    pub fn open_for_reading(guard: &TamperGuard, run: &RunId) -> Self {
        Self::new(guard, run.clone(), 0)
    }

    fn new(guard: &TamperGuard, run: RunId, last_seq: u64) -> Self {
        Self {
            guard: guard.clone(),
            path: guard.layout().events(),
            run,
            last_seq,
            _event: PhantomData,
        }
    }

    /// Returns the number of the last event; 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Returns the guard through which the log is written.
    pub(super) fn guard(&self) -> &TamperGuard {
        &self.guard
    }

    /// Makes everything appended so far durable.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.guard.sync(&self.path)
    }

    fn append_envelope(&self, envelope: &EventEnvelope) -> Result<(), StoreError> {
        let mut line =
            serde_json::to_vec(envelope).map_err(|e| self.unserializable(e.to_string()))?;
        line.push(b'\n');
        self.guard.append(&self.path, &line)
    }

    fn unserializable(&self, reason: String) -> StoreError {
        StoreError::Unserializable {
            path: self.path.clone(),
            reason,
        }
    }
}

impl<E: Serialize> EventLog<E> {
    /// Appends one event and returns its number; durable only after [`EventLog::sync`].
    ///
    /// After an error the log is unchanged and the number is not used up.
    pub fn append(
        &mut self,
        at: UnixMillis,
        origin: &EventOrigin,
        event: &E,
    ) -> Result<u64, StoreError> {
        let event = serde_json::to_value(event).map_err(|e| self.unserializable(e.to_string()))?;
        let (kind, data) = split_event(event).map_err(|reason| self.unserializable(reason))?;
        let seq = self.last_seq + 1;
        self.append_envelope(&EventEnvelope {
            seq,
            at,
            run: self.run.clone(),
            session: origin.session.clone(),
            turn: origin.turn.clone(),
            kind,
            data,
        })?;
        self.last_seq = seq;
        Ok(seq)
    }
}

/// Stores what follows the last whole line in `history/`, in a file named after the instant.
fn save_torn_tail(layout: &WorkdirLayout, path: &Path, whole: u64) -> Result<PathBuf, StoreError> {
    let failed = |e| StoreError::from_io("read", path, e);
    let mut tail = Vec::new();
    if let Some(mut file) = nofollow_fs::open_read(path)? {
        file.seek(SeekFrom::Start(whole)).map_err(failed)?;
        file.read_to_end(&mut tail).map_err(failed)?;
    }
    let history = layout.history();
    nofollow_fs::ensure_dirs(layout.workdir(), &history)?;
    let name = format!("torn-{}.bin", utc_time::to_file_name(utc_time::now()));
    let place = nofollow_fs::find_free_path(&history.join(name))?;
    atomic_file::replace_file(&place, &tail)?;
    Ok(place)
}

#[cfg(test)]
mod tests;
