//! The places for everything that fans out: so many at a time in all, and so many of each adapter.
//!
//! First come, first served. Whoever has a place holds an [`TaskPermit`], and the place is free when that goes, whatever
//! became of the work. Refuses to know what is done in a place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// How long is waited before the second try; before each further one twice as long.
const INITIAL_RETRY_DELAY: Duration = Duration::from_secs(1);
/// The longest pause between two tries.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// Gives places out; a clone gives out the same ones.
#[derive(Debug, Clone)]
pub struct TaskSemaphore {
    all_permits: Arc<Semaphore>,
    n_permits: u32,
    adapter_permits: Arc<BTreeMap<String, Arc<Semaphore>>>,
    /// Nobody gets a place any more.
    closed: CancellationToken,
    /// Whoever has one leaves it.
    revoked: CancellationToken,
}

/// A place; it is free again when this goes.
#[derive(Debug)]
pub struct TaskPermit {
    // Dropped in this order: who waits for the adapter's place finds one of all free.
    _all: OwnedSemaphorePermit,
    _adapter: Option<OwnedSemaphorePermit>,
    revoked: CancellationToken,
    acquired_at: Instant,
}

/// Why there was no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPermitError {
    /// Who waited for it was cancelled.
    Cancelled,
    /// No places are given out any more.
    Closed,
}

/// How work in a place ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedOutcome<T> {
    /// By itself.
    Completed(T),
    /// It took longer than it may.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// The pauses before the next tries of something that can pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryBackoff {
    n_tried: u32,
    retries: u32,
}

impl RetryBackoff {
    /// Tries again so often at most.
    pub fn with_retries(retries: u32) -> Self {
        Self {
            n_tried: 0,
            retries,
        }
    }

    /// How long to wait before the next try; `None` when there is none.
    pub fn next_delay(&mut self) -> Option<Duration> {
        let pause = INITIAL_RETRY_DELAY.saturating_mul(2_u32.saturating_pow(self.n_tried));
        self.n_tried += 1;
        (self.n_tried <= self.retries).then_some(pause.min(MAX_RETRY_DELAY))
    }
}

impl TaskSemaphore {
    /// Makes `n_permits` places, of which each of these adapters may have `n_each`; at least one of each kind.
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

    /// Waits for a place. Who waits for an adapter's place holds none of all: those of other adapters pass.
    ///
    /// # Errors
    /// There will be none: who waits is cancelled, or no places are given out any more.
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

    /// How many places are free.
    #[cfg(test)]
    fn available_permits(&self) -> usize {
        self.all_permits.available_permits()
    }

    /// Gives no more places out, waits so long for those that are taken, then has them left and waits for that.
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
    /// How long the place is taken.
    pub fn elapsed(&self) -> Duration {
        self.acquired_at.elapsed()
    }

    /// Does work within a limit that counts from here, until it is cancelled; work that is not done is dropped.
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
