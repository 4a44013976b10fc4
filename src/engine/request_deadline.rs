//! Waits for the deadline of a request.

use tokio::time::{Instant, sleep_until};

use crate::domain::ids::RequestId;

/// Waits until the instant, and returns its request; without one it waits forever. Cancel safe.
pub(super) async fn wait_until_due(due: Option<(Instant, RequestId)>) -> RequestId {
    match due {
        Some((at, request)) => {
            sleep_until(at).await;
            request
        }
        None => std::future::pending().await,
    }
}
