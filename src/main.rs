//! Turns arguments into an exit code; everything else is the library's.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(agent_collab::cli::main())
}
