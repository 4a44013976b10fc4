//! `agent-collab scrub` between two `cat`, beside a third `cat` in its place: 100 MB of a log with something to
//! take out now and then, of lines that nothing hints at, and of one line without an end.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{side_by_side, timed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-collab");
const N_BYTES: usize = 100_000_000;
const ROUNDS: usize = 5;
const GOAL: &str = "<= 10";

/// The line of a number.
type Line = fn(usize) -> String;

pub fn run() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let cases: [(&str, Line); 3] = [
        ("scrub 100 MB of a log", log_line),
        ("scrub 100 MB of plain lines", plain_line),
        ("scrub 100 MB in one line", |n| {
            log_line(n).replace('\n', " ")
        }),
    ];
    for (name, line) in cases {
        let file = folder.path().join("input");
        let mut text = String::with_capacity(N_BYTES + 1_000);
        for n in 0.. {
            if text.len() >= N_BYTES {
                break;
            }
            text.push_str(&line(n));
        }
        fs::write(&file, text)?;
        let mut ours = || pipe(&file, &format!("'{PROGRAM}' scrub"));
        let mut beside = || pipe(&file, "cat");
        side_by_side(name, GOAL, ROUNDS, &mut ours, &mut beside)?;
    }
    Ok(())
}

fn pipe(file: &Path, middle: &str) -> anyhow::Result<Duration> {
    let line = format!("cat '{}' | {middle} | cat >/dev/null", file.display());
    let (took, status) = timed(|| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).stdin(Stdio::null()).status()
    });
    anyhow::ensure!(status?.success(), "{line} failed");
    Ok(took)
}

/// Of ten lines one holds a secret, and half of the others a word that hints at one.
fn log_line(n: usize) -> String {
    match n % 10 {
        0 => format!(
            "2026-01-01T00:00:{:02}Z DEBUG sent Authorization: Bearer a{n:08x}B{n:08x}c to https://api.example/v1\n",
            n % 60
        ),
        1 | 3 | 5 | 7 => format!(
            "2026-01-01T00:00:{:02}Z INFO  turn {n}: input_tokens=1024, tests passed, see https://x.example/{n}\n",
            n % 60
        ),
        _ => plain_line(n),
    }
}

fn plain_line(n: usize) -> String {
    format!(
        "2026-01-01T00:00:{:02}Z TRACE engine: step {n} of the plan was written, \u{1f980} n={n:x} id=0199a213-81c0-7800-8aa1-{n:012x}\n",
        n % 60
    )
}
