//! Removes everything from a text that could control a terminal or hide from its reader.
//!
//! Handles escape sequences; `invisible_filter` decides which invisible characters may stay, and
//! `byte_decoder` turns bytes into text.
//!
//! The result has no control character except newline and tab. Rules where terminals differ:
//! - `\r\n`, a lone `\r`, U+0085, U+2028 and U+2029 become a newline, so nothing is overwritten.
//! - A control string (OSC, DCS, SOS, PM, APC) ends at BEL, at `ESC \`, at U+009C, at CAN or SUB, or where
//!   another escape begins. It continues on the next line only if what follows has no space in it and ends
//!   correctly within [`STRING_HOLD_LIMIT`] bytes: pictures do, and the text after an unterminated string does not.
//!   Text after an invalid byte is held back as well, on the same line: this way an unterminated string
//!   does not swallow it.
//! - A sequence may have control characters inside; a terminal obeys them first, and so does this code.

use std::borrow::Cow;

mod byte_decoder;
mod invisible_filter;

pub use byte_decoder::Utf8Decoder;
use invisible_filter::{InvisibleCharFilter, is_ordinary};

/// The most bytes of a control string's further lines that are held back.
pub const STRING_HOLD_LIMIT: usize = 1 << 20;

/// The most bytes of a title in terminal multiplexers, `ESC k … ESC \`.
const TITLE_LIMIT: usize = 256;

/// Makes a whole text harmless. Idempotent.
pub fn sanitise_text(text: &str) -> String {
    let mut sanitiser = TextSanitiser::new();
    let mut clean = sanitiser.push(text).into_owned();
    clean.push_str(&sanitiser.finish());
    clean
}

/// Returns quickly whether [`sanitise_text`] would change nothing; false does not prove that a text is harmful.
pub(super) fn is_harmless(text: &str) -> bool {
    plain_prefix_len(text) == text.len()
}

/// Sanitises a text that arrives in pieces; every split gives the same result.
#[derive(Debug, Clone, Default)]
pub struct TextSanitiser {
    state: SanitiserState,
    invisible_filter: InvisibleCharFilter,
    /// The part that is text after all if the control string before it does not end correctly.
    held: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SanitiserState {
    #[default]
    Ground,
    /// A carriage return was written as a newline; a line feed that follows belongs to it.
    AfterReturn,
    Escape,
    EscapeBlank,
    EscapeIntermediate,
    Csi(CsiLineState),
    /// After the beginning of an OSC.
    Osc,
    /// Inside a palette colour of the Linux console, with the number of digits still to come.
    Palette(u8),
    ControlString(ControlStringKind, ControlStringExtent),
    ControlStringEscape(ControlStringKind, ControlStringExtent),
}

/// What came last inside a control sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CsiLineState {
    InLine,
    AfterReturn,
    AfterLineFeed,
}

/// The kinds of control strings, by how they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlStringKind {
    /// OSC: a BEL ends it for every terminal.
    Osc,
    /// DCS, SOS, PM, APC: a BEL ends it for some terminals.
    Device,
    /// `ESC k`: only `ESC \` ends it, and most terminals do not know it.
    Title,
}

/// Whether a control string is still on its first line, or its rest is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlStringExtent {
    FirstLine,
    /// On its first line, after a byte that does not belong to such a string.
    Damaged,
    Held,
}

impl TextSanitiser {
    /// Makes a sanitiser at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next piece and returns the part that is certain.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        let plain = self.passing_prefix_len(piece);
        let (run, mut rest) = piece.split_at(plain);
        self.invisible_filter.note_plain_run(run);
        if rest.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut out = String::with_capacity(piece.len());
        out.push_str(run);
        let mut chars = rest.chars();
        while let Some(next) = chars.next() {
            self.on_char(next, &mut out);
            rest = chars.as_str();
            let (run, after) = rest.split_at(self.passing_prefix_len(rest));
            self.invisible_filter.note_plain_run(run);
            out.push_str(run);
            chars = after.chars();
        }
        Cow::Owned(out)
    }

    /// Returns whether nothing is open and no earlier character can shape the next one.
    pub(super) fn is_at_rest(&self) -> bool {
        self.state == SanitiserState::Ground
            && self.held.is_empty()
            && self.invisible_filter.is_at_rest()
    }

    /// Ends the text: an unfinished sequence is dropped, and the sanitiser is ready for a new text.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.release_held(&mut out);
        *self = Self::default();
        out
    }

    /// Returns how many leading bytes pass unchanged, so that ordinary text is copied in runs.
    fn passing_prefix_len(&self, text: &str) -> usize {
        if self.state != SanitiserState::Ground || self.invisible_filter.has_pending() {
            return 0;
        }
        plain_prefix_len(text)
    }

    fn on_char(&mut self, next: char, out: &mut String) {
        match self.state {
            SanitiserState::Ground => self.on_ground(next, out),
            SanitiserState::AfterReturn => self.on_after_return(next, out),
            SanitiserState::Escape => self.on_escape(next, out),
            SanitiserState::EscapeBlank => self.on_escape_blank(next, out),
            SanitiserState::EscapeIntermediate => self.on_escape_intermediate(next, out),
            SanitiserState::Csi(line) => self.on_csi(next, line, out),
            SanitiserState::Osc => self.on_osc(next, out),
            SanitiserState::Palette(n_digits) => self.on_palette(next, n_digits, out),
            SanitiserState::ControlString(kind, extent) => {
                self.on_control_string(next, kind, extent, out)
            }
            SanitiserState::ControlStringEscape(kind, extent) => {
                self.on_control_string_escape(next, kind, extent, out)
            }
        }
    }

    fn on_ground(&mut self, next: char, out: &mut String) {
        self.state = SanitiserState::Ground;
        match next {
            '\u{1b}' => self.state = SanitiserState::Escape,
            '\u{9b}' => self.state = SanitiserState::Csi(CsiLineState::InLine),
            '\u{9d}' => self.state = SanitiserState::Osc,
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                self.state = SanitiserState::ControlString(
                    ControlStringKind::Device,
                    ControlStringExtent::FirstLine,
                );
            }
            '\r' => {
                self.invisible_filter.push_char('\n', out);
                self.state = SanitiserState::AfterReturn;
            }
            '\u{85}' | '\u{2028}' | '\u{2029}' => self.invisible_filter.push_char('\n', out),
            '\n' | '\t' => self.invisible_filter.push_char(next, out),
            _ if next.is_control() => {}
            _ => self.invisible_filter.push_char(next, out),
        }
    }

    fn on_after_return(&mut self, next: char, out: &mut String) {
        self.state = SanitiserState::Ground;
        if next != '\n' {
            self.on_ground(next, out);
        }
    }

    fn on_escape(&mut self, next: char, out: &mut String) {
        self.state = SanitiserState::Escape;
        match next {
            '[' => self.state = SanitiserState::Csi(CsiLineState::InLine),
            ']' => self.state = SanitiserState::Osc,
            'P' | 'X' | '^' | '_' => {
                self.state = SanitiserState::ControlString(
                    ControlStringKind::Device,
                    ControlStringExtent::FirstLine,
                )
            }
            'k' => {
                self.state = SanitiserState::ControlString(
                    ControlStringKind::Title,
                    ControlStringExtent::Held,
                )
            }
            ' ' => self.state = SanitiserState::EscapeBlank,
            '!'..='/' => self.state = SanitiserState::EscapeIntermediate,
            '0'..='~' | '\u{18}' | '\u{1a}' => self.state = SanitiserState::Ground,
            _ => self.on_inside(next, out),
        }
    }

    /// Five sequences contain a space; otherwise it is the space between a stray escape and the next word.
    fn on_escape_blank(&mut self, next: char, out: &mut String) {
        if matches!(next, 'F' | 'G' | 'L'..='N') {
            self.state = SanitiserState::Ground;
        } else {
            self.invisible_filter.push_char(' ', out);
            self.on_ground(next, out);
        }
    }

    fn on_escape_intermediate(&mut self, next: char, out: &mut String) {
        match next {
            ' '..='/' => {}
            '0'..='~' | '\u{18}' | '\u{1a}' => self.state = SanitiserState::Ground,
            _ => self.on_inside(next, out),
        }
    }

    /// Handles what is in no sequence: a terminal obeys a tab inside one; a line's end and other text end it.
    fn on_inside(&mut self, next: char, out: &mut String) {
        match next {
            '\t' => self.invisible_filter.push_char(next, out),
            '\u{1b}' | '\n' | '\r' => self.on_ground(next, out),
            '\0'..='\u{1f}' | '\u{7f}' => {}
            _ => self.on_ground(next, out),
        }
    }

    /// A terminal obeys a line's end inside a control sequence. A letter directly after it belongs to the next line.
    fn on_csi(&mut self, next: char, line: CsiLineState, out: &mut String) {
        match (next, line) {
            ('\n', CsiLineState::AfterReturn) => {
                self.state = SanitiserState::Csi(CsiLineState::AfterLineFeed)
            }
            ('\n', _) => {
                self.invisible_filter.push_char('\n', out);
                self.state = SanitiserState::Csi(CsiLineState::AfterLineFeed);
            }
            ('\r', _) => {
                self.invisible_filter.push_char('\n', out);
                self.state = SanitiserState::Csi(CsiLineState::AfterReturn);
            }
            ('@'..='~', CsiLineState::InLine) | ('\u{18}' | '\u{1a}', _) => {
                self.state = SanitiserState::Ground
            }
            ('@'..='~', CsiLineState::AfterReturn | CsiLineState::AfterLineFeed) => {
                self.on_ground(next, out)
            }
            (' '..='?', _) => self.state = SanitiserState::Csi(CsiLineState::InLine),
            _ => self.on_inside(next, out),
        }
    }

    /// Two commands of the Linux console have a fixed length; all others end like strings.
    fn on_osc(&mut self, next: char, out: &mut String) {
        match next {
            'P' => self.state = SanitiserState::Palette(7),
            'R' => self.state = SanitiserState::Ground,
            _ => self.on_control_string(
                next,
                ControlStringKind::Osc,
                ControlStringExtent::FirstLine,
                out,
            ),
        }
        if self.state == SanitiserState::Osc {
            self.state = SanitiserState::ControlString(
                ControlStringKind::Osc,
                ControlStringExtent::FirstLine,
            );
        }
    }

    fn on_palette(&mut self, next: char, n_digits: u8, out: &mut String) {
        match n_digits {
            1 if next.is_ascii_hexdigit() => self.state = SanitiserState::Ground,
            _ if next.is_ascii_hexdigit() => self.state = SanitiserState::Palette(n_digits - 1),
            _ => {
                self.state = SanitiserState::ControlString(
                    ControlStringKind::Osc,
                    ControlStringExtent::FirstLine,
                );
                self.on_control_string(
                    next,
                    ControlStringKind::Osc,
                    ControlStringExtent::FirstLine,
                    out,
                );
            }
        }
    }

    fn on_control_string(
        &mut self,
        next: char,
        kind: ControlStringKind,
        extent: ControlStringExtent,
        out: &mut String,
    ) {
        let is_break = matches!(next, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        match next {
            '\u{9c}' => self.end_control_string(),
            '\u{7}' if kind == ControlStringKind::Osc => self.end_control_string(),
            '\u{7}' if kind == ControlStringKind::Device => {
                self.state = SanitiserState::ControlString(kind, ControlStringExtent::Held)
            }
            '\u{1b}' => self.state = SanitiserState::ControlStringEscape(kind, extent),
            '\u{18}' | '\u{1a}' => self.release_held(out),
            '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                self.release_held(out);
                self.on_ground(next, out);
            }
            char::REPLACEMENT_CHARACTER | '\u{80}'..='\u{9f}'
                if extent == ControlStringExtent::FirstLine && !is_break =>
            {
                self.state = SanitiserState::ControlString(kind, ControlStringExtent::Damaged);
            }
            _ if extent == ControlStringExtent::FirstLine && !is_break => {}
            _ if extent == ControlStringExtent::Damaged
                && !is_break
                && self.held.len() < STRING_HOLD_LIMIT =>
            {
                self.held.push(next);
            }
            _ if self.can_hold(next, kind) => {
                self.held.push(next);
                self.state = SanitiserState::ControlString(kind, ControlStringExtent::Held);
            }
            _ => {
                self.release_held(out);
                self.on_char(next, out);
            }
        }
    }

    fn can_hold(&self, next: char, kind: ControlStringKind) -> bool {
        match kind {
            ControlStringKind::Title => self.held.len() < TITLE_LIMIT && !next.is_control(),
            ControlStringKind::Osc | ControlStringKind::Device => {
                self.held.len() < STRING_HOLD_LIMIT && !matches!(next, ' ' | '\t' | '\u{a0}')
            }
        }
    }

    fn on_control_string_escape(
        &mut self,
        next: char,
        kind: ControlStringKind,
        extent: ControlStringExtent,
        out: &mut String,
    ) {
        match next {
            '\\' => self.end_control_string(),
            '\0' => self.state = SanitiserState::ControlStringEscape(kind, extent),
            _ => {
                self.release_held(out);
                self.on_escape(next, out);
            }
        }
    }

    fn end_control_string(&mut self) {
        self.held.clear();
        self.state = SanitiserState::Ground;
    }

    /// Writes the held text as text. No sequence begins in it: that would have ended it.
    fn release_held(&mut self, out: &mut String) {
        self.state = SanitiserState::Ground;
        for held in std::mem::take(&mut self.held).chars() {
            self.on_char(held, out);
        }
    }
}

/// Returns how many leading bytes of a text stay unchanged, whatever comes before them.
fn plain_prefix_len(text: &str) -> usize {
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

/// Returns how many leading bytes are printable ASCII, newlines or tabs.
fn plain_ascii_len(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| byte.wrapping_sub(b' ') < 0x5f || matches!(byte, b'\n' | b'\t');
    // A whole block is checked without a branch, so that the compiler can check many bytes at a time.
    let blocks = bytes.chunks_exact(32);
    let is_plain_block = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let at = 32 * blocks.take_while(is_plain_block).count();
    at + bytes[at..].iter().take_while(|byte| is_plain(byte)).count()
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
