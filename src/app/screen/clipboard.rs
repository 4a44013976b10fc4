//! A text on its way to the clipboard: by the terminal, and within tmux by tmux, which as it comes takes no such
//! request of a program's.
//!
//! Refuses to say that it arrived: no terminal tells.

use std::env;
use std::io;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::ending::End;
use super::{Done, Shell};

impl Shell {
    /// Sends a text to the clipboard.
    pub(super) fn copy(&mut self, text: String) -> Result<Option<End>, End> {
        if env::var_os("TMUX").is_none() {
            self.terminal.copy(&text).map_err(End::TerminalGone)?;
            return Ok(None);
        }
        self.beside(async move {
            let ended = by_tmux(&text).await;
            Done::Copied(text, ended)
        });
        Ok(None)
    }

    /// Asks the terminal itself where tmux did not take the text, such as one that is too old.
    pub(super) fn on_copied(
        &mut self,
        text: &str,
        ended: io::Result<()>,
    ) -> Result<Option<End>, End> {
        if let Err(error) = ended {
            self.terminal.copy(text).map_err(End::TerminalGone)?;
            self.front().0.on_word(&format!(
                "tmux did not take it ({error}); it was asked again as `set -s set-clipboard on` allows"
            ));
        }
        Ok(None)
    }
}

/// Puts a text into a buffer of tmux, which sends it to the clipboard of the terminal around it.
async fn by_tmux(text: &str) -> io::Result<()> {
    let mut tmux = Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut input) = tmux.stdin.take() {
        input.write_all(text.as_bytes()).await?;
    }
    let status = tmux.wait().await?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("it ended with {status}"))),
    }
}
