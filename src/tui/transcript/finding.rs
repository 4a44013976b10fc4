//! What is looked for in the stream, as far as it is kept.
//!
//! Refuses to read the log: what was forgotten is found once it is told again.

use super::Transcript;
use super::scroll::Scroll;

/// What is looked for.
#[derive(Debug, Default)]
pub struct Find {
    /// The letters, in lower case.
    letters: String,
    /// The numbers of the blocks that have them.
    hits: Vec<usize>,
}

/// Where the view stands and what is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    scroll: Scroll,
    picked: Option<usize>,
}

impl Transcript {
    /// Where the view stands, to come back to it.
    pub fn stand(&self) -> Stand {
        Stand {
            scroll: self.scroll,
            picked: self.picked,
        }
    }

    /// Stands where it stood, or at the end where that is forgotten.
    pub fn go_back(&mut self, stand: Stand) {
        (self.scroll, self.picked) = (stand.scroll, stand.picked);
        self.forget_old();
    }

    /// Looks for letters, whatever their case; goes to the last place that has them.
    pub fn look_for(&mut self, find: &mut Find, letters: &str) {
        let letters = letters.to_lowercase();
        let narrows = !find.letters.is_empty() && letters.starts_with(&find.letters);
        let has = |number: &usize| {
            let block = self.blocks.get(number.wrapping_sub(self.first));
            block.is_some_and(|block| block.content.text().to_lowercase().contains(&letters))
        };
        find.hits = match (letters.is_empty(), narrows) {
            (true, _) => Vec::new(),
            (false, true) => find.hits.iter().copied().filter(|n| has(n)).collect(),
            (false, false) => (self.first..self.end()).filter(has).collect(),
        };
        find.letters = letters;
        if let Some(last) = find.hits.last() {
            self.point_at(*last);
        }
    }

    /// Goes to the next place, or the one before; around the ends.
    pub fn go_along(&mut self, find: &Find, is_next: bool) {
        let picked = self.picked_now().unwrap_or(self.first);
        let next = match is_next {
            true => find
                .hits
                .iter()
                .find(|hit| **hit > picked)
                .or(find.hits.first()),
            false => {
                let before = find.hits.iter().rev().find(|hit| **hit < picked);
                before.or(find.hits.last())
            }
        };
        if let Some(number) = next {
            self.point_at(*number);
        }
    }

    /// Which place of how many is pointed at, from 1; 0 where it is none of them.
    pub fn place_of(&self, find: &Find) -> (usize, usize) {
        let picked = self.picked_now();
        let at = find.hits.iter().position(|hit| Some(*hit) == picked);
        (at.map_or(0, |at| at + 1), find.hits.len())
    }
}
