//! Replaces secrets in a text by a mark with their kind, such as `[redacted:github-token]`.
//!
//! Secrets are found by the shapes of keys and by the names that they are stored under. Terminal sequences must be
//! removed before, because they can split a key.
//!
//! A streamed text is checked line by line. At most [`LINE_HOLD_LIMIT`] bytes are held back: a longer line is cut where
//! there is no secret, after at least [`LOOKAHEAD`] more bytes are seen.

mod auth_headers;
mod byte_pattern;
mod env_secrets;
mod key_value;
mod line_scan;
mod next_line_values;
mod placeholders;
mod prefilter;
mod private_key;
mod redaction_rules;
mod secret_heuristics;
mod secret_lists;
mod secret_names;
mod secret_span;
mod secret_values;
mod separators;
mod token_patterns;
mod url_logins;

pub(crate) use env_secrets::may_hold_secret;
pub use env_secrets::{EnvSecrets, set_secret_source};
use line_scan::{replace_spans, scan_secrets, shift_anchors};
use next_line_values::AnnouncedValue;
use prefilter::AnchorMatch;
use private_key::KeyLogRecord;
pub(crate) use secret_names::is_secret_name;
#[cfg(test)]
use secret_span::MARK_PREFIX;
use secret_span::{SecretSpan, redaction_mark};
pub(crate) use secret_values::{redact_number, redact_value};

/// The most bytes of an unfinished line that are held back.
pub const LINE_HOLD_LIMIT: usize = 65_536;

/// How many bytes after a cut are seen first, in a line longer than [`LINE_HOLD_LIMIT`].
pub const LOOKAHEAD: usize = 16_384;

/// Redacts a whole text. Idempotent.
pub fn redact_text(text: &str) -> String {
    let mut redactor = SecretRedactor::new();
    let mut clean = redactor.push(text);
    clean.push_str(&redactor.finish());
    clean
}

/// Redacts a text that arrives in pieces; every split gives the same result.
#[derive(Debug, Clone)]
pub struct SecretRedactor {
    /// The unfinished line, or the rest of it.
    held: String,
    /// The character before `held`, if `held` does not start a line.
    before: Option<char>,
    /// The secret whose name was on the line before, with its value still to come.
    announced_value: Option<AnnouncedValue>,
    /// The position of a private key's lines in the lines of a log.
    key_record: Option<KeyLogRecord>,
    state: RedactorState,
    known_secrets: Option<&'static EnvSecrets>,
    /// The anchors of the current text; kept to reuse the allocation.
    anchors: Vec<AnchorMatch>,
}

impl Default for SecretRedactor {
    fn default() -> Self {
        Self {
            held: String::new(),
            before: None,
            announced_value: None,
            key_record: None,
            state: RedactorState::Text,
            known_secrets: env_secrets::env_secrets(),
            anchors: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum RedactorState {
    #[default]
    Text,
    /// Inside a private key whose first line was replaced and whose line end is not written yet.
    PrivateKey { swallowed: usize, indent: usize },
    /// Inside one token that is longer than a line may be.
    LongToken,
}

impl SecretRedactor {
    /// Makes a redactor at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the given values instead of those that the process knows.
    #[cfg(test)]
    fn with_known_secrets(known: &'static EnvSecrets) -> Self {
        Self {
            known_secrets: Some(known),
            ..Self::default()
        }
    }

    /// Adds the next piece and returns the lines that are now complete.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        self.push_to(piece, &mut out);
        out
    }

    /// Like [`SecretRedactor::push`], but appends to earlier output.
    pub fn push_to(&mut self, piece: &str, out: &mut String) {
        let mut rest = piece;
        while !rest.is_empty() {
            let lines = if self.held.is_empty() {
                whole_lines_len(rest)
            } else {
                0
            };
            if lines > 0 {
                self.on_lines(&rest[..lines], out);
                rest = &rest[lines..];
            } else {
                let (taken, after) = rest.split_at(self.accepted_len(rest));
                self.on_part(taken, out);
                rest = after;
            }
        }
    }

    /// Handles whole lines. Lines without any word that hints at a secret are skipped together.
    fn on_lines(&mut self, text: &str, out: &mut String) {
        let mut all = std::mem::take(&mut self.anchors);
        prefilter::collect_anchors(text, self.known_secrets, &mut all);
        let mut found = all.as_slice();
        let mut in_line = Vec::new();
        let mut at = 0;
        while at < text.len() {
            if self.is_at_rest() {
                let Some(next) = found.first() else {
                    out.push_str(&text[at..]);
                    break;
                };
                let line = memchr::memrchr(b'\n', &text.as_bytes()[at..next.start]);
                let line = line.map_or(at, |before| at + before + 1);
                out.push_str(&text[at..line]);
                at = line;
            }
            let end = line_end(text, at);
            let n = found.iter().take_while(|word| word.start < end).count();
            let (here, later) = found.split_at(n);
            in_line.clear();
            in_line.extend(here.iter().map(|word| word.moved_left(at)));
            self.on_whole_line(&text[at..end], &in_line, out);
            (found, at) = (later, end);
        }
        self.anchors = all;
    }

    fn on_whole_line(&mut self, line: &str, found: &[AnchorMatch], out: &mut String) {
        if line.len() > LINE_HOLD_LIMIT {
            let mut rest = line;
            while !rest.is_empty() {
                let (taken, after) = rest.split_at(self.accepted_len(rest));
                self.on_part(taken, out);
                rest = after;
            }
        } else if self.state == RedactorState::Text {
            self.on_text_line(line, found, out);
            self.before = None;
        } else {
            self.on_line(line, out);
        }
    }

    /// Handles as much as there is room for.
    fn on_part(&mut self, taken: &str, out: &mut String) {
        self.held.push_str(taken);
        if self.held.ends_with('\n') {
            let line = std::mem::take(&mut self.held);
            self.on_line(&line, out);
        } else if self.held.len() >= LINE_HOLD_LIMIT {
            self.on_hold_full(out);
        }
    }

    /// Returns whether the last line ended and nothing continues after it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.held.is_empty()
            && self.before.is_none()
            && self.announced_value.is_none()
            && self.key_record.is_none()
            && self.state == RedactorState::Text
    }

    /// Ends the text and returns what was held back.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        let line = std::mem::take(&mut self.held);
        if !line.is_empty() {
            self.on_line(&line, &mut out);
        }
        if let RedactorState::PrivateKey { .. } = self.state
            && (line.is_empty() || line.ends_with('\n'))
        {
            out.push('\n');
        }
        let known = self.known_secrets;
        *self = Self {
            known_secrets: known,
            ..Self::default()
        };
        out
    }

    /// Returns how many bytes to accept: up to a line's end or until the buffer is full, whichever is first. So what is
    /// checked at once depends on the text alone and never on its pieces.
    fn accepted_len(&self, text: &str) -> usize {
        let line = line_end(text, 0);
        let mut room = LINE_HOLD_LIMIT.saturating_sub(self.held.len()).min(line);
        while !text.is_char_boundary(room) {
            room += 1;
        }
        room
    }

    /// Handles a line with its end, or the last one without.
    fn on_line(&mut self, line: &str, out: &mut String) {
        match self.state {
            RedactorState::Text => self.on_any_line(line, out),
            RedactorState::PrivateKey { swallowed, indent } => {
                self.on_key_line(line, swallowed, indent, out)
            }
            RedactorState::LongToken => self.on_long_token(line, out),
        }
        if line.ends_with('\n') {
            self.before = None;
        }
    }

    fn on_any_line(&mut self, line: &str, out: &mut String) {
        let mut found = std::mem::take(&mut self.anchors);
        prefilter::collect_anchors(line, self.known_secrets, &mut found);
        self.on_text_line(line, &found, out);
        self.anchors = found;
    }

    fn on_text_line(&mut self, line: &str, found: &[AnchorMatch], out: &mut String) {
        let (content, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |content| (content, "\n"));
        let spans = self.scan_line(content, found);
        self.replace_until_stable(content, &spans, found, out);
        if let Some(key) = spans.last().filter(|span| span.open) {
            self.state = RedactorState::PrivateKey {
                swallowed: 0,
                indent: key.start,
            };
        } else {
            out.push_str(end);
        }
    }

    /// Finds every secret in one line, and the value that the line before announced.
    fn scan_line(&mut self, content: &str, found: &[AnchorMatch]) -> Vec<SecretSpan> {
        let announced = self.announced_value.take();
        let mut spans = scan_secrets(content, found, self.before, self.known_secrets);
        let mut goes_on = None;
        if let Some(announced) = announced {
            let alone = announced.find_value(content);
            goes_on = announced.after_line(content, alone.is_some());
            spans.extend(alone);
        }
        if let Some(record) = self.key_record.take() {
            let (key, is_over) = record.find_key_line(content);
            spans.extend(key);
            self.key_record = (!is_over).then_some(record);
        } else if found.iter().any(AnchorMatch::may_start_private_key) {
            self.key_record = KeyLogRecord::from_first_line(content);
        }
        line_scan::merge_spans(&mut spans);
        if self.before.is_none() {
            self.announced_value = AnnouncedValue::parse(content)
                .or(goes_on)
                .or_else(|| find_continued_value(content, spans.last()?));
        }
        spans
    }

    fn on_key_line(&mut self, line: &str, swallowed: usize, indent: usize, out: &mut String) {
        if let Some(end) = private_key::find_key_end(line) {
            self.state = RedactorState::Text;
            self.before = Some('-');
            if end < line.len() {
                self.on_any_line(&line[end..], out);
            }
        } else if private_key::is_key_body(line, indent) && swallowed < LINE_HOLD_LIMIT {
            self.state = RedactorState::PrivateKey {
                swallowed: swallowed + line.len(),
                indent,
            };
        } else {
            out.push('\n');
            self.state = RedactorState::Text;
            self.before = None;
            self.on_any_line(line, out);
        }
    }

    fn on_long_token(&mut self, text: &str, out: &mut String) {
        let Some(end) = text.find(is_token_end) else {
            return;
        };
        self.state = RedactorState::Text;
        self.before = Some(']');
        self.on_line(&text[end..], out);
    }

    /// Writes the part of an overlong line whose secrets are certain.
    fn on_hold_full(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            RedactorState::Text => self.held = self.release_beginning(held, out),
            RedactorState::PrivateKey { .. } => {
                out.push('\n');
                self.state = RedactorState::Text;
                self.before = None;
                self.held = self.release_beginning(held, out);
            }
            RedactorState::LongToken => {
                if let Some(end) = held.find(is_token_end) {
                    self.state = RedactorState::Text;
                    self.before = Some(']');
                    self.held = held[end..].to_owned();
                }
            }
        }
    }

    /// Replaces the spans, then searches again until nothing is found: a mark is a boundary that a secret next to it
    /// may have lacked before. No anchor begins or ends in a mark, so the anchors found before are complete.
    fn replace_until_stable(
        &self,
        text: &str,
        spans: &[SecretSpan],
        found: &[AnchorMatch],
        out: &mut String,
    ) {
        if spans.is_empty() {
            out.push_str(text);
            return;
        }
        let start = out.len();
        replace_spans(text, spans, out);
        let mut found = shift_anchors(found, spans);
        loop {
            let again = scan_secrets(&out[start..], &found, self.before, self.known_secrets);
            if again.is_empty() {
                return;
            }
            found = shift_anchors(&found, &again);
            let clean = out.split_off(start);
            replace_spans(&clean, &again, out);
        }
    }

    /// Writes the beginning of `held` and returns the rest, which must wait.
    fn release_beginning(&mut self, held: String, out: &mut String) -> String {
        let mut at = word_start(&held, held.len() - LOOKAHEAD);
        let mut found = std::mem::take(&mut self.anchors);
        // A secret that begins later does not reach back before the cut.
        let near = held.ceil_char_boundary(at + ANCHOR_REACH);
        prefilter::collect_anchors(&held[..near], self.known_secrets, &mut found);
        let mut spans = scan_secrets(&held, &found, self.before, self.known_secrets);
        for span in spans.iter().rev() {
            if span.context < at && at < span.end {
                at = span.context;
            }
        }
        if at == 0 {
            prefilter::collect_anchors(&held, self.known_secrets, &mut found);
            spans = scan_secrets(&held, &found, self.before, self.known_secrets);
            // A secret begins here: it is written once its end is seen, or else it is a long token.
            let first = spans.first().filter(|span| span.end == held.len());
            if let Some(span) = first {
                out.push_str(&held[..span.start]);
                out.push_str(&redaction_mark(span.kind));
                self.state = RedactorState::LongToken;
                self.anchors = found;
                return String::new();
            }
            at = spans.first().map_or(held.len(), |span| span.end);
        }
        let (now, later) = held.split_at(at);
        spans.retain(|span| span.end <= at);
        found.retain(|word| word.end <= at);
        self.replace_until_stable(now, &spans, &found, out);
        self.anchors = found;
        self.before = now.chars().next_back();
        later.to_owned()
    }
}

/// How many bytes after a cut an anchor may begin that belongs to text before the cut.
const ANCHOR_REACH: usize = 512;

/// The most bytes of whole lines that are searched at once.
const MAX_LINES_BYTES: usize = 1 << 18;

/// Returns the length of the whole lines at a text's start, or of as many as are searched at once.
fn whole_lines_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let last = |bytes| memchr::memrchr(b'\n', bytes).map(|at| at + 1);
    bytes
        .get(..MAX_LINES_BYTES)
        .and_then(last)
        .or_else(|| last(bytes))
        .unwrap_or(0)
}

/// Returns the end of the line that begins at a position, after its line feed.
fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |n| at + n + 1)
}

/// Moves a position back to the start of a word if there is one near, else to a character's start.
fn word_start(text: &str, at: usize) -> usize {
    let mut at = at;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let mut floor = at.saturating_sub(LOOKAHEAD);
    while !text.is_char_boundary(floor) {
        floor += 1;
    }
    text[floor..at]
        .rfind(char::is_whitespace)
        .map_or(at, |space| floor + space)
}

fn is_token_end(next: char) -> bool {
    next.is_whitespace()
        || matches!(
            next,
            '"' | '\'' | '`' | ',' | ';' | '&' | '<' | '>' | '(' | ')' | '|'
        )
}

/// Finds a value whose string continues on the next line.
fn find_continued_value(line: &str, last: &SecretSpan) -> Option<AnnouncedValue> {
    let is_cut = line.ends_with('\\') && last.end + 1 >= line.len() && !last.open;
    let is_kept = matches!(last.kind, "token" | "key" | "secret" | "password");
    (is_cut && is_kept).then(|| AnnouncedValue::from_continuation(last.kind))
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
