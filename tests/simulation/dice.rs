//! Generates numbers from a seed, the same on every machine (splitmix64).

/// A sequence of numbers.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut dice = Self(seed);
        // Neighbouring seeds part from the first throw on.
        dice.throw();
        dice
    }

    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`, which is above 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.throw() % n
    }

    /// Picks one of these.
    pub fn of<'a, T>(&mut self, these: &'a [T]) -> &'a T {
        let n = self.below(these.len() as u64);
        &these[usize::try_from(n).expect("a place")]
    }
}
