//! Forwards a pending call's progress, at most once a second, then its answer, and nothing after that.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::mcp::socket_protocol::{ToolAnswer, ToolSocketMessage};

/// The shortest time between two progress messages; of those in between only the last one is sent.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// A call that is not answered yet.
pub(super) struct ToolCallForwarder {
    /// The number that the call's server gave it.
    pub(super) id: u64,
    /// The channel of the answer.
    pub(super) given: oneshot::Receiver<ToolAnswer>,
    /// The channel of the progress; `None` if the CLI does not want any.
    pub(super) progress: Option<watch::Receiver<String>>,
}

impl ToolCallForwarder {
    /// Forwards progress messages, and the answer last.
    pub(super) async fn forward_until_answer(mut self, tell: mpsc::Sender<ToolSocketMessage>) {
        let mut free_at = Instant::now();
        let answer = loop {
            let text = tokio::select! {
                biased;
                given = &mut self.given => break given,
                text = next_progress(&mut self.progress, free_at) => text,
            };
            free_at = Instant::now() + PROGRESS_INTERVAL;
            // The receiver is gone only if the connection is, and then this task ends too.
            let _gone = tell
                .send(ToolSocketMessage::Progress { id: self.id, text })
                .await;
        };
        let nobody = |_| ToolAnswer::failed("agent-collab did not answer; end your turn");
        let (id, answer) = (self.id, answer.unwrap_or_else(nobody));
        let _gone = tell.send(ToolSocketMessage::Answer { id, answer }).await;
    }
}

/// Waits for the next progress message that may be sent. Cancel safe.
async fn next_progress(progress: &mut Option<watch::Receiver<String>>, free_at: Instant) -> String {
    let Some(progress) = progress else {
        return std::future::pending().await;
    };
    sleep_until(free_at).await;
    match progress.changed().await {
        Ok(()) => progress.borrow_and_update().clone(),
        // The sender reports no more progress; the answer still comes.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn text(tell: Option<ToolSocketMessage>) -> String {
        match tell {
            Some(ToolSocketMessage::Progress { text, .. }) => text,
            Some(ToolSocketMessage::Answer { answer, .. }) => format!("answer: {}", answer.text),
            other => format!("{other:?}"),
        }
    }

    /// A call that wants progress, with both ends of its channels.
    fn call() -> (
        oneshot::Sender<ToolAnswer>,
        watch::Sender<String>,
        mpsc::Receiver<ToolSocketMessage>,
    ) {
        let (give, given) = oneshot::channel();
        let (progress, told) = watch::channel(String::new());
        let (tell, tells) = mpsc::channel(8);
        let call = ToolCallForwarder {
            id: 7,
            given,
            progress: Some(told),
        };
        tokio::spawn(call.forward_until_answer(tell));
        (give, progress, tells)
    }

    #[tokio::test(start_paused = true)]
    async fn progress_is_told_at_most_once_a_second_and_the_last_word_counts() {
        let began = Instant::now();
        let (_give, progress, mut tells) = call();
        progress.send_replace("1".to_owned());
        assert_eq!(text(tells.recv().await), "1");
        assert_eq!(began.elapsed(), Duration::ZERO, "the first one at once");
        progress.send_replace("2".to_owned());
        progress.send_replace("3".to_owned());
        assert_eq!(text(tells.recv().await), "3");
        assert!(began.elapsed() >= PROGRESS_INTERVAL);
        advance(PROGRESS_INTERVAL * 3).await;
        progress.send_replace("4".to_owned());
        let before = Instant::now();
        assert_eq!(text(tells.recv().await), "4");
        assert_eq!(
            before.elapsed(),
            Duration::ZERO,
            "after a pause at once again"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_follows_the_answer() {
        let (give, progress, mut tells) = call();
        progress.send_replace("1".to_owned());
        assert_eq!(text(tells.recv().await), "1");
        progress.send_replace("2".to_owned());
        give.send(ToolAnswer::done("done")).unwrap();
        assert_eq!(text(tells.recv().await), "answer: done");
        progress.send_replace("3".to_owned());
        assert_eq!(tells.recv().await, None, "its end is gone with it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_whose_progress_nobody_tells_is_answered_all_the_same() {
        let (give, progress, mut tells) = call();
        drop(progress);
        tokio::task::yield_now().await;
        give.send(ToolAnswer::done("done")).unwrap();
        assert_eq!(text(tells.recv().await), "answer: done");
    }
}
