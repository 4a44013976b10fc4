//! Cleans agent text before it reaches events, logs, log.md, raw streams and screens.
//!
//! The sanitiser runs before the redactor, because an escape sequence inside a key would hide the key. `plan.md` and
//! `comments.md` keep the agent's bytes and are cleaned when they are shown.

mod duplicate_keys;

use serde_json::{Map, Value};

use super::redactor::{self, SecretRedactor, redact_text};
use super::sanitiser::{TextSanitiser, Utf8Decoder, is_harmless, sanitise_text};

/// Cleans a whole text. Idempotent.
pub fn clean_text(text: &str) -> String {
    redact_text(&sanitise_text(text))
}

/// How much of a text is cleaned at a time when only its beginning is needed.
const PIECE_BYTES: usize = 16 << 10;

/// Cleans the beginning of a text. If the result of [`clean_text`] has at most `most` bytes, returns all of it, else
/// its beginning with more than `most` bytes. The rest of the text costs nothing.
pub fn clean_prefix(text: &str, most: usize) -> String {
    let mut cleaner = TextCleaner::new();
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() && out.len() <= most {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        out.push_str(&cleaner.push(piece));
        rest = after;
    }
    if rest.is_empty() {
        out.push_str(&cleaner.finish());
    }
    out
}

/// How many bytes before the end of a text are cleaned with it: more than the redactor ever holds back.
const LOOKBEHIND_BYTES: usize = 2 * redactor::LINE_HOLD_LIMIT;

/// Cleans the end of a text. Returns what [`clean_text`] returns for the last `most` bytes, starting at the beginning
/// of their first line unless that line is long. Text far before them costs nothing.
pub fn clean_suffix(text: &str, most: usize) -> String {
    let (before, end) = text.split_at(text.ceil_char_boundary(text.len().saturating_sub(most)));
    let from = before.ceil_char_boundary(before.len().saturating_sub(LOOKBEHIND_BYTES));
    let mut cleaner = TextCleaner::new();
    // The text before decides whether much of the end is a secret, so it is cleaned too and its output dropped.
    drop(cleaner.push(before.get(from..).unwrap_or_default()));
    let mut out = cleaner.push(end);
    out.push_str(&cleaner.finish());
    out
}

/// Cleans a text to one line: every run of white space becomes one space. Idempotent.
pub fn clean_to_one_line(text: &str) -> String {
    clean_text(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Cleans a text that arrives in pieces; every split gives the same result.
///
/// Returns whole lines; holds back at most [`redactor::LINE_HOLD_LIMIT`] bytes of an unfinished line.
#[derive(Debug, Clone, Default)]
pub struct TextCleaner {
    sanitiser: TextSanitiser,
    redactor: SecretRedactor,
}

impl TextCleaner {
    /// Makes a cleaner at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next piece and returns the lines that are now complete.
    pub fn push(&mut self, piece: &str) -> String {
        let harmless = self.sanitiser.push(piece);
        self.redactor.push(&harmless)
    }

    /// Ends the text and returns what was held back; the cleaner is then ready for a new text.
    pub fn finish(&mut self) -> String {
        let harmless = self.sanitiser.finish();
        let mut out = self.redactor.push(&harmless);
        out.push_str(&self.redactor.finish());
        out
    }
}

/// What is removed from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScrubScope {
    #[default]
    All,
    Secrets,
    /// Only what controls a terminal or hides from the reader.
    Controls,
}

/// Cleans bytes that arrive in pieces, like [`TextCleaner`] does with text; invalid UTF-8 becomes U+FFFD.
#[derive(Debug, Clone, Default)]
pub struct ByteScrubber {
    scope: ScrubScope,
    decoder: Utf8Decoder,
    sanitiser: TextSanitiser,
    redactor: SecretRedactor,
}

impl ByteScrubber {
    /// Makes a scrubber at the beginning of a text.
    pub fn new(taken: ScrubScope) -> Self {
        Self {
            scope: taken,
            ..Self::default()
        }
    }

    /// Adds the next bytes and appends to `out` what is now certain.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        let text = self.decoder.push(bytes);
        scrub_text(
            self.scope,
            &mut self.sanitiser,
            &mut self.redactor,
            &text,
            out,
        );
    }

    /// Returns whether the next bytes are read as at the beginning of a text.
    pub fn is_at_rest(&self) -> bool {
        let can_rest = match self.scope {
            ScrubScope::All => self.sanitiser.is_at_rest() && self.redactor.is_at_rest(),
            ScrubScope::Secrets => self.redactor.is_at_rest(),
            ScrubScope::Controls => self.sanitiser.is_at_rest(),
        };
        can_rest && self.decoder.is_at_rest()
    }

    /// Ends the text and appends to `out` what was held back; the scrubber is then ready for a new text.
    pub fn finish(&mut self, out: &mut String) {
        let text = self.decoder.finish();
        scrub_text(
            self.scope,
            &mut self.sanitiser,
            &mut self.redactor,
            &text,
            out,
        );
        let rest = self.sanitiser.finish();
        match self.scope {
            ScrubScope::All => self.redactor.push_to(&rest, out),
            ScrubScope::Secrets | ScrubScope::Controls => out.push_str(&rest),
        }
        out.push_str(&self.redactor.finish());
    }
}

fn scrub_text(
    taken: ScrubScope,
    sanitiser: &mut TextSanitiser,
    redactor: &mut SecretRedactor,
    text: &str,
    out: &mut String,
) {
    match taken {
        ScrubScope::All => redactor.push_to(&sanitiser.push(text), out),
        ScrubScope::Secrets => redactor.push_to(text, out),
        ScrubScope::Controls => out.push_str(&sanitiser.push(text)),
    }
}

/// Cleans one line of a JSON stream; JSON stays JSON with the same structure.
///
/// Strings are cleaned, and values under secret names (`"password": …`, or `"value"` next to a `"name"` that is
/// secret) are replaced. A line that needs no cleaning is returned unchanged. A line that is not JSON is cleaned as
/// text, with its inner line breaks made spaces so that it stays one line. When a line is rewritten, of members with
/// the same name only the last is kept.
pub fn clean_json_line(line: &str) -> String {
    let (content, end) = line
        .strip_suffix('\n')
        .map_or((line, ""), |content| (content, "\n"));
    if is_plain_line(content) {
        return line.to_owned();
    }
    let mut cleaned = clean_line_content(content);
    cleaned.push_str(end);
    cleaned
}

fn clean_line_content(content: &str) -> String {
    match serde_json::from_str::<Value>(content) {
        Ok(value) => clean_parsed_line(content, value),
        Err(_) => clean_text(content).replace('\n', " "),
    }
}

/// Returns whether nothing in a line can need cleaning, however it is read: the text is harmless, its escapes are only
/// line ends, tabs, quotes and backslashes, and nothing in it hints at a secret.
fn is_plain_line(content: &str) -> bool {
    is_harmless(content)
        && !content.contains('\n')
        && has_plain_escapes(content)
        && !redactor::may_hold_secret(content)
}

fn has_plain_escapes(content: &str) -> bool {
    let mut rest = content;
    while let Some((_, after)) = rest.split_once('\\') {
        match after.strip_prefix(['n', 't', '"', '\\']) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

fn clean_parsed_line(content: &str, value: Value) -> String {
    let cleaned = clean_value(&value);
    // Parsing drops a repeated member, so an equal value does not prove that the line is clean.
    if cleaned == value && duplicate_keys::has_unique_keys(content) {
        return content.to_owned();
    }
    cleaned.to_string()
}

fn clean_value(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::String(clean_text(text)),
        Value::Array(items) => Value::Array(items.iter().map(clean_value).collect()),
        Value::Object(members) => Value::Object(clean_members(members)),
    }
}

fn clean_members(members: &Map<String, Value>) -> Map<String, Value> {
    let named = ["name", "key"]
        .iter()
        .filter_map(|member| members.get(*member)?.as_str())
        .find(|name| redactor::is_secret_name(name));
    let mut cleaned = Map::new();
    for (name, value) in members {
        let secret_name = match named {
            Some(named) if name == "value" => Some(named),
            Some(_) | None if redactor::is_secret_name(name) => Some(name.as_str()),
            Some(_) | None => None,
        };
        let value = match secret_name {
            Some(secret_name) => clean_secret_value(secret_name, value),
            None => clean_value(value),
        };
        let mut name = clean_text(name);
        while cleaned.contains_key(&name) {
            name.push('~');
        }
        cleaned.insert(name, value);
    }
    cleaned
}

/// Cleans the value under a secret name; the name applies to the items of a list as well.
fn clean_secret_value(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let harmless = sanitise_text(text);
            Value::String(
                redactor::redact_value(name, &harmless).unwrap_or_else(|| redact_text(&harmless)),
            )
        }
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| clean_secret_value(name, item))
                .collect(),
        ),
        Value::Number(_) => {
            redactor::redact_number(name).map_or_else(|| value.clone(), Value::String)
        }
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Object(members) => Value::Object(clean_members(members)),
    }
}

#[cfg(test)]
mod tests;
