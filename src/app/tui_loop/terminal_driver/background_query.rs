//! Finds out the terminal's background colour: asks once, after the first frame, and does not wait.
//!
//! The answer arrives among the keys and is filtered out here; everything else passes unchanged.

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use tokio::time::Instant;

use crate::tui::TerminalBackground;

/// The query for the background colour (OSC 11). Terminals that do not know it send no answer.
pub const BACKGROUND_QUERY: &str = "\x1b]11;?\x1b\\";
/// Time after the query in which an answer is still caught when the terminal is released.
const REPLY_WAIT: Duration = Duration::from_millis(30);
/// Maximum length of an answer.
const MAX_REPLY_CHARS: usize = 40;

/// The query and the part of the answer received so far.
#[derive(Debug, Default)]
pub struct BackgroundQuery {
    /// `None` while no answer is expected.
    since: Option<Instant>,
    /// Input that may be the start of the answer.
    held_input: Vec<Input>,
    /// The text of `held_input`.
    text: String,
}

/// The classification of an input.
#[derive(Debug, PartialEq, Eq)]
pub enum QueryInput {
    /// Not part of the answer.
    Input(Vec<Input>),
    /// Part of an incomplete answer.
    Part,
    /// The end of the answer; `None` if it has no colour.
    Reply(Option<TerminalBackground>),
}

impl BackgroundQuery {
    /// Notes that the query was sent.
    pub fn start(&mut self) {
        self.since = Some(Instant::now());
    }

    /// Classifies an input; one that may be part of the answer is kept until that is known.
    pub fn filter_input(&mut self, input: Input) -> QueryInput {
        if self.since.is_none() {
            return QueryInput::Input(vec![input]);
        }
        let Input::Key(key) = &input else {
            return QueryInput::Input(self.release_held_input(input));
        };
        match (self.held_input.is_empty(), classify_key(key)) {
            (true, ReplyPiece::Begin) => {
                self.held_input.push(input);
                QueryInput::Part
            }
            (false, ReplyPiece::Letter(c)) if self.is_reply_char(c) => {
                self.text.push(c);
                self.held_input.push(input);
                QueryInput::Part
            }
            // A separate Esc starts the terminator.
            (false, ReplyPiece::Esc) if self.text.len() > 3 => {
                self.held_input.push(input);
                QueryInput::Part
            }
            (false, ReplyPiece::End) if self.text.len() > 3 => {
                self.since = None;
                self.held_input.clear();
                QueryInput::Reply(parse_background(&std::mem::take(&mut self.text)))
            }
            _ => QueryInput::Input(self.release_held_input(input)),
        }
    }

    fn is_reply_char(&self, c: char) -> bool {
        let head = "11;";
        match head.chars().nth(self.text.len()) {
            Some(wanted) => c == wanted,
            None => {
                let is_colour =
                    c.is_ascii_hexdigit() || matches!(c, 'r' | 'g' | 'b' | ':' | '/' | '#');
                is_colour && self.text.len() < MAX_REPLY_CHARS
            }
        }
    }

    /// Releases the input: it was no answer.
    fn release_held_input(&mut self, input: Input) -> Vec<Input> {
        self.text.clear();
        let mut held = std::mem::take(&mut self.held_input);
        held.push(input);
        held
    }

    /// Returns the instant until which an answer that is on its way is to be caught, so that the next program on the
    /// terminal does not get it.
    pub fn take_reply_deadline(&mut self) -> Option<Instant> {
        Some(self.since.take()? + REPLY_WAIT)
    }
}

/// The part of an answer that a key can be.
enum ReplyPiece {
    /// The first two bytes.
    Begin,
    Letter(char),
    Esc,
    End,
    Other,
}

fn classify_key(key: &KeyEvent) -> ReplyPiece {
    match (key.code, key.modifiers) {
        (KeyCode::Char(']'), KeyModifiers::ALT) => ReplyPiece::Begin,
        (KeyCode::Char('\\'), KeyModifiers::ALT | KeyModifiers::NONE)
        | (KeyCode::Char('g'), KeyModifiers::CONTROL) => ReplyPiece::End,
        (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT) => ReplyPiece::Letter(c),
        (KeyCode::Esc, _) => ReplyPiece::Esc,
        _ => ReplyPiece::Other,
    }
}

/// Parses `11;rgb:RR/GG/BB`; each part has one to four digits.
fn parse_background(answer: &str) -> Option<TerminalBackground> {
    let colour = answer.strip_prefix("11;")?;
    let parts = colour
        .strip_prefix("rgb:")
        .or_else(|| colour.strip_prefix("rgba:"))?;
    let mut background = [0; 3];
    let mut parts = parts.split('/');
    for value in &mut background {
        let part = parts.next()?;
        let digits = u32::try_from(part.len())
            .ok()
            .filter(|n| (1..=4).contains(n))?;
        let most = 16u32.pow(digits) - 1;
        *value = u8::try_from(u32::from_str_radix(part, 16).ok()? * 255 / most).ok()?;
    }
    Some(TerminalBackground(background))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked() -> BackgroundQuery {
        BackgroundQuery {
            since: Some(Instant::now()),
            ..BackgroundQuery::default()
        }
    }

    /// The keys that crossterm makes from bytes; `\x1b` and the next character are one key with Alt.
    fn keys(text: &str) -> Vec<Input> {
        let mut keys = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            keys.push(Input::Key(match c {
                '\x1b' => KeyEvent::new(KeyCode::Char(chars.next().unwrap()), KeyModifiers::ALT),
                '\x07' => KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL),
                c if c.is_uppercase() => KeyEvent::new(KeyCode::Char(c), KeyModifiers::SHIFT),
                c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
            }));
        }
        keys
    }

    fn check(text: &str, through: &str, answer: Option<Option<TerminalBackground>>) {
        let mut asked = asked();
        let (mut passed, mut answered) = (Vec::new(), None);
        for key in keys(text) {
            match asked.filter_input(key) {
                QueryInput::Input(inputs) => passed.extend(inputs),
                QueryInput::Part => {}
                QueryInput::Reply(ground) => answered = Some(ground),
            }
        }
        assert_eq!(passed, keys(through), "{text:?}");
        assert_eq!(answered, answer, "{text:?}");
    }

    #[test]
    fn an_answer_is_taken_out_of_what_is_typed() {
        let of = |parts| Some(Some(TerminalBackground(parts)));
        let light = of([255, 255, 238]);
        check("hel\x1b]11;rgb:ffff/ffff/eeee\x1b\\lo", "hello", light);
        check(
            "\x1b]11;rgb:1e1e/1E1E/2e2e\x07x",
            "x",
            of([0x1e, 0x1e, 0x2e]),
        );
        check("\x1b]11;rgb:f/f/e\x07", "", light);
        check("\x1b]11;rgba:00/80/00/ff\x07", "", of([0, 0x80, 0]));
        check("\x1b]11;#ffffff\x07", "", Some(None));
        check("\x1b]11;rgb:ff/ff\x07", "", Some(None));
        // After the answer, all input is the user's.
        check("\x1b]11;rgb:f/f/e\x07\x1b]11", "\x1b]11", light);
    }

    #[test]
    fn what_is_no_answer_goes_on_as_it_came() {
        check("\x1b]x", "\x1b]x", None);
        check("\x1b]11;hello", "\x1b]11;hello", None);
        check("\x1b]1\x1b\\", "\x1b]1\x1b\\", None);
        check("11;rgb:f/f/f\x07", "11;rgb:f/f/f\x07", None);
    }

    #[test]
    fn nothing_is_held_where_nothing_was_asked() {
        let mut asked = BackgroundQuery::default();
        for key in keys("\x1b]11;rgb") {
            assert_eq!(
                asked.filter_input(key.clone()),
                QueryInput::Input(vec![key])
            );
        }
    }

    proptest! {
        #[test]
        fn no_key_is_lost_or_changed_by_waiting_for_an_answer(text in "[a-z1;:/\\]]{0,30}") {
            let mut asked = asked();
            let mut passed = Vec::new();
            for key in keys(&text) {
                if let QueryInput::Input(inputs) = asked.filter_input(key) {
                    passed.extend(inputs);
                }
            }
            prop_assert_eq!(passed, keys(&text));
        }
    }
}
