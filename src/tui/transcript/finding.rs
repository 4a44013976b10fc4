//! What is looked for in the stream: in what is kept at once, and further back a piece of the log at a time.
//!
//! Refuses to read the log: it says what it wants looked through. What has nothing is not kept; once there is
//! a place, everything down to it is told again.

use ratatui::text::Line;

use super::scroll::Scroll;
use super::{Transcript, WantsEarlier};

/// What is looked for.
#[derive(Debug, Default)]
pub struct Find {
    /// The letters, in lower case.
    letters: String,
    /// The numbers of the blocks that have them.
    hits: Vec<usize>,
    /// The block that was opened to show what it has.
    opened: Option<usize>,
    back: Back,
}

/// How far back it was looked for beyond what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Back {
    /// Not at all.
    #[default]
    Not,
    /// Down to this event, and further.
    Looks { last: u64 },
    /// To the event that has it, which is not told yet.
    Found { seq: u64 },
    /// To the first event.
    ToTheFirst,
    /// As far as the log could be read.
    Unread,
}

/// What came of looking through a piece of the log.
#[derive(Debug)]
pub struct Looked {
    letters: String,
    /// The number of its last event, and of the last one before it.
    piece: (u64, u64),
    /// The last event in it that tells of the letters.
    found: Option<u64>,
}

/// How far it was looked for, to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Through everything that there is.
    Whole,
    /// Through what is kept; there is more.
    Kept,
    /// So many per cent of the log.
    Looking(u64),
    /// There is a place, which is being told.
    Telling,
    /// What is left cannot be read.
    Unread,
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
        self.stop_going_down();
        self.forget_old();
    }

    /// Looks for letters, whatever their case; goes to the last place that has them, and further back where
    /// nothing that is kept has.
    pub fn look_for(&mut self, find: &mut Find, letters: &str) {
        let letters = letters.to_lowercase();
        let narrows = !find.letters.is_empty() && letters.starts_with(&find.letters);
        find.hits = match (letters.is_empty(), narrows) {
            (true, _) => Vec::new(),
            (false, true) => {
                let hits = find.hits.iter().copied();
                hits.filter(|n| self.has(*n, &letters)).collect()
            }
            (false, false) => self.places_of(&letters),
        };
        find.letters = letters;
        self.stop_going_down();
        find.back = match find.back {
            // What had no part of it has not all of it.
            Back::Looks { .. } | Back::ToTheFirst | Back::Unread if narrows => find.back,
            _ => Back::Not,
        };
        match find.hits.last().copied() {
            Some(last) => {
                self.bring(last, find);
                if let Back::Looks { .. } = find.back {
                    find.back = Back::Not;
                }
            }
            None => {
                let _begins = self.look_further_back(find);
            }
        }
    }

    fn has(&self, number: usize, letters: &str) -> bool {
        let block = self.blocks.get(number.wrapping_sub(self.first));
        block.is_some_and(|block| block.has(letters))
    }

    fn places_of(&self, letters: &str) -> Vec<usize> {
        let all = self.first..self.end();
        all.filter(|n| self.has(*n, letters)).collect()
    }

    /// Looks through what came before everything that is kept; tells whether there is something.
    fn look_further_back(&self, find: &mut Find) -> bool {
        let last = self.earlier.part.untold();
        let begins = find.back == Back::Not && last > 0 && !find.letters.is_empty();
        if begins {
            find.back = Back::Looks { last };
        }
        begins
    }

    /// What of the log is to be looked through.
    pub fn looks_further_back(&self, find: &Find) -> Option<WantsEarlier> {
        match find.back {
            Back::Looks { last } => Some(WantsEarlier::Look {
                last,
                letters: find.letters.clone(),
            }),
            _ => None,
        }
    }

    /// Looks for letters in a piece of the past.
    pub fn looked_through(&self, letters: &str) -> Looked {
        let found = self.blocks.iter().rev().find(|block| block.has(letters));
        Looked {
            letters: letters.to_owned(),
            piece: (self.earlier.part.last(), self.earlier.part.untold()),
            found: found.map(|block| block.seq),
        }
    }

    /// Takes in what came of a look at a piece of the log.
    pub fn on_looked(&mut self, find: &mut Find, looked: &Looked) {
        let (last, before) = looked.piece;
        if find.back != (Back::Looks { last }) || !find.letters.starts_with(&looked.letters) {
            return;
        }
        find.back = match looked.found {
            // Some of the letters are no hit.
            Some(_) if find.letters != looked.letters => return,
            Some(seq) => {
                self.earlier.go_down_to(seq);
                Back::Found { seq }
            }
            None if before == 0 => Back::ToTheFirst,
            None => Back::Looks { last: before },
        };
    }

    /// Goes to what was found further back, once that is told.
    pub fn go_to_what_was_told(&mut self, find: &mut Find) {
        let Back::Found { seq } = find.back else {
            return;
        };
        if self.wants_earlier().is_some() && self.earlier.goes_down() {
            return;
        }
        find.hits = self.places_of(&find.letters);
        find.back = Back::Not;
        let before = |n: &&usize| {
            let block = self.blocks.get(n.wrapping_sub(self.first));
            block.is_some_and(|block| block.seq <= seq)
        };
        let found = find.hits.iter().rev().find(before).copied();
        match (found, self.earlier.goes_down()) {
            (Some(number), _) => {
                self.bring(number, find);
                self.stop_going_down();
            }
            // It is called something else here.
            (None, true) => {
                self.stop_going_down();
                self.look_further_back(find);
            }
            (None, false) => find.back = Back::Unread,
        }
    }

    /// Has no more told of what was found further back.
    pub fn stop_going_down(&mut self) {
        if self.earlier.goes_down() {
            self.earlier.stay();
        }
    }

    /// Goes to the next place, or the one before: further back than what is kept, then around the ends.
    pub fn go_along(&mut self, find: &mut Find, is_next: bool) {
        let picked = self.picked_now().unwrap_or(self.first);
        let next = match is_next {
            true => {
                let next = find.hits.iter().find(|hit| **hit > picked);
                next.or(find.hits.first())
            }
            false => {
                let before = |hit: &&usize| **hit < picked;
                if !find.hits.iter().any(|hit| before(&hit)) && self.look_further_back(find) {
                    return;
                }
                find.hits.iter().rev().find(before).or(find.hits.last())
            }
        };
        if let Some(number) = next.copied() {
            self.bring(number, find);
        }
    }

    /// Points at a block and brings the line into view that has the letters; one that is folded is opened for as long.
    fn bring(&mut self, number: usize, find: &mut Find) {
        if let Some(opened) = find.opened.take_if(|opened| *opened != number) {
            self.turn(opened);
        }
        self.point_at(number);
        let (wide, thinking, n_rows) = (self.wide, self.thinking, self.shown.len());
        let at = number.wrapping_sub(self.first);
        let (Some(wide), Some(block)) = (wide, self.blocks.get_mut(at)) else {
            return;
        };
        let (columns, _) = wide.of(block.column());
        let has = |line: Line<'_>| line.to_string().to_lowercase().contains(&find.letters);
        let mut line = block.lines(columns, thinking).position(has);
        if line.is_none() && block.turn(thinking) {
            find.opened = Some(number);
            line = block.lines(columns, thinking).position(has);
        }
        let n_shown = self.shown.iter().filter(|shown| **shown == number).count();
        let is_whole = self.scroll == self.shown_at && n_shown == block.height(columns, thinking);
        if let Some(line) = line.filter(|_| !is_whole) {
            // What stands above it says what it is about, where both fit.
            let from = if line < n_rows / 2 {
                0
            } else {
                line - 2.min(line)
            };
            self.scroll = Scroll::at(number, from);
        }
    }

    /// Folds what was opened to show what it has.
    pub fn fold_again(&mut self, find: &mut Find) {
        if let Some(opened) = find.opened.take() {
            self.turn(opened);
        }
    }

    fn turn(&mut self, number: usize) {
        let thinking = self.thinking;
        if let Some(block) = self.blocks.get_mut(number.wrapping_sub(self.first)) {
            let _can = block.turn(thinking);
        }
    }

    /// Looks no further back.
    pub fn end_looking_back(&mut self, find: &mut Find) {
        self.stop_going_down();
        if let Back::Looks { .. } | Back::Found { .. } = find.back {
            find.back = Back::Unread;
        }
    }

    /// How far it was looked for.
    pub fn standing_of(&self, find: &Find) -> Standing {
        let all = self.earlier.part.last().max(1);
        match find.back {
            Back::Looks { last } => Standing::Looking(100 - (last * 100 / all).min(100)),
            Back::Found { .. } => Standing::Telling,
            Back::Unread => Standing::Unread,
            Back::Not if self.has_earlier() => Standing::Kept,
            Back::Not | Back::ToTheFirst => Standing::Whole,
        }
    }

    /// Which place of how many is pointed at, from 1; 0 where it is none of them.
    pub fn place_of(&self, find: &Find) -> (usize, usize) {
        let picked = self.picked_now();
        let at = find.hits.iter().position(|hit| Some(*hit) == picked);
        (at.map_or(0, |at| at + 1), find.hits.len())
    }
}
