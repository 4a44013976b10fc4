//! Repeatable randomness: `LAB_SEED` sets the seed; otherwise it is derived from `PROPTEST_RNG_SEED`, or it is random
//! if that is not set either. It is always printed.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::time::Duration;

/// Throws numbers.
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Reads the seed and prints it.
    pub fn new(scenario: &str) -> Dice {
        let set = |name| std::env::var(name).ok();
        let state = match (set("LAB_SEED"), set("PROPTEST_RNG_SEED")) {
            (Some(seed), _) => seed.parse().expect("LAB_SEED is a number"),
            (None, Some(seed)) => {
                BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, scenario))
            }
            (None, None) => RandomState::new().hash_one(scenario),
        };
        println!("scenario {scenario}: LAB_SEED={state}");
        Dice { state }
    }

    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64, by its published constants.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// A number from `first` to `last`.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        let n = u64::try_from(last - first + 1).unwrap_or(u64::MAX);
        first + usize::try_from(self.below(n)).unwrap_or_default()
    }

    /// No time at all, or any up to `latest`, equally often.
    pub fn delay(&mut self, latest: Duration) -> Duration {
        match self.below(2) {
            0 => Duration::ZERO,
            _ => {
                let most = u64::try_from(latest.as_micros()).unwrap_or(u64::MAX);
                Duration::from_micros(self.below(most))
            }
        }
    }
}
