//! Writes to a child's standard input; each text arrives whole and in order.

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::spawn_error::InputClosedError;

/// How many texts may be queued for the child to read.
const QUEUE_CAPACITY: usize = 64;

/// Sends texts to a child; clones send through the same writer.
#[derive(Debug, Clone)]
pub struct InputHandle {
    texts: mpsc::Sender<String>,
    closing: CancellationToken,
}

impl InputHandle {
    /// Sends a text; waits while the child does not read earlier texts.
    ///
    /// # Errors
    /// The input is closed, by this program or by the child.
    pub async fn send(&self, text: String) -> Result<(), InputClosedError> {
        if self.closing.is_cancelled() {
            return Err(InputClosedError);
        }
        self.texts.send(text).await.map_err(|_| InputClosedError)
    }

    /// Closes the child's input after the queued texts; safe to call twice.
    pub fn close(&self) {
        self.closing.cancel();
    }
}

/// Creates a handle and the writer that serves it.
pub(super) fn stdin_writer(
    pipe: impl AsyncWrite + Unpin,
    closing: CancellationToken,
) -> (InputHandle, impl Future<Output = ()>) {
    let (texts, queue) = mpsc::channel(QUEUE_CAPACITY);
    (
        InputHandle {
            texts,
            closing: closing.clone(),
        },
        write_queued_texts(pipe, queue, closing),
    )
}

async fn write_queued_texts(
    mut pipe: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<String>,
    closing: CancellationToken,
) {
    loop {
        let text = tokio::select! {
            text = queue.recv() => text,
            () = closing.cancelled() => {
                queue.close();
                queue.recv().await
            }
        };
        let Some(text) = text else { return };
        if pipe.write_all(text.as_bytes()).await.is_err() || pipe.flush().await.is_err() {
            // The child closed its side; the next send returns the error.
            closing.cancel();
            return;
        }
    }
}
