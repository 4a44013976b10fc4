//! Tests that every change to the program's own files is noticed and undone.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;

use super::super::test_repo::TestRepo;
use super::*;

const BIG: usize = 300_000;

/// Creates a guarded run with small and large files, and returns their contents.
fn fill(place: &TestRepo) -> (TamperGuard, Vec<(PathBuf, Vec<u8>)>) {
    let guard = place.open_guard();
    let layout = &place.layout;
    let session = layout.sessions().join("ses_a");
    guard.replace(&layout.state(), b"state").unwrap();
    guard.append(&layout.events(), &vec![b'e'; BIG]).unwrap();
    guard.append(&layout.events(), b"end\n").unwrap();
    guard.append(&layout.log(), b"log\n").unwrap();
    guard
        .replace(&session.join("session.json"), b"session")
        .unwrap();
    guard.append(&session.join("raw.jsonl"), b"raw\n").unwrap();
    guard
        .replace(
            &layout.iteration_folder(1).join("plan.md"),
            &vec![b'p'; BIG],
        )
        .unwrap();
    let ours = snapshot(layout);
    assert_eq!(ours.len(), 6);
    (guard, ours)
}

fn snapshot(layout: &WorkdirLayout) -> Vec<(PathBuf, Vec<u8>)> {
    let session = layout.sessions().join("ses_a");
    [
        layout.state(),
        layout.events(),
        layout.log(),
        session.join("session.json"),
        session.join("raw.jsonl"),
        layout.iteration_folder(1).join("plan.md"),
    ]
    .into_iter()
    .map(|path| {
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    })
    .collect()
}

/// Lets an agent act, runs the check, and compares the report; the program's files must be restored each
/// time.
fn check(act: impl Fn(&WorkdirLayout), expected: &[&str]) {
    let place = TestRepo::new();
    let (guard, ours) = fill(&place);
    assert_eq!(guard.check_and_restore().unwrap(), []);
    act(&place.layout);
    let found = guard.check_and_restore().unwrap();
    let told: Vec<String> = found
        .iter()
        .map(|tampered| {
            let below = tampered.path.strip_prefix(place.layout.workdir()).unwrap();
            let kept = match &tampered.kept_copy {
                Some(copy) => {
                    assert!(fs::symlink_metadata(copy).is_ok(), "{copy:?} is not there");
                    "kept"
                }
                None => "gone",
            };
            format!("{} {kept}", below.display())
        })
        .collect();
    assert_eq!(told, expected);
    assert!(snapshot(&place.layout) == ours, "ours is not back");
    assert_eq!(guard.check_and_restore().unwrap(), []);
    guard.append(&place.layout.events(), b"more\n").unwrap();
    let events = fs::read(place.layout.events()).unwrap();
    assert!(events.ends_with(b"end\nmore\n"));
    assert_eq!(guard.check_and_restore().unwrap(), []);
}

#[test]
fn rewriting_truncating_deleting_and_exchanging_are_undone() {
    check(
        |layout| fs::write(layout.state(), "evil").unwrap(),
        &["state.json kept"],
    );
    check(
        |layout| fs::write(layout.events(), "").unwrap(),
        &["events.jsonl kept"],
    );
    check(
        |layout| fs::remove_file(layout.log()).unwrap(),
        &["log.md gone"],
    );
    check(
        |layout| {
            fs::remove_file(layout.events()).unwrap();
            symlink("/etc/hostname", layout.events()).unwrap();
        },
        &["events.jsonl kept"],
    );
    check(
        |layout| {
            fs::remove_file(layout.state()).unwrap();
            fs::create_dir(layout.state()).unwrap();
        },
        &["state.json kept"],
    );
    check(
        |layout| {
            let mut events = fs::read(layout.events()).unwrap();
            events[BIG / 2] = b'x';
            fs::write(layout.events(), events).unwrap();
        },
        &["events.jsonl kept"],
    );
}

#[test]
fn a_removed_or_exchanged_directory_is_undone() {
    check(
        |layout| fs::remove_dir_all(layout.sessions()).unwrap(),
        &[
            "sessions/ses_a/raw.jsonl gone",
            "sessions/ses_a/session.json gone",
        ],
    );
    check(
        |layout| {
            fs::rename(layout.iterations(), layout.root().join("stolen")).unwrap();
            symlink(layout.root().join("stolen"), layout.iterations()).unwrap();
        },
        &["iterations kept", "iterations/1/plan.md gone"],
    );
    check(
        |layout| {
            let session = layout.sessions().join("ses_a");
            fs::set_permissions(session, fs::Permissions::from_mode(0o000)).unwrap();
        },
        &[],
    );
}

#[test]
fn a_removed_or_exchanged_work_directory_is_undone() {
    let all = [
        "events.jsonl gone",
        "iterations/1/plan.md gone",
        "log.md gone",
        "sessions/ses_a/raw.jsonl gone",
        "sessions/ses_a/session.json gone",
        "state.json gone",
    ];
    let expected = |first| [&[first][..], &all].concat();
    check(
        |layout| fs::remove_dir_all(layout.workdir()).unwrap(),
        &expected(" gone"),
    );
    check(
        |layout| {
            fs::rename(layout.workdir(), layout.root().join("stolen")).unwrap();
            symlink(layout.root().join("stolen"), layout.workdir()).unwrap();
        },
        &expected(" kept"),
    );
}

#[test]
fn what_nobody_should_have_put_there_is_set_aside() {
    check(
        |layout| {
            fs::write(layout.sessions().join("ses_a/extra"), "x").unwrap();
            fs::create_dir_all(layout.iterations().join("9/deep")).unwrap();
            fs::write(layout.iterations().join("9/deep/plan.md"), "x").unwrap();
            fs::create_dir(layout.sessions().join("empty")).unwrap();
            fs::write(layout.plan(), "an edit").unwrap();
        },
        &["iterations/9 kept", "sessions/ses_a/extra kept"],
    );
}

#[test]
fn history_itself_is_no_way_out() {
    check(
        |layout| {
            symlink("/tmp", layout.history()).unwrap();
            fs::write(layout.state(), "evil").unwrap();
        },
        &["history kept", "state.json kept"],
    );
}

fn check_evil_is_kept(place: &TestRepo, guard: &TamperGuard) {
    let found = guard.check_and_restore().unwrap();
    assert_eq!(found.len(), 1);
    let copy = found[0].kept_copy.as_ref().unwrap();
    assert_eq!(fs::read(copy).unwrap(), b"evil");
    assert_eq!(fs::read(place.layout.state()).unwrap(), b"next");
}

#[test]
fn a_difference_is_told_even_if_ours_was_written_over_it() {
    let place = TestRepo::new();
    let (guard, _) = fill(&place);
    fs::write(place.layout.state(), "evil").unwrap();
    guard.replace(&place.layout.state(), b"next").unwrap();
    check_evil_is_kept(&place, &guard);
}

/// Writes to a file, once, when its replacement is written but not renamed yet.
struct LastMomentWriter(Arc<Mutex<Option<PathBuf>>>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for LastMomentWriter {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        let mut is_the_moment = false;
        event.record(
            &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                is_the_moment |=
                    field.name() == "place" && format!("{value:?}").contains("replace: synced");
            },
        );
        if is_the_moment && let Some(path) = self.0.lock().unwrap().take() {
            fs::write(path, "evil").unwrap();
        }
    }
}

#[test]
fn a_difference_is_told_even_if_it_came_while_ours_was_written() {
    use tracing_subscriber::layer::SubscriberExt;

    // Another test's thread that reaches the event first, without a listener, may disable it for a moment.
    for _ in 0..50 {
        let place = TestRepo::new();
        let (guard, _) = fill(&place);
        let once = Arc::new(Mutex::new(Some(place.layout.state())));
        let evil = LastMomentWriter(Arc::clone(&once));
        let evil = tracing_subscriber::registry().with(evil);
        tracing::subscriber::with_default(evil, || {
            guard.replace(&place.layout.state(), b"next").unwrap();
        });
        if once.lock().unwrap().is_none() {
            return check_evil_is_kept(&place, &guard);
        }
    }
    panic!("the moment between writing and replacing never came");
}

#[test]
fn a_planted_file_does_not_become_ours() {
    let place = TestRepo::new();
    let guard = place.open_guard();
    fs::write(place.layout.log(), "planted\n").unwrap();
    guard.append(&place.layout.log(), b"ours\n").unwrap();
    assert_eq!(fs::read(place.layout.log()).unwrap(), b"ours\n");
    assert_eq!(guard.check_and_restore().unwrap().len(), 1);
}

#[test]
fn only_guarded_places_are_written() {
    let place = TestRepo::new();
    let guard = place.open_guard();
    for path in [
        place.layout.plan(),
        place.layout.sessions(),
        "/etc/x".into(),
    ] {
        let refused = guard.replace(&path, b"").unwrap_err();
        assert!(matches!(refused, StoreError::Unserializable { .. }));
    }
    let up = place.layout.sessions().join("../plan.md");
    assert!(guard.replace(&up, b"").is_err());
}

#[test]
fn a_full_device_leaves_the_file_as_it_was() {
    let mut full = fs::OpenOptions::new()
        .append(true)
        .open("/dev/full")
        .unwrap();
    let error = append_all_or_nothing(&mut full, b"event\n", 0).unwrap_err();
    let error = StoreError::from_io("append to", Path::new("events.jsonl"), error);
    assert!(matches!(error, StoreError::DiskFull { .. }));
}

#[test]
fn however_many_sessions_there_were_few_files_are_open() {
    let place = TestRepo::new();
    let guard = place.open_guard();
    let session = |n: usize| place.layout.sessions().join(format!("ses_{n}/raw.jsonl"));
    for round in 0..2 {
        for n in 0..3 * MAX_OPEN_FILES {
            guard.append(&session(n), &vec![b'a'; BIG / 4]).unwrap();
            guard.sync(&session(n)).unwrap();
            assert_eq!(guard.len(&session(n)), Some((BIG / 4 * (round + 1)) as u64));
        }
    }
    let n_open = |guard: &TamperGuard| {
        let inner = guard.lock();
        let live = inner
            .files
            .values()
            .filter(|kept| kept.append_handle.is_some());
        live.count()
    };
    assert_eq!(n_open(&guard), MAX_OPEN_FILES);
    assert_eq!(guard.check_and_restore().unwrap(), []);
    let again = place.open_guard();
    assert_eq!(again.check_and_restore().unwrap(), []);
    assert_eq!(n_open(&again), 0);
}

#[test]
fn what_is_written_while_the_files_are_compared_is_no_difference() {
    let place = TestRepo::new();
    let (guard, _) = fill(&place);
    let (events, state) = (place.layout.events(), place.layout.state());
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for n in 0..400 {
                guard.append(&events, &vec![b'0'; 1_000]).unwrap();
                let size = if n % 2 == 0 { BIG } else { 10 };
                guard.replace(&state, &vec![b's'; size]).unwrap();
                if n % 50 == 0 {
                    let len = guard.len(&events).unwrap();
                    guard.truncate(&events, len - 70_000).unwrap_or(());
                }
            }
        });
        for _ in 0..40 {
            assert_eq!(guard.check_and_restore().unwrap(), []);
        }
    });
    assert_eq!(guard.check_and_restore().unwrap(), []);
}

#[test]
fn what_was_compared_before_counts_for_that_file_alone() {
    let place = TestRepo::new();
    let (guard, _) = fill(&place);
    let (events, name) = (place.layout.events(), Path::new("events.jsonl"));
    let ours = fs::read(&events).unwrap();
    let check = |act: &dyn Fn(), n_found: usize| {
        let compared = guard.compare_unlocked(name);
        assert!(compared.is_some());
        act();
        let mut inner = guard.lock();
        inner.check_file(name, compared.as_ref()).unwrap();
        assert_eq!(std::mem::take(&mut inner.pending).len(), n_found);
    };
    check(&|| guard.append(&events, b"more\n").unwrap(), 0);
    // Appended content of another writer, and another file of the same length.
    let longer = [&ours[..], b"evil\n"].concat();
    check(
        &|| fs::write(&events, [&longer[..], b"more"].concat()).unwrap(),
        1,
    );
    let evil = vec![b'x'; ours.len() + b"more\n".len()];
    let other = || {
        fs::remove_file(&events).unwrap();
        fs::write(events.with_extension("new"), &evil).unwrap();
        fs::rename(events.with_extension("new"), &events).unwrap();
    };
    check(&other, 1);
    assert_eq!(fs::read(&events).unwrap(), [&ours[..], b"more\n"].concat());
}

#[derive(Debug, Clone)]
enum GuardTestWrite {
    Append(usize, usize),
    Replace(usize, usize),
    Tamper(usize, Vec<u8>),
    Remove(usize),
}

fn writes() -> impl Strategy<Value = Vec<GuardTestWrite>> {
    let sizes = prop_oneof![0_usize..50, 60_000_usize..70_000];
    let bytes = proptest::collection::vec(any::<u8>(), 0..20);
    let write = prop_oneof![
        (0_usize..3, sizes.clone()).prop_map(|(file, size)| GuardTestWrite::Append(file, size)),
        (0_usize..3, sizes).prop_map(|(file, size)| GuardTestWrite::Replace(file, size)),
        (0_usize..3, bytes).prop_map(|(file, bytes)| GuardTestWrite::Tamper(file, bytes)),
        (0_usize..3).prop_map(GuardTestWrite::Remove),
    ];
    proptest::collection::vec(write, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn after_a_check_every_file_holds_what_the_program_wrote(writes in writes()) {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let layout = &place.layout;
        let paths = [layout.log(), layout.state(), layout.sessions().join("s/raw.jsonl")];
        let mut model: [Option<Vec<u8>>; 3] = [None, None, None];
        for write in writes {
            match write {
                GuardTestWrite::Append(file, size) => {
                    guard.append(&paths[file], &vec![b'a'; size]).unwrap();
                    let whole = model[file].get_or_insert_default();
                    whole.extend(vec![b'a'; size]);
                }
                GuardTestWrite::Replace(file, size) => {
                    guard.replace(&paths[file], &vec![b'r'; size]).unwrap();
                    model[file] = Some(vec![b'r'; size]);
                }
                GuardTestWrite::Tamper(file, bytes) if model[file].is_some() => {
                    fs::write(&paths[file], bytes).unwrap();
                }
                GuardTestWrite::Remove(file) => {
                    let _ = fs::remove_file(&paths[file]);
                }
                GuardTestWrite::Tamper(..) => {}
            }
        }
        guard.check_and_restore().unwrap();
        for (path, whole) in paths.iter().zip(&model) {
            prop_assert_eq!(&fs::read(path).ok(), whole);
        }
        prop_assert_eq!(guard.check_and_restore().unwrap(), []);
    }
}
