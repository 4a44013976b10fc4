//! Replaces secrets in a text by a mark of their kind, such as `[redacted:github-token]`.
//!
//! It knows the shapes of keys and the names under which they are kept, and refuses to know where
//! the text comes from or goes to. Terminal sequences must be taken out before, or they split a key.
//!
//! A streamed text is judged line by line. At most [`HOLD`] bytes are held back: a longer line is
//! cut where no secret is, after at least [`LOOKAHEAD`] more bytes have been seen.

use regex::Regex;

mod glance;
mod pairs;
mod private_key;
mod shapes;

pub(crate) use pairs::{is_secret_name, redact_number, redact_value};
pub(crate) use shapes::may_hold_secret;

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
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The unfinished line, or what is left of it.
    held: String,
    /// The character before `held`, when `held` does not start a line.
    before: Option<char>,
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Inside a private key whose first line was replaced and whose line end is still owed.
    PrivateKey { swallowed: usize },
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
}

impl Redactor {
    /// Starts at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and gives out the lines that are complete with it.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        let mut rest = piece;
        while !rest.is_empty() {
            let (taken, after) = rest.split_at(self.room_in(rest));
            self.held.push_str(taken);
            rest = after;
            if self.held.ends_with('\n') {
                let line = std::mem::take(&mut self.held);
                self.on_line(&line, &mut out);
            } else if self.held.len() >= HOLD {
                self.on_full(&mut out);
            }
        }
        out
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
        *self = Self::default();
        out
    }

    /// Counts the bytes to take: up to a line's end or a full hold, whichever is first, so that
    /// what is judged at once depends on the text alone and never on its pieces.
    fn room_in(&self, text: &str) -> usize {
        let line = text.find('\n').map_or(text.len(), |at| at + 1);
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
            State::PrivateKey { swallowed } => self.on_key_line(line, swallowed, out),
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
        let spans = scan(content, self.before);
        out.push_str(&settle(content, &spans, self.before));
        if spans.last().is_some_and(|span| span.open) {
            self.state = State::PrivateKey { swallowed: 0 };
        } else {
            out.push_str(end);
        }
    }

    fn on_key_line(&mut self, line: &str, swallowed: usize, out: &mut String) {
        if let Some(end) = private_key::end_in(line) {
            self.state = State::Text;
            self.before = Some('-');
            if end < line.len() {
                self.on_text_line(&line[end..], out);
            }
        } else if private_key::is_body(line) && swallowed < HOLD {
            self.state = State::PrivateKey {
                swallowed: swallowed + line.len(),
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

    /// Gives out the beginning of `held` and returns what must wait.
    fn cut(&mut self, held: String, out: &mut String) -> String {
        let spans = scan(&held, self.before);
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
        out.push_str(&settle(now, &done, self.before));
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
fn scan(text: &str, before: Option<char>) -> Vec<Span> {
    if !may_hold_secret(text) {
        return Vec::new();
    }
    let mut found = private_key::find(text);
    found.extend(shapes::find(text, before));
    found.extend(pairs::find(text));
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

/// Replaces the spans, then looks again until nothing is found: a mark is a boundary that the
/// secret beside it may have lacked.
fn settle(text: &str, spans: &[Span], before: Option<char>) -> String {
    let mut clean = replace(text, spans);
    let mut found = !spans.is_empty();
    while found {
        let again = scan(&clean, before);
        found = !again.is_empty();
        clean = replace(&clean, &again);
    }
    clean
}

fn replace(text: &str, spans: &[Span]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        clean.push_str(&text[from..span.start]);
        clean.push_str(&mark(span.kind));
        from = span.end;
    }
    clean.push_str(&text[from..]);
    clean
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Compiles a pattern of this module's.
#[expect(
    clippy::expect_used,
    reason = "the patterns are constants and every one is compiled by the tests"
)]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern is valid")
}

#[cfg(test)]
mod tests;
