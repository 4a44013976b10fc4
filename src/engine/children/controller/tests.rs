//! The places, under a clock that only moves when everybody waits.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;

const ADAPTERS: [&str; 2] = ["codex", "claude"];
const TASK: Duration = Duration::from_secs(60);

fn controller(n_all: u32, n_each: u32) -> Controller {
    let names = ADAPTERS.map(str::to_owned);
    Controller::new(n_all, n_each, names.iter())
}

/// Runs a test on one thread whose clock jumps to what is waited for next.
fn play<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(test)
}

/// What a child of a test does.
#[derive(Debug, Clone, Copy)]
enum Does {
    Ends,
    Hangs,
    Panics,
    /// Is cancelled after so many seconds, in its place or before it.
    IsCancelled(u64),
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        Just(Does::Ends),
        Just(Does::Hangs),
        Just(Does::Panics),
        (0..300_u64).prop_map(Does::IsCancelled),
    ]
}

/// Counts those that are at work, and the most that ever were.
#[derive(Default)]
struct Counted {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct AtWork<'a>(&'a Counted);

impl Counted {
    fn enter(&self) -> AtWork<'_> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        AtWork(self)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn child(
    controller: Controller,
    adapter: &'static str,
    does: Does,
    counted: [Arc<Counted>; 2],
) -> Result<Ended<()>, NotAdmitted> {
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    let work = async move {
        let admitted = controller.admit(adapter, &cancel).await?;
        let work = async {
            let _of_all = counted[0].enter();
            let _of_adapter = counted[1].enter();
            match does {
                Does::Panics => panic!("as it was asked to"),
                Does::Hangs => std::future::pending().await,
                Does::Ends | Does::IsCancelled(_) => sleep(TASK).await,
            }
        };
        Ok(admitted.run(2 * TASK, &cancel, work).await)
    };
    let cancelling = async {
        if let Does::IsCancelled(after) = does {
            sleep(Duration::from_secs(after)).await;
            cancelled.cancel();
        }
    };
    tokio::join!(work, cancelling).0
}

#[test]
fn equal_tasks_take_as_many_rounds_as_the_places_make_necessary() {
    for (n_tasks, n_places) in [(1, 1), (3, 3), (7, 2), (64, 3), (64, 64), (5, 1)] {
        let took = play(async {
            let (controller, begun) = (controller(n_places, n_places), Instant::now());
            let mut tasks = JoinSet::new();
            for _ in 0..n_tasks {
                let counted = std::array::from_fn(|_| Arc::default());
                tasks.spawn(child(controller.clone(), "codex", Does::Ends, counted));
            }
            tasks.join_all().await;
            begun.elapsed()
        });
        let rounds = u32::div_ceil(n_tasks, n_places);
        // The paused clock counts whole milliseconds, and may round each round up to the next.
        let most = TASK * rounds + Duration::from_millis(u64::from(rounds));
        assert!(
            took >= TASK * rounds && took <= most,
            "{n_tasks}/{n_places}: {took:?}"
        );
    }
}

#[test]
fn whoever_waits_for_an_adapter_keeps_nobody_else_waiting() {
    play(async {
        let controller = controller(2, 1);
        let cancel = CancellationToken::new();
        let _codex = controller.admit("codex", &cancel).await.unwrap();
        let (waits, passes) = tokio::join!(
            timeout(TASK, controller.admit("codex", &cancel)),
            timeout(TASK, controller.admit("claude", &cancel)),
        );
        assert!(waits.is_err());
        assert!(passes.unwrap().is_ok());
    });
}

#[test]
fn the_time_in_the_queue_is_not_counted() {
    play(async {
        let controller = controller(1, 1);
        let work = |does| {
            child(
                controller.clone(),
                "codex",
                does,
                std::array::from_fn(|_| Arc::default()),
            )
        };
        let (first, second, third) =
            tokio::join!(work(Does::Hangs), work(Does::Hangs), work(Does::Ends));
        assert_eq!((first, second), (Ok(Ended::TimedOut), Ok(Ended::TimedOut)));
        assert_eq!(third, Ok(Ended::Done(())));
    });
}

#[test]
fn draining_refuses_who_waits_and_outlasts_whoever_hangs() {
    play(async {
        let controller = controller(2, 2);
        let counted = || std::array::from_fn(|_| Arc::default());
        let mut tasks = JoinSet::new();
        for does in [Does::Ends, Does::Hangs] {
            tasks.spawn(child(controller.clone(), "codex", does, counted()));
        }
        sleep(Duration::from_secs(1)).await;
        let late = tokio::spawn(child(controller.clone(), "claude", Does::Ends, counted()));
        controller.drain(TASK + Duration::from_secs(1)).await;
        assert_eq!(late.await.unwrap(), Err(NotAdmitted::Closed));
        let mut ended = tasks.join_all().await;
        ended.sort_by_key(|ended| *ended == Ok(Ended::Cancelled));
        assert_eq!(ended, [Ok(Ended::Done(())), Ok(Ended::Cancelled)]);
        assert_eq!(controller.n_free(), 2);
    });
}

#[test]
fn what_can_pass_is_tried_again_after_growing_pauses_and_not_for_ever() {
    let pauses = |retries: u32| {
        let mut tries = Tries::again(retries);
        let pauses = std::iter::from_fn(move || tries.pause());
        pauses.map(|pause| pause.as_secs()).collect::<Vec<_>>()
    };
    assert_eq!(pauses(0), Vec::<u64>::new());
    assert_eq!(pauses(2), [1, 2]);
    assert_eq!(pauses(6), [1, 2, 4, 8, 10, 10]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_place_outlives_its_work_and_no_more_are_taken_than_there_are(
        (n_all, n_each) in (1..6_u32, 1..6_u32),
        tasks in proptest::collection::vec((0..2_usize, does()), 0..40),
    ) {
        let (free, most, each, n_ended) = play(async {
            let controller = controller(n_all, n_each);
            let all = Arc::new(Counted::default());
            let each = [Arc::new(Counted::default()), Arc::new(Counted::default())];
            let mut running = JoinSet::new();
            for (at, does) in &tasks {
                let counted = [Arc::clone(&all), Arc::clone(&each[*at])];
                running.spawn(child(controller.clone(), ADAPTERS[*at], *does, counted));
            }
            let mut n_ended = 0;
            // Every one of them ends: none waits for a place that nobody gives back.
            while running.join_next().await.is_some() {
                n_ended += 1;
            }
            let most = |counted: &Counted| counted.most.load(Ordering::SeqCst);
            let free = [
                controller.n_free(),
                controller.of_adapters["codex"].available_permits(),
                controller.of_adapters["claude"].available_permits(),
            ];
            (free, most(&all), each.map(|each| most(&each)), n_ended)
        });
        prop_assert_eq!(n_ended, tasks.len());
        prop_assert_eq!(free, [n_all as usize, n_each as usize, n_each as usize]);
        prop_assert!(most <= n_all as usize);
        prop_assert!(each.iter().all(|most| *most <= n_each as usize));
    }
}
