//! Tests runs whose program was killed between the log and its snapshot.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::domain::event::RunParameters;
use crate::engine::run_journal::RunJournal;
use crate::store::{TamperGuard, WorkdirNames};

/// A run whose program can be killed at any moment.
struct RunLoaderFixture {
    folder: TempDir,
    layout: WorkdirLayout,
}

impl RunLoaderFixture {
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
        RunJournal::create(self.guard(), RunParameters::example())
            .unwrap()
            .0
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
    let world = RunLoaderFixture::new();
    assert_eq!(load_run(&world.layout).unwrap(), None);
    world.begin();
    fs::remove_file(world.layout.events()).unwrap();
    assert_eq!(load_run(&world.layout).unwrap(), None);
}

#[test]
fn what_was_recorded_after_the_snapshot_counts() {
    let world = RunLoaderFixture::new();
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
        let world = RunLoaderFixture::new();
        world.begin().record(goal("sing")).unwrap();
        match text {
            Some(text) => fs::write(world.layout.state(), text).unwrap(),
            None => fs::remove_file(world.layout.state()).unwrap(),
        }
        assert_eq!(world.goal().as_deref(), Some("sing"), "{text:?}");
    }
    let world = RunLoaderFixture::new();
    let mut journal = world.begin();
    let short = fs::read(world.layout.events()).unwrap();
    journal.record(goal("sing")).unwrap();
    fs::write(world.layout.events(), short).unwrap();
    assert_eq!(world.goal(), None);
}

#[test]
fn what_the_snapshot_covers_is_not_read_again() {
    let world = RunLoaderFixture::new();
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
    let world = RunLoaderFixture::new();
    let mut journal = world.begin();
    journal.record_unsynced(goal("sing")).unwrap();
    let seen = load_partial_run(&world.layout).unwrap().unwrap();
    let goal = seen.state.goal.unwrap().text;
    assert_eq!((goal.as_str(), seen.last_seq), ("sing", 2));
    assert_eq!(seen.problem, None);
}

#[test]
fn somebody_who_looks_sees_as_much_as_can_be_read() {
    let world = RunLoaderFixture::new();
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
    check(2, "its log cannot be read to its end: ");
    fs::write(world.layout.state(), "{").unwrap();
    check(3, "; shown from its log, which cannot be read to the end: ");
}

#[test]
fn a_log_that_cannot_be_read_is_no_run_that_is_over() {
    let world = RunLoaderFixture::new();
    world.begin().record(goal("sing")).unwrap();
    fs::write(world.layout.state(), "{").unwrap();
    fs::write(world.layout.events(), "?\n").unwrap();
    assert!(matches!(
        load_run(&world.layout),
        Err(StoreError::Damaged { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The loaded run is the one that would be resumed, however many events came without a snapshot.
    #[test]
    fn it_is_the_run_that_would_be_opened(
        words in proptest::collection::vec((any::<bool>(), 0usize..60_000), 0..12),
        torn in "[a-z{\"]{0,9}",
    ) {
        let world = RunLoaderFixture::new();
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
        let opened = RunJournal::reopen(world.guard()).unwrap().unwrap();
        prop_assert_eq!(found.as_ref().map(Run::state), Some(opened.state()));
    }
}
