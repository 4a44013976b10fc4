//! Loads the run in a directory as of the last event of its log: no lock, no guard, nothing written.
//!
//! The snapshot saves time: the events that it covers are not read again, so a long log costs no more than its end.
//! Nothing is repaired, and the loaded run does not say whether it can continue.

use crate::domain::event::Event;
use crate::domain::run::{Run, RunState};
use crate::store::event_log::{BackwardReader, LogEnd, LogFollower};
use crate::store::state_snapshot::StateSnapshot;
use crate::store::{EventLogRecord, StoreError, WorkdirLayout, event_log, state_snapshot};
use crate::text::clean_to_one_line;

use super::run_follower::describe_store_error;

/// How much of the log's end is read at first, in bytes; usually the snapshot covers the rest.
const LOG_TAIL_BYTES: u64 = 32 * 1024;

/// Loads the run in this directory; `None` if there is none. Blocks.
///
/// A snapshot that is damaged, or belongs to another log, is ignored: then the log is read from its beginning.
///
/// # Errors
/// The files cannot be read, have a newer schema, or the log is damaged.
pub fn load_run(layout: &WorkdirLayout) -> Result<Option<Run>, StoreError> {
    let found = RunFileContents::load(layout);
    match (found.snapshot, found.log) {
        (Some(error), _) if !matches!(error, StoreError::Damaged { .. }) => Err(error),
        (_, Some(error)) => Err(error),
        (_, None) => Ok(found.run),
    }
}

/// The state of a run, as far as its files can be read.
#[derive(Debug, Clone)]
pub struct PartialRunState {
    pub state: RunState,
    /// The number of the last event that is in the state.
    pub last_seq: u64,
    /// What cannot be read of the run, and what is shown in its place.
    pub problem: Option<String>,
}

/// Loads as much of a run as possible for display: the log as far as it can be read, or the snapshot if the log
/// ends before it. Blocks.
///
/// # Errors
/// Nothing of the run can be read; the error is the snapshot's, if it has one.
pub fn load_partial_run(layout: &WorkdirLayout) -> Result<Option<PartialRunState>, StoreError> {
    let found = RunFileContents::load(layout);
    let problem = found.describe_problem();
    let (run, last_seq) = match (found.run, found.snapshot_ahead_of_log) {
        (_, Some(known)) => (known.state, known.last_seq),
        (Some(run), None) => (run, found.last_seq),
        (None, None) => return found.snapshot.or(found.log).map_or(Ok(None), Err),
    };
    Ok(Some(PartialRunState {
        state: run.state().clone(),
        last_seq,
        problem,
    }))
}

/// A run as of the last event of its log, and a follower of the log from there.
pub(super) struct RunAtLogEnd {
    pub(super) run: Run,
    pub(super) last_seq: u64,
    pub(super) tail: LogFollower<Event>,
}

impl RunAtLogEnd {
    /// Loads the snapshot and the events after it; `None` if the snapshot does not lead to the end of the log. A
    /// reader of the whole log reports the reason. Blocks.
    pub(super) fn load(layout: &WorkdirLayout) -> Option<Self> {
        let known = state_snapshot::load_snapshot::<Run>(layout).ok()??;
        let since = load_events_after(layout, &known).ok()??;
        let last = since.records.last();
        let last_seq = last.map_or(known.last_seq, |record| record.seq);
        let tail = LogFollower::resume_at(&layout.events(), since.end?, last_seq).ok()?;
        let mut run = Some(known.state);
        for record in since.records {
            run = Run::replay_event(run, record.at, &record.event);
        }
        Some(Self {
            run: run?,
            last_seq,
            tail,
        })
    }
}

/// The contents of the two files, each as far as it can be read.
#[derive(Debug, Default)]
struct RunFileContents {
    run: Option<Run>,
    last_seq: u64,
    /// The snapshot, if the log ends before it.
    snapshot_ahead_of_log: Option<StateSnapshot<Run>>,
    /// Why the snapshot cannot be used, if the file exists.
    snapshot: Option<StoreError>,
    /// Why the log was not read to its end.
    log: Option<StoreError>,
}

impl RunFileContents {
    fn load(layout: &WorkdirLayout) -> Self {
        let mut found = Self::default();
        match state_snapshot::load_snapshot::<Run>(layout) {
            Ok(None) => {}
            Ok(Some(known)) => match load_events_after(layout, &known) {
                Ok(Some(EventsAfterSnapshot { records: later, .. })) => {
                    (found.run, found.last_seq) = (Some(known.state), known.last_seq);
                    later
                        .into_iter()
                        .for_each(|record| found.apply_record(record));
                    return found;
                }
                Ok(None) => found.snapshot_ahead_of_log = Some(known),
                Err(error) => {
                    (found.snapshot_ahead_of_log, found.log) = (Some(known), Some(error));
                    return found;
                }
            },
            Err(error) => found.snapshot = Some(error),
        }
        let whole = event_log::read_events::<Event>(&layout.events(), 1);
        let read = whole.and_then(|mut all| {
            all.try_for_each(|record| {
                found.apply_record(record?);
                Ok(())
            })
        });
        found.log = read.err();
        found
    }

    fn apply_record(&mut self, record: EventLogRecord<Event>) {
        self.run = Run::replay_event(self.run.take(), record.at, &record.event);
        self.last_seq = record.seq;
    }

    fn describe_problem(&self) -> Option<String> {
        let log = self.log.as_ref().map(describe_store_error);
        let problem = match (&self.snapshot, log) {
            (None, None) => return None,
            (None, Some(log)) => format!("its log cannot be read to its end: {log}"),
            (Some(error), None) => format!("{error}; shown from its log"),
            (Some(error), Some(log)) => {
                format!("{error}; shown from its log, which cannot be read to the end: {log}")
            }
        };
        Some(clean_to_one_line(&problem))
    }
}

/// The events after a snapshot, in order, and where the log ended.
struct EventsAfterSnapshot {
    records: Vec<EventLogRecord<Event>>,
    end: Option<LogEnd>,
}

/// Loads the events after a snapshot; `None` if the log ends before it, or belongs to another run.
fn load_events_after(
    layout: &WorkdirLayout,
    known: &StateSnapshot<Run>,
) -> Result<Option<EventsAfterSnapshot>, StoreError> {
    let (last_seq, run) = (known.last_seq, &known.state.state().run);
    let mut log = BackwardReader::<Event>::new(&layout.events());
    let mut later: Vec<EventLogRecord<Event>> = Vec::new();
    let mut n_bytes = LOG_TAIL_BYTES;
    loop {
        let mut records = log.read_before(n_bytes)?;
        let reaches = |record: &EventLogRecord<Event>| record.seq >= last_seq && record.run == *run;
        let reaches = records.last().is_some_and(reaches);
        if later.is_empty() && !reaches {
            return Ok(None);
        }
        let is_all = records.first().is_none_or(|record| record.seq <= last_seq);
        records.retain(|record| record.seq > last_seq);
        records.append(&mut later);
        later = records;
        if is_all || log.is_at_start() {
            let end = log.end();
            return Ok(Some(EventsAfterSnapshot {
                records: later,
                end,
            }));
        }
        // Text of a turn is recorded without a snapshot, so the part after the last snapshot may be long.
        n_bytes *= 4;
    }
}

#[cfg(test)]
mod tests;
