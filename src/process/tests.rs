//! Tests with real processes, mostly `sh`; conditions are polled with a deadline, without fixed sleeps.

mod leftovers;
mod output_lines;
#[cfg(target_os = "linux")]
mod process_activity;
mod termination;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::process_table::{is_alive, read_process_entry};
use super::*;

/// Describes a shell script as a child.
fn sh(script: &str) -> SpawnSpec {
    SpawnSpec::new(
        "sh",
        std::env::temp_dir(),
        ProcessMark::new("run_test", "owner"),
    )
    .args(["-c", script])
}

fn limits(seconds: u64) -> CommandLimits {
    CommandLimits {
        timeout: Duration::from_secs(seconds),
        output_cap: 64 * 1024,
        stdin: StdinSource::Null,
    }
}

async fn run(spec: &SpawnSpec) -> CommandOutput {
    run_to_end(
        spec,
        &limits(30),
        &tokio_util::sync::CancellationToken::new(),
    )
    .await
    .unwrap()
}

/// Reads all output of a child to its end, one entry per line: `out: …`, `err: …`, `exit …`.
async fn collect_output(running: &mut RunningChild) -> String {
    let mut told = Vec::new();
    loop {
        match running.next_event().await {
            OutputEvent::Stdout(line) => told.push(format!("out: {line}")),
            OutputEvent::Stderr(line) => told.push(format!("err: {line}")),
            OutputEvent::TooLong {
                stream,
                bytes,
                head,
            } => told.push(format!("{stream:?}: {bytes} bytes, {} told", head.len())),
            OutputEvent::Ended(exit) => {
                told.push(describe_exit(&exit));
                return told.join("\n");
            }
        }
    }
}

fn describe_exit(exit: &ChildExit) -> String {
    assert_eq!(exit.survivors, Vec::<u32>::new());
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "lost".to_owned(),
    }
}

/// Writes a program through another process. If the file were open for writing here, every child that another
/// test starts at that moment would inherit it, and until they have started their own programs the file could
/// not be executed ("text file busy").
pub(crate) fn put_program(path: &Path, text: &str) {
    let mut writer = std::process::Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = writer.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    assert!(writer.wait().unwrap().success());
}

/// Waits for a condition; fails after two minutes.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < give_up_at, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Quotes one word for a shell if needed: a path may contain spaces.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

/// Waits for a file with a process id, as `echo $$ > file` writes it.
async fn pid_in(path: &Path) -> ProcessIdentity {
    let mut id = None;
    until(&format!("a process number in {}", path.display()), || {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        id = text
            .strip_suffix('\n')
            .and_then(|pid| read_process_entry(pid.parse().ok()?))
            .map(|entry| entry.id);
        id.is_some()
    })
    .await;
    id.unwrap()
}

fn names(environment: &BTreeMap<std::ffi::OsString, std::ffi::OsString>) -> String {
    let names: Vec<_> = environment
        .keys()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.join(" ")
}
