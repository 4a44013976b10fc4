//! Plays many seeds on all cores and counts: how many, how long, which faults, where, what failed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::seed::{Outcome, Seed};

/// When to stop starting seeds.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    Seeds(u64),
    Time(Duration),
}

/// What came of many seeds.
#[derive(Debug, Default)]
pub struct Tally {
    pub n_seeds: u64,
    pub n_launches: usize,
    pub time: Duration,
    /// By kind.
    pub faults: BTreeMap<String, u64>,
    /// By place.
    pub places: BTreeMap<String, u64>,
    pub failures: Vec<String>,
}

/// Plays seeds from a number on.
pub fn play_all(from: u64, bound: Bound) -> Tally {
    let began = Instant::now();
    let next = AtomicU64::new(from);
    let tally = Mutex::new(Tally::default());
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let go_on = match bound {
                        Bound::Seeds(n) => number < from.saturating_add(n),
                        Bound::Time(time) => began.elapsed() < time,
                    };
                    if !go_on {
                        return;
                    }
                    let outcome = Seed::new(number).play();
                    let mut tally = tally.lock().expect("no panic while it is held");
                    tally.count(&outcome);
                }
            });
        }
    });
    let mut tally = tally.into_inner().expect("no panic while it was held");
    tally.time = began.elapsed();
    tally
}

impl Tally {
    fn count(&mut self, outcome: &Outcome) {
        self.n_seeds += 1;
        self.n_launches += outcome.launches.len();
        for harm in outcome.launches.iter().flat_map(|told| told.all("harm")) {
            let mut parts = harm.splitn(3, '|');
            let (kind, place) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
            *self.faults.entry(kind.to_owned()).or_default() += 1;
            *self.places.entry(place.to_owned()).or_default() += 1;
        }
        if !outcome.wrong.is_empty() {
            let failure = in_words(outcome);
            println!("{failure}\n");
            self.failures.push(failure);
        }
    }
}

fn in_words(outcome: &Outcome) -> String {
    let Seed {
        number,
        scenario,
        faults,
    } = &outcome.seed;
    let mut text = format!("seed {number} failed: scenario `{scenario}`\n");
    for (n, told) in outcome.launches.iter().enumerate() {
        let harm: Vec<&str> = told.all("harm").collect();
        text.push_str(&format!("  launch {}: {:?} {harm:?}\n", n + 1, told.ended));
        for word in ["refused", "halted", "error"] {
            for said in told.all(word) {
                text.push_str(&format!("    {word}: {said}\n"));
            }
        }
    }
    for wrong in &outcome.wrong {
        text.push_str(&format!("  wrong: {wrong}\n"));
    }
    text.push_str(&format!("  planned: {faults:?}\n"));
    text + &format!("  replay: tests/simulate --seed {number}")
}

/// Plays one seed and prints its whole course; returns whether it passed.
pub fn replay(seed: Seed) -> bool {
    println!(
        "seed {}: scenario `{}`, {:?}",
        seed.number, seed.scenario, seed.faults
    );
    let outcome = seed.play();
    for (n, told) in outcome.launches.iter().enumerate() {
        println!("launch {}", n + 1);
        for (word, text) in &told.lines {
            println!("  {word} {text}");
        }
        println!("  ended: {:?}", told.ended);
    }
    if outcome.wrong.is_empty() {
        println!("seed {}: all is well", outcome.seed.number)
    } else {
        println!("{}", in_words(&outcome))
    }
    outcome.wrong.is_empty()
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |counts: &BTreeMap<String, u64>| {
            let parts: Vec<String> = counts.iter().map(|(k, n)| format!("{k} {n}")).collect();
            parts.join(", ")
        };
        let n_faults: u64 = self.faults.values().sum();
        let a_seed = self.time.as_secs_f64() / self.n_seeds.max(1) as f64;
        writeln!(
            f,
            "{} seeds in {:.1} s ({a_seed:.2} s a seed), {} launches, {n_faults} faults",
            self.n_seeds,
            self.time.as_secs_f64(),
            self.n_launches
        )?;
        writeln!(f, "by kind: {}", list(&self.faults))?;
        writeln!(f, "by place: {}", list(&self.places))?;
        write!(f, "failures: {}", self.failures.len())
    }
}
