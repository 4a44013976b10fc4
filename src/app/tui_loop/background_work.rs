//! Runs work beside the loop, because a slow disk, git or a CLI must not delay a key; the loop gets the results.
//!
//! All of it ends before the program returns.

use std::pin::Pin;

use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::background_result::BackgroundResult;

/// The background work of the screen.
#[derive(Default)]
pub struct BackgroundWork {
    tasks: JoinSet<BackgroundResult>,
    /// Cancelled when the screen closes; stops work that reads a lot.
    closed: CancellationToken,
}

impl BackgroundWork {
    /// Starts work. Boxed: the runtime moves a future several times, and would be compiled once per type.
    pub fn spawn(&mut self, work: impl Future<Output = BackgroundResult> + Send + 'static) {
        let work: Pin<Box<dyn Future<Output = BackgroundResult> + Send>> = Box::pin(work);
        self.tasks.spawn(work);
    }

    /// Starts work that blocks its thread.
    pub fn spawn_blocking(&mut self, work: impl FnOnce() -> BackgroundResult + Send + 'static) {
        self.tasks.spawn_blocking(work);
    }

    /// Returns the token that is cancelled when the screen closes.
    pub fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Waits for the next result; an error is a panic in the work. Cancel safe.
    pub async fn next_result(&mut self) -> Result<BackgroundResult, JoinError> {
        match self.tasks.join_next().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }

    /// Asks work that reads a lot to stop.
    pub fn cancel(&self) {
        self.closed.cancel();
    }

    pub async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
    }
}
