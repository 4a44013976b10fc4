//! Tests runs whose program was killed between the log and its snapshot, and runs that continue while they are read.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::domain::event::RunParameters;
use crate::domain::ids::RunId;
use crate::engine::run_journal::RunJournal;
use crate::store::{TamperGuard, WorkdirNames};

/// A run whose program can be killed at any moment.
struct StoredRunFixture {
    folder: TempDir,
    layout: WorkdirLayout,
}

impl StoredRunFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        Self { folder, layout }
    }

    fn guard(&self) -> TamperGuard {
        TamperGuard::open(&self.layout, &self.folder.path().join("side")).unwrap()
    }

    fn begin(&self) -> RunJournal {
        self.begin_run(RunParameters::example())
    }

    fn begin_run(&self, created: RunParameters) -> RunJournal {
        RunJournal::create(self.guard(), created).unwrap().0
    }

    fn goal(&self) -> Option<String> {
        let run = load_run(&self.layout).unwrap()?;
        let goal = run.state().goal.as_ref()?;
        Some(goal.text.clone())
    }
}

fn goal(text: &str) -> Event {
    Event::GoalGiven {
        text: text.to_owned(),
    }
}

fn said(n_bytes: usize) -> Event {
    Event::GoalMessageAdded {
        text: "x".repeat(n_bytes),
    }
}

#[test]
fn where_nothing_lies_there_is_no_run() {
    let world = StoredRunFixture::new();
    assert_eq!(load_run(&world.layout).unwrap(), None);
    world.begin();
    fs::remove_file(world.layout.events()).unwrap();
    assert_eq!(load_run(&world.layout).unwrap(), None);
}

#[test]
fn what_was_recorded_after_the_snapshot_counts() {
    let world = StoredRunFixture::new();
    let mut journal = world.begin();
    assert_eq!(world.goal(), None);
    journal.record_unsynced(goal("sing")).unwrap();
    let known = state_snapshot::load_snapshot::<Run>(&world.layout)
        .unwrap()
        .unwrap();
    assert!(known.state.state().goal.is_none(), "the snapshot has it");
    assert_eq!(world.goal().as_deref(), Some("sing"));
}

#[test]
fn a_snapshot_that_is_gone_damaged_or_ahead_of_the_log_counts_for_nothing() {
    for text in [None, Some("{\"schema\":1,\"last"), Some("")] {
        let world = StoredRunFixture::new();
        world.begin().record(goal("sing")).unwrap();
        match text {
            Some(text) => fs::write(world.layout.state(), text).unwrap(),
            None => fs::remove_file(world.layout.state()).unwrap(),
        }
        assert_eq!(world.goal().as_deref(), Some("sing"), "{text:?}");
    }
    let world = StoredRunFixture::new();
    let mut journal = world.begin();
    let short = fs::read(world.layout.events()).unwrap();
    journal.record(goal("sing")).unwrap();
    fs::write(world.layout.events(), short).unwrap();
    assert_eq!(world.goal(), None);
}

#[test]
fn what_the_snapshot_covers_is_not_read_again() {
    let world = StoredRunFixture::new();
    let mut journal = world.begin();
    journal.record(goal("sing")).unwrap();
    for _ in 0..20 {
        journal.record(said(10_000)).unwrap();
    }
    let mut log = fs::read(world.layout.events()).unwrap();
    // A reader of this log could not continue.
    log.iter_mut().take(100_000).for_each(|byte| *byte = b'?');
    fs::write(world.layout.events(), log).unwrap();
    assert_eq!(world.goal().as_deref(), Some("sing"));
}

#[test]
fn somebody_who_looks_sees_what_a_start_takes_up() {
    let world = StoredRunFixture::new();
    let mut journal = world.begin();
    journal.record_unsynced(goal("sing")).unwrap();
    let seen = load_partial_run(&world.layout).unwrap().unwrap();
    let goal = seen.state.goal.unwrap().text;
    assert_eq!((goal.as_str(), seen.last_seq), ("sing", 2));
    assert_eq!(seen.problem, None);
}

#[test]
fn somebody_who_looks_sees_as_much_as_can_be_read() {
    let world = StoredRunFixture::new();
    let mut journal = world.begin();
    journal.record(goal("sing")).unwrap();
    journal.record_unsynced(said(1)).unwrap();
    let mut log = fs::read(world.layout.events()).unwrap();
    log.extend(b"?\n");
    fs::write(world.layout.events(), log).unwrap();
    let check = |last_seq: u64, told: &str| {
        assert!(load_run(&world.layout).is_err());
        let seen = load_partial_run(&world.layout).unwrap().unwrap();
        let problem = seen.problem.unwrap();
        assert_eq!(seen.last_seq, last_seq, "{problem}");
        assert!(problem.contains(told), "{problem}");
    };
    check(3, "its log cannot be read to its end: ");
    fs::write(world.layout.state(), "{").unwrap();
    check(3, "; shown from its log, which cannot be read to the end: ");
}

#[test]
fn a_log_with_an_unknown_event_is_not_repaired() {
    let world = StoredRunFixture::new();
    world.begin().record(goal("sing")).unwrap();
    let text = fs::read_to_string(world.layout.events()).unwrap();
    let last = text.lines().last().unwrap();
    let unknown = last
        .replace("\"seq\":2", "\"seq\":3")
        .replace("goal.given", "goal.sung");
    let text = format!("{text}{unknown}\n{{\"torn");
    fs::write(world.layout.events(), &text).unwrap();
    let error = RunJournal::reopen(world.guard()).unwrap_err().to_string();
    assert!(
        error.contains("events.jsonl:4: unknown variant `goal.sung`"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(world.layout.events()).unwrap(), text);
}

#[test]
fn a_log_that_cannot_be_read_is_no_run_that_is_over() {
    let world = StoredRunFixture::new();
    world.begin().record(goal("sing")).unwrap();
    fs::write(world.layout.state(), "{").unwrap();
    fs::write(world.layout.events(), "?\n").unwrap();
    assert!(matches!(
        load_run(&world.layout),
        Err(StoreError::Damaged { .. })
    ));
}

/// Reads until nothing more comes; returns what was skipped, the reported events, and the state.
fn look(stored: &mut StoredRun) -> (Option<u64>, Vec<u64>, Option<RunState>) {
    let (mut untold, mut told) = (None, Vec::new());
    loop {
        let seen = stored.read_new();
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
    let place = StoredRunFixture::new();
    let mut journal = place.begin();
    (0..20).for_each(|_| {
        journal.record(said(1)).unwrap();
    });
    journal.record_unsynced(said(1)).unwrap();
    let mut at_the_end = StoredRun::from_log_end(place.layout.clone());
    let mut all = StoredRun::from_log_start(place.layout.clone());
    let (untold, told, state) = look(&mut at_the_end);
    assert_eq!((untold, told), (Some(22), vec![]));
    assert_eq!((None, (1..=22).collect(), state), look(&mut all));
    for _ in 21..24 {
        journal.record_unsynced(said(1)).unwrap();
    }
    let (untold, told, state) = look(&mut at_the_end);
    assert_eq!((untold, told), (None, vec![23, 24, 25]));
    assert_eq!(state, look(&mut all).2);
}

#[test]
fn a_log_to_whose_end_no_snapshot_leads_is_told_from_its_beginning() {
    let place = StoredRunFixture::new();
    let mut journal = place.begin();
    journal.record(said(1)).unwrap();
    let snapshot = fs::read_to_string(place.layout.state()).unwrap();
    let run = RunParameters::example().run;
    let of_another = snapshot.replace(run.as_str(), "run_another");
    assert_ne!(of_another, snapshot);
    for text in ["{\"schema\":1,\"last", &of_another] {
        fs::write(place.layout.state(), text).unwrap();
        let mut stored = StoredRun::from_log_end(place.layout.clone());
        let (untold, told, state) = look(&mut stored);
        assert_eq!((untold, told), (None, vec![1, 2]));
        assert_eq!(state.unwrap().run, run);
        let reopened = RunJournal::reopen(place.guard()).unwrap().unwrap();
        assert_eq!(reopened.state().run, run);
    }
}

#[test]
fn another_run_at_the_same_place_is_taken_up_at_its_end_too() {
    let place = StoredRunFixture::new();
    let mut journal = place.begin();
    journal.record(said(1)).unwrap();
    let mut stored = StoredRun::from_log_end(place.layout.clone());
    assert_eq!(look(&mut stored).0, Some(2));
    drop(journal);
    let other = RunParameters {
        run: RunId::new("run_another"),
        ..RunParameters::example()
    };
    fs::remove_file(place.layout.state()).unwrap();
    fs::remove_file(place.layout.events()).unwrap();
    assert!(stored.read_new().is_restarted);
    let mut journal = place.begin_run(other);
    journal.record(said(1)).unwrap();
    let (untold, told, state) = look(&mut stored);
    assert_eq!((untold, told), (Some(2), vec![]));
    assert_eq!(state.unwrap().run.as_str(), "run_another");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The loaded run is the fold of the whole log and the one that would be resumed, however many events came without
    /// a snapshot.
    #[test]
    fn it_is_the_run_that_would_be_opened(
        words in proptest::collection::vec((any::<bool>(), 0usize..60_000), 0..12),
        torn in "[a-z{\"]{0,9}",
    ) {
        let world = StoredRunFixture::new();
        let mut journal = world.begin();
        journal.record(goal("sing")).unwrap();
        for (is_durable, n_bytes) in words {
            if is_durable {
drop(journal.record(said(n_bytes)).unwrap())
} else {
drop(journal.record_unsynced(said(n_bytes)).unwrap())
}
        }
        let mut log = fs::read(world.layout.events()).unwrap();
        log.extend(torn.as_bytes());
        fs::write(world.layout.events(), log).unwrap();
        let found = load_run(&world.layout).unwrap();
        let mut whole = StoredRun::from_log_start(world.layout.clone());
        whole.read_whole_log().unwrap();
        prop_assert_eq!(&found, &whole.run);
        let opened = RunJournal::reopen(world.guard()).unwrap().unwrap();
        prop_assert_eq!(found.as_ref().map(Run::state), Some(opened.state()));
    }
}
