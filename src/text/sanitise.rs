//! Takes everything out of a text that could drive a terminal or hide from its reader.
//!
//! It knows escape sequences, and refuses to know what the text means. Which invisible characters may stay
//! is `shaping`'s to say, how bytes become text is `bytes`'.
//!
//! What stays has no control character but newline and tab. Rules where habits differ:
//! - `\r\n`, a lone `\r`, U+0085, U+2028 and U+2029 become a newline, so nothing is overwritten.
//! - A control string (OSC, DCS, SOS, PM, APC) ends at BEL, at `ESC \`, at U+009C, at CAN or SUB, or where
//!   another escape begins. It goes on in the next line only if what follows has no blank in it and ends as
//!   it should, within [`HOLD`] bytes: pictures do, and the text after a string that nobody ended does not.
//!   What stands behind a byte that is no text is held, too, in the same line: a string that nobody ended does not
//!   swallow it.
//! - A sequence may have control characters inside; a terminal obeys them first, and so does this.

use std::borrow::Cow;

mod bytes;
mod shaping;

pub use bytes::Decoder;
use shaping::{Shaper, is_ordinary};

/// The most bytes that are held back of a control string's further lines.
pub const HOLD: usize = 1 << 20;

/// The most bytes of a title as the terminal multiplexers have it, `ESC k … ESC \`.
const TITLE_LIMIT: usize = 256;

/// Makes a whole text harmless. Idempotent.
pub fn sanitise(text: &str) -> String {
    let mut sanitiser = Sanitiser::new();
    let mut clean = sanitiser.push(text).into_owned();
    clean.push_str(&sanitiser.finish());
    clean
}

/// Tells quickly that [`sanitise`] would change nothing; a text that it says no to may be harmless all the same.
pub(super) fn is_harmless(text: &str) -> bool {
    plain_len(text) == text.len()
}

/// Makes a text harmless that arrives in pieces; any split gives the same text.
#[derive(Debug, Clone, Default)]
pub struct Sanitiser {
    state: State,
    shaper: Shaper,
    /// What is text after all if the control string before it is not ended as it should be.
    held: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// A carriage return was given out as a newline; a line feed that follows belongs to it.
    AfterReturn,
    Escape,
    EscapeBlank,
    EscapeIntermediate,
    Csi(Line),
    /// After the beginning of an OSC.
    Command,
    /// Inside a colour of the Linux console's palette; so many digits are still to come.
    Palette(u8),
    Text(Kind, Extent),
    TextEscape(Kind, Extent),
}

/// What came last inside a control sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Goes,
    Returned,
    Fed,
}

/// Kinds of control strings, by how they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// OSC: a BEL ends it for every terminal.
    Command,
    /// DCS, SOS, PM, APC: a BEL ends it for some.
    Device,
    /// `ESC k`: nothing but `ESC \` ends it, and most terminals do not know it.
    Title,
}

/// Whether a control string is still on its first line, or its rest is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    First,
    /// On its first line, behind a byte that belongs to no such string.
    Damaged,
    Held,
}

impl Sanitiser {
    /// Starts at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and gives out what is certain of it.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        let plain = self.plain_prefix(piece);
        let (run, mut rest) = piece.split_at(plain);
        self.shaper.pass(run);
        if rest.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut out = String::with_capacity(piece.len());
        out.push_str(run);
        let mut chars = rest.chars();
        while let Some(next) = chars.next() {
            self.on_char(next, &mut out);
            rest = chars.as_str();
            let (run, after) = rest.split_at(self.plain_prefix(rest));
            self.shaper.pass(run);
            out.push_str(run);
            chars = after.chars();
        }
        Cow::Owned(out)
    }

    /// Tells that nothing is open, and that no character before can shape the next.
    pub(super) fn is_at_rest(&self) -> bool {
        self.state == State::Ground && self.held.is_empty() && self.shaper.is_at_rest()
    }

    /// Ends the text: an unfinished sequence is dropped, and the sanitiser starts anew.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.release(&mut out);
        *self = Self::default();
        out
    }

    /// Counts the leading bytes that pass unchanged, so that ordinary text is copied in runs.
    fn plain_prefix(&self, text: &str) -> usize {
        if self.state != State::Ground || self.shaper.waits() {
            return 0;
        }
        plain_len(text)
    }

    fn on_char(&mut self, next: char, out: &mut String) {
        match self.state {
            State::Ground => self.on_ground(next, out),
            State::AfterReturn => self.on_after_return(next, out),
            State::Escape => self.on_escape(next, out),
            State::EscapeBlank => self.on_escape_blank(next, out),
            State::EscapeIntermediate => self.on_escape_intermediate(next, out),
            State::Csi(line) => self.on_csi(next, line, out),
            State::Command => self.on_command(next, out),
            State::Palette(n_digits) => self.on_palette(next, n_digits, out),
            State::Text(kind, extent) => self.on_text(next, kind, extent, out),
            State::TextEscape(kind, extent) => self.on_text_escape(next, kind, extent, out),
        }
    }

    fn on_ground(&mut self, next: char, out: &mut String) {
        self.state = State::Ground;
        match next {
            '\u{1b}' => self.state = State::Escape,
            '\u{9b}' => self.state = State::Csi(Line::Goes),
            '\u{9d}' => self.state = State::Command,
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                self.state = State::Text(Kind::Device, Extent::First);
            }
            '\r' => {
                self.shaper.take('\n', out);
                self.state = State::AfterReturn;
            }
            '\u{85}' | '\u{2028}' | '\u{2029}' => self.shaper.take('\n', out),
            '\n' | '\t' => self.shaper.take(next, out),
            _ if next.is_control() => {}
            _ => self.shaper.take(next, out),
        }
    }

    fn on_after_return(&mut self, next: char, out: &mut String) {
        self.state = State::Ground;
        if next != '\n' {
            self.on_ground(next, out);
        }
    }

    fn on_escape(&mut self, next: char, out: &mut String) {
        self.state = State::Escape;
        match next {
            '[' => self.state = State::Csi(Line::Goes),
            ']' => self.state = State::Command,
            'P' | 'X' | '^' | '_' => self.state = State::Text(Kind::Device, Extent::First),
            'k' => self.state = State::Text(Kind::Title, Extent::Held),
            ' ' => self.state = State::EscapeBlank,
            '!'..='/' => self.state = State::EscapeIntermediate,
            '0'..='~' | '\u{18}' | '\u{1a}' => self.state = State::Ground,
            _ => self.on_inside(next, out),
        }
    }

    /// Five sequences have a blank; otherwise it is the one between a stray escape and the next word.
    fn on_escape_blank(&mut self, next: char, out: &mut String) {
        if matches!(next, 'F' | 'G' | 'L'..='N') {
            self.state = State::Ground;
        } else {
            self.shaper.take(' ', out);
            self.on_ground(next, out);
        }
    }

    fn on_escape_intermediate(&mut self, next: char, out: &mut String) {
        match next {
            ' '..='/' => {}
            '0'..='~' | '\u{18}' | '\u{1a}' => self.state = State::Ground,
            _ => self.on_inside(next, out),
        }
    }

    /// What belongs to no sequence: a tab is obeyed inside one, a line's end and other text end it.
    fn on_inside(&mut self, next: char, out: &mut String) {
        match next {
            '\t' => self.shaper.take(next, out),
            '\u{1b}' | '\n' | '\r' => self.on_ground(next, out),
            '\0'..='\u{1f}' | '\u{7f}' => {}
            _ => self.on_ground(next, out),
        }
    }

    /// A line's end is obeyed inside a control sequence. A letter right after it is the next line's.
    fn on_csi(&mut self, next: char, line: Line, out: &mut String) {
        match (next, line) {
            ('\n', Line::Returned) => self.state = State::Csi(Line::Fed),
            ('\n', _) => {
                self.shaper.take('\n', out);
                self.state = State::Csi(Line::Fed);
            }
            ('\r', _) => {
                self.shaper.take('\n', out);
                self.state = State::Csi(Line::Returned);
            }
            ('@'..='~', Line::Goes) | ('\u{18}' | '\u{1a}', _) => self.state = State::Ground,
            ('@'..='~', Line::Returned | Line::Fed) => self.on_ground(next, out),
            (' '..='?', _) => self.state = State::Csi(Line::Goes),
            _ => self.on_inside(next, out),
        }
    }

    /// Two commands of the Linux console have a fixed length; all others end as strings do.
    fn on_command(&mut self, next: char, out: &mut String) {
        match next {
            'P' => self.state = State::Palette(7),
            'R' => self.state = State::Ground,
            _ => self.on_text(next, Kind::Command, Extent::First, out),
        }
        if self.state == State::Command {
            self.state = State::Text(Kind::Command, Extent::First);
        }
    }

    fn on_palette(&mut self, next: char, n_digits: u8, out: &mut String) {
        match n_digits {
            1 if next.is_ascii_hexdigit() => self.state = State::Ground,
            _ if next.is_ascii_hexdigit() => self.state = State::Palette(n_digits - 1),
            _ => {
                self.state = State::Text(Kind::Command, Extent::First);
                self.on_text(next, Kind::Command, Extent::First, out);
            }
        }
    }

    fn on_text(&mut self, next: char, kind: Kind, extent: Extent, out: &mut String) {
        let is_break = matches!(next, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        match next {
            '\u{9c}' => self.end_text(),
            '\u{7}' if kind == Kind::Command => self.end_text(),
            '\u{7}' if kind == Kind::Device => self.state = State::Text(kind, Extent::Held),
            '\u{1b}' => self.state = State::TextEscape(kind, extent),
            '\u{18}' | '\u{1a}' => self.release(out),
            '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                self.release(out);
                self.on_ground(next, out);
            }
            char::REPLACEMENT_CHARACTER | '\u{80}'..='\u{9f}'
                if extent == Extent::First && !is_break =>
            {
                self.state = State::Text(kind, Extent::Damaged);
            }
            _ if extent == Extent::First && !is_break => {}
            _ if extent == Extent::Damaged && !is_break && self.held.len() < HOLD => {
                self.held.push(next);
            }
            _ if self.may_hold(next, kind) => {
                self.held.push(next);
                self.state = State::Text(kind, Extent::Held);
            }
            _ => {
                self.release(out);
                self.on_char(next, out);
            }
        }
    }

    fn may_hold(&self, next: char, kind: Kind) -> bool {
        match kind {
            Kind::Title => self.held.len() < TITLE_LIMIT && !next.is_control(),
            Kind::Command | Kind::Device => {
                self.held.len() < HOLD && !matches!(next, ' ' | '\t' | '\u{a0}')
            }
        }
    }

    fn on_text_escape(&mut self, next: char, kind: Kind, extent: Extent, out: &mut String) {
        match next {
            '\\' => self.end_text(),
            '\0' => self.state = State::TextEscape(kind, extent),
            _ => {
                self.release(out);
                self.on_escape(next, out);
            }
        }
    }

    fn end_text(&mut self) {
        self.held.clear();
        self.state = State::Ground;
    }

    /// Gives out what is held as the text that it is. No sequence begins in it: that would have ended it.
    fn release(&mut self, out: &mut String) {
        self.state = State::Ground;
        for held in std::mem::take(&mut self.held).chars() {
            self.on_char(held, out);
        }
    }
}

/// Counts the leading bytes of a text that nothing here would touch, whatever comes before them.
fn plain_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += plain_ascii_len(&bytes[at..]);
        match text[at..].chars().next() {
            Some(next) if !next.is_ascii() && is_ordinary(next) => at += next.len_utf8(),
            Some(_) | None => return at,
        }
    }
}

/// Counts the leading bytes that are printable ASCII, newlines or tabs.
fn plain_ascii_len(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| byte.wrapping_sub(b' ') < 0x5f || matches!(byte, b'\n' | b'\t');
    // A whole block is judged without a branch, which the compiler does many bytes at a time.
    let blocks = bytes.chunks_exact(32);
    let is_plain_block = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let at = 32 * blocks.take_while(is_plain_block).count();
    at + bytes[at..].iter().take_while(|byte| is_plain(byte)).count()
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
