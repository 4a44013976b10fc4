//! Tests of the slots, with a clock that only moves when every task waits.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;

const ADAPTERS: [&str; 2] = ["codex", "claude"];
const TASK: Duration = Duration::from_secs(60);

fn controller(n_all: u32, n_each: u32) -> TaskSemaphore {
    let names = ADAPTERS.map(str::to_owned);
    TaskSemaphore::new(n_all, n_each, names.iter())
}

/// Runs a test on one thread with a clock that jumps to the next deadline.
fn play<T>(test: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(test)
}

/// What a child does in a test.
#[derive(Debug, Clone, Copy)]
enum ChildBehavior {
    Ends,
    Hangs,
    Panics,
    /// Is cancelled after this many seconds, in its slot or before it gets one.
    IsCancelled(u64),
}

fn does() -> impl Strategy<Value = ChildBehavior> {
    prop_oneof![
        Just(ChildBehavior::Ends),
        Just(ChildBehavior::Hangs),
        Just(ChildBehavior::Panics),
        (0..300_u64).prop_map(ChildBehavior::IsCancelled),
    ]
}

/// Counts the running children, and the maximum so far.
#[derive(Default)]
struct ConcurrencyCounter {
    now: AtomicUsize,
    most: AtomicUsize,
}

struct ConcurrencyGuard<'a>(&'a ConcurrencyCounter);

impl ConcurrencyCounter {
    fn enter(&self) -> ConcurrencyGuard<'_> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        ConcurrencyGuard(self)
    }
}

impl Drop for ConcurrencyGuard<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn child(
    controller: TaskSemaphore,
    adapter: &'static str,
    does: ChildBehavior,
    counted: [Arc<ConcurrencyCounter>; 2],
) -> Result<TimedOutcome<()>, TaskPermitError> {
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    let work = async move {
        let admitted = controller.acquire(adapter, &cancel).await?;
        let work = async {
            let _of_all = counted[0].enter();
            let _of_adapter = counted[1].enter();
            match does {
                ChildBehavior::Panics => panic!("as it was asked to"),
                ChildBehavior::Hangs => std::future::pending().await,
                ChildBehavior::Ends | ChildBehavior::IsCancelled(_) => sleep(TASK).await,
            }
        };
        Ok(admitted.run_with_timeout(2 * TASK, &cancel, work).await)
    };
    let cancelling = async {
        if let ChildBehavior::IsCancelled(after) = does {
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
            let (controller, started) = (controller(n_places, n_places), Instant::now());
            let mut tasks = JoinSet::new();
            for _ in 0..n_tasks {
                let counted = std::array::from_fn(|_| Arc::default());
                tasks.spawn(child(
                    controller.clone(),
                    "codex",
                    ChildBehavior::Ends,
                    counted,
                ));
            }
            tasks.join_all().await;
            started.elapsed()
        });
        let rounds = u32::div_ceil(n_tasks, n_places);
        // The paused clock counts whole milliseconds, and may round each round up to the next one.
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
        let _codex = controller.acquire("codex", &cancel).await.unwrap();
        let (waits, passes) = tokio::join!(
            timeout(TASK, controller.acquire("codex", &cancel)),
            timeout(TASK, controller.acquire("claude", &cancel)),
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
        let (first, second, third) = tokio::join!(
            work(ChildBehavior::Hangs),
            work(ChildBehavior::Hangs),
            work(ChildBehavior::Ends)
        );
        assert_eq!(
            (first, second),
            (Ok(TimedOutcome::TimedOut), Ok(TimedOutcome::TimedOut))
        );
        assert_eq!(third, Ok(TimedOutcome::Completed(())));
    });
}

#[test]
fn draining_refuses_who_waits_and_outlasts_whoever_hangs() {
    play(async {
        let controller = controller(2, 2);
        let counted = || std::array::from_fn(|_| Arc::default());
        let mut tasks = JoinSet::new();
        for does in [ChildBehavior::Ends, ChildBehavior::Hangs] {
            tasks.spawn(child(controller.clone(), "codex", does, counted()));
        }
        sleep(Duration::from_secs(1)).await;
        let late = tokio::spawn(child(
            controller.clone(),
            "claude",
            ChildBehavior::Ends,
            counted(),
        ));
        controller.drain(TASK + Duration::from_secs(1)).await;
        assert_eq!(late.await.unwrap(), Err(TaskPermitError::Closed));
        let mut ended = tasks.join_all().await;
        ended.sort_by_key(|ended| *ended == Ok(TimedOutcome::Cancelled));
        assert_eq!(
            ended,
            [Ok(TimedOutcome::Completed(())), Ok(TimedOutcome::Cancelled)]
        );
        assert_eq!(controller.available_permits(), 2);
    });
}

#[test]
fn what_can_pass_is_tried_again_after_growing_pauses_and_not_for_ever() {
    let pauses = |retries: u32| {
        let mut tries = RetryBackoff::with_retries(retries);
        let pauses = std::iter::from_fn(move || tries.next_delay());
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
            let all = Arc::new(ConcurrencyCounter::default());
            let each = [Arc::new(ConcurrencyCounter::default()), Arc::new(ConcurrencyCounter::default())];
            let mut running = JoinSet::new();
            for (at, does) in &tasks {
                let counted = [Arc::clone(&all), Arc::clone(&each[*at])];
                running.spawn(child(controller.clone(), ADAPTERS[*at], *does, counted));
            }
            let mut n_ended = 0;
            // Every one of them ends: none waits for a slot that is never freed.
            while running.join_next().await.is_some() {
                n_ended += 1;
            }
            let most = |counted: &ConcurrencyCounter| counted.most.load(Ordering::SeqCst);
            let free = [
                controller.available_permits(),
                controller.adapter_permits["codex"].available_permits(),
                controller.adapter_permits["claude"].available_permits(),
            ];
            (free, most(&all), each.map(|each| most(&each)), n_ended)
        });
        prop_assert_eq!(n_ended, tasks.len());
        prop_assert_eq!(free, [n_all as usize, n_each as usize, n_each as usize]);
        prop_assert!(most <= n_all as usize);
        prop_assert!(each.iter().all(|most| *most <= n_each as usize));
    }
}
