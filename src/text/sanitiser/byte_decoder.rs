//! Decodes bytes to text, and separates invalid UTF-8 into control bytes and damage.
//!
//! Nothing is dropped here. Some terminals take a bare byte 0x80–0x9f for a control character, so it is decoded as one
//! here, and the sanitiser can remove the sequence that it begins. The same holds for control characters that are
//! written in more bytes than needed. All other damage becomes U+FFFD.

use std::borrow::Cow;
use std::str::from_utf8;

/// Decodes bytes that arrive in pieces; every split gives the same result.
#[derive(Debug, Clone, Default)]
pub struct Utf8Decoder {
    /// The beginning of an incomplete character, at most three bytes.
    held: Vec<u8>,
}

impl Utf8Decoder {
    /// Adds the next bytes and returns the characters that are now complete.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.held.is_empty() {
            if let Ok(text) = from_utf8(bytes) {
                return Cow::Borrowed(text);
            }
            return Cow::Owned(self.decode(bytes));
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        Cow::Owned(self.decode(&all))
    }

    /// Returns whether no character is incomplete.
    pub(in crate::text) fn is_at_rest(&self) -> bool {
        self.held.is_empty()
    }

    /// Ends the text: an incomplete character is damage.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let mut out = String::new();
        let mut rest = held.as_slice();
        while let Err(damage) = from_utf8(rest) {
            let len = damage.error_len().unwrap_or(rest.len());
            rest = &rest[push_damage(rest, len, &mut out)..];
        }
        out
    }

    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut out = String::with_capacity(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            let valid = match from_utf8(rest) {
                Ok(text) => {
                    out.push_str(text);
                    break;
                }
                Err(error) => error,
            };
            let (text, after) = rest.split_at(valid.valid_up_to());
            out.push_str(&String::from_utf8_lossy(text));
            let damaged = valid.error_len();
            if damaged.is_none() || is_overlong_prefix(after) {
                self.held = after.to_vec();
                break;
            }
            rest = &after[push_damage(after, damaged.unwrap_or(1), &mut out)..];
        }
        out
    }
}

/// Writes one piece of damage of `len` bytes and returns how many bytes it took.
fn push_damage(bytes: &[u8], len: usize, out: &mut String) -> usize {
    match (decode_overlong(bytes), bytes) {
        (Some((control, taken)), _) => {
            out.push(control);
            taken
        }
        (None, [byte @ 0x80..=0x9f, ..]) if len == 1 => {
            out.push(char::from(*byte));
            1
        }
        (None, _) => {
            out.push(char::REPLACEMENT_CHARACTER);
            len
        }
    }
}

/// How characters below 0x80 and 0x100 begin when they are written in two, three or four bytes that they do not need.
const OVERLONG: [&[u8]; 6] = [
    &[0xc0],
    &[0xc1],
    &[0xe0, 0x80],
    &[0xe0, 0x82],
    &[0xf0, 0x80, 0x80],
    &[0xf0, 0x80, 0x82],
];

/// Reads a character that is written in more bytes than needed.
fn decode_overlong(bytes: &[u8]) -> Option<(char, usize)> {
    let lead = OVERLONG.iter().find(|lead| bytes.starts_with(lead))?;
    let last = *bytes.get(lead.len())?;
    let above = lead.last()? & 0x03;
    let is_continued = last & 0xc0 == 0x80;
    is_continued.then(|| (char::from(above << 6 | last & 0x3f), lead.len() + 1))
}

/// Returns whether the next bytes may complete such a character.
fn is_overlong_prefix(bytes: &[u8]) -> bool {
    bytes.len() < 4 && OVERLONG.iter().any(|lead| lead.starts_with(bytes))
}
