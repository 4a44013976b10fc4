//! The user's own editor on one document, in the terminal that the screen has given back.
//!
//! The one child that is no child of `process`: it needs the terminal, so it stays in this program's
//! session and group, and nobody but the user ends it.

use std::env;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::process::Command;

/// The editor's command line by the environment: `VISUAL`, `EDITOR`, else vi.
pub fn command_line() -> String {
    let set = |name: &str| env::var(name).ok().filter(|line| !line.trim().is_empty());
    set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned())
}

/// Runs the editor on a file until it ends.
///
/// # Errors
/// It cannot be started.
pub async fn edit(command_line: &str, file: &Path) -> io::Result<ExitStatus> {
    let mut editor = Command::new("sh");
    editor
        .arg("-c")
        .arg(format!("{command_line} \"$@\""))
        .arg("sh")
        .arg(file)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    editor.spawn()?.wait().await
}
