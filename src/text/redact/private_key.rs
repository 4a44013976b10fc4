//! Private keys in PEM armour: on one line, over many lines, or cut before their end.
//!
//! It refuses to know how the lines arrive; it judges one line at a time.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Span;
use super::pattern::Pattern;

static BEGIN: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new(r"^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"));

/// As much after a begin mark as can be key material.
static MATERIAL: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(r"^(?:(?:\\+[nrt]|[ \t])*[A-Za-z0-9+/=]{16,})*(?:\\+[nrt]|[A-Za-z0-9+/=\\])*")
});

static END: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"));

/// A line of base64, an armour header or nothing, behind what diffs, quotes and listings put before a line.
static BODY: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(concat!(
        r#"^[\s>|+\-*#/:\d"']*"#,
        r#"(?:[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .*)"#,
        r#"(?:\\+[nr])*["'`,+\\\s]*$"#,
    ))
});

static ARMOUR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("-----BEGIN "));

/// Finds private keys in one line; one that reaches the line's end without its own end is open.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut may_end = true;
    for armour in ARMOUR.find_iter(text.as_bytes()) {
        if spans.last().is_some_and(|last| armour < last.end) {
            continue;
        }
        let Some(begin) = BEGIN.find(&text[armour..]) else {
            continue;
        };
        let inside = armour + begin.whole().end;
        let rest = &text[inside..];
        // What has no end from here on has none further on.
        let ended = if may_end { end_in(rest) } else { None };
        may_end = ended.is_some();
        let material = || MATERIAL.find(rest).map_or(0, |found| found.whole().end);
        let end = inside + ended.unwrap_or_else(material);
        spans.push(Span {
            context: armour,
            start: armour,
            end,
            kind: "private-key",
            open: ended.is_none() && end == text.len(),
            quote: None,
        });
    }
    spans
}

/// Finds where a key ends in a line inside it: the byte after the end mark.
pub(super) fn end_in(line: &str) -> Option<usize> {
    END.find(line).map(|found| found.whole().end)
}

/// Tells whether a line can belong to a key.
pub(super) fn is_body(line: &str) -> bool {
    BODY.is_match(line)
}
