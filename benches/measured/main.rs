//! Measures the cost of the program's parts, each compared with the simplest way to do the same:
//! `cargo bench --profile dist [-- WORD]`. The profile is that of the packages; `release` compiles fast and runs slower.
//!
//! Absolute figures apply to one machine and one moment, but ratios do not depend on them. So both sides run in
//! turns, round by round, and the medians are compared; the usual benchmark harnesses measure one thing
//! after the other. A figure that misses its limit is listed at the end, and the exit status is 1 then; no test
//! depends on it.

mod boards;
mod calling;
mod diffs;
mod discussing;
mod drawn;
mod encoding;
mod fanning_out;
mod folding;
mod frames;
mod judging;
mod laying_out;
mod limit;
mod long_run;
mod resuming;
mod saving;
mod scrubbing;
mod spawning;
mod step_proofs;
mod streams;
mod translating;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use limit::Limit;

/// One of two compared things; it returns how long it took.
type Side<'a> = &'a mut dyn FnMut() -> anyhow::Result<Duration>;

/// The measurements under one word.
type Part = fn() -> anyhow::Result<()>;

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((word, server)) if word == calling::CLIENT => {
            return calling::client(server).map(|()| ExitCode::SUCCESS);
        }
        Some((word, _)) if word == calling::ECHO => {
            return calling::echo().map(|()| ExitCode::SUCCESS);
        }
        _ => {}
    }
    // Cargo passes `--bench`; the other argument is a part of a name.
    let wanted = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with("--"));
    let parts: [(&str, Part); 17] = [
        ("fold", folding::run),
        ("translate", translating::run),
        ("save", saving::run),
        ("resume", resuming::run),
        ("frame", frames::run),
        ("layout", laying_out::run),
        ("diff", diffs::run),
        ("board", boards::run),
        ("encode", encoding::run),
        ("spawn", spawning::run),
        ("scrub", scrubbing::run),
        ("judge", judging::run),
        ("tasks", fanning_out::run),
        ("discussions", discussing::run),
        ("queue", fanning_out::queued),
        ("call", calling::run),
        ("prove", step_proofs::run),
    ];
    say(format_args!(
        "{:<46} {:>10} {:>10} {:>7}  limit",
        "", "ours", "beside", "ratio"
    ))?;
    for (name, part) in parts {
        if wanted
            .as_ref()
            .is_none_or(|wanted| name.contains(wanted.as_str()))
        {
            part()?;
        }
    }
    limit::conclude()
}

/// Runs both sides in turns, prints the medians and their ratio, and checks ours against the limit.
fn side_by_side(
    name: &str,
    limit: Limit,
    rounds: usize,
    ours: Side,
    beside: Side,
) -> anyhow::Result<()> {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        mine.push(ours()?);
        theirs.push(beside()?);
    }
    let (mine, theirs) = (median(mine), median(theirs));
    let ratio = mine.as_secs_f64() / theirs.as_secs_f64();
    say(format_args!(
        "{name:<46} {:>10} {:>10} {ratio:>7.2}  {limit}{}",
        format!("{mine:.1?}"),
        format!("{theirs:.1?}"),
        limit.verdict(name, mine, theirs)
    ))
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// Runs a piece of work and returns how long it took.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let since = Instant::now();
    let done = work();
    (since.elapsed(), done)
}

fn say(line: impl Display) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}
