//! Takes everything out of a text that could drive a terminal or hide from its reader.
//!
//! It knows escape sequences and invisible characters, and refuses to know what the text means.
//!
//! What stays has no control character but newline and tab. Rules where habits differ:
//! - `\r\n`, a lone `\r`, U+0085, U+2028 and U+2029 become a newline, so nothing is overwritten.
//! - A control string (OSC, DCS, SOS, PM, APC) ends at BEL, at `ESC \`, at U+009C, at CAN or SUB, or
//!   where another escape begins. One that is never ended swallows no more than the rest of its line
//!   and no more than [`STRING_LIMIT`] characters of it.
//! - Joiners and variation selectors stay where they shape a visible character (emoji, scripts that
//!   need them), not after ASCII, where they could only split a word or smuggle data.

/// How many characters an unterminated control string may swallow.
pub const STRING_LIMIT: usize = 65_536;

/// How many characters of parameters a control sequence may have.
const CSI_LIMIT: usize = 1_024;

const ZERO_WIDTH_JOINER: char = '\u{200d}';
const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// Makes a whole text harmless. Idempotent.
pub fn sanitise(text: &str) -> String {
    let mut sanitiser = Sanitiser::new();
    let mut clean = sanitiser.push(text);
    clean.push_str(&sanitiser.finish());
    clean
}

/// Tells quickly that [`sanitise`] would change nothing; a text that it says no to may be harmless all the same.
pub(super) fn is_harmless(text: &str) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let stays = |c: char| {
        !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c) || is_joiner(c))
    };
    let mut bytes = text.as_bytes();
    while let Some(at) = bytes.iter().position(|byte| !is_plain(byte)) {
        let rest = &text[text.len() - bytes.len() + at..];
        match rest.chars().next() {
            Some(c) if !c.is_ascii() && stays(c) => bytes = &rest.as_bytes()[c.len_utf8()..],
            Some(_) | None => return false,
        }
    }
    true
}

/// Makes a text harmless that arrives in pieces; any split gives the same text.
#[derive(Debug, Clone, Default)]
pub struct Sanitiser {
    state: State,
    /// The last character given out, which decides whether a joiner may follow.
    last: Option<char>,
    /// An emoji style mark after a digit, held until a keycap follows or does not.
    keycap_pending: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// A carriage return was given out as a newline; a line feed that follows belongs to it.
    AfterReturn,
    Escape,
    EscapeIntermediate,
    Csi {
        swallowed: usize,
    },
    ControlString {
        swallowed: usize,
    },
    ControlStringEscape,
}

impl Sanitiser {
    /// Starts at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and gives out what is certain of it; at most one character is held back.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        let mut rest = piece;
        loop {
            let plain = self.plain_prefix(rest);
            if plain > 0 {
                let (run, after) = rest.split_at(plain);
                out.push_str(run);
                self.last = run.chars().next_back();
                rest = after;
            }
            let mut chars = rest.chars();
            let Some(next) = chars.next() else { break };
            self.on_char(next, &mut out);
            rest = chars.as_str();
        }
        out
    }

    /// Ends the text: an unfinished sequence is dropped, and the sanitiser starts anew.
    pub fn finish(&mut self) -> String {
        *self = Self::default();
        String::new()
    }

    /// Counts the leading bytes that pass unchanged, so that ordinary text is copied in runs.
    fn plain_prefix(&self, text: &str) -> usize {
        if self.state != State::Ground || self.keycap_pending {
            return 0;
        }
        text.bytes()
            .take_while(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
            .count()
    }

    fn on_char(&mut self, next: char, out: &mut String) {
        match self.state {
            State::Ground => self.on_ground(next, out),
            State::AfterReturn => self.on_after_return(next, out),
            State::Escape => self.on_escape(next, out),
            State::EscapeIntermediate => self.on_escape_intermediate(next, out),
            State::Csi { swallowed } => self.on_csi(next, swallowed, out),
            State::ControlString { swallowed } => self.on_control_string(next, swallowed, out),
            State::ControlStringEscape => self.on_control_string_escape(next, out),
        }
    }

    fn on_ground(&mut self, next: char, out: &mut String) {
        self.state = State::Ground;
        match next {
            '\u{1b}' => self.state = State::Escape,
            '\u{9b}' => self.state = State::Csi { swallowed: 0 },
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                self.state = State::ControlString { swallowed: 0 };
            }
            '\r' => {
                self.give('\n', out);
                self.state = State::AfterReturn;
            }
            '\u{85}' | '\u{2028}' | '\u{2029}' => self.give('\n', out),
            '\n' | '\t' => self.give(next, out),
            _ if next.is_control() || is_invisible(next) => {}
            _ if is_joiner(next) => self.on_joiner(next, out),
            _ => self.give(next, out),
        }
    }

    fn on_joiner(&mut self, next: char, out: &mut String) {
        match self.last {
            Some('0'..='9' | '#' | '*') if next == EMOJI_STYLE => self.keycap_pending = true,
            Some(last) if !last.is_ascii() && !is_joiner(last) => self.give(next, out),
            // An emoji may have its style mark before the joiner that ties the next one to it.
            Some(EMOJI_STYLE) if next == ZERO_WIDTH_JOINER => self.give(next, out),
            Some(_) | None => {}
        }
    }

    fn give(&mut self, next: char, out: &mut String) {
        if std::mem::take(&mut self.keycap_pending) && next == KEYCAP {
            out.push(EMOJI_STYLE);
        }
        out.push(next);
        self.last = Some(next);
    }

    fn on_after_return(&mut self, next: char, out: &mut String) {
        self.state = State::Ground;
        if next != '\n' {
            self.on_ground(next, out);
        }
    }

    fn on_escape(&mut self, next: char, out: &mut String) {
        match next {
            '[' => self.state = State::Csi { swallowed: 0 },
            ']' | 'P' | 'X' | '^' | '_' => self.state = State::ControlString { swallowed: 0 },
            ' '..='/' => self.state = State::EscapeIntermediate,
            '0'..='~' => self.state = State::Ground,
            _ => self.on_ground(next, out),
        }
    }

    fn on_escape_intermediate(&mut self, next: char, out: &mut String) {
        match next {
            ' '..='/' => {}
            '0'..='~' => self.state = State::Ground,
            _ => self.on_ground(next, out),
        }
    }

    /// A terminal obeys a newline or a tab inside a control sequence and goes on with the sequence.
    fn on_csi(&mut self, next: char, swallowed: usize, out: &mut String) {
        match next {
            '\n' | '\t' => self.give(next, out),
            '@'..='~' => self.state = State::Ground,
            ' '..='?' if swallowed < CSI_LIMIT => {
                self.state = State::Csi {
                    swallowed: swallowed + 1,
                };
            }
            '\u{18}' | '\u{1a}' => self.state = State::Ground,
            '\u{1b}' | '\r' => self.on_ground(next, out),
            '\0'..='\u{1f}' | '\u{7f}' => {}
            _ => self.on_ground(next, out),
        }
    }

    fn on_control_string(&mut self, next: char, swallowed: usize, out: &mut String) {
        match next {
            '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => self.state = State::Ground,
            '\u{1b}' => self.state = State::ControlStringEscape,
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => self.on_ground(next, out),
            '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                self.on_ground(next, out);
            }
            _ if swallowed >= STRING_LIMIT => self.on_ground(next, out),
            _ => {
                self.state = State::ControlString {
                    swallowed: swallowed + 1,
                }
            }
        }
    }

    fn on_control_string_escape(&mut self, next: char, out: &mut String) {
        match next {
            '\\' => self.state = State::Ground,
            _ => self.on_escape(next, out),
        }
    }
}

/// Characters that may stay after a visible character outside ASCII.
fn is_joiner(next: char) -> bool {
    matches!(
        next,
        ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

/// Characters that show nothing, reorder what is shown, or look like a space and are none.
fn is_invisible(next: char) -> bool {
    matches!(
        next,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}'
            | '\u{e01f0}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests;
