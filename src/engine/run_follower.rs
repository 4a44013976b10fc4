//! Follows a run by its files for an observer: it takes no lock, uses no guard and writes nothing.
//!
//! The log gives the events and, folded, the state of the run. The snapshot replaces the log where the log cannot
//! be read that far, and the log replaces a missing snapshot. Nothing is repaired.

use crate::domain::event::Event;
use crate::domain::run::{Run, RunState};
use crate::store::event_log::{FollowUpdate, LogFollower};
use crate::store::{EventLogRecord, StoreError, WorkdirLayout, state_snapshot};

use super::run_loader::RunAtLogEnd;

/// How many events are read at once, so that a long log neither fills the memory nor blocks a screen.
const MAX_EVENTS_PER_POLL: usize = 500;

/// Reads one run, repeatedly while it continues.
#[derive(Debug)]
pub struct RunFollower {
    layout: WorkdirLayout,
    tail: LogFollower<Event>,
    run: Option<Run>,
    begins: FollowStart,
}

/// Where following a log starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowStart {
    LogBeginning,
    LogEnd,
}

/// The result of one read.
#[derive(Debug, Default)]
pub struct RunFollowUpdate {
    /// Whether everything reported before is void: another run is in the directory now.
    pub is_restarted: bool,
    /// The number of the last skipped event, if following starts at the log's end: the state includes the skipped
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

impl RunFollower {
    /// Follows the run in this directory from its first event.
    pub fn new(layout: WorkdirLayout) -> Self {
        Self::starting_at(layout, FollowStart::LogBeginning)
    }

    /// Follows the run in this directory from now on. However long the log is, only the part that the snapshot does
    /// not cover is read. If the snapshot does not lead to the log's end, all events are reported.
    pub fn from_log_end(layout: WorkdirLayout) -> Self {
        Self::starting_at(layout, FollowStart::LogEnd)
    }

    fn starting_at(layout: WorkdirLayout, begins: FollowStart) -> Self {
        let tail = LogFollower::new(&layout.events());
        Self {
            layout,
            tail,
            run: None,
            begins,
        }
    }

    /// Returns the paths of the run.
    pub fn layout(&self) -> &WorkdirLayout {
        &self.layout
    }

    /// Reads what is new. Blocks.
    pub fn read_new(&mut self) -> RunFollowUpdate {
        self.read_new_with(&mut |_, _| {})
    }

    /// Reads what is new and passes each event with the state in which it came. Blocks.
    pub fn read_new_with(&mut self, each: &mut dyn FnMut(&RunState, &Event)) -> RunFollowUpdate {
        if let Some(seen) = self.load_log_end() {
            return seen;
        }
        let mut seen = RunFollowUpdate::default();
        match self.tail.read_new(MAX_EVENTS_PER_POLL) {
            Ok(FollowUpdate::More(records)) => self.apply_records(records, &mut seen, each),
            Ok(FollowUpdate::Restarted) => {
                self.run = None;
                seen.is_restarted = true;
                seen.has_more = true;
            }
            Err(error) => seen.problem = Some(describe_store_error(&error)),
        }
        seen.state = self.run.as_ref().map(|run| run.state().clone());
        if !seen.has_more {
            self.apply_snapshot(&mut seen);
        }
        seen
    }

    fn load_log_end(&mut self) -> Option<RunFollowUpdate> {
        if self.begins == FollowStart::LogBeginning
            || self.run.is_some()
            || self.tail.last_seq() > 0
        {
            return None;
        }
        let found = RunAtLogEnd::load(&self.layout)?;
        self.tail = found.tail;
        Some(RunFollowUpdate {
            n_skipped_events: Some(found.last_seq),
            state: Some(self.run.insert(found.run).state().clone()),
            ..RunFollowUpdate::default()
        })
    }

    fn apply_records(
        &mut self,
        records: Vec<EventLogRecord<Event>>,
        seen: &mut RunFollowUpdate,
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

    /// Uses the snapshot if the log is missing or ends before it.
    fn apply_snapshot(&self, seen: &mut RunFollowUpdate) {
        if seen.state.is_some() && seen.problem.is_none() {
            return;
        }
        match state_snapshot::load_snapshot::<Run>(&self.layout) {
            Ok(Some(found)) if found.last_seq > self.tail.last_seq() || self.run.is_none() => {
                seen.state = Some(found.state.state().clone());
            }
            Ok(_) => {}
            Err(error) if seen.problem.is_none() => {
                seen.problem = Some(describe_store_error(&error))
            }
            // The log's own error is enough.
            Err(_) => {}
        }
    }
}

pub(super) fn describe_store_error(error: &StoreError) -> String {
    match error {
        // The hint is to archive or repair, which an observer cannot do.
        StoreError::Damaged { .. } => error.to_string(),
        _ => format!("{error}; {}", error.hint()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::event::RunParameters;
    use crate::domain::ids::RunId;
    use crate::engine::run_journal::RunJournal;
    use crate::store::{TamperGuard, WorkdirNames};

    struct RunFollowerFixture {
        folder: tempfile::TempDir,
        layout: WorkdirLayout,
    }

    impl RunFollowerFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
            let _ = layout.create().unwrap();
            Self { folder, layout }
        }

        fn begin(&self, created: RunParameters) -> RunJournal {
            let guard = TamperGuard::open(&self.layout, &self.folder.path().join("side")).unwrap();
            RunJournal::create(guard, created).unwrap().0
        }
    }

    fn said(n: u32) -> Event {
        Event::GoalMessageAdded {
            text: format!("{n}"),
        }
    }

    /// Reads until nothing more comes; returns what was skipped, the reported events, and the state.
    fn look(onlooker: &mut RunFollower) -> (Option<u64>, Vec<u64>, Option<RunState>) {
        let (mut untold, mut told) = (None, Vec::new());
        loop {
            let seen = onlooker.read_new();
            assert_eq!(seen.problem, None);
            untold = untold.or(seen.n_skipped_events);
            told.extend(seen.records.iter().map(|record| record.seq));
            if !seen.has_more {
                return (untold, told, seen.state);
            }
        }
    }

    #[test]
    fn a_log_is_taken_up_at_its_end_and_stands_where_all_of_it_leads() {
        let place = RunFollowerFixture::new();
        let mut journal = place.begin(RunParameters::example());
        (0..20).for_each(|n| {
            journal.record(said(n)).unwrap();
        });
        journal.record_unsynced(said(20)).unwrap();
        let mut at_the_end = RunFollower::from_log_end(place.layout.clone());
        let mut all = RunFollower::new(place.layout.clone());
        let (untold, told, state) = look(&mut at_the_end);
        assert_eq!((untold, told), (Some(22), vec![]));
        assert_eq!((None, (1..=22).collect(), state), look(&mut all));
        for n in 21..24 {
            journal.record_unsynced(said(n)).unwrap();
        }
        let (untold, told, state) = look(&mut at_the_end);
        assert_eq!((untold, told), (None, vec![23, 24, 25]));
        assert_eq!(state, look(&mut all).2);
    }

    #[test]
    fn a_log_to_whose_end_no_snapshot_leads_is_told_from_its_beginning() {
        let place = RunFollowerFixture::new();
        let mut journal = place.begin(RunParameters::example());
        journal.record(said(1)).unwrap();
        let snapshot = fs::read_to_string(place.layout.state()).unwrap();
        let run = RunParameters::example().run;
        let of_another = snapshot.replace(run.as_str(), "run_another");
        assert_ne!(of_another, snapshot);
        for text in ["{\"schema\":1,\"last", &of_another] {
            fs::write(place.layout.state(), text).unwrap();
            let mut onlooker = RunFollower::from_log_end(place.layout.clone());
            let (untold, told, state) = look(&mut onlooker);
            assert_eq!((untold, told), (None, vec![1, 2]));
            assert_eq!(state.unwrap().run, run);
        }
    }

    #[test]
    fn another_run_at_the_same_place_is_taken_up_at_its_end_too() {
        let place = RunFollowerFixture::new();
        let mut journal = place.begin(RunParameters::example());
        journal.record(said(1)).unwrap();
        let mut onlooker = RunFollower::from_log_end(place.layout.clone());
        assert_eq!(look(&mut onlooker).0, Some(2));
        drop(journal);
        let other = RunParameters {
            run: RunId::new("run_another"),
            ..RunParameters::example()
        };
        fs::remove_file(place.layout.state()).unwrap();
        fs::remove_file(place.layout.events()).unwrap();
        assert!(onlooker.read_new().is_restarted);
        let mut journal = place.begin(other);
        journal.record(said(2)).unwrap();
        let (untold, told, state) = look(&mut onlooker);
        assert_eq!((untold, told), (Some(2), vec![]));
        assert_eq!(state.unwrap().run.as_str(), "run_another");
    }
}
