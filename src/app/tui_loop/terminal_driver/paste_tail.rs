//! Detects the rest of a paste that contains the end-of-paste sequence: it arrives as keys, but is treated as pasted
//! text.
//!
//! crossterm ends a paste at the first such sequence and drops further ones, so only the timing tells keys from text.
//! Terminals that remove the sequence from pastes never need this.

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use tokio::time::Instant;

/// Longest pause inside the rest of a large paste. Nobody types that soon after a paste.
const PAUSE: Duration = Duration::from_millis(20);

/// Collects the keys after a paste that belong to it.
#[derive(Debug, Default)]
pub struct PasteTail {
    state: TailState,
    /// The text of these keys that is not in the composer yet.
    text: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum TailState {
    /// Keys are typed by the user.
    #[default]
    Off,
    /// This batch has a paste: all other input in the batch was sent together with it.
    Behind,
    /// Keys followed it; the instant of the last one.
    Within(Instant),
}

impl PasteTail {
    /// Starts a batch of input: keys that do not directly follow the paste were typed.
    pub fn begin_batch(&mut self, now: Instant) {
        match self.state {
            TailState::Within(last) if now.duration_since(last) <= PAUSE => {}
            TailState::Off | TailState::Behind | TailState::Within(_) => {
                self.state = TailState::Off
            }
        }
    }

    /// Takes an input that belongs to a paste; returns any other.
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

    /// Returns the text taken since the last call; `None` if there is none.
    pub fn take_text(&mut self) -> Option<String> {
        (!self.text.is_empty()).then(|| std::mem::take(&mut self.text))
    }
}

/// Returns the character of a key; other keys are dropped.
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

    /// Whether each key of a batch was typed; the batch starts that many milliseconds after the start.
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
        // The rest of a long paste, after a short pause.
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
