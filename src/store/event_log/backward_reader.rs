//! Reads an event log from its end towards its beginning, in pieces.
//!
//! Needs no lock and changes nothing. It reads no more than was requested: the last events of a long log are
//! shown at once, however much comes before them.

use std::io::{Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::store::{StoreError, nofollow_fs};

use super::EventLogRecord;
use super::forward_reader::parse_event;

/// Reads a log from its end.
#[derive(Debug)]
pub struct BackwardReader<E> {
    path: PathBuf,
    /// Where the part that was read starts; `None` before the first piece.
    start: Option<u64>,
    end: Option<LogEnd>,
    _event: PhantomData<fn() -> E>,
}

/// Where the last whole line of a log ended when it was read from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    /// Device and inode number of the file.
    pub(super) file: (u64, u64),
    /// In bytes.
    pub(super) offset: u64,
}

impl<E: DeserializeOwned> BackwardReader<E> {
    /// Starts at the end of a log, which need not exist.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            start: None,
            end: None,
            _event: PhantomData,
        }
    }

    /// Returns where the log ended when its last events were read; `None` before that and if there is no log.
    pub fn end(&self) -> Option<LogEnd> {
        self.end
    }

    /// Returns true if the log's first event was read.
    pub fn is_at_start(&self) -> bool {
        self.start == Some(0)
    }

    /// Reads the events in about the last `n_bytes` before those already read, in the order in which they
    /// happened; at least one if there is one. An incomplete last line is left out.
    ///
    /// # Errors
    /// The log cannot be read, or a line of it is damaged; then the position does not change.
    pub fn read_before(&mut self, n_bytes: u64) -> Result<Vec<EventLogRecord<E>>, StoreError> {
        let Some(mut file) = nofollow_fs::open_read(&self.path)? else {
            self.start = Some(0);
            return Ok(Vec::new());
        };
        let failed = |e| StoreError::from_io("read", &self.path, e);
        let end = match self.start {
            Some(begin) => begin,
            None => file.seek(SeekFrom::End(0)).map_err(failed)?,
        };
        let mut wanted = n_bytes.max(1);
        loop {
            let from = end.saturating_sub(wanted);
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(from)).map_err(failed)?;
            file.by_ref()
                .take(end - from)
                .read_to_end(&mut bytes)
                .map_err(failed)?;
            let whole = whole_line_range(&bytes, from);
            if whole.is_empty() && from > 0 {
                // A single line is longer than the requested size.
                wanted *= 2;
                continue;
            }
            let records = self.parse_records(&bytes[whole.clone()])?;
            if self.end.is_none() {
                let meta = file.metadata().map_err(failed)?;
                self.end = Some(LogEnd {
                    file: (meta.dev(), meta.ino()),
                    offset: from + whole.end as u64,
                });
            }
            self.start = Some(from + whole.start as u64);
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
}

/// Returns the range of whole lines in these bytes, which start at `from` in the file.
fn whole_line_range(bytes: &[u8], from: u64) -> std::ops::Range<usize> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::super::{EventLog, EventOrigin};
    use super::*;
    use crate::domain::ids::{RunId, UnixMillis};
    use crate::store::test_repo::TestRepo;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind", content = "data")]
    enum BackwardTestEvent {
        Said(String),
    }

    fn log_of(place: &TestRepo, lengths: &[usize]) {
        let mut log =
            EventLog::create(&place.open_guard(), &RunId::new("run_1"), UnixMillis(0)).unwrap();
        for length in lengths {
            let event = BackwardTestEvent::Said("x".repeat(*length));
            log.append(UnixMillis(1), &EventOrigin::default(), &event)
                .unwrap();
        }
    }

    /// Returns the numbers of the events, piece by piece.
    fn pieces(place: &TestRepo, n_bytes: u64) -> Vec<Vec<u64>> {
        let mut log = BackwardReader::<BackwardTestEvent>::new(&place.layout.events());
        let mut pieces = Vec::new();
        while !log.is_at_start() {
            let records = log.read_before(n_bytes).unwrap();
            pieces.push(records.iter().map(|record| record.seq).collect());
        }
        pieces
    }

    #[test]
    fn the_last_events_come_first_and_each_piece_in_order() {
        let place = TestRepo::new();
        log_of(&place, &[10; 4]);
        assert_eq!(pieces(&place, 250), [vec![3, 4], vec![1, 2], vec![]]);
        assert_eq!(pieces(&place, 1 << 20), [[1, 2, 3, 4]]);
    }

    #[test]
    fn half_a_last_line_is_left_out_and_a_log_that_is_not_there_is_empty() {
        let place = TestRepo::new();
        assert_eq!(pieces(&place, 10), [[0; 0]]);
        log_of(&place, &[10; 2]);
        let path = place.layout.events();
        let mut text = std::fs::read(&path).unwrap();
        text.extend(b"{\"seq\":3,\"ts");
        std::fs::write(&path, text).unwrap();
        assert_eq!(pieces(&place, 1 << 20), [[1, 2]]);
    }

    #[test]
    fn a_damaged_line_is_said() {
        let place = TestRepo::new();
        std::fs::write(place.layout.events(), "{}\n").unwrap();
        let mut log = BackwardReader::<BackwardTestEvent>::new(&place.layout.events());
        assert!(matches!(
            log.read_before(10),
            Err(StoreError::Damaged { .. })
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn all_pieces_together_are_the_log(lengths in proptest::collection::vec(0usize..400, 0..20), n_bytes in 1u64..2000) {
            let place = TestRepo::new();
            log_of(&place, &lengths);
            let mut seqs: Vec<u64> = Vec::new();
            for piece in pieces(&place, n_bytes) {
                seqs.splice(0..0, piece);
            }
            let all: Vec<u64> = (1..=lengths.len() as u64).collect();
            prop_assert_eq!(seqs, all);
        }
    }
}
