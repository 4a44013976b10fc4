//! Runs the user's editor on a document, in the terminal that the screen has released.
//!
//! The only child process not started by `process`: it needs the terminal, so it stays in this program's session and
//! process group. Only the user ends it, unless this program ends first.

use std::env;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;

use crate::app::terminal::TerminalCondition;
use crate::process::terminate_own_session;

/// The highest exit code of a program that ended by itself; a shell reports signals with higher codes.
const LAST_OWN_CODE: i32 = 128;
/// Time to end by the signal that this program got, too, and time after a SIGTERM: together within the two seconds for
/// everything to end.
const TERMINATE_GRACE: (Duration, Duration) =
    (Duration::from_millis(200), Duration::from_millis(1_300));

/// Returns the editor's command line: `VISUAL`, `EDITOR`, else vi.
pub fn editor_command_line() -> String {
    let set = |name: &str| env::var(name).ok().filter(|line| !line.trim().is_empty());
    set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned())
}

/// Runs the editor on a file until it ends.
///
/// # Errors
/// It cannot be started.
pub async fn run_editor(command_line: &str, file: &Path) -> io::Result<ExitStatus> {
    run_in_terminal(&format!("{command_line} \"$@\""), Some(file)).await
}

/// Waits until the user has read the terminal and presses Enter.
///
/// # Errors
/// The shell for it cannot be started.
pub async fn wait_for_enter() -> io::Result<ExitStatus> {
    run_in_terminal("printf '\n── Press Enter to go back ' && read -r _", None).await
}

async fn run_in_terminal(script: &str, file: Option<&Path>) -> io::Result<ExitStatus> {
    let mut editor = Command::new("sh");
    editor
        .arg("-c")
        .arg(script)
        .arg("sh")
        .args(file)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    editor.spawn()?.wait().await
}

/// Returns in which state an editor that ended left the terminal.
pub fn terminal_condition_after(ended: &io::Result<ExitStatus>) -> TerminalCondition {
    let code = ended.as_ref().ok().and_then(ExitStatus::code);
    match code {
        Some(..=LAST_OWN_CODE) => TerminalCondition::Clean,
        Some(_) | None => TerminalCondition::Unknown,
    }
}

/// Ends the editor because this program ends. Editors save their buffers on SIGTERM, but not when killed.
pub async fn terminate_editor() {
    let (first, grace) = TERMINATE_GRACE;
    let left = terminate_own_session(first, grace).await;
    if !left.is_empty() {
        tracing::warn!(?left, "Cannot stop the editor.");
    }
}
