//! The simulation: the whole program with scripted agents, a virtual clock and a fault at any boundary
//! between two effects; after restarts each run must reach the same end as without the fault.
//!
//! `tests/simulate --seeds N` plays many seeds, `--seed S` plays one and prints its whole course. Without arguments,
//! as under `cargo test`, a fixed set and a fresh one are played, each with a time limit.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "all of this crate is a test, which clippy's own switches for tests do not see"
)]

mod chain;
mod dice;
mod fault;
mod oracle;
mod player;
#[path = "../whole/programs.rs"]
mod programs;
mod repository;
mod scenarios;
#[path = "../whole/script.rs"]
#[allow(dead_code, reason = "the other tests use the rest of it")]
mod script;
mod seed;
mod stand_ins;
mod tally;
mod world;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libtest_mimic::{Arguments, Failed, Trial};

use seed::{CHAIN, Seed, chain_boundaries};
use tally::{Bound, Tally, play_all};

/// How many fresh sets there are. Of a thousand seeds each, all below those that sweep.
const FRESH: u64 = 1_000_000;
/// The time limit of each of the two sets in `cargo test`.
const BOUND: Duration = Duration::from_secs(25);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    if arguments.first().is_some_and(|first| first == "--play") {
        let launch = serde_json::from_str(&arguments[1]).expect("a launch");
        std::process::exit(player::play(&launch));
    }
    if let Some(one) = number("--seed") {
        std::process::exit(i32::from(!tally::replay(Seed::new(one))));
    }
    if let Some(n) = number("--seeds") {
        let from = number("--from").unwrap_or(0);
        let tally = play_all(from, Bound::Seeds(n));
        println!("{tally}");
        std::process::exit(i32::from(!tally.failures.is_empty()));
    }
    let arguments = Arguments::from_args();
    let fresh = fresh();
    let trials = vec![
        Trial::test("the_first_seeds_reach_their_end", || check(0)),
        Trial::test("fresh_seeds_reach_their_end", move || check(fresh)),
        Trial::test("a_kill_between_any_two_receipts_is_survived", check_chain),
    ];
    let mut arguments = arguments;
    // Each set uses all cores by itself.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials).exit();
}

/// Returns the first seed of the fresh set: derived from what is checked in if `PROPTEST_RNG_SEED` is, otherwise
/// random.
fn fresh() -> u64 {
    let said = std::env::var("PROPTEST_RNG_SEED").ok();
    let said = said.and_then(|seed| seed.parse::<u64>().ok());
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let number = said.unwrap_or_else(|| since.map_or(1, |since| since.as_secs()));
    number % FRESH * 1000
}

fn check(from: u64) -> Result<(), Failed> {
    println!("seeds from {from} on");
    report(&play_all(from, Bound::Time(BOUND)))
}

/// Kills the program at each place where the chain of receipts, a commit of it or a note changes.
fn check_chain() -> Result<(), Failed> {
    let n = chain_boundaries().len() as u64;
    // Three receipts, two commits and two notes.
    assert!(n >= 20, "only {n} boundaries");
    report(&play_all(CHAIN, Bound::Seeds(n)))
}

fn report(tally: &Tally) -> Result<(), Failed> {
    println!("{tally}");
    if tally.failures.is_empty() {
        Ok(())
    } else {
        Err(Failed::from(tally.failures.join("\n\n")))
    }
}
