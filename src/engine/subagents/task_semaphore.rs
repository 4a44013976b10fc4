//! Limits how many tasks run at a time, in total and for each adapter.
//!
//! First come, first served. The owner of a slot has a [`TaskPermit`]; dropping it frees the slot, whatever
//! the outcome of the work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// The delay before the first retry; it doubles for each further one.
const INITIAL_RETRY_DELAY: Duration = Duration::from_secs(1);
/// The maximum delay between two tries.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Hands out slots; a clone shares the same slots.
#[derive(Debug, Clone)]
pub struct TaskSemaphore {
    all_permits: Arc<Semaphore>,
    n_permits: u32,
    adapter_permits: Arc<BTreeMap<String, Arc<Semaphore>>>,
    /// No more slots are handed out.
    closed: CancellationToken,
    /// The owners of slots must stop.
    revoked: CancellationToken,
}

/// A slot; dropping the permit frees it.
#[derive(Debug)]
pub struct TaskPermit {
    // Fields are dropped in this order: a task that gets the adapter's slot next must find a free slot in the total.
    _all: OwnedSemaphorePermit,
    _adapter: Option<OwnedSemaphorePermit>,
    revoked: CancellationToken,
    acquired_at: Instant,
}

/// Explains why there is no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPermitError {
    /// The waiting task was cancelled.
    Cancelled,
    /// No more slots are handed out.
    Closed,
}

/// How work in a slot ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedOutcome<T> {
    /// It completed by itself.
    Completed(T),
    /// It exceeded its time limit.
    TimedOut,
    Cancelled,
}

/// The delays before the retries after temporary failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryBackoff {
    n_tried: u32,
    retries: u32,
}

impl RetryBackoff {
    /// Allows this many retries.
    pub fn with_retries(retries: u32) -> Self {
        Self {
            n_tried: 0,
            retries,
        }
    }

    /// Returns the delay before the next retry; `None` if none is left.
    pub fn next_delay(&mut self) -> Option<Duration> {
        let pause = INITIAL_RETRY_DELAY.saturating_mul(2_u32.saturating_pow(self.n_tried));
        self.n_tried += 1;
        (self.n_tried <= self.retries).then_some(pause.min(MAX_RETRY_DELAY))
    }
}

impl TaskSemaphore {
    /// Creates `n_all` slots, of which each of these adapters may use `n_each`; at least one of each kind.
    pub fn new<'a>(n_all: u32, n_each: u32, adapters: impl Iterator<Item = &'a String>) -> Self {
        let places = |n: u32| Arc::new(Semaphore::new(n.max(1) as usize));
        let of_adapters = adapters.map(|name| (name.clone(), places(n_each)));
        Self {
            all_permits: places(n_all),
            n_permits: n_all.max(1),
            adapter_permits: Arc::new(of_adapters.collect()),
            closed: CancellationToken::new(),
            revoked: CancellationToken::new(),
        }
    }

    /// Waits for a slot. A task that waits for its adapter's slot does not occupy one in the total, so tasks
    /// of other adapters can pass.
    ///
    /// # Errors
    /// There will be no slot: the task was cancelled, or no more slots are handed out.
    pub async fn acquire(
        &self,
        adapter: &str,
        cancel: &CancellationToken,
    ) -> Result<TaskPermit, TaskPermitError> {
        let places = async {
            let adapter = match self.adapter_permits.get(adapter) {
                Some(of_adapter) => Some(Arc::clone(of_adapter).acquire_owned().await?),
                None => None,
            };
            let all = Arc::clone(&self.all_permits).acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>((all, adapter))
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(TaskPermitError::Cancelled),
            () = self.closed.cancelled() => Err(TaskPermitError::Closed),
            places = places => {
                let (all, adapter) = places.map_err(|_| TaskPermitError::Closed)?;
                Ok(TaskPermit {
                    _all: all,
                    _adapter: adapter,
                    revoked: self.revoked.clone(),
                    acquired_at: Instant::now(),
                })
            }
        }
    }

    /// Returns the number of free slots.
    #[cfg(test)]
    fn available_permits(&self) -> usize {
        self.all_permits.available_permits()
    }

    /// Stops handing out slots, waits up to `patience` for the used ones, then revokes them and waits until
    /// they are free.
    pub async fn drain(&self, patience: Duration) {
        self.closed.cancel();
        let free = || self.all_permits.acquire_many(self.n_permits);
        if timeout(patience, free()).await.is_err() {
            self.revoked.cancel();
            let _free = free().await;
        }
    }
}

impl TaskPermit {
    /// Returns how long the slot has been in use.
    pub fn elapsed(&self) -> Duration {
        self.acquired_at.elapsed()
    }

    /// Runs work with a time limit that starts now, until it is cancelled; unfinished work is dropped.
    pub async fn run_with_timeout<T>(
        &self,
        limit: Duration,
        cancel: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> TimedOutcome<T> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => TimedOutcome::Cancelled,
            () = self.revoked.cancelled() => TimedOutcome::Cancelled,
            done = timeout(limit, work) => done.map_or(TimedOutcome::TimedOut, TimedOutcome::Completed),
        }
    }
}

#[cfg(test)]
mod tests;
