//! What the loop waits for, where it is there; what is not there never comes.
//!
//! All of it is cancel safe. Refuses to react.

use tokio::time::{Instant, sleep_until};

use crate::engine::{Engine, Inward};

use super::watch::Watch;

pub(super) async fn next_inward(engine: &mut Option<Engine>) -> Inward {
    match engine {
        Some(engine) => engine.next().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn next_change(watch: &Option<Watch>) {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn sleep_to(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
