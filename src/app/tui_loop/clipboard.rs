//! Copies a text to the clipboard: through the terminal, or through tmux inside of tmux, which by default ignores a
//! program's clipboard request.
//!
//! Cannot report success: no terminal confirms it.

use std::env;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::process::{
    CommandEndCause, CommandLimits, ProcessMark, SpawnSpec, StdinSource, run_to_end,
};

use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

/// Maximum time for tmux.
const TMUX_TIMEOUT: Duration = Duration::from_secs(2);

impl TuiApp {
    /// Sends a text to the clipboard.
    pub(super) fn copy_to_clipboard(&mut self, text: String) -> Result<Option<TuiEnd>, TuiEnd> {
        if env::var_os("TMUX").is_none() {
            self.terminal
                .copy_to_clipboard(&text)
                .map_err(TuiEnd::TerminalGone)?;
            return Ok(None);
        }
        self.spawn_background(async move {
            let ended = copy_by_tmux(text.clone()).await;
            BackgroundResult::Copied(text, ended)
        });
        Ok(None)
    }

    /// Falls back to the terminal itself if tmux failed, for example because it is too old.
    pub(super) fn on_copied(
        &mut self,
        text: &str,
        ended: Result<(), String>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        if let Err(error) = ended {
            self.terminal
                .copy_to_clipboard(text)
                .map_err(TuiEnd::TerminalGone)?;
            self.active_screen().0.set_toast(&format!(
                "tmux refused the text ({error}). It was sent again in the way that `set -s set-clipboard on` allows."
            ));
        }
        Ok(None)
    }
}

/// Loads a text into a tmux buffer and sends it to the clipboard of the outer terminal. A server that does not answer
/// is not waited for.
async fn copy_by_tmux(text: String) -> Result<(), String> {
    let spec = SpawnSpec::new("tmux", "/", ProcessMark::new("screen", "clipboard"));
    let spec = spec.args(["load-buffer", "-w", "-"]);
    let limits = CommandLimits {
        timeout: TMUX_TIMEOUT,
        output_cap: 1024,
        stdin: StdinSource::Bytes(text.into_bytes()),
    };
    let ended = run_to_end(&spec, &limits, &CancellationToken::new()).await;
    let finished = ended.map_err(|error| error.to_string())?;
    match finished.end_cause {
        CommandEndCause::ByItself if finished.exit.is_success() => Ok(()),
        CommandEndCause::ByItself => Err(match finished.exit.code {
            Some(code) => format!("it ended with exit code {code}"),
            None => "it was killed".to_owned(),
        }),
        CommandEndCause::TimedOut | CommandEndCause::Cancelled => {
            Err(format!("it took more than {} s", TMUX_TIMEOUT.as_secs()))
        }
    }
}
