//! The secrets of one line: what each word in it leads to, where the finds begin and end, what replaces them.
//!
//! Refuses to know other lines.

use super::anchors::{Anchor, Found};
use super::known::Known;
use super::shapes::{self, Passed};
use super::{MARK, addresses, members, pairs, private_key};

/// A secret's place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// Where what makes it a secret begins: its name, or itself.
    pub(super) context: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// Whether the secret goes on in the next line.
    pub(super) open: bool,
    /// Set when the mark must stand in quotes: how long one is, with its backslashes.
    pub(super) quote: Option<usize>,
}

/// Finds every secret of one line by the words in it, in order, overlapping finds joined; `before` is the
/// character left of the text.
pub(super) fn scan(
    text: &str,
    found: &[Found],
    before: Option<char>,
    known: Option<&Known>,
) -> Vec<Span> {
    let mut spans = at_anchors(text, found, before);
    if found.iter().any(Found::may_be_of_key) {
        spans.extend(private_key::find(text));
    }
    if found.iter().any(|word| word.anchor == Anchor::Sign) {
        spans.extend(shapes::find_dotted(text));
        spans.extend(addresses::find_logins(text));
        spans.extend(known.map(|known| known.find(text)).unwrap_or_default());
    }
    join(&mut spans);
    spans
}

/// Puts finds in order and makes those one that overlap.
pub(super) fn join(spans: &mut Vec<Span>) {
    if spans.len() < 2 {
        return;
    }
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    spans.dedup_by(|span, last| {
        let is_inside = span.start < last.end;
        if is_inside {
            last.end = last.end.max(span.end);
            last.context = last.context.min(span.context);
            last.open |= span.open;
        }
        is_inside
    });
}

fn at_anchors(text: &str, found: &[Found], before: Option<char>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut passed = Passed::default();
    let mut name_end = None;
    for found in found {
        // What lies inside a secret leads to none; what would need work twice is passed over.
        if spans
            .last()
            .is_some_and(|last| last.start <= found.start && found.end <= last.end)
        {
            continue;
        }
        let span = match found.anchor {
            Anchor::Rule(number) => shapes::find(number, *found, text, before, &mut passed),
            // Of words that end in one place one name is made.
            Anchor::Name if name_end == Some(found.end) => None,
            Anchor::Name => {
                name_end = Some(found.end);
                spans.extend(members::find(text, found.end));
                pairs::find(text, found.end)
            }
            Anchor::Sign => None,
        };
        spans.extend(span);
    }
    spans
}

/// Adds a text to `out` with a mark in place of each span.
pub(super) fn replace(text: &str, spans: &[Span], out: &mut String) {
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        push_quote(span, out);
        out.extend([MARK, span.kind, "]"]);
        push_quote(span, out);
        from = span.end;
    }
    out.push_str(&text[from..]);
}

fn push_quote(span: &Span, out: &mut String) {
    if let Some(len) = span.quote {
        out.extend(std::iter::repeat_n('\\', len - 1));
        out.push('"');
    }
}

/// Where the words are after spans were replaced; those that a span took a part of are gone.
pub(super) fn moved(found: &[Found], spans: &[Span]) -> Vec<Found> {
    let mut words = Vec::with_capacity(found.len());
    let mut spans = spans.iter().peekable();
    // What the spans before were long, and what stands there now.
    let (mut was, mut is, mut passed) = (0, 0, 0);
    for word in found {
        while let Some(span) = spans.next_if(|span| span.end <= word.start) {
            was += span.end - span.start;
            is += MARK.len() + span.kind.len() + 1 + 2 * span.quote.unwrap_or(0);
            passed = span.end;
        }
        let is_cut = spans.peek().is_some_and(|span| span.start < word.end);
        if word.start >= passed && !is_cut {
            words.push(Found {
                start: word.start + is - was,
                end: word.end + is - was,
                ..*word
            });
        }
    }
    words
}

pub(super) fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}
