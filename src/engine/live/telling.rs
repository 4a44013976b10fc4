//! What a conversation hands on: the raw stream to its file, events to the engine.
//!
//! Pieces of one text that come together are told as one. Refuses to know what any of it means.

use crate::adapter::AdapterEvent;
use crate::process::{Line, Running};

use super::{Live, Told};

/// How long a piece of text may grow before it is told, in bytes.
const MAX_PIECE: usize = 16 * 1024;

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

    pub(super) async fn keep_raw(&mut self, from: &str, line: &str) {
        let frame = match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => format!("{{\"from\":\"{from}\",\"frame\":{line}}}"),
            Err(_) => serde_json::json!({ "from": from, "text": line }).to_string(),
        };
        if let Err(error) = self.raw.push(&frame) {
            self.tell(Told::RawFailed(error.to_string())).await;
        }
    }

    pub(super) async fn flush_raw(&mut self) {
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
