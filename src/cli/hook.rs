//! `agent-collab hook`: a CLI runs it before each call of its agent, and it asks the instance that runs the turn.
//!
//! Not for people, and hidden from the help. Prints the CLI's format for a denial, or nothing. Every error is a denial,
//! because a CLI may take silence, a crash and invalid output for consent, as codex does.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::adapter::adapter_entry;
use crate::domain::adapter_kind::AdapterKind;
use crate::engine::agent_conversation::MAX_HOOK_CALL_BYTES;

/// Time to wait for an answer: the user may be asked. Less than a CLI waits for this command.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(6 * 24 * 60 * 60);

/// The exit code that denies a call by itself.
const DENIED: u8 = 2;

/// Arguments of `agent-collab hook`.
#[derive(Debug, Clone, Args)]
pub struct HookArguments {
    /// The CLI that runs this command
    #[arg(long, value_name = "KIND")]
    pub cli: AdapterKind,
    /// Where the instance listens
    #[arg(long, value_name = "FILE")]
    pub socket: PathBuf,
    /// The instance's process
    #[arg(long, value_name = "NUMBER")]
    pub pid: i32,
}

/// Asks the instance and prints the answer; errors become denials.
pub fn run(args: &HookArguments) -> u8 {
    let said = match ask_instance(args) {
        Ok(said) => said,
        Err(error) => {
            let reason = format!("agent-collab could not be asked: {error}");
            match adapter_entry(args.cli).traits.hook_denial {
                Some(format_denial) => format_denial(&reason),
                None => return DENIED,
            }
        }
    };
    // If the output is closed, the CLI would not see a denial.
    let told = io::stdout().write_all(said.as_bytes());
    if told.and_then(|()| io::stdout().flush()).is_err() {
        return DENIED;
    }
    0
}

#[cfg(target_os = "linux")]
fn listens(stream: &UnixStream, pid: i32) -> io::Result<bool> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    Ok(getsockopt(stream, PeerCredentials)?.pid() == pid)
}

/// Other systems do not reveal the peer's process; the socket's folder belongs to the user.
#[cfg(not(target_os = "linux"))]
fn listens(_stream: &UnixStream, _pid: i32) -> io::Result<bool> {
    Ok(true)
}

fn ask_instance(args: &HookArguments) -> io::Result<String> {
    let mut question = Vec::new();
    io::stdin()
        .take(MAX_HOOK_CALL_BYTES + 1)
        .read_to_end(&mut question)?;
    let mut stream = UnixStream::connect(&args.socket)?;
    if !listens(&stream, args.pid)? {
        return Err(io::Error::other("another process listens there"));
    }
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(&question)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match answer.as_str() {
        "\n" => Ok(String::new()),
        said if serde_json::from_str::<Value>(said).is_ok() => Ok(said.to_owned()),
        _ => Err(io::Error::other("it gave no answer; is it ending?")),
    }
}
