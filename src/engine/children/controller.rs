//! The places for everything that fans out: so many at a time in all, and so many of each adapter.
//!
//! First come, first served. Whoever has a place holds an [`Admitted`], and the place is free when that goes, whatever
//! became of the work. Refuses to know what is done in a place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// How long is waited before the second try; before each further one twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Gives places out; a clone gives out the same ones.
#[derive(Debug, Clone)]
pub struct Controller {
    all: Arc<Semaphore>,
    n_all: u32,
    of_adapters: Arc<BTreeMap<String, Arc<Semaphore>>>,
    /// Nobody gets a place any more.
    closed: CancellationToken,
    /// Whoever has one leaves it.
    over: CancellationToken,
}

/// A place; it is free again when this goes.
#[derive(Debug)]
pub struct Admitted {
    // Dropped in this order: who waits for the adapter's place finds one of all free.
    _all: OwnedSemaphorePermit,
    _adapter: Option<OwnedSemaphorePermit>,
    over: CancellationToken,
    since: Instant,
}

/// Why there was no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdmitted {
    /// Who waited for it was cancelled.
    Cancelled,
    /// No places are given out any more.
    Closed,
}

/// How work in a place ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended<T> {
    /// By itself.
    Done(T),
    /// It took longer than it may.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// The pauses before the next tries of something that can pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    n_tried: u32,
    retries: u32,
}

impl Tries {
    /// Tries again so often at most.
    pub fn again(retries: u32) -> Self {
        Self {
            n_tried: 0,
            retries,
        }
    }

    /// How long to wait before the next try; `None` when there is none.
    pub fn pause(&mut self) -> Option<Duration> {
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.n_tried));
        self.n_tried += 1;
        (self.n_tried <= self.retries).then_some(pause.min(LONGEST_PAUSE))
    }
}

impl Controller {
    /// Makes `n_all` places, of which each of these adapters may have `n_each`; at least one of each kind.
    pub fn new<'a>(n_all: u32, n_each: u32, adapters: impl Iterator<Item = &'a String>) -> Self {
        let places = |n: u32| Arc::new(Semaphore::new(n.max(1) as usize));
        let of_adapters = adapters.map(|name| (name.clone(), places(n_each)));
        Self {
            all: places(n_all),
            n_all: n_all.max(1),
            of_adapters: Arc::new(of_adapters.collect()),
            closed: CancellationToken::new(),
            over: CancellationToken::new(),
        }
    }

    /// Waits for a place. Who waits for an adapter's place holds none of all: those of other adapters pass.
    ///
    /// # Errors
    /// There will be none: who waits is cancelled, or no places are given out any more.
    pub async fn admit(
        &self,
        adapter: &str,
        cancel: &CancellationToken,
    ) -> Result<Admitted, NotAdmitted> {
        let places = async {
            let adapter = match self.of_adapters.get(adapter) {
                Some(of_adapter) => Some(Arc::clone(of_adapter).acquire_owned().await?),
                None => None,
            };
            let all = Arc::clone(&self.all).acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>((all, adapter))
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(NotAdmitted::Cancelled),
            () = self.closed.cancelled() => Err(NotAdmitted::Closed),
            places = places => {
                let (all, adapter) = places.map_err(|_| NotAdmitted::Closed)?;
                Ok(Admitted {
                    _all: all,
                    _adapter: adapter,
                    over: self.over.clone(),
                    since: Instant::now(),
                })
            }
        }
    }

    /// How many places are free.
    #[cfg(test)]
    fn n_free(&self) -> usize {
        self.all.available_permits()
    }

    /// Gives no more places out, waits so long for those that are taken, then has them left and waits for that.
    pub async fn drain(&self, patience: Duration) {
        self.closed.cancel();
        let free = || self.all.acquire_many(self.n_all);
        if timeout(patience, free()).await.is_err() {
            self.over.cancel();
            let _free = free().await;
        }
    }
}

impl Admitted {
    /// How long the place is taken.
    pub fn since(&self) -> Duration {
        self.since.elapsed()
    }

    /// Does work within a limit that counts from here, until it is cancelled; work that is not done is dropped.
    pub async fn run<T>(
        &self,
        limit: Duration,
        cancel: &CancellationToken,
        work: impl Future<Output = T>,
    ) -> Ended<T> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ended::Cancelled,
            () = self.over.cancelled() => Ended::Cancelled,
            done = timeout(limit, work) => done.map_or(Ended::TimedOut, Ended::Done),
        }
    }
}

#[cfg(test)]
mod tests;
