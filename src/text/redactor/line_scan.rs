//! Finds the secrets of one line from its anchors, merges overlapping finds, and replaces them.
//!
//! Other lines are not known here.

use super::env_secrets::EnvSecrets;
use super::prefilter::{AnchorKind, AnchorMatch};
use super::secret_span::{MARK_PREFIX, SecretSpan};
use super::token_patterns::{self, SearchedRange};
use super::{key_value, private_key, secret_lists, url_logins};

/// Finds every secret of one line by its anchors, in order, with overlapping finds joined; `before` is
/// the character before the text.
pub(super) fn scan_secrets(
    text: &str,
    found: &[AnchorMatch],
    before: Option<char>,
    known: Option<&EnvSecrets>,
) -> Vec<SecretSpan> {
    let mut spans = scan_anchors(text, found, before);
    if found.iter().any(AnchorMatch::may_start_private_key) {
        spans.extend(private_key::find_private_keys(text));
    }
    if found.iter().any(|word| word.kind == AnchorKind::Sign) {
        spans.extend(token_patterns::find_dotted_tokens(text));
        spans.extend(url_logins::find_logins(text));
        spans.extend(
            known
                .map(|known| known.find_spans(text))
                .unwrap_or_default(),
        );
    }
    merge_spans(&mut spans);
    spans
}

/// Sorts finds and joins those that overlap.
pub(super) fn merge_spans(spans: &mut Vec<SecretSpan>) {
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

fn scan_anchors(text: &str, found: &[AnchorMatch], before: Option<char>) -> Vec<SecretSpan> {
    let mut spans: Vec<SecretSpan> = Vec::new();
    let mut passed = SearchedRange::default();
    let mut name_end = None;
    for found in found {
        // An anchor inside a secret leads to no other secret; skipping it avoids double work.
        if spans
            .last()
            .is_some_and(|last| last.start <= found.start && found.end <= last.end)
        {
            continue;
        }
        let span = match found.kind {
            AnchorKind::Rule(number) => {
                token_patterns::find_by_rule(number, *found, text, before, &mut passed)
            }
            // Anchors that end at one position are one name.
            AnchorKind::SecretName if name_end == Some(found.end) => None,
            AnchorKind::SecretName => {
                name_end = Some(found.end);
                spans.extend(secret_lists::find_listed_secrets(text, found.end));
                key_value::find_key_value(text, found.end)
            }
            AnchorKind::Sign => None,
        };
        spans.extend(span);
    }
    spans
}

/// Appends a text to `out` with a mark in place of each span.
pub(super) fn replace_spans(text: &str, spans: &[SecretSpan], out: &mut String) {
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        push_quote(span, out);
        out.extend([MARK_PREFIX, span.kind, "]"]);
        push_quote(span, out);
        from = span.end;
    }
    out.push_str(&text[from..]);
}

fn push_quote(span: &SecretSpan, out: &mut String) {
    if let Some(len) = span.quote {
        out.extend(std::iter::repeat_n('\\', len - 1));
        out.push('"');
    }
}

/// Returns the anchors at their new positions after spans were replaced; anchors that a span overlaps are dropped.
pub(super) fn shift_anchors(found: &[AnchorMatch], spans: &[SecretSpan]) -> Vec<AnchorMatch> {
    let mut words = Vec::with_capacity(found.len());
    let mut spans = spans.iter().peekable();
    // The old length of the spans so far, the length of their marks, and the end of the last span.
    let (mut was, mut is, mut passed) = (0, 0, 0);
    for word in found {
        while let Some(span) = spans.next_if(|span| span.end <= word.start) {
            was += span.end - span.start;
            is += MARK_PREFIX.len() + span.kind.len() + 1 + 2 * span.quote.unwrap_or(0);
            passed = span.end;
        }
        let is_cut = spans.peek().is_some_and(|span| span.start < word.end);
        if word.start >= passed && !is_cut {
            words.push(AnchorMatch {
                start: word.start + is - was,
                end: word.end + is - was,
                ..*word
            });
        }
    }
    words
}
