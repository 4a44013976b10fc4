//! Passes a conversation's output on, the raw stream to its file and events to the engine, and merges text deltas.
//!
//! Deltas of one text that arrive close together are sent, and written raw, as one. Each has an envelope ten times
//! its size, and drawing a word costs a front end as much as drawing a line.

mod raw_delta_batch;

use std::time::Duration;

use tokio::time::Instant;

use crate::adapter::AdapterEvent;
use crate::process::{OutputEvent, RunningChild};

use super::{AgentConversation, ConversationEvent};
use raw_delta_batch::RawDelta;
pub(super) use raw_delta_batch::{RawDeltaBatch, single_delta};

/// How many lines of one turn are reported as not understood; a broken CLI could otherwise fill the disk with them.
const MAX_UNKNOWN_LINES: u32 = 200;
/// How large a merged delta may become before it is sent, in bytes.
const MAX_DELTA_BYTES: usize = 16 * 1024;
/// How long deltas are collected after one was sent: ten updates a second look smooth at reading speed.
const COALESCE_DELAY: Duration = Duration::from_millis(100);
/// The same after a delta that was sent because of its size: fast text waits no longer than a frame.
const FAST_COALESCE_DELAY: Duration = Duration::from_millis(25);
/// A delta of this many bytes is not held back: it is more than a line, from an answer that arrives fast.
const FLUSH_BYTES: usize = 512;

/// A text delta that was not sent yet, and when the last one was sent.
#[derive(Default)]
pub(super) struct PendingDelta {
    /// The id of its block and the text collected so far.
    text: Option<(String, String)>,
    sent_at: Option<Instant>,
    /// Whether the last one was sent because of its size and not because of the delay.
    is_fast: bool,
}

impl PendingDelta {
    /// Returns when the collected text must be sent, if there is any.
    pub fn flush_at(&self, now: Instant) -> Option<Instant> {
        let (_, text) = self.text.as_ref()?;
        let waits = self.sent_at.filter(|_| text.len() < FLUSH_BYTES);
        let gather = if self.is_fast {
            FAST_COALESCE_DELAY
        } else {
            COALESCE_DELAY
        };
        Some(waits.map_or(now, |told_at| told_at + gather))
    }

    /// Returns whether deltas arrive at reading speed and are being collected, so that the output may be read in
    /// larger parts.
    pub fn is_relaxed(&self, now: Instant) -> bool {
        !self.is_fast && self.flush_at(now).is_some_and(|due| due > now)
    }
}

impl AgentConversation {
    /// Handles a line and all that arrived with it; deltas of one text in them are sent as one.
    pub(super) async fn on_lines(&mut self, first: OutputEvent) {
        let mut next = Some(first);
        while let Some(line) = next {
            self.on_line(line).await;
            next = self.child.as_mut().and_then(RunningChild::try_next_event);
        }
        if self.turn.is_none() {
            // The texts end with the turn.
            let lines = self.raw_deltas.finish_texts();
            self.push_raw(lines).await;
        }
        let now = Instant::now();
        if self
            .pending_delta
            .flush_at(now)
            .is_none_or(|due| due <= now)
        {
            self.flush_all().await;
        }
    }

    /// Sends the collected text and writes the raw stream up to it.
    pub(super) async fn flush_all(&mut self) {
        self.flush_delta().await;
        self.flush_raw_stream().await;
    }

    /// Returns whether to report one more line that was not understood; the raw stream has them all.
    pub(super) async fn should_report_unknown_line(&mut self) -> bool {
        self.n_unknown_lines = self.n_unknown_lines.saturating_add(1);
        if self.n_unknown_lines == MAX_UNKNOWN_LINES {
            let text = format!(
                "{MAX_UNKNOWN_LINES} lines of this turn were not understood; further ones are not shown"
            );
            self.send_event(ConversationEvent::Adapter(AdapterEvent::Notice { text }))
                .await;
        }
        self.n_unknown_lines <= MAX_UNKNOWN_LINES
    }

    /// Merges a text delta with those of the same text that arrive directly before and after it.
    pub(super) async fn push_raw_delta(&mut self, piece: RawDelta<'_>) {
        let line = self.raw_deltas.push(piece);
        self.push_raw(line).await;
    }

    async fn flush_raw_deltas(&mut self) {
        let line = self.raw_deltas.take_line();
        self.push_raw(line).await;
    }

    async fn push_raw(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if let Err(error) = self.raw.push(&line) {
                self.send_event(ConversationEvent::RawStreamFailed(error.to_string()))
                    .await;
            }
        }
    }

    pub(super) async fn push_raw_frame(&mut self, from: &str, line: &str) {
        self.flush_raw_deltas().await;
        let frame = match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => format!("{{\"from\":\"{from}\",\"frame\":{line}}}"),
            Err(_) => serde_json::json!({ "from": from, "text": line }).to_string(),
        };
        self.push_raw([frame]).await;
    }

    pub(super) async fn flush_raw_stream(&mut self) {
        self.flush_raw_deltas().await;
        if let Err(error) = self.raw.flush() {
            self.send_event(ConversationEvent::RawStreamFailed(error.to_string()))
                .await;
        }
    }

    /// Sends an event; consecutive deltas of one text are collected until [`AgentConversation::flush_all`].
    pub(super) async fn send_event(&mut self, told: ConversationEvent) {
        match (told, &mut self.pending_delta.text) {
            (
                ConversationEvent::Adapter(AdapterEvent::TextDelta { item, text }),
                Some((held, piece)),
            ) if *held == item && piece.len() < MAX_DELTA_BYTES => {
                piece.push_str(&text);
            }
            (ConversationEvent::Adapter(AdapterEvent::TextDelta { item, text }), _) => {
                self.flush_delta().await;
                self.pending_delta.text = Some((item, text));
            }
            (told, _) => {
                self.flush_delta().await;
                self.send_event_now(told).await;
            }
        }
    }

    async fn flush_delta(&mut self) {
        if let Some((item, text)) = self.pending_delta.text.take() {
            self.pending_delta.sent_at = Some(Instant::now());
            self.pending_delta.is_fast = text.len() >= FLUSH_BYTES;
            self.send_event_now(ConversationEvent::Adapter(AdapterEvent::TextDelta {
                item,
                text,
            }))
            .await;
        }
    }

    async fn send_event_now(&self, told: ConversationEvent) {
        // The receiver is gone only if the program is about to end.
        let _nobody = self.events.send((self.session.clone(), told)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pending delta of this many bytes, with the last one sent this many ms ago.
    fn untold(text: Option<usize>, told_before: Option<u64>, now: Instant) -> PendingDelta {
        let ago = |ms| now.checked_sub(Duration::from_millis(ms)).unwrap();
        PendingDelta {
            text: text.map(|len| ("item".to_owned(), "x".repeat(len))),
            sent_at: told_before.map(ago),
            is_fast: false,
        }
    }

    /// Checks when it is sent, in ms from now.
    fn check(text: Option<usize>, told_before: Option<u64>, expected: Option<u64>) {
        let now = Instant::now();
        let due = untold(text, told_before, now).flush_at(now);
        let due = due.map(|due| due.saturating_duration_since(now));
        assert_eq!(due, expected.map(Duration::from_millis));
    }

    #[test]
    fn the_first_piece_is_told_at_once_and_what_follows_it_is_gathered() {
        check(Some(1), None, Some(0));
        check(Some(1), Some(5_000), Some(0));
        check(Some(1), Some(10), Some(90));
        check(None, Some(10), None);
    }

    #[test]
    fn what_is_more_than_a_line_is_not_held() {
        check(Some(FLUSH_BYTES - 1), Some(0), Some(100));
        check(Some(FLUSH_BYTES), Some(0), Some(0));
    }

    #[test]
    fn who_reads_along_is_calm_and_who_is_flooded_is_not() {
        let now = Instant::now();
        let mut held = untold(Some(1), Some(10), now);
        assert!(held.is_relaxed(now));
        assert!(!held.is_relaxed(now + COALESCE_DELAY));
        held.is_fast = true;
        assert!(!held.is_relaxed(now));
        assert_eq!(held.flush_at(now), Some(now + Duration::from_millis(15)));
        assert!(!untold(None, Some(10), now).is_relaxed(now));
    }
}
