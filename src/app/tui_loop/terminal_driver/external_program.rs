//! Runs the user's editor or pager on a file, in the terminal that the screen has lent.
//!
//! The only child process not started by `process`: it needs the terminal, so it stays in this program's session and
//! process group. Only the user ends it, unless this program ends first.

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::app::terminal::{TerminalCondition, is_owned_by_another_group, is_owner_gone};
use crate::process::terminate_own_session;
use crate::tui::ExternalViewer;

/// The highest exit code of a program that ended by itself; a shell reports signals with higher codes.
const LAST_OWN_CODE: i32 = 128;
/// A pager that ends within this time did not wait for the user.
const PAGER_MIN_TIME: Duration = Duration::from_secs(1);
/// Interval for asking whose terminal it is; a shell need not signal a job that it puts into the foreground.
const FOREGROUND_POLL: Duration = Duration::from_millis(100);
/// How many times in a row the terminal's group must have no process: a shell needs a moment between two of its commands.
const POLLS_UNTIL_GONE: usize = 5;
/// Time to end by the signal that this program got, too, and time after a SIGTERM: together within the two seconds for
/// everything to end.
const TERMINATE_GRACE: (Duration, Duration) =
    (Duration::from_millis(200), Duration::from_millis(1_300));

/// Runs the user's editor on a file until it ends.
///
/// # Errors
/// It cannot be started.
pub async fn edit_file(file: &Path) -> io::Result<ExitStatus> {
    run_on_file(&editor_command_line(), file).await
}

/// Shows a file to the user until they have read it.
///
/// # Errors
/// The program for it cannot be started.
pub async fn view_file(file: &Path, with: ExternalViewer) -> io::Result<ExitStatus> {
    let line = match with {
        ExternalViewer::Editor => editor_command_line(),
        ExternalViewer::Pager => command_line(&["PAGER"], "less"),
    };
    let started = Instant::now();
    let status = run_on_file(&line, file).await?;
    let is_short = started.elapsed() < PAGER_MIN_TIME;
    if status.success() && with == ExternalViewer::Pager && is_short {
        // The pager did not wait for the user: the screen would cover its text before the user has read it.
        let script = "printf '\n── Press Enter to go back ' && read -r _";
        return run_in_terminal(script, None).await;
    }
    Ok(status)
}

/// Writes a text to a file that only the user can read, and that is removed on drop. Changes to it are ignored.
///
/// # Errors
/// The system reports an error.
pub fn write_temporary_file(text: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("agent-collab-")
        .suffix(".md")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.flush()?;
    Ok(file)
}

/// Returns the editor's command line: `VISUAL`, `EDITOR`, else vi.
fn editor_command_line() -> String {
    command_line(&["VISUAL", "EDITOR"], "vi")
}

fn command_line(variables: &[&str], default: &str) -> String {
    let mut set = variables.iter().filter_map(|name| env::var(name).ok());
    set.find(|line| !line.trim().is_empty())
        .unwrap_or_else(|| default.to_owned())
}

async fn run_on_file(command_line: &str, file: &Path) -> io::Result<ExitStatus> {
    run_in_terminal(&format!("{command_line} \"$@\""), Some(file)).await
}

async fn run_in_terminal(script: &str, file: Option<&Path>) -> io::Result<ExitStatus> {
    let mut program = Command::new("sh");
    program
        .arg("-c")
        .arg(script)
        .arg("sh")
        .args(file)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    let ended = program.spawn()?.wait().await;
    wait_for_foreground().await;
    ended
}

/// Waits until the terminal is this program's again.
///
/// The program may have ended in the background, where the user or a shell ended the whole job. The system stops a
/// background process that takes the terminal; if that happens before this program has seen its own signal, it stays
/// stopped for good. A group whose processes are all gone, such as that of a killed editor, gives the terminal back to
/// nobody, so it is not waited for.
async fn wait_for_foreground() {
    let mut n_gone = 0;
    while n_gone < POLLS_UNTIL_GONE && is_owned_by_another_group() {
        sleep(FOREGROUND_POLL).await;
        n_gone = if is_owner_gone() { n_gone + 1 } else { 0 };
    }
}

/// Returns in which state a program that ended left the terminal.
pub fn terminal_condition_after(ended: &io::Result<ExitStatus>) -> TerminalCondition {
    let code = ended.as_ref().ok().and_then(ExitStatus::code);
    match code {
        Some(..=LAST_OWN_CODE) => TerminalCondition::Clean,
        Some(_) | None => TerminalCondition::Unknown,
    }
}

/// Returns what the user is told about an editor that failed.
pub fn editor_problem(ended: io::Result<ExitStatus>) -> Option<String> {
    match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!(
            "The editor `{}` failed with {status}. Set VISUAL or EDITOR to use another one.",
            editor_command_line()
        )),
        Err(error) => Some(format!("Cannot start an editor: {error}")),
    }
}

/// Returns what the user is told about a viewer that failed.
pub fn viewer_problem(with: ExternalViewer, ended: io::Result<ExitStatus>) -> Option<String> {
    let what = match with {
        ExternalViewer::Editor => "the editor",
        ExternalViewer::Pager => "the pager",
    };
    match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("{what} failed with {status}")),
        Err(error) => Some(format!("Cannot start {what}: {error}")),
    }
}

/// Ends the program that has the terminal, because this program ends. Editors save their buffers on SIGTERM, but not
/// when killed.
pub async fn terminate_program() {
    let (first, grace) = TERMINATE_GRACE;
    let left = terminate_own_session(first, grace).await;
    if !left.is_empty() {
        tracing::warn!(?left, "Cannot stop the editor.");
    }
}
