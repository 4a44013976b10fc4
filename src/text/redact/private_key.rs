//! Private keys in PEM armour: on one line, over many lines, or cut before their end.
//!
//! It refuses to know how the lines arrive; it judges one line at a time.

use std::sync::LazyLock;

use regex::Regex;

use super::{Span, pattern};

/// A begin mark, then either all up to the end mark or as much as can be key material.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r"|(?:(?:\\+[nrt]|[ \t])*[A-Za-z0-9+/=]{16,})*(?:\\+[nrt]|[A-Za-z0-9+/=\\])*)",
    ))
});

static END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"));

/// A line of base64, an armour header or nothing, behind what diffs, quotes and listings put before a line.
static BODY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^[\s>|+\-*#/:\d"']*"#,
        r#"(?:[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .*)"#,
        r#"(?:\\+[nr])*["'`,+\\\s]*$"#,
    ))
});

/// Finds private keys in one line; one that reaches the line's end without its own end is open.
pub(super) fn find(text: &str) -> Vec<Span> {
    BLOCK
        .find_iter(text)
        .map(|found| Span {
            context: found.start(),
            start: found.start(),
            end: found.end(),
            kind: "private-key",
            open: found.end() == text.len() && end_in(found.as_str()).is_none(),
        })
        .collect()
}

/// Finds where a key ends in a line inside it: the byte after the end mark.
pub(super) fn end_in(line: &str) -> Option<usize> {
    END.find(line).map(|found| found.end())
}

/// Tells whether a line can belong to a key.
pub(super) fn is_body(line: &str) -> bool {
    BODY.is_match(line)
}
