//! Replaces secrets in a text by a mark of their kind, such as `[redacted:github-token]`.
//!
//! It knows the shapes of keys and the names under which they are kept, and refuses to know where
//! the text comes from or goes to. Terminal sequences must be taken out before, or they split a key.
//!
//! A streamed text is judged line by line. At most [`HOLD`] bytes are held back: a longer line is
//! cut where no secret is, after at least [`LOOKAHEAD`] more bytes have been seen.

mod addresses;
mod anchors;
mod announced;
mod headers;
mod judge;
mod known;
mod members;
mod names;
mod pairs;
mod pattern;
mod placeholders;
mod private_key;
mod rules;
mod scan;
mod shapes;
mod signs;
mod values;

use anchors::Found;
use announced::Announced;
pub(crate) use known::may_hold_secret;
pub use known::{Known, know_by};
pub(crate) use names::is_secret_name;
use private_key::Record;
use scan::{Span, mark, moved, replace, scan};
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
    /// The words of the text that is looked at; kept for its room.
    found: Vec<Found>,
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
            found: Vec::new(),
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
            let lines = if self.held.is_empty() {
                whole_lines(rest)
            } else {
                0
            };
            if lines > 0 {
                self.on_lines(&rest[..lines], out);
                rest = &rest[lines..];
            } else {
                let (taken, after) = rest.split_at(self.room_in(rest));
                self.on_part(taken, out);
                rest = after;
            }
        }
    }

    /// Takes whole lines. Those are passed over at once in which no word hints at a secret.
    fn on_lines(&mut self, text: &str, out: &mut String) {
        let mut all = std::mem::take(&mut self.found);
        anchors::collect(text, self.known, &mut all);
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
        self.found = all;
    }

    fn on_whole_line(&mut self, line: &str, found: &[Found], out: &mut String) {
        if line.len() > HOLD {
            let mut rest = line;
            while !rest.is_empty() {
                let (taken, after) = rest.split_at(self.room_in(rest));
                self.on_part(taken, out);
                rest = after;
            }
        } else if self.state == State::Text {
            self.on_text_line(line, found, out);
            self.before = None;
        } else {
            self.on_line(line, out);
        }
    }

    /// Takes as much as there is room for.
    fn on_part(&mut self, taken: &str, out: &mut String) {
        self.held.push_str(taken);
        if self.held.ends_with('\n') {
            let line = std::mem::take(&mut self.held);
            self.on_line(&line, out);
        } else if self.held.len() >= HOLD {
            self.on_full(out);
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
        let line = line_end(text, 0);
        let mut room = HOLD.saturating_sub(self.held.len()).min(line);
        while !text.is_char_boundary(room) {
            room += 1;
        }
        room
    }

    /// Takes a line with its end, or the last one without.
    fn on_line(&mut self, line: &str, out: &mut String) {
        match self.state {
            State::Text => self.on_any_line(line, out),
            State::PrivateKey { swallowed, indent } => {
                self.on_key_line(line, swallowed, indent, out)
            }
            State::LongToken => self.on_long_token(line, out),
        }
        if line.ends_with('\n') {
            self.before = None;
        }
    }

    fn on_any_line(&mut self, line: &str, out: &mut String) {
        let mut found = std::mem::take(&mut self.found);
        anchors::collect(line, self.known, &mut found);
        self.on_text_line(line, &found, out);
        self.found = found;
    }

    fn on_text_line(&mut self, line: &str, found: &[Found], out: &mut String) {
        let (content, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |content| (content, "\n"));
        let spans = self.scan_line(content, found);
        self.settle(content, &spans, found, out);
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
    fn scan_line(&mut self, content: &str, found: &[Found]) -> Vec<Span> {
        let announced = self.announced.take();
        let mut spans = scan(content, found, self.before, self.known);
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
        } else if found.iter().any(Found::may_be_of_key) {
            self.record = Record::opened_by(content);
        }
        scan::join(&mut spans);
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
                self.on_any_line(&line[end..], out);
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
            self.on_any_line(line, out);
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
    /// secret beside it may have lacked. No word begins or ends in a mark, so those of before are all.
    fn settle(&self, text: &str, spans: &[Span], found: &[Found], out: &mut String) {
        if spans.is_empty() {
            out.push_str(text);
            return;
        }
        let start = out.len();
        replace(text, spans, out);
        let mut found = moved(found, spans);
        loop {
            let again = scan(&out[start..], &found, self.before, self.known);
            if again.is_empty() {
                return;
            }
            found = moved(&found, &again);
            let clean = out.split_off(start);
            replace(&clean, &again, out);
        }
    }

    /// Gives out the beginning of `held` and returns what must wait.
    fn cut(&mut self, held: String, out: &mut String) -> String {
        let mut at = word_start(&held, held.len() - LOOKAHEAD);
        let mut found = std::mem::take(&mut self.found);
        // What begins further on reaches no further back than the cut.
        let near = held.ceil_char_boundary(at + REACH);
        anchors::collect(&held[..near], self.known, &mut found);
        let mut spans = scan(&held, &found, self.before, self.known);
        for span in spans.iter().rev() {
            if span.context < at && at < span.end {
                at = span.context;
            }
        }
        if at == 0 {
            anchors::collect(&held, self.known, &mut found);
            spans = scan(&held, &found, self.before, self.known);
            // A secret begins here: it goes out as soon as its end is seen, or else it is a long token.
            let first = spans.first().filter(|span| span.end == held.len());
            if let Some(span) = first {
                out.push_str(&held[..span.start]);
                out.push_str(&mark(span.kind));
                self.state = State::LongToken;
                self.found = found;
                return String::new();
            }
            at = spans.first().map_or(held.len(), |span| span.end);
        }
        let (now, later) = held.split_at(at);
        spans.retain(|span| span.end <= at);
        found.retain(|word| word.end <= at);
        self.settle(now, &spans, &found, out);
        self.found = found;
        self.before = now.chars().next_back();
        later.to_owned()
    }
}

/// How far beyond a cut a word may begin that has to do with what stands before the cut, in bytes.
const REACH: usize = 512;

/// The most bytes of whole lines that are looked through at once.
const MOST_LINES: usize = 1 << 18;

/// Counts the bytes of the whole lines at a text's start, or of as many as are looked through at once.
fn whole_lines(text: &str) -> usize {
    let bytes = text.as_bytes();
    let last = |bytes| memchr::memrchr(b'\n', bytes).map(|at| at + 1);
    bytes
        .get(..MOST_LINES)
        .and_then(last)
        .or_else(|| last(bytes))
        .unwrap_or(0)
}

/// Where the line ends that begins at a place: after its line feed.
fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |n| at + n + 1)
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

/// A value whose string goes on in the next line.
fn continued(line: &str, last: &Span) -> Option<Announced> {
    let is_cut = line.ends_with('\\') && last.end + 1 >= line.len() && !last.open;
    let is_kept = matches!(last.kind, "token" | "key" | "secret" | "password");
    (is_cut && is_kept).then(|| Announced::continued(last.kind))
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
