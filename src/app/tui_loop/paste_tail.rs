//! What comes right behind a paste: a text that contains the end-of-paste sequence goes on as keys, and stays a paste.
//!
//! The library that reads the terminal ends a paste at the first such sequence and passes over further ones, so only
//! the time tells a key from text. Terminals that take the sequence out of pastes themselves never come here.

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use tokio::time::Instant;

/// How long a large rest of a paste may pause between two pieces. Nobody types so soon behind a paste.
const PAUSE: Duration = Duration::from_millis(20);

/// The keys behind a paste that are part of it.
#[derive(Debug, Default)]
pub struct PasteTail {
    state: TailState,
    /// What of them is not in the composer yet.
    text: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum TailState {
    /// The keys are the user's.
    #[default]
    Off,
    /// A paste came in this batch of input: what is there behind it already was sent together with it.
    Behind,
    /// Keys came behind it, the last one then.
    Within(Instant),
}

impl PasteTail {
    /// Begins a batch of input: what came later than a paste, and not at once behind its rest, was typed.
    pub fn begin_batch(&mut self, now: Instant) {
        match self.state {
            TailState::Within(last) if now.duration_since(last) <= PAUSE => {}
            TailState::Off | TailState::Behind | TailState::Within(_) => {
                self.state = TailState::Off
            }
        }
    }

    /// Takes an input that is part of a paste; gives back any other.
    pub fn filter_input(&mut self, input: Input, now: Instant) -> Option<Input> {
        match &input {
            Input::Paste(_) => {
                self.state = TailState::Behind;
                Some(input)
            }
            Input::Key(key) if self.state != TailState::Off => {
                self.state = TailState::Within(now);
                let types = (key.modifiers - KeyModifiers::SHIFT).is_empty();
                if key.kind != KeyEventKind::Release && types {
                    self.text.extend(char_of_key(key.code));
                }
                None
            }
            Input::Key(_)
            | Input::Mouse(_)
            | Input::Resize(..)
            | Input::FocusGained
            | Input::FocusLost => Some(input),
        }
    }

    /// Gives what was taken since the last call; `None` where that is nothing.
    pub fn take_text(&mut self) -> Option<String> {
        (!self.text.is_empty()).then(|| std::mem::take(&mut self.text))
    }
}

/// The sign that a key stands for in a text; a key that stands for none is dropped.
fn char_of_key(code: KeyCode) -> Option<char> {
    match code {
        KeyCode::Char(c) => Some(c),
        KeyCode::Enter => Some('\n'),
        KeyCode::Tab => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Input {
        Input::Key(KeyEvent::new(code, modifiers))
    }

    fn letter(c: char) -> Input {
        key(KeyCode::Char(c), KeyModifiers::NONE)
    }

    /// Whether each key of a batch, which begins that many milliseconds after the start, is the user's.
    fn batch(tail: &mut PasteTail, at: (Instant, u64), inputs: Vec<Input>) -> Vec<bool> {
        let now = at.0 + Duration::from_millis(at.1);
        tail.begin_batch(now);
        let theirs = inputs
            .into_iter()
            .map(|input| tail.filter_input(input, now));
        theirs.map(|input| input.is_some()).collect()
    }

    #[test]
    fn keys_that_come_with_a_paste_are_its_text() {
        let (mut tail, start) = (PasteTail::default(), Instant::now());
        let enter = key(KeyCode::Enter, KeyModifiers::NONE);
        let leave = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
        let inputs = vec![
            Input::Paste("x".to_owned()),
            letter('G'),
            enter,
            leave,
            letter('y'),
        ];
        let taken = batch(&mut tail, (start, 0), inputs);
        assert_eq!(taken, [true, false, false, false, false]);
        assert_eq!(tail.take_text().as_deref(), Some("G\ny"));
        // The rest of a long one, after a short pause.
        assert_eq!(batch(&mut tail, (start, 15), vec![letter('z')]), [false]);
        assert_eq!(tail.take_text().as_deref(), Some("z"));
        assert_eq!(batch(&mut tail, (start, 60), vec![letter('G')]), [true]);
        assert_eq!(tail.take_text(), None);
    }

    #[test]
    fn a_key_after_a_paste_that_came_alone_is_the_users_however_soon() {
        let (mut tail, start) = (PasteTail::default(), Instant::now());
        let paste = Input::Paste("x".to_owned());
        assert_eq!(batch(&mut tail, (start, 0), vec![paste]), [true]);
        let enter = key(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(batch(&mut tail, (start, 1), vec![enter]), [true]);
    }
}
