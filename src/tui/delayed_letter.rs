//! A letter that acts at a question waits a moment for the next one: with another character after it, it begins a text.
//!
//! Its button is selected at once, so that the wait is seen, and only for as long: a letter that does not act changes nothing.
//! The time comes from the caller; where it is unknown, a letter acts at once.

use std::time::Duration;

use ratatui::crossterm::event::KeyEvent;

use super::composer::typed_char;
use super::dialog::ChoiceDialog;
use super::dialog_pane::DialogPane;
use crate::domain::ids::UnixMillis;

/// How long a letter waits for another character, in milliseconds: longer than most people take within a word, and shorter
/// than what feels like a delay.
const DELAY_MS: i64 = 250;

/// A letter that has not acted yet.
#[derive(Debug)]
pub struct DelayedLetter {
    pub key: KeyEvent,
    /// How often it was pressed.
    n_presses: usize,
    /// The id of the dialog at which it was typed.
    pub dialog: String,
    /// Whether it answers the dialog; otherwise it is the key of a command.
    pub is_answer: bool,
    /// What was selected before, with the id of its dialog, and what the letter selected.
    chosen_before: Option<(String, usize)>,
    chosen: Option<(String, usize)>,
    acts_at: UnixMillis,
}

impl DelayedLetter {
    /// Returns the letter as often as it was pressed.
    pub fn presses(&self) -> impl Iterator<Item = KeyEvent> {
        std::iter::repeat_n(self.key, self.n_presses)
    }
}

impl DialogPane {
    /// Delays a letter that was typed at a dialog, and selects the choice that it is for, if any; returns false where the
    /// time is unknown.
    pub fn delay_letter(
        &mut self,
        key: KeyEvent,
        sheet: &ChoiceDialog,
        choice: Option<usize>,
    ) -> bool {
        let Some(now) = self.current_time() else {
            return false;
        };
        let chosen_before = self.chosen.clone();
        if let Some(choice) = choice {
            self.chosen = Some((sheet.id.clone(), choice));
        }
        self.letter = Some(DelayedLetter {
            key,
            n_presses: 1,
            dialog: sheet.id.clone(),
            is_answer: choice.is_some(),
            chosen_before,
            chosen: self.chosen.clone(),
            acts_at: UnixMillis(now.0 + DELAY_MS),
        });
        true
    }

    /// Counts another press of the letter that waits; returns false if the key is another one. A letter that is kept down or
    /// pressed twice acts once; only the second press makes it wait longer.
    pub fn repeat_letter(&mut self, key: KeyEvent) -> bool {
        let (now, typed) = (self.current_time(), typed_char(key));
        let letter = self.letter.as_mut();
        let Some(letter) =
            letter.filter(|letter| typed.is_some() && typed == typed_char(letter.key))
        else {
            return false;
        };
        letter.n_presses += 1;
        if let (2, Some(now)) = (letter.n_presses, now) {
            letter.acts_at = UnixMillis(now.0 + DELAY_MS);
        }
        true
    }

    /// Takes the letter that waits, so that it does not act by itself. What was selected before it is selected again.
    pub fn take_letter(&mut self) -> Option<DelayedLetter> {
        let letter = self.letter.take()?;
        if self.chosen == letter.chosen {
            self.chosen.clone_from(&letter.chosen_before);
        }
        Some(letter)
    }

    /// Takes the letter that waits if its time is over.
    pub fn take_due_letter(&mut self) -> Option<DelayedLetter> {
        let (now, acts_at) = (self.current_time()?, self.letter.as_ref()?.acts_at);
        (acts_at <= now).then(|| self.take_letter())?
    }

    /// Returns how long the letter still waits, at most its whole time; `None` if none waits.
    pub fn letter_wait(&self, now: UnixMillis) -> Option<Duration> {
        let left = self.letter.as_ref()?.acts_at.0.saturating_sub(now.0);
        let left = u64::try_from(left.clamp(0, DELAY_MS)).ok()?;
        Some(Duration::from_millis(left))
    }

    /// Sets the current time. If the clock was set back, a letter does not wait for the difference.
    pub fn on_time(&mut self, now: UnixMillis) {
        self.guard.on_time(now);
        if let Some(letter) = &mut self.letter {
            letter.acts_at = letter.acts_at.min(UnixMillis(now.0 + DELAY_MS));
        }
    }
}
