//! Replaces secrets in a text by a mark of their kind, such as `[redacted:github-token]`.
//!
//! It knows the shapes of keys and the names under which they are kept, and refuses to know where
//! the text comes from or goes to. Terminal sequences must be taken out before, or they split a key.
//!
//! A streamed text is judged line by line. At most [`HOLD`] bytes are held back: a longer line is
//! cut where no secret is, after at least [`LOOKAHEAD`] more bytes have been seen.

use std::borrow::Cow;

mod addresses;
mod anchors;
mod announced;
mod headers;
mod judge;
mod known;
mod names;
mod pairs;
mod pattern;
mod placeholders;
mod private_key;
mod rules;
mod shapes;
mod signs;
mod values;

use anchors::Anchor;
use announced::Announced;
pub(crate) use known::may_hold_secret;
pub use known::{Known, know_by};
pub(crate) use names::is_secret_name;
use private_key::Record;
use shapes::Passed;
pub(crate) use values::{redact_number, redact_value};

/// The most bytes that are held back of an unfinished line.
pub const HOLD: usize = 65_536;

/// How many bytes are seen beyond a cut in a line that is longer than [`HOLD`].
pub const LOOKAHEAD: usize = 16_384;

/// Every replacement starts so; what starts so is never replaced again.
const MARK: &str = "[redacted:";

/// Redacts a whole text. Idempotent.
pub fn redact(text: &str) -> String {
    let mut redactor = Redactor::new();
    let mut clean = redactor.push(text);
    clean.push_str(&redactor.finish());
    clean
}

/// Redacts a text that arrives in pieces; any split gives the same text.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// The unfinished line, or what is left of it.
    held: String,
    /// The character before `held`, when `held` does not start a line.
    before: Option<char>,
    /// The secret whose name the line before said, its value to follow.
    announced: Option<Announced>,
    /// The place in the lines of a log where those of a private key stand.
    record: Option<Record>,
    state: State,
    known: Option<&'static Known>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self {
            held: String::new(),
            before: None,
            announced: None,
            record: None,
            state: State::Text,
            known: known::known(),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Inside a private key whose first line was replaced and whose line end is still owed.
    PrivateKey { swallowed: usize, indent: usize },
    /// Inside one token longer than a line may be.
    LongToken,
}

/// A secret's place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    /// Where what makes it a secret begins: its name, or itself.
    context: usize,
    start: usize,
    end: usize,
    kind: &'static str,
    /// Whether the secret goes on in the next line.
    open: bool,
    /// Set when the mark must stand in quotes: how long one is, with its backslashes.
    quote: Option<usize>,
}

impl Redactor {
    /// Starts at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces other values than those that the process knows.
    #[cfg(test)]
    fn with_known(known: &'static Known) -> Self {
        Self {
            known: Some(known),
            ..Self::default()
        }
    }

    /// Takes the next piece and gives out the lines that are complete with it.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        self.push_to(piece, &mut out);
        out
    }

    /// As [`Redactor::push`], onto what was given out before.
    pub fn push_to(&mut self, piece: &str, out: &mut String) {
        let mut rest = piece;
        while !rest.is_empty() {
            let plain = self.plain_lines(rest);
            out.push_str(&rest[..plain]);
            rest = &rest[plain..];
            let (taken, after) = rest.split_at(self.room_in(rest));
            rest = after;
            if self.held.is_empty() && taken.ends_with('\n') {
                self.on_line(taken, out);
                continue;
            }
            self.held.push_str(taken);
            if self.held.ends_with('\n') {
                let line = std::mem::take(&mut self.held);
                self.on_line(&line, out);
            } else if self.held.len() >= HOLD {
                self.on_full(out);
            }
        }
    }

    /// Tells that a line ended and nothing is open beyond it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.held.is_empty()
            && self.before.is_none()
            && self.announced.is_none()
            && self.record.is_none()
            && self.state == State::Text
    }

    /// Counts the bytes of the whole lines at a text's start that nothing hints at.
    fn plain_lines(&self, text: &str) -> usize {
        if !self.is_at_rest() {
            return 0;
        }
        let upto = known::first_hint(text, self.known).unwrap_or(text.len());
        // The hint may have begun as many bytes before it was seen.
        let upto = upto.saturating_sub(anchors::BEGINS_BEFORE);
        let lines = memchr::memrchr(b'\n', &text.as_bytes()[..upto]).map_or(0, |at| at + 1);
        // Overlong lines are cut the same way whatever comes before them.
        if text.as_bytes()[..lines].len() > HOLD && longest_line(&text[..lines]) >= HOLD {
            0
        } else {
            lines
        }
    }

    /// Ends the text and gives out what was held back.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        let line = std::mem::take(&mut self.held);
        if !line.is_empty() {
            self.on_line(&line, &mut out);
        }
        if let State::PrivateKey { .. } = self.state
            && (line.is_empty() || line.ends_with('\n'))
        {
            out.push('\n');
        }
        let known = self.known;
        *self = Self {
            known,
            ..Self::default()
        };
        out
    }

    /// Counts the bytes to take: up to a line's end or a full hold, whichever is first, so that
    /// what is judged at once depends on the text alone and never on its pieces.
    fn room_in(&self, text: &str) -> usize {
        let line = memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1);
        let mut room = HOLD.saturating_sub(self.held.len()).min(line);
        while !text.is_char_boundary(room) {
            room += 1;
        }
        room
    }

    /// Takes a line with its end, or the last one without.
    fn on_line(&mut self, line: &str, out: &mut String) {
        match self.state {
            State::Text => self.on_text_line(line, out),
            State::PrivateKey { swallowed, indent } => {
                self.on_key_line(line, swallowed, indent, out)
            }
            State::LongToken => self.on_long_token(line, out),
        }
        if line.ends_with('\n') {
            self.before = None;
        }
    }

    fn on_text_line(&mut self, line: &str, out: &mut String) {
        let (content, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |content| (content, "\n"));
        let spans = self.scan_line(content);
        out.push_str(&self.settle(content, &spans));
        if let Some(key) = spans.last().filter(|span| span.open) {
            self.state = State::PrivateKey {
                swallowed: 0,
                indent: key.start,
            };
        } else {
            out.push_str(end);
        }
    }

    /// Finds every secret of one line, and what the line before announced.
    fn scan_line(&mut self, content: &str) -> Vec<Span> {
        let announced = self.announced.take();
        let mut spans = scan(content, self.before, self.known);
        let mut goes_on = None;
        if let Some(announced) = announced {
            let alone = announced.find(content);
            goes_on = announced.after(content, alone.is_some());
            spans.extend(alone);
        }
        if let Some(record) = self.record.take() {
            let (key, is_over) = record.find(content);
            spans.extend(key);
            self.record = (!is_over).then_some(record);
        } else {
            self.record = Record::opened_by(content);
        }
        spans = join(spans);
        if self.before.is_none() {
            self.announced = Announced::by(content)
                .or(goes_on)
                .or_else(|| continued(content, spans.last()?));
        }
        spans
    }

    fn on_key_line(&mut self, line: &str, swallowed: usize, indent: usize, out: &mut String) {
        if let Some(end) = private_key::end_in(line) {
            self.state = State::Text;
            self.before = Some('-');
            if end < line.len() {
                self.on_text_line(&line[end..], out);
            }
        } else if private_key::is_body(line, indent) && swallowed < HOLD {
            self.state = State::PrivateKey {
                swallowed: swallowed + line.len(),
                indent,
            };
        } else {
            out.push('\n');
            self.state = State::Text;
            self.before = None;
            self.on_text_line(line, out);
        }
    }

    fn on_long_token(&mut self, text: &str, out: &mut String) {
        let Some(end) = text.find(ends_token) else {
            return;
        };
        self.state = State::Text;
        self.before = Some(']');
        self.on_line(&text[end..], out);
    }

    /// Gives out the part of an overlong line whose secrets are certain.
    fn on_full(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Text => self.held = self.cut(held, out),
            State::PrivateKey { .. } => {
                out.push('\n');
                self.state = State::Text;
                self.before = None;
                self.held = self.cut(held, out);
            }
            State::LongToken => {
                if let Some(end) = held.find(ends_token) {
                    self.state = State::Text;
                    self.before = Some(']');
                    self.held = held[end..].to_owned();
                }
            }
        }
    }

    /// Replaces the spans, then looks again until nothing is found: a mark is a boundary that the
    /// secret beside it may have lacked.
    fn settle<'a>(&self, text: &'a str, spans: &[Span]) -> Cow<'a, str> {
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut clean = replace(text, spans);
        loop {
            let again = scan(&clean, self.before, self.known);
            if again.is_empty() {
                return Cow::Owned(clean);
            }
            clean = replace(&clean, &again);
        }
    }

    /// Gives out the beginning of `held` and returns what must wait.
    fn cut(&mut self, held: String, out: &mut String) -> String {
        let spans = scan(&held, self.before, self.known);
        let mut at = word_start(&held, held.len() - LOOKAHEAD);
        for span in spans.iter().rev() {
            if span.context < at && at < span.end {
                at = span.context;
            }
        }
        if at == 0 {
            // A secret begins here: it goes out as soon as its end is seen, or else it is a long token.
            let first = spans.first().filter(|span| span.end == held.len());
            if let Some(span) = first {
                out.push_str(&held[..span.start]);
                out.push_str(&mark(span.kind));
                self.state = State::LongToken;
                return String::new();
            }
            at = spans.first().map_or(held.len(), |span| span.end);
        }
        let (now, later) = held.split_at(at);
        let done: Vec<Span> = spans.into_iter().filter(|span| span.end <= at).collect();
        out.push_str(&self.settle(now, &done));
        self.before = now.chars().next_back();
        later.to_owned()
    }
}

/// Moves a place back to the start of a word where there is one near, else to a character's start.
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

fn ends_token(next: char) -> bool {
    next.is_whitespace()
        || matches!(
            next,
            '"' | '\'' | '`' | ',' | ';' | '&' | '<' | '>' | '(' | ')' | '|'
        )
}

/// Finds every secret of one line, in order, overlapping finds joined.
fn scan(text: &str, before: Option<char>, known: Option<&Known>) -> Vec<Span> {
    let Some(hint) = known::first_hint(text, known) else {
        return Vec::new();
    };
    let mut found = private_key::find(text);
    found.extend(shapes::find_dotted(text));
    found.extend(addresses::find_logins(text));
    found.extend(known.map(|known| known.find(text)).unwrap_or_default());
    found.extend(at_anchors(
        text,
        hint.saturating_sub(anchors::BEGINS_BEFORE),
        before,
    ));
    join(found)
}

fn join(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut joined: Vec<Span> = Vec::new();
    for span in found {
        match joined.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.context = last.context.min(span.context);
                last.open |= span.open;
            }
            Some(_) | None => joined.push(span),
        }
    }
    joined
}

fn at_anchors(text: &str, from: usize, before: Option<char>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut passed = Passed::default();
    let mut name_end = None;
    for found in anchors::all(text, from) {
        // What lies inside a secret leads to none; what would need work twice is passed over.
        if spans
            .last()
            .is_some_and(|last| last.start <= found.start && found.end <= last.end)
        {
            continue;
        }
        spans.extend(match found.anchor {
            Anchor::Rule(number) => shapes::find(number, found, text, before, &mut passed),
            // Of words that end in one place one name is made.
            Anchor::Name if name_end == Some(found.end) => None,
            Anchor::Name => {
                name_end = Some(found.end);
                pairs::find(text, found.end)
            }
        });
    }
    spans
}

/// A value whose string goes on in the next line.
fn continued(line: &str, last: &Span) -> Option<Announced> {
    let is_cut = line.ends_with('\\') && last.end + 1 >= line.len() && !last.open;
    let is_kept = matches!(last.kind, "token" | "key" | "secret" | "password");
    (is_cut && is_kept).then(|| Announced::continued(last.kind))
}

fn longest_line(text: &str) -> usize {
    text.split('\n').map(str::len).max().unwrap_or(0)
}

fn replace(text: &str, spans: &[Span]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        clean.push_str(&text[from..span.start]);
        let quote = span
            .quote
            .map_or(String::new(), |len| "\\".repeat(len - 1) + "\"");
        clean.extend([&quote, &mark(span.kind), &quote].map(String::as_str));
        from = span.end;
    }
    clean.push_str(&text[from..]);
    clean
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
