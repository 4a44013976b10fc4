//! Copies a text to the clipboard through tmux.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::process::{
    CommandEndCause, CommandLimits, ProcessMark, SpawnSpec, StdinSource, run_to_end,
};

/// Maximum time for tmux.
const TMUX_TIMEOUT: Duration = Duration::from_secs(2);

/// Loads a text into a tmux buffer and sends it to the clipboard of the outer terminal. A server that does not answer
/// is not waited for.
pub async fn copy_by_tmux(text: String) -> Result<(), String> {
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
