//! Measures `agent-collab scrub` between two `cat`, compared with a third `cat` in its place, with 100 MB each: a log
//! with an occasional secret, lines without any hint of one, lines that all contain a hint, colours, and one line
//! without an end.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::limit::Limit;
use crate::{side_by_side, timed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-collab");
const N_BYTES: usize = 100_000_000;
const ROUNDS: usize = 5;
const LIMIT: Limit = Limit::Times(10.0);

/// The line of a number.
type Line = fn(usize) -> String;

pub fn run() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let cases: [(&str, Line); 5] = [
        ("scrub 100 MB of a log", log_line),
        ("scrub 100 MB of plain lines", plain_line),
        ("scrub 100 MB of hints", hinting_line),
        ("scrub 100 MB of colours", |n| {
            format!(
                "\u{1b}[2m{n}\u{1b}[0m \u{1b}[32mINFO\u{1b}[0m {}",
                plain_line(n)
            )
        }),
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
        side_by_side(name, LIMIT, ROUNDS, &mut ours, &mut beside)?;
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

/// Returns a log line; one line in ten contains a secret, and half of the others a word that hints at one.
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

/// Returns a line with a word that often precedes secrets; every third line contains a secret.
fn hinting_line(n: usize) -> String {
    let time = format!("2026-01-01T00:00:{:02}Z", n % 60);
    match n % 6 {
        0 => format!("{time} DEBUG export API_TOKEN=a{n:012x}Z9 DB_PASSWORD=b{n:08x}\n"),
        1 => format!("{time} INFO  the password of user {n} was changed, the key is kept\n"),
        2 => format!("{time} DEBUG let token = lexer.next_token(); if token == secret {{ key }}\n"),
        3 => format!(
            "{time} INFO  GET https://bob:c{n:08x}d@api.example/v1?token=e{n:016x}&page={n}\n"
        ),
        4 => format!("{time} TRACE sha256:{n:064x} input_tokens={n} cookie jar is empty\n"),
        _ => format!(
            "{time} TRACE {{\"key\":\"{n}\",\"api_key\":null,\"authorization\":\"required\"}}\n"
        ),
    }
}

fn plain_line(n: usize) -> String {
    format!(
        "2026-01-01T00:00:{:02}Z TRACE engine: step {n} of the plan was written, \u{1f980} n={n:x} id=0199a213-81c0-7800-8aa1-{n:012x}\n",
        n % 60
    )
}
