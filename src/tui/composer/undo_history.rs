//! The composer's undo history, grouped by words.

use std::collections::VecDeque;

const MAX_UNDO_STEPS: usize = 200;
/// The total size of the stored texts, in bytes.
const MAX_UNDO_BYTES: usize = 4 << 20;
/// How many graphemes one step undoes at most: not every script separates words by spaces.
const MAX_STEP_GRAPHEMES: usize = 20;

/// A text, and its cursor as line and character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditSnapshot {
    pub lines: Vec<String>,
    pub cursor: (usize, usize),
    /// The index of the sent text that is being edited, if it is one.
    pub recalled: Option<usize>,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKind {
    /// A grapheme is typed.
    Insert(GraphemeKind),
    /// The grapheme before the cursor is deleted.
    DeleteBackward(GraphemeKind),
    /// The grapheme after the cursor is deleted.
    DeleteForward(GraphemeKind),
    /// Any other change, which is a step of its own: a paste, a deleted line.
    Other,
}

/// How a grapheme affects the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphemeKind {
    Blank,
    /// It is part of a word.
    Letter,
    /// It is part of the grapheme before it.
    Combining,
}

impl GraphemeKind {
    pub fn classify(sign: &str) -> Self {
        if sign.chars().all(char::is_whitespace) {
            Self::Blank
        } else {
            Self::Letter
        }
    }
}

/// The undo and redo steps.
#[derive(Debug, Default)]
pub struct UndoHistory {
    back: VecDeque<EditSnapshot>,
    forth: Vec<EditSnapshot>,
    /// The last change, if the next one can join its step, and the number of graphemes in that step.
    last: Option<(EditKind, usize)>,
}

impl UndoHistory {
    /// Records a change, with the state before it.
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

    /// Ends the current step, for example after the cursor has moved.
    pub fn end_step(&mut self) {
        self.last = None;
    }

    /// Returns the state before the last step; `now` is the current one.
    pub fn undo(&mut self, now: EditSnapshot) -> Option<EditSnapshot> {
        let before = self.back.pop_back()?;
        self.last = None;
        self.forth.push(now);
        Some(before)
    }

    /// Returns the state after the next step; `now` is the current one.
    pub fn redo(&mut self, now: EditSnapshot) -> Option<EditSnapshot> {
        let after = self.forth.pop()?;
        self.last = None;
        self.back.push_back(now);
        Some(after)
    }

    /// Returns whether a change joins the step of the last one.
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
