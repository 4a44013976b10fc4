//! Runs the command line and returns its exit code; everything else is in the library.

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    ExitCode::from(agent_collab::cli::main())
}

#[cfg(not(unix))]
#[expect(
    clippy::print_stderr,
    reason = "there is no library here that could say it"
)]
fn main() -> ExitCode {
    eprintln!(
        "error: agent-collab runs on Linux and macOS only\nhint: on Windows use it inside WSL"
    );
    ExitCode::FAILURE
}
