//! Keeps the user's notes on lines of the plan, which go into the prompts of reviewer and planner.
//!
//! A note keeps the words of its line, so that it is found again when lines move.

use serde::{Deserialize, Serialize};

use super::ids::TurnId;

/// The longest note and the longest quoted line, in characters.
pub const MAX_NOTE_CHARS: usize = 4_000;

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// Its number, from 1; never reused.
    pub n: u32,
    /// The line of `plan.md` on which it was made, from 1.
    pub line: u32,
    /// The text of that line.
    pub quote: String,
    /// The text of the note.
    pub text: String,
    /// Whether a reviewer's prompt contained it.
    pub reviewed: bool,
    /// The planner's turn whose prompt contained it last.
    sent: Option<TurnId>,
    /// Whether that turn has answered.
    pub answered: bool,
    /// The reviewer's turn whose prompt contained it last, once it was answered.
    #[serde(default)]
    looked_at: Option<TurnId>,
    /// Whether that turn has ended in a review: the reviewer has seen the answer.
    #[serde(default)]
    pub judged: bool,
}

/// All notes of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanNotes {
    all: Vec<PlanNote>,
    n_made: u32,
}

impl PlanNotes {
    /// Returns all notes that were not removed, in the order in which they were made.
    pub fn all(&self) -> &[PlanNote] {
        &self.all
    }

    /// Returns the notes that the planner has not answered yet.
    pub fn unanswered(&self) -> impl Iterator<Item = &PlanNote> {
        self.all.iter().filter(|note| !note.answered)
    }

    /// Returns the notes whose answer no reviewer has seen yet.
    pub fn open(&self) -> impl Iterator<Item = &PlanNote> {
        self.all.iter().filter(|note| !note.judged)
    }

    /// Adds a note; returns false for one without a text.
    pub fn add(&mut self, line: u32, quote: &str, text: &str) -> bool {
        let text = text.trim();
        if text.is_empty() {
            return false;
        }
        let short = |text: &str| text.chars().take(MAX_NOTE_CHARS).collect::<String>();
        self.n_made += 1;
        self.all.push(PlanNote {
            n: self.n_made,
            line,
            quote: short(quote.trim()),
            text: short(text),
            reviewed: false,
            sent: None,
            answered: false,
            looked_at: None,
            judged: false,
        });
        true
    }

    /// Removes a note; returns whether there was one with this number.
    pub fn remove(&mut self, n: u32) -> bool {
        let n_before = self.all.len();
        self.all.retain(|note| note.n != n);
        self.all.len() < n_before
    }

    /// Records that the open notes are in the prompt of this turn of the reviewer.
    pub fn on_review_prompt(&mut self, turn: &TurnId) {
        for note in self.all.iter_mut().filter(|note| !note.judged) {
            note.reviewed = true;
            note.looked_at = note.answered.then(|| turn.clone());
        }
    }

    /// Records that the unanswered notes are in the prompt of this turn of the planner.
    pub fn on_respond_prompt(&mut self, turn: &TurnId) {
        for note in self.all.iter_mut().filter(|note| !note.answered) {
            note.sent = Some(turn.clone());
        }
    }

    /// Records that this turn of the reviewer has judged the notes in its prompt.
    pub fn on_judged(&mut self, turn: &TurnId) {
        for note in &mut self.all {
            note.judged |= note.looked_at.as_ref() == Some(turn);
        }
    }

    /// Records that this turn of the planner has answered the notes in its prompt.
    pub fn on_answered(&mut self, turn: &TurnId) {
        for note in &mut self.all {
            note.answered |= note.sent.as_ref() == Some(turn);
        }
    }
}

impl PlanNote {
    /// Describes its status for the user.
    pub fn describe_status(&self) -> &'static str {
        match (self.answered, self.sent.is_some(), self.reviewed) {
            (true, ..) if self.judged => "answered by the planner, seen by the reviewer",
            (true, ..) => "answered by the planner, the next review checks it",
            (false, true, _) => "the planner has it",
            (false, false, true) => "the reviewer has it, the planner gets it next",
            (false, false, false) => "for both agents, with their next turns",
        }
    }

    /// Finds the line that it is about now, from 0: the nearest line with its words.
    pub fn find_line(&self, lines: &[&str]) -> Option<usize> {
        let was = usize::try_from(self.line).unwrap_or(1).saturating_sub(1);
        let words = without_tick(&self.quote);
        let is_same = |(_, line): &(usize, &&str)| without_tick(line) == words;
        let same = lines.iter().enumerate().filter(is_same);
        same.map(|(at, _)| at).min_by_key(|at| at.abs_diff(was))
    }
}

/// Normalizes a ticked box, so that a tick does not change the line.
fn without_tick(line: &str) -> String {
    line.trim().replacen("[x]", "[ ]", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_open_until_the_planner_answered_it_and_a_reviewer_had_it_again() {
        let mut notes = PlanNotes::default();
        assert!(notes.add(3, "1. [ ] a", "why not b?"));
        assert!(!notes.add(3, "1. [ ] a", " \n"));
        notes.on_review_prompt(&TurnId::new("trn_0"));
        notes.on_judged(&TurnId::new("trn_0"));
        let (first, second) = (TurnId::new("trn_1"), TurnId::new("trn_2"));
        notes.on_respond_prompt(&first);
        assert!(notes.add(4, "2. [ ] b", "later"));
        notes.on_answered(&second);
        assert_eq!(notes.unanswered().count(), 2);
        notes.on_answered(&first);
        let of = |notes: &PlanNotes| {
            let unanswered: Vec<u32> = notes.unanswered().map(|note| note.n).collect();
            let open: Vec<u32> = notes.open().map(|note| note.n).collect();
            (unanswered, open)
        };
        // Until the next review, no reviewer has judged the planner's answer.
        assert_eq!(of(&notes), (vec![2], vec![1, 2]));
        let (third, other) = (TurnId::new("trn_3"), TurnId::new("trn_4"));
        notes.on_review_prompt(&third);
        notes.on_judged(&other);
        assert_eq!(of(&notes), (vec![2], vec![1, 2]));
        notes.on_judged(&third);
        assert_eq!(of(&notes), (vec![2], vec![2]));
        assert!(notes.remove(2) && !notes.remove(2));
        assert!(notes.add(1, "#", "again"));
        assert_eq!(notes.all().last().unwrap().n, 3, "numbers are not reused");
    }

    #[test]
    fn a_note_finds_its_line_again_when_lines_move() {
        let mut notes = PlanNotes::default();
        notes.add(2, "1. [ ] a", "x");
        let note = &notes.all()[0];
        assert_eq!(note.find_line(&["# T", "1. [ ] a"]), Some(1));
        assert_eq!(note.find_line(&["# T", "", "", "1. [x] a"]), Some(3));
        assert_eq!(note.find_line(&["1. [ ] a", "b", "c", "1. [ ] a"]), Some(0));
        assert_eq!(note.find_line(&["gone"]), None);
    }
}
