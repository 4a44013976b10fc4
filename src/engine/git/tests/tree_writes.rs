//! Tests that at every moment of a write each path has its old or its new content, and that nothing the user
//! saves in the meantime is lost.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use tracing_subscriber::layer::{Context, SubscriberExt};

use super::tree_merges::joined;
use super::*;

/// What a test does at a failpoint, by the failpoint's name and its path.
type BoundaryAction = Box<dyn FnMut(&str, &str) + Send>;

struct BoundaryLayer(Mutex<BoundaryAction>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for BoundaryLayer {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let (mut place, mut path) = (String::new(), String::new());
        event.record(
            &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| match field.name() {
                "place" => place = format!("{value:?}").trim_matches('"').to_owned(),
                "path" => path = format!("{value:?}").trim_matches('"').to_owned(),
                _ => {}
            },
        );
        if place.starts_with("put: ") {
            let mut deed = self.0.lock().unwrap_or_else(|held| held.into_inner());
            deed(&place, &path);
        }
    }
}

/// Ends the write, as a kill would.
fn kill() {
    resume_unwind(Box::new("killed"));
}

struct TreeWriteSimulation {
    fixture: GitFixture,
    joined: TreeMerge,
    scratch: tempfile::TempDir,
}

/// The paths with their content before and after.
const PATHS: [(&str, &str, &str); 5] = [
    ("a", "a\n", "A\n"),
    ("dir/b", "b\n", "B\n"),
    ("gone", "gone\n", "(none)"),
    ("new/c", "(none)", "C\n"),
    ("z", "z\n", "Z\n"),
];

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

impl TreeWriteSimulation {
    fn new() -> Self {
        let fixture = GitFixture::new();
        for (path, before, _) in PATHS {
            match before {
                "(none)" => {}
                text => fixture.write(path, text),
            }
        }
        let theirs = || {
            for (path, _, after) in PATHS {
                match after {
                    "(none)" => fixture.remove(path),
                    text => fixture.write(path, text),
                }
            }
        };
        let joined = runtime().block_on(joined(&fixture, theirs, || {}));
        let scratch = tempfile::tempdir_in(fixture.root().join(".git")).unwrap();
        Self {
            fixture,
            joined,
            scratch,
        }
    }

    /// Writes the merge; `None` if it was killed. Another test's thread that reaches a failpoint first,
    /// without a listener, may disable it for a moment; then the listener misses it.
    fn put(&self, deed: BoundaryAction) -> Option<Result<(), TreeWriteError>> {
        let listens = tracing_subscriber::registry().with(BoundaryLayer(Mutex::new(deed)));
        tracing::subscriber::with_default(listens, || {
            let put = || {
                runtime().block_on(async {
                    let repository = self.fixture.repository().await;
                    repository
                        .work_tree()
                        .write_merge(&self.joined, self.scratch.path())
                        .await
                })
            };
            catch_unwind(AssertUnwindSafe(put)).ok()
        })
    }

    /// Does what the next start of the program does.
    fn mend(&self) -> (Vec<DisplacedFile>, Vec<PathBuf>) {
        runtime().block_on(async {
            let repository = self.fixture.repository().await;
            let target = repository
                .trees()
                .tree_with_contents(&self.joined.ours, &self.joined.result_contents())
                .await
                .unwrap();
            let trees = [&self.joined.ours, &target];
            let left = repository
                .work_tree()
                .find_displaced_files(trees, self.scratch.path())
                .await;
            repository.work_tree().clear_scratch(self.scratch.path());
            let now = repository.work_tree().current_tree().await.unwrap();
            let rest = repository
                .trees()
                .remaining_change(trees[0], trees[1], now)
                .await
                .unwrap();
            repository
                .work_tree()
                .write_merge(&rest.merge, self.scratch.path())
                .await
                .unwrap();
            (left.unwrap(), rest.changed_since)
        })
    }

    fn found(&self) -> Vec<String> {
        PATHS
            .iter()
            .map(|(path, ..)| self.fixture.read(path))
            .collect()
    }
}

fn befores() -> Vec<String> {
    PATHS.map(|(_, before, _)| before.to_owned()).to_vec()
}

fn afters() -> Vec<String> {
    PATHS.map(|(.., after)| after.to_owned()).to_vec()
}

#[test]
fn who_is_killed_leaves_each_path_as_it_was_or_is_to_be_and_the_next_start_writes_the_rest() {
    let (mut stop, mut n_deaf) = (0, 0);
    loop {
        let play = TreeWriteSimulation::new();
        let mut n = 0;
        let put = play.put(Box::new(move |_, _| {
            if n == stop {
                kill();
            }
            n += 1;
        }));
        for ((path, before, after), found) in PATHS.iter().zip(play.found()) {
            let is_whole = found == *before || found == *after;
            // A path that is removed for good or newly created may exist or not; every other path always
            // exists.
            assert!(is_whole, "{path} after {stop}: {found}");
        }
        let was_killed = put.is_none();
        assert_eq!(play.mend(), (Vec::new(), Vec::new()));
        assert_eq!(play.found(), afters());
        match was_killed {
            true => stop += 1,
            // One path was removed, one created, and three replaced; each replacement has a failpoint before
            // and after.
            false if stop == 8 => break,
            false => n_deaf += 1,
        }
        assert!(n_deaf < 50, "the boundaries are not told of");
    }
}

/// The ways in which an editor saves a file.
#[derive(Debug, Clone, Copy)]
enum SaveMethod {
    InPlace,
    ByRename,
}

impl SaveMethod {
    fn mine(self, path: &str) {
        match self {
            Self::InPlace => std::fs::write(path, "mine\n").unwrap(),
            Self::ByRename => {
                let beside = format!("{path}~");
                std::fs::write(&beside, "mine\n").unwrap();
                std::fs::rename(beside, path).unwrap();
            }
        }
    }
}

/// Repeats the test until it sees the failpoints.
fn heard(play: impl Fn() -> bool) {
    assert!((0..50).any(|_| play()), "the boundaries are not told of");
}

#[test]
fn what_is_saved_at_the_last_moment_stays_and_all_else_is_taken_back() {
    for save in [SaveMethod::InPlace, SaveMethod::ByRename] {
        heard(|| {
            let play = TreeWriteSimulation::new();
            let put = play.put(Box::new(move |place, path| {
                if place == "put: replaces" && path.ends_with("/z") {
                    save.mine(path);
                }
            }));
            let Some(Err(TreeWriteError::ChangedMeanwhile(path))) = put else {
                return false;
            };
            assert_eq!(path, Path::new("z"));
            let mut expected = befores();
            expected[4] = "mine\n".to_owned();
            assert_eq!(play.found(), expected);
            assert_eq!(std::fs::read_dir(play.scratch.path()).unwrap().count(), 0);
            true
        });
    }
}

#[test]
fn what_is_saved_after_its_path_was_written_is_not_taken_back_and_what_was_there_is_kept() {
    heard(|| {
        let play = TreeWriteSimulation::new();
        let root = play.fixture.root();
        let put = play.put(Box::new(move |place, path| {
            if place == "put: replaces" && path.ends_with("/z") {
                SaveMethod::InPlace.mine(path);
                let a = root.join("a");
                SaveMethod::ByRename.mine(&a.display().to_string());
            }
        }));
        let Some(Err(TreeWriteError::RollbackIncomplete { stays, .. })) = put else {
            return false;
        };
        let (a, z) = (play.fixture.read("a"), play.fixture.read("z"));
        assert_eq!((a.as_str(), z.as_str()), ("mine\n", "mine\n"));
        let stays: Vec<String> = stays
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect();
        assert_eq!(stays, ["a\n"]);
        true
    });
}

#[test]
fn what_is_saved_just_before_a_kill_is_found_by_the_next_start() {
    heard(|| {
        let play = TreeWriteSimulation::new();
        let put = play.put(Box::new(|place, path| match place {
            "put: replaces" if path.ends_with("/z") => SaveMethod::InPlace.mine(path),
            "put: replaced" if path.ends_with("/z") => kill(),
            _ => {}
        }));
        if put.is_some() {
            return false;
        }
        let (left, changed) = play.mend();
        let left: Vec<_> = left.iter().map(|left| (&left.path, &left.bytes)).collect();
        let mine = (&PathBuf::from("z"), &b"mine\n".to_vec());
        assert_eq!((left, changed), (vec![mine], Vec::new()));
        assert_eq!(play.found(), afters());
        true
    });
}
