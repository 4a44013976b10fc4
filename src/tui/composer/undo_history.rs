//! What stood in the composer before, a word at a time, to come back to.
//!
//! Refuses to know keys and the text area: it is told what stood there and of what kind the change is.

use std::collections::VecDeque;

/// How many steps are kept.
const MAX_UNDO_STEPS: usize = 200;
/// How many bytes of text, all steps together.
const MAX_UNDO_BYTES: usize = 4 << 20;
/// How many signs a step takes back at most: not every script divides its words by blanks.
const MAX_STEP_GRAPHEMES: usize = 20;

/// A text, and its cursor in lines and characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditSnapshot {
    pub lines: Vec<String>,
    pub cursor: (usize, usize),
    /// Which sent text it is, where it is one.
    pub recalled: Option<usize>,
}

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// A sign comes.
    Insert(GraphemeKind),
    /// The sign before the cursor goes.
    DeleteBackward(GraphemeKind),
    /// The sign behind it goes.
    DeleteForward(GraphemeKind),
    /// All else, which is a step of its own: a paste, a whole line that goes.
    Other,
}

/// What a sign means for where a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphemeKind {
    /// It stands between words.
    Blank,
    /// It is part of a word.
    Letter,
    /// It is part of the sign before it.
    Combining,
}

impl GraphemeKind {
    /// What a sign of a text is.
    pub fn classify(sign: &str) -> Self {
        if sign.chars().all(char::is_whitespace) {
            Self::Blank
        } else {
            Self::Letter
        }
    }
}

/// The steps to go back and forth by.
#[derive(Debug, Default)]
pub struct UndoHistory {
    back: VecDeque<EditSnapshot>,
    forth: Vec<EditSnapshot>,
    /// The change that came last, where the next one may belong to its step, and the signs of that step.
    last: Option<(EditKind, usize)>,
}

impl UndoHistory {
    /// Takes in that something changed, and what stood there before.
    pub fn record_change(&mut self, before: EditSnapshot, change: EditKind) {
        self.forth.clear();
        let goes_on = self.continues_step(change);
        let n = match (goes_on, self.last) {
            (true, Some((_, n))) => {
                n + usize::from(edited_grapheme(change) != Some(GraphemeKind::Combining))
            }
            _ => 1,
        };
        self.last = Some((change, n));
        if !goes_on {
            self.back.push_back(before);
            self.drop_oldest();
        }
    }

    /// Takes in that the cursor went elsewhere: what comes is a step of its own.
    pub fn end_step(&mut self) {
        self.last = None;
    }

    /// Goes a step back from what stands there now.
    pub fn undo(&mut self, now: EditSnapshot) -> Option<EditSnapshot> {
        let before = self.back.pop_back()?;
        self.last = None;
        self.forth.push(now);
        Some(before)
    }

    /// Goes forth again from what stands there now.
    pub fn redo(&mut self, now: EditSnapshot) -> Option<EditSnapshot> {
        let after = self.forth.pop()?;
        self.last = None;
        self.back.push_back(now);
        Some(after)
    }

    /// Tells whether a change belongs to the step of the last one.
    fn continues_step(&self, change: EditKind) -> bool {
        let Some((last, n)) = self.last else {
            return false;
        };
        let is_alike = std::mem::discriminant(&last) == std::mem::discriminant(&change);
        match (edited_grapheme(last), edited_grapheme(change)) {
            (Some(_), Some(GraphemeKind::Combining)) => is_alike,
            (Some(GraphemeKind::Blank), Some(GraphemeKind::Letter)) | (None, _) | (_, None) => {
                false
            }
            (Some(_), Some(_)) => is_alike && n < MAX_STEP_GRAPHEMES,
        }
    }

    fn drop_oldest(&mut self) {
        let n_bytes = |stand: &EditSnapshot| stand.lines.iter().map(String::len).sum::<usize>();
        let mut all: usize = self.back.iter().map(n_bytes).sum();
        while self.back.len() > MAX_UNDO_STEPS || all > MAX_UNDO_BYTES && self.back.len() > 1 {
            all -= self.back.pop_front().as_ref().map_or(0, n_bytes);
        }
    }
}

fn edited_grapheme(change: EditKind) -> Option<GraphemeKind> {
    match change {
        EditKind::Insert(sign) | EditKind::DeleteBackward(sign) | EditKind::DeleteForward(sign) => {
            Some(sign)
        }
        EditKind::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand(text: &str) -> EditSnapshot {
        EditSnapshot {
            lines: vec![text.to_owned()],
            cursor: (0, 0),
            recalled: None,
        }
    }

    #[test]
    fn only_so_much_is_kept() {
        let mut history = UndoHistory::default();
        for n in 0..300 {
            history.record_change(stand(&n.to_string()), EditKind::Other);
        }
        let mut n = 0;
        while history.undo(stand("now")).is_some() {
            n += 1;
        }
        assert_eq!(n, MAX_UNDO_STEPS);
        let mut history = UndoHistory::default();
        for _ in 0..10 {
            history.record_change(stand(&"x".repeat(1 << 20)), EditKind::Other);
        }
        let kept: usize = history.back.iter().map(|stand| stand.lines[0].len()).sum();
        assert_eq!(kept, MAX_UNDO_BYTES);
    }
}
