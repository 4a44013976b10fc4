//! Reads a run from its files, once or repeatedly while it continues: no lock, no guard, nothing written or repaired.
//!
//! The log gives the events and, folded, the state. The snapshot saves time: the events that it covers are not read
//! again, so a long log costs no more than its end. Where the log cannot be read so far, the snapshot replaces it.

use crate::domain::event::Event;
use crate::domain::run::{Run, RunState};
use crate::store::event_log::{EventLogReader, LogUpdate};
use crate::store::state_snapshot::{self, StateSnapshot};
use crate::store::{EventLogRecord, StoreError, WorkdirLayout};
use crate::text::clean_to_one_line;

/// How much of the log's end is read at first, in bytes; usually the snapshot covers the rest.
const LOG_TAIL_BYTES: u64 = 32 * 1024;
/// How many events are read at once, so that a long log neither fills the memory nor blocks a screen.
const MAX_EVENTS_PER_READ: usize = 500;

/// Loads the run in this directory as of the last event of its log; `None` if there is none. Blocks.
///
/// A snapshot that is damaged, or belongs to another log, is ignored: then the log is read from its beginning.
///
/// # Errors
/// The files cannot be read, have a newer schema, or the log is damaged.
pub fn load_run(layout: &WorkdirLayout) -> Result<Option<Run>, StoreError> {
    load_run_and_damage(layout).map(|(run, _)| run)
}

/// Does what [`load_run`] does, and also returns what is wrong with a damaged snapshot.
pub(super) fn load_run_and_damage(
    layout: &WorkdirLayout,
) -> Result<(Option<Run>, Option<StoreError>), StoreError> {
    let mut stored = StoredRun::from_log_end(layout.clone());
    let damage = match stored.skip_to_log_end() {
        Ok(true) => return Ok((stored.run, None)),
        Ok(false) => None,
        Err(error @ StoreError::Damaged { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    stored.read_whole_log()?;
    Ok((stored.run, damage))
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
    let mut stored = StoredRun::from_log_end(layout.clone());
    let mut ahead = None;
    let (mut snapshot_error, mut log_error) = (None, None);
    if !matches!(stored.skip_to_log_end(), Ok(true)) {
        log_error = stored.read_whole_log().err();
        match stored.load_snapshot_ahead() {
            Ok(known) => ahead = known,
            Err(error) => snapshot_error = Some(error),
        }
    }
    let problem = describe_problem(snapshot_error.as_ref(), log_error.as_ref());
    let (run, last_seq) = match (ahead, stored.run) {
        (Some(known), _) => (known.state, known.last_seq),
        (None, Some(run)) => (run, stored.log.last_seq()),
        (None, None) => return snapshot_error.or(log_error).map_or(Ok(None), Err),
    };
    Ok(Some(PartialRunState {
        state: run.state().clone(),
        last_seq,
        problem,
    }))
}

fn describe_problem(snapshot: Option<&StoreError>, log: Option<&StoreError>) -> Option<String> {
    let log = log.map(describe_store_error);
    let problem = match (snapshot, log) {
        (None, None) => return None,
        (None, Some(log)) => format!("its log cannot be read to its end: {log}"),
        (Some(error), None) => format!("{error}; shown from its log"),
        (Some(error), Some(log)) => {
            format!("{error}; shown from its log, which cannot be read to the end: {log}")
        }
    };
    Some(clean_to_one_line(&problem))
}

fn describe_store_error(error: &StoreError) -> String {
    match error {
        // The hint is to archive or repair, which an observer cannot do.
        StoreError::Damaged { .. } => error.to_string(),
        _ => format!("{error}; {}", error.hint()),
    }
}

/// A run on disk as far as it was read; reads more of it on request.
#[derive(Debug)]
pub struct StoredRun {
    layout: WorkdirLayout,
    log: EventLogReader<Event>,
    run: Option<Run>,
    start: ReadStart,
}

/// Where the reported events start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadStart {
    LogBeginning,
    LogEnd,
}

/// The result of one read.
#[derive(Debug, Default)]
pub struct StoredRunUpdate {
    /// Whether everything reported before is void: another run is in the directory now.
    pub is_restarted: bool,
    /// The number of the last skipped event, if reading starts at the log's end: the state includes the skipped
    /// events, but they are not reported.
    pub n_skipped_events: Option<u64>,
    /// The events since the last read, in order.
    pub records: Vec<EventLogRecord<Event>>,
    /// Whether there is more to read at once.
    pub has_more: bool,
    /// The state of the run, as far as it was read; `None` if there is no run.
    pub state: Option<RunState>,
    /// What cannot be read, and what to do.
    pub problem: Option<String>,
}

impl StoredRun {
    /// Reads the run in this directory from its first event.
    pub fn from_log_start(layout: WorkdirLayout) -> Self {
        Self::new(layout, ReadStart::LogBeginning)
    }

    /// Follows the run in this directory from now on. However long the log is, only the part that the snapshot does
    /// not cover is read. If the snapshot does not lead to the log's end, all events are reported.
    pub fn from_log_end(layout: WorkdirLayout) -> Self {
        Self::new(layout, ReadStart::LogEnd)
    }

    fn new(layout: WorkdirLayout, start: ReadStart) -> Self {
        Self {
            log: EventLogReader::from_start(&layout.events()),
            layout,
            run: None,
            start,
        }
    }

    /// Returns the paths of the run.
    pub fn layout(&self) -> &WorkdirLayout {
        &self.layout
    }

    /// Reads what is new. Blocks.
    pub fn read_new(&mut self) -> StoredRunUpdate {
        self.read_new_with(&mut |_, _| {})
    }

    /// Reads what is new and passes each event with the state in which it came. Blocks.
    pub fn read_new_with(&mut self, each: &mut dyn FnMut(&RunState, &Event)) -> StoredRunUpdate {
        let mut seen = StoredRunUpdate::default();
        let is_new = self.run.is_none() && self.log.last_seq() == 0;
        if is_new && self.start == ReadStart::LogEnd && self.follow_log_end() {
            seen.n_skipped_events = Some(self.log.last_seq());
            seen.state = self.current_state();
            return seen;
        }
        match self.log.read_new(MAX_EVENTS_PER_READ) {
            Ok(LogUpdate::More(records)) => self.apply_records(records, &mut seen, each),
            Ok(LogUpdate::Restarted) => {
                self.run = None;
                seen.is_restarted = true;
                seen.has_more = true;
            }
            Err(error) => seen.problem = Some(describe_store_error(&error)),
        }
        seen.state = self.current_state();
        if !seen.has_more && (seen.state.is_none() || seen.problem.is_some()) {
            match self.load_snapshot_ahead() {
                Ok(Some(known)) => seen.state = Some(known.state.state().clone()),
                Ok(None) => {}
                // The log's own error is enough.
                Err(error) => {
                    seen.problem
                        .get_or_insert_with(|| describe_store_error(&error));
                }
            }
        }
        seen
    }

    fn current_state(&self) -> Option<RunState> {
        self.run.as_ref().map(|run| run.state().clone())
    }

    fn apply_records(
        &mut self,
        records: Vec<EventLogRecord<Event>>,
        seen: &mut StoredRunUpdate,
        each: &mut dyn FnMut(&RunState, &Event),
    ) {
        for record in &records {
            if let Some(run) = &self.run {
                each(run.state(), &record.event);
            }
            self.run = Run::replay_event(self.run.take(), record.at, &record.event);
        }
        // After the last events one more read is needed: it finds none, or the error behind them.
        seen.has_more = !records.is_empty();
        seen.records = records;
    }

    /// Starts at the log's end, to read on from there; false if that is not possible. A reader of the whole log
    /// reports the reason.
    fn follow_log_end(&mut self) -> bool {
        if matches!(self.skip_to_log_end(), Ok(true)) && self.log.check_first_line().is_ok() {
            return true;
        }
        *self = Self::new(self.layout.clone(), self.start);
        false
    }

    /// Loads the snapshot and the events after it; false if the snapshot does not lead to the end of the log, or
    /// that cannot be read.
    ///
    /// # Errors
    /// The snapshot cannot be read.
    fn skip_to_log_end(&mut self) -> Result<bool, StoreError> {
        let Some(known) = state_snapshot::load_snapshot::<Run>(&self.layout)? else {
            return Ok(false);
        };
        let (last_seq, run) = (known.last_seq, &known.state.state().run);
        let mut log = EventLogReader::from_end(&self.layout.events());
        let mut later: Vec<EventLogRecord<Event>> = Vec::new();
        let mut n_bytes = LOG_TAIL_BYTES;
        loop {
            let Ok(mut records) = log.read_before(n_bytes) else {
                return Ok(false);
            };
            let reaches =
                |record: &EventLogRecord<Event>| record.seq >= last_seq && record.run == *run;
            if later.is_empty() && !records.last().is_some_and(reaches) {
                return Ok(false);
            }
            let is_all = records.first().is_none_or(|record| record.seq <= last_seq);
            records.retain(|record| record.seq > last_seq);
            records.append(&mut later);
            later = records;
            if is_all || log.is_at_start() {
                break;
            }
            // Text of a turn is recorded without a snapshot, so the part after the last snapshot may be long.
            n_bytes *= 4;
        }
        self.log = log;
        let mut run = Some(known.state);
        for record in &later {
            run = Run::replay_event(run, record.at, &record.event);
        }
        self.run = run;
        Ok(true)
    }

    /// Reads the log from its beginning.
    ///
    /// # Errors
    /// The log cannot be read to its end; the run has all events before that.
    fn read_whole_log(&mut self) -> Result<(), StoreError> {
        self.run = None;
        self.log.read_all(|record| {
            self.run = Run::replay_event(self.run.take(), record.at, &record.event);
        })
    }

    /// Loads the snapshot; `None` if the log was read as far.
    fn load_snapshot_ahead(&self) -> Result<Option<StateSnapshot<Run>>, StoreError> {
        let known = state_snapshot::load_snapshot::<Run>(&self.layout)?;
        let is_ahead =
            |known: &StateSnapshot<Run>| known.last_seq > self.log.last_seq() || self.run.is_none();
        Ok(known.filter(is_ahead))
    }
}

#[cfg(test)]
mod tests;
