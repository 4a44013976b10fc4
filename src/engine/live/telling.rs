//! What a conversation hands on: the raw stream to its file, events to the engine.
//!
//! Pieces of one text that come soon after each other are told, and kept raw, as one: each of them comes in an
//! envelope ten times its size, and whoever shows them has as much to do for a word as for a line. Refuses to know
//! what any of it means.

mod pieces;

use std::time::Duration;

use tokio::time::Instant;

use crate::adapter::AdapterEvent;
use crate::process::{OutputEvent, RunningChild};

use super::{Live, Told};
use pieces::Piece;
pub(super) use pieces::{RawPieces, only_piece};

/// How many lines of one turn are told that nobody understands; a CLI gone mad would fill the disk with them.
const MAX_ODD: u32 = 200;
/// How long a piece of text may grow before it is told, in bytes.
const MAX_PIECE: usize = 16 * 1024;
/// For how long after a piece was told those that follow it are gathered: an answer as fast as one reads flows on in
/// ten steps a second.
const GATHER: Duration = Duration::from_millis(100);
/// The same behind a piece that was told because there was enough of it: what comes fast is held no longer than a frame.
const GATHER_FAST: Duration = Duration::from_millis(25);
/// What is gathered no longer, in bytes: it is more than a line, from an answer that comes fast.
const ENOUGH: usize = 512;

/// A piece of text that is not told yet, and when the last one was.
#[derive(Default)]
pub(super) struct Untold {
    /// Its block and what came of it since.
    piece: Option<(String, String)>,
    told_at: Option<Instant>,
    /// Whether the last one was told because there was enough of it, and not because it was time.
    is_fast: bool,
}

impl Untold {
    /// From when on what is held is to be told, where something is.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let (_, text) = self.piece.as_ref()?;
        let waits = self.told_at.filter(|_| text.len() < ENOUGH);
        let gather = match self.is_fast {
            true => GATHER_FAST,
            false => GATHER,
        };
        Some(waits.map_or(now, |told_at| told_at + gather))
    }

    /// Tells whether pieces are gathered that come at the pace of reading: a few more of them may come together.
    pub fn is_calm(&self, now: Instant) -> bool {
        !self.is_fast && self.due(now).is_some_and(|due| due > now)
    }
}

impl Live {
    /// Takes a line and all that came with it; what they told as pieces of one text is told as one.
    pub(super) async fn on_lines(&mut self, first: OutputEvent) {
        let mut next = Some(first);
        while let Some(line) = next {
            self.on_line(line).await;
            next = self.child.as_mut().and_then(RunningChild::try_next_event);
        }
        if self.turn.is_none() {
            // With the turn its texts have ended.
            let lines = self.raw_pieces.finish();
            self.push_raw(lines).await;
        }
        let now = Instant::now();
        if self.untold.due(now).is_none_or(|due| due <= now) {
            self.tell_untold().await;
        }
    }

    /// Tells what was gathered, and writes the raw stream up to it.
    pub(super) async fn tell_untold(&mut self) {
        self.tell_piece().await;
        self.flush_raw().await;
    }

    /// Tells whether one more line that nobody understands is told; the raw stream has them all.
    pub(super) async fn tells_odd(&mut self) -> bool {
        self.n_odd = self.n_odd.saturating_add(1);
        if self.n_odd == MAX_ODD {
            let text = format!(
                "{MAX_ODD} lines of this turn were not understood; further ones are not told"
            );
            self.tell(Told::Event(AdapterEvent::Notice { text })).await;
        }
        self.n_odd <= MAX_ODD
    }

    /// Keeps a piece of text with those of the same text that come right before and after it.
    pub(super) async fn keep_piece(&mut self, piece: Piece<'_>) {
        let line = self.raw_pieces.push(piece);
        self.push_raw(line).await;
    }

    async fn keep_held_pieces(&mut self) {
        let line = self.raw_pieces.take();
        self.push_raw(line).await;
    }

    async fn push_raw(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if let Err(error) = self.raw.push(&line) {
                self.tell(Told::RawFailed(error.to_string())).await;
            }
        }
    }

    pub(super) async fn keep_raw(&mut self, from: &str, line: &str) {
        self.keep_held_pieces().await;
        let frame = match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => format!("{{\"from\":\"{from}\",\"frame\":{line}}}"),
            Err(_) => serde_json::json!({ "from": from, "text": line }).to_string(),
        };
        self.push_raw([frame]).await;
    }

    pub(super) async fn flush_raw(&mut self) {
        self.keep_held_pieces().await;
        if let Err(error) = self.raw.flush() {
            self.tell(Told::RawFailed(error.to_string())).await;
        }
    }

    /// Tells something; pieces of one text that follow each other are held until [`Live::tell_untold`].
    pub(super) async fn tell(&mut self, told: Told) {
        match (told, &mut self.untold.piece) {
            (Told::Event(AdapterEvent::TextDelta { item, text }), Some((held, piece)))
                if *held == item && piece.len() < MAX_PIECE =>
            {
                piece.push_str(&text);
            }
            (Told::Event(AdapterEvent::TextDelta { item, text }), _) => {
                self.tell_piece().await;
                self.untold.piece = Some((item, text));
            }
            (told, _) => {
                self.tell_piece().await;
                self.tell_now(told).await;
            }
        }
    }

    async fn tell_piece(&mut self) {
        if let Some((item, text)) = self.untold.piece.take() {
            self.untold.told_at = Some(Instant::now());
            self.untold.is_fast = text.len() >= ENOUGH;
            self.tell_now(Told::Event(AdapterEvent::TextDelta { item, text }))
                .await;
        }
    }

    async fn tell_now(&self, told: Told) {
        // Nobody listens any more only when the program is about to end.
        let _nobody = self.told.send((self.role, told)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece of this many bytes, where the last one was told this many ms ago.
    fn untold(text: Option<usize>, told_before: Option<u64>, now: Instant) -> Untold {
        let ago = |ms| now.checked_sub(Duration::from_millis(ms)).unwrap();
        Untold {
            piece: text.map(|len| ("item".to_owned(), "x".repeat(len))),
            told_at: told_before.map(ago),
            is_fast: false,
        }
    }

    /// When it is told, in ms from now.
    fn check(text: Option<usize>, told_before: Option<u64>, expected: Option<u64>) {
        let now = Instant::now();
        let due = untold(text, told_before, now).due(now);
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
        check(Some(ENOUGH - 1), Some(0), Some(100));
        check(Some(ENOUGH), Some(0), Some(0));
    }

    #[test]
    fn who_reads_along_is_calm_and_who_is_flooded_is_not() {
        let now = Instant::now();
        let mut held = untold(Some(1), Some(10), now);
        assert!(held.is_calm(now));
        assert!(!held.is_calm(now + GATHER));
        held.is_fast = true;
        assert!(!held.is_calm(now));
        assert_eq!(held.due(now), Some(now + Duration::from_millis(15)));
        assert!(!untold(None, Some(10), now).is_calm(now));
    }
}
