//! Measures a child that prints a line and exits: the time to its line and to its end, compared with the bare calls.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agent_collab::process::{ChildSpawner, OutputEvent, ProcessMark, SpawnSpec};

use crate::limit::Limit;
use crate::side_by_side;

const ROUNDS: usize = 100;
/// The limit of what the program may add to the calls themselves.
const OURS: Duration = Duration::from_millis(2);
const SAYS: [&str; 2] = ["-c", "echo hello"];

/// When the line was here, and when the end was.
type Times = (Duration, Duration);

pub fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let ours = || runtime.block_on(by_the_program());
    side_by_side(
        "a child's first line / bare calls",
        Limit::TimesAnd(1.0, OURS),
        ROUNDS,
        &mut || Ok(ours()?.0),
        &mut || Ok(by_hand()?.0),
    )?;
    side_by_side(
        "a child's end / bare calls",
        Limit::TimesAnd(1.0, OURS),
        ROUNDS,
        &mut || Ok(ours()?.1),
        &mut || Ok(by_hand()?.1),
    )
}

async fn by_the_program() -> anyhow::Result<Times> {
    let spec = SpawnSpec::new("sh", Path::new("/"), ProcessMark::new("bench", "child")).args(SAYS);
    let since = Instant::now();
    let mut child = ChildSpawner::default().spawn(&spec).await?;
    let mut first = None;
    loop {
        match child.next_event().await {
            OutputEvent::Ended(_) => break,
            _ => first = first.or_else(|| Some(since.elapsed())),
        }
    }
    let first = first.ok_or_else(|| anyhow::anyhow!("it said nothing"))?;
    Ok((first, since.elapsed()))
}

fn by_hand() -> anyhow::Result<Times> {
    let since = Instant::now();
    let mut child = Command::new("sh")
        .args(SAYS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take();
    let mut out = BufReader::new(out.ok_or_else(|| anyhow::anyhow!("no pipe"))?);
    out.read_line(&mut String::new())?;
    let first = since.elapsed();
    child.wait()?;
    Ok((first, since.elapsed()))
}
