//! What a conversation hands on: the raw stream to its file, events to the engine.
//!
//! Pieces of one text that come together are told, and kept raw, as one: each of them comes in an envelope ten
//! times its size. Refuses to know what any of it means.

use crate::adapter::{AdapterEvent, Output};
use crate::process::{Line, Running};

use super::{Live, Told};

/// How long a piece of text may grow before it is told, in bytes.
const MAX_PIECE: usize = 16 * 1024;

/// Pieces of one text that came together.
pub(super) struct RawPiece {
    item: String,
    n: u32,
    text: String,
}

/// The piece of text that is all that a line told.
pub(super) fn only_piece(outputs: &[Output]) -> Option<(&str, &str)> {
    match outputs {
        [Output::Event(AdapterEvent::TextDelta { item, text })] => Some((item, text)),
        _ => None,
    }
}

impl Live {
    /// Takes a line and all that came with it; what they told as pieces of one text is told at once.
    pub(super) async fn on_lines(&mut self, first: Line) {
        let mut next = Some(first);
        while let Some(line) = next {
            self.on_line(line).await;
            next = self.child.as_mut().and_then(Running::take_ready);
        }
        self.tell_piece().await;
        self.flush_raw().await;
    }

    /// Keeps a piece of text with those of the same text that come right before and after it, as
    /// `{"from":"cli","pieces":…,"item":…,"text":…}`.
    pub(super) async fn keep_piece(&mut self, item: &str, text: &str) {
        if let Some(held) = &mut self.raw_piece
            && held.item == item
            && held.text.len() < MAX_PIECE
        {
            held.n += 1;
            held.text.push_str(text);
            return;
        }
        self.keep_held_piece().await;
        self.raw_piece = Some(RawPiece {
            item: item.to_owned(),
            n: 1,
            text: text.to_owned(),
        });
    }

    async fn keep_held_piece(&mut self) {
        let Some(RawPiece { item, n, text }) = self.raw_piece.take() else {
            return;
        };
        let line = serde_json::json!({ "from": "cli", "pieces": n, "item": item, "text": text });
        if let Err(error) = self.raw.push(&line.to_string()) {
            self.tell(Told::RawFailed(error.to_string())).await;
        }
    }

    pub(super) async fn keep_raw(&mut self, from: &str, line: &str) {
        self.keep_held_piece().await;
        let frame = match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => format!("{{\"from\":\"{from}\",\"frame\":{line}}}"),
            Err(_) => serde_json::json!({ "from": from, "text": line }).to_string(),
        };
        if let Err(error) = self.raw.push(&frame) {
            self.tell(Told::RawFailed(error.to_string())).await;
        }
    }

    pub(super) async fn flush_raw(&mut self) {
        self.keep_held_piece().await;
        if let Err(error) = self.raw.flush() {
            self.tell(Told::RawFailed(error.to_string())).await;
        }
    }

    /// Tells something; pieces of one text that follow each other are held until [`Live::tell_piece`].
    pub(super) async fn tell(&mut self, told: Told) {
        match (told, &mut self.piece) {
            (Told::Event(AdapterEvent::TextDelta { item, text }), Some((held, piece)))
                if *held == item && piece.len() < MAX_PIECE =>
            {
                piece.push_str(&text);
            }
            (Told::Event(AdapterEvent::TextDelta { item, text }), _) => {
                self.tell_piece().await;
                self.piece = Some((item, text));
            }
            (told, _) => {
                self.tell_piece().await;
                self.tell_now(told).await;
            }
        }
    }

    async fn tell_piece(&mut self) {
        if let Some((item, text)) = self.piece.take() {
            self.tell_now(Told::Event(AdapterEvent::TextDelta { item, text }))
                .await;
        }
    }

    async fn tell_now(&self, told: Told) {
        // Nobody listens any more only when the program is about to end.
        let _nobody = self.told.send((self.role, told)).await;
    }
}
